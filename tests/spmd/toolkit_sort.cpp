// SPDX-License-Identifier: Apache-2.0
//
// Tests tutti::sort_globally and stable_sort_globally against std::stable_sort of everything on one
// rank, and is_globally_sorted. No rank may get more than the limit in the head of sort.hpp, even
// if one value fills everything.
#include <cmath>
#include <numeric>
#include <random>

#include "support/check.hpp"
#include "support/program.hpp"
#include "support/seed.hpp"
#include "tutti/sort.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

struct record {
  int key;
  int rank, place;  // its origin
  bool operator==(const record&) const = default;
};

// Keys of one kind of input, for one rank of p.
std::vector<int> keys(int kind, int rank, int p, std::mt19937& random) {
  std::vector<int> v;
  const int n = kind == 5 ? 3 : p > 17 ? 150 : 700;  // every rank sorts the whole for comparison
  for (int i = 0; i < n; ++i) switch (kind) {
      case 0:
        v.push_back(static_cast<int>(random()));
        break;
      case 1:  // one value
        v.push_back(7);
        break;
      case 2:  // few values, one of them frequent
        v.push_back(random() % 10 < 7 ? 3 : static_cast<int>(random() % 5));
        break;
      case 3:  // already sorted
        v.push_back(rank * n + i);
        break;
      case 4:  // in reverse
        v.push_back((p - rank) * n - i);
        break;
      case 6:  // all on one rank
        if (rank == p / 2) v.push_back(static_cast<int>(random() % 100));
        break;
      case 7:  // very different counts, and some ranks have none
        if (rank % 3 != 1 && i <= rank * 20) v.push_back(static_cast<int>(random() % 1000));
        break;
      case 8:  // the same on all ranks
        v.push_back(i * 17 % n);
        break;
      default:  // 5: fewer than samples; 9: none
        if (kind == 5) v.push_back(static_cast<int>(random() % 4));
    }
  return v;
}
constexpr int kinds = 10;

std::vector<record> records(int kind, int rank, int p, std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed * 1000 + static_cast<std::uint64_t>(rank)));
  std::vector<record> v;
  for (const int key : keys(kind, rank, p, random)) v.push_back({key, rank, static_cast<int>(v.size())});
  return v;
}

void check_balance(communicator& world, std::size_t mine) {
  const auto p = static_cast<std::size_t>(world.size());
  const std::size_t n = world.allreduce_single(send_buf(mine), op(std::plus<>{}));
  const std::size_t a = std::min<std::size_t>(std::max<std::size_t>(8192 / p, 32), 128);
  const std::size_t d = std::max<std::size_t>(1, n / (a * p));
  check.that(mine <= n / p + (p + 2) * d,
             std::to_string(mine) + " of " + std::to_string(n) + " are too many for one rank");
}

template <class Less>
void sort_records(communicator& world, int kind, std::uint64_t seed, const Less& less) {
  const std::vector<record> mine = records(kind, world.rank(), world.size(), seed);
  std::vector<record> right;
  for (int r = 0; r < world.size(); ++r)
    for (const record& one : records(kind, r, world.size(), seed)) right.push_back(one);
  std::stable_sort(right.begin(), right.end(), less);

  std::vector<record> v = mine;
  tutti::stable_sort_globally(world, v, less);
  check.that(world.allgatherv(send_buf(v)) == right, "stable_sort");
  check_balance(world, v.size());
  check.that(is_globally_sorted(world, v, less));

  v = mine;
  tutti::sort_globally(world, v, less);
  std::vector<record> all = world.allgatherv(send_buf(v));
  check.that(std::is_sorted(all.begin(), all.end(), less), "sort");
  check.that(is_globally_sorted(world, v, less));
  check_balance(world, v.size());
  const auto where = [](const record& x, const record& y) {
    return std::pair(x.rank, x.place) < std::pair(y.rank, y.place);
  };
  std::sort(all.begin(), all.end(), where);  // a permutation of the input
  std::sort(right.begin(), right.end(), where);
  check.that(all == right, "other elements");
}

void plain(communicator& world, int kind, std::uint64_t seed) {
  std::vector<double> mine, right;
  for (int r = 0; r < world.size(); ++r)
    for (const record& one : records(kind, r, world.size(), seed)) {
      right.push_back(one.key / 3.0);
      if (r == world.rank()) mine.push_back(one.key / 3.0);
    }
  std::sort(right.begin(), right.end());
  std::vector<double> up = mine, down = mine;
  tutti::sort_globally(world, up);
  check.equal(world.allgatherv(send_buf(up)), right);
  tutti::sort_globally(world, down, std::greater<>{});
  std::reverse(right.begin(), right.end());
  check.equal(world.allgatherv(send_buf(down)), right);
}

// A single pair out of order is detected at any position, also across ranks.
void sorted_or_not(communicator& world) {
  const int p = world.size(), me = world.rank();
  const std::vector<int> mine{2 * me, 2 * me + 1};
  check.that(is_globally_sorted(world, mine));
  check.equal(is_globally_sorted(world, mine, std::greater<>{}), false);
  check.that(is_globally_sorted(world, std::vector<int>{}));
  check.that(is_globally_sorted(world, std::vector<int>(3, 4)));
  check.equal(is_globally_sorted(world, std::vector<int>{p - me}), p == 1);
  for (int odd = 0; odd < p; ++odd) {
    check.that(!is_globally_sorted(world, me == odd ? std::vector<int>{2 * me + 1, 2 * me} : mine));
    // Only the ends of non-empty ranks are compared.
    std::vector<int> v;
    if (me == 0) v = {5};
    if (me == odd && odd > 0) v = {4};
    check.equal(is_globally_sorted(world, v), odd == 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const std::uint64_t seed = tests::selected_seed().value_or(21);
    for (int kind = 0; kind < kinds; ++kind) {
      const std::string name = "seed_" + std::to_string(seed) + "/kind_" + std::to_string(kind);
      cases(name + "/records", [&] {
        sort_records(world, kind, seed, [](const record& a, const record& b) { return a.key < b.key; });
      });
      cases(name + "/state", [&] {
        const std::vector<int> order{4, 2, 0, 3, 1};
        sort_records(world, kind, seed, [&order](const record& a, const record& b) {
          const auto of = [&](int key) {
            return order[static_cast<std::size_t>(key & 0xffff) % order.size()];
          };
          return of(a.key) < of(b.key);
        });
      });
      cases(name + "/plain", [&] { plain(world, kind, seed); });
    }
    cases("sorted_or_not", [&] { sorted_or_not(world); });
  });
}

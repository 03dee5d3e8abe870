// SPDX-License-Identifier: Apache-2.0
//
// Tests flatten, sends of its result, and unflatten, for all kinds of nested containers, and their
// errors.
#include <list>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/flatten.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

std::size_t count(int from, int to) { return static_cast<std::size_t>((from * 3 + to * 5) % 4); }
int value(int from, int to, std::size_t i) { return from * 10000 + to * 10 + static_cast<int>(i); }

template <class Inside>
Inside block(int from, int to) {
  Inside made;
  for (std::size_t i = 0; i < count(from, to); ++i) made.push_back(value(from, to, i));
  return made;
}

std::vector<std::vector<int>> expected(const communicator& world) {
  std::vector<std::vector<int>> all;
  for (int r = 0; r < world.size(); ++r) all.push_back(block<std::vector<int>>(r, world.rank()));
  return all;
}

// Every way from a nested container to alltoallv.
template <class Nested>
void send_all(communicator& world, const Nested& nested) {
  const auto right = expected(world);
  auto flat = flatten(nested, world.size());
  check.equal(flat.counts.size(), static_cast<std::size_t>(world.size()));
  std::size_t at = 0;
  for (int to = 0; to < world.size(); ++to) {
    const auto r = static_cast<std::size_t>(to);
    check.equal(flat.counts[r], count(world.rank(), to));
    check.equal(flat.displs[r], at);
    for (std::size_t i = 0; i < flat.counts[r]; ++i)
      check.equal(flat.data[at + i], value(world.rank(), to, i));
    at += flat.counts[r];
  }
  check.equal(flat.data.size(), at);
  auto [received, counts] = world.alltoallv(send_buf(flat.data), send_counts(flat.counts), recv_counts_out());
  check.that(unflatten(received, counts) == right);
  const auto twice = [&](auto&&... flat) { return world.alltoallv(std::forward<decltype(flat)>(flat)...); };
  check.equal(flat.call(twice), received);  // an lvalue can be used again
  check.equal(flat.call(twice), received);
  check.equal(with_flattened(nested, world.size()).call([&](auto... flattened) {
    return world.alltoallv(std::move(flattened)...);
  }),
              received);
  auto later = std::move(flat).call(
      [&](auto... flattened) { return world.ialltoallv(std::move(flattened)..., recv_counts_out()); });
  auto [again, of_each] = later.wait();
  check.that(unflatten(again, std::span<const int>(of_each)) == right);
}

void containers(communicator& world) {
  const int p = world.size(), me = world.rank();
  std::vector<std::vector<int>> rows;
  std::list<std::list<int>> lists;
  std::map<int, std::vector<int>> sparse;
  std::unordered_map<long, std::list<int>> hashed;
  std::vector<std::pair<std::size_t, std::vector<int>>> backwards;
  std::multimap<int, std::vector<int>> pieces;  // one element each
  for (int to = 0; to < p; ++to) {
    rows.push_back(block<std::vector<int>>(me, to));
    lists.push_back(block<std::list<int>>(me, to));
    if (count(me, to) == 0) continue;
    sparse[to] = rows.back();
    hashed[to] = lists.back();
    backwards.insert(backwards.begin(), {static_cast<std::size_t>(to), rows.back()});
    for (const int one : rows.back()) pieces.insert({to, {one}});
  }
  send_all(world, rows);
  send_all(world, lists);
  send_all(world, sparse);
  send_all(world, hashed);
  send_all(world, backwards);
  send_all(world, pieces);
}

void other_containers(communicator& world) {
  const int p = world.size(), me = world.rank();
  const std::map<int, std::vector<int>> none;
  check.that(
      flatten(none, p).call([&](auto... flat) { return world.alltoallv(std::move(flat)...); }).empty());
  std::vector<std::vector<bool>> bits(static_cast<std::size_t>(p), {me % 2 == 0, true});
  auto got = flatten(bits, p).call([&](auto... flat) { return world.alltoallv(std::move(flat)...); });
  for (int r = 0; r < p; ++r) check.equal(got[static_cast<std::size_t>(2 * r)], r % 2 == 0);
  const std::vector<std::vector<std::string>> words{{"a", "b"}, {}, {"c"}};  // nothing is sent here
  check.equal(flatten(words, 3).data, std::vector<std::string>{"a", "b", "c"});
}

void usage_errors() {
  const std::vector<std::vector<int>> two(2);
  const std::map<int, std::vector<int>> third{{2, {}}}, negative{{-1, {}}};
  check.throws<usage_error>([&] { (void)flatten(two, 3); },
                            {"flatten", "nested", "2 containers for 3 ranks"});
  check.throws<usage_error>([&] { (void)flatten(two, 1); },
                            {"flatten", "nested", "2 containers for 1 ranks"});
  check.throws<usage_error>([&] { (void)flatten(third, 2); }, {"flatten", "nested", "names rank 2"});
  check.throws<usage_error>([&] { (void)flatten(negative, 2); },
                            {"flatten", "nested", "names rank -1, but ranks are 0 to"});
  const std::vector<int> three(3);
  check.throws<usage_error>(
      [&] {
        (void)unflatten(three, std::vector<int>{1, 3});
      },
      {"unflatten", "counts", "block 1", "2 are left"});
  check.throws<usage_error>([&] { (void)unflatten(three, std::vector<int>{1, -1}); }, {"counts", "negative"});
  check.throws<usage_error>(
      [&] {
        (void)unflatten(three, std::vector<std::size_t>{1, 1});
      },
      {"counts", "1 elements are in no block"});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("containers", [&] { containers(world); });
    cases("other_containers", [&] { other_containers(world); });
    cases("usage_errors", [&] { usage_errors(); });
  });
}

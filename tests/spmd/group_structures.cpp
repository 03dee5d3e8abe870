// SPDX-License-Identifier: Apache-2.0
//
// Tests chain, ring, logchain and logring: what a member knows, made from a communicator, a list or
// one another. Also tests splits by color and key and by bin, repeated down to single ranks, and
// communicators over them.
#include <numeric>
#include <vector>

#include <tutti/group.hpp>
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"
#include "support/split_oracle.hpp"

using namespace tutti;
using tests::check, tests::ints, tests::split_case;

static_assert(sizeof(chain) <= 32 && sizeof(ring) <= 32);
static_assert(sizeof(logchain) < 512 && sizeof(logring) < 512);

namespace {

int at(const ints& v, int i) { return v[static_cast<std::size_t>(i)]; }

// Returns the address of member i of a group, or rank::null.
int member(const ints& members, int i, bool wraps) {
  const int n = static_cast<int>(members.size());
  if (!wraps && (i < 0 || i >= n)) return rank::null;
  return at(members, ((i % n) + n) % n);
}

template <class Structure>
constexpr bool wraps = std::is_same_v<Structure, ring> || std::is_same_v<Structure, logring>;
template <class Structure>
constexpr bool is_log = std::is_same_v<Structure, logchain> || std::is_same_v<Structure, logring>;

// `members`: the addresses in order; the caller is one of them.
template <class Structure>
void check_members(const Structure& s, int me, const ints& members) {
  const int n = static_cast<int>(members.size());
  const int own = static_cast<int>(std::find(members.begin(), members.end(), me) - members.begin());
  check.equal(s.size(), n);
  check.equal(s.rank(), own);
  check.equal(s.address(), me);
  check.equal(s.left(), member(members, own - 1, wraps<Structure>));
  check.equal(s.right(), member(members, own + 1, wraps<Structure>));
  if constexpr (is_log<Structure>) {
    int d = 0;
    for (; 1 << d < n; ++d) {
      check.equal(s.left(d), member(members, own - (1 << d), wraps<Structure>));
      check.equal(s.right(d), member(members, own + (1 << d), wraps<Structure>));
    }
    check.equal(s.distances(), d);
    check.equal(s.left(d), rank::null);
    check.equal(s.right(-1), rank::null);
  }
}

ints all_of(const communicator& world) {
  ints all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void of_a_communicator(const communicator& world) {
  const int me = world.rank();
  const ints all = all_of(world);
  check_members(chain(world), me, all);
  check_members(ring(world), me, all);
  check_members(logchain(world), me, all);
  check_members(logring(world), me, all);
}

void of_one_another(const communicator& world) {
  const int me = world.rank();
  const ints all = all_of(world);
  const chain c(world);
  const ring r(world);
  check_members(ring(c), me, all);
  check_members(chain(r), me, all);
  const logchain lc(c), of_ring(r);
  const logring lr(r), of_chain(c);
  check_members(lc, me, all);
  check_members(of_ring, me, all);
  check_members(lr, me, all);
  check_members(of_chain, me, all);
  check_members(chain(lc), me, all);
  check_members(chain(lr), me, all);
  check_members(ring(lr), me, all);
  check_members(ring(lc), me, all);
  check_members(logchain(lr), me, all);
  check_members(logring(lc), me, all);
}

void of_a_list(const communicator& world) {
  const int p = world.size(), me = world.rank();
  ints odd_backwards, others;
  for (int r = p - 1; r >= 0; --r) (r % 2 == 1 ? odd_backwards : others).push_back(r);
  const ints& mine = me % 2 == 1 ? odd_backwards : others;
  const chain c(world, mine);
  check_members(c, me, mine);
  check_members(ring(world, mine), me, mine);
  check_members(logchain(c), me, mine);
  check_members(logring(ring(world, mine)), me, mine);
  check_members(chain(world, {me}), me, {me});
  check.throws<usage_error>([&] { chain(world, {me, me}); }, {"ranks", "twice"});
  check.throws<usage_error>([&] { chain(world, {me, p}); }, {"ranks", std::to_string(p).c_str()});
  check.throws<usage_error>([&] { ring(world, ints{}); }, {"ranks", "does not contain this rank"});
}

template <class Structure>
void splits(const communicator& world, const Structure& of, const ints& members, unsigned seed, int depth) {
  const int me = world.rank();
  for (const split_case& c : tests::split_cases(of.size(), seed)) {
    const Structure part = of.split(at(c.colors, of.rank()), at(c.keys, of.rank()));
    if (at(c.colors, of.rank()) < 0) {
      check.that(part.empty());
      check.equal(part.left(), rank::null);
      check.equal(part.split(0).size(), 0);
      continue;
    }
    ints expected;
    for (const int r : c.part_of(of.rank())) expected.push_back(at(members, r));
    check_members(part, me, expected);
    if (depth > 0 && part.size() < of.size()) splits(world, part, expected, seed + 1, depth - 1);
  }
}

template <class Structure>
void bins(const communicator& world, const Structure& of, const ints& members) {
  for (const int many : {1, 2, 3, 7}) {
    const auto bin_of = [&](int r) { return (r * 5 + r / 3) % (many + 1) - 1; };
    const Structure part = of.split_bin(many, bin_of(of.rank()));
    ints expected;
    for (int r = 0; r < of.size(); ++r)
      if (bin_of(r) == bin_of(of.rank())) expected.push_back(at(members, r));
    if (bin_of(of.rank()) < 0)
      check.that(part.empty());
    else
      check_members(part, world.rank(), expected);
  }
  // Halves repeatedly, down to single ranks.
  Structure part = of;
  int first = 0;
  while (part.size() > 1) {
    const int n = part.size(), upper = part.rank() >= (n + 1) / 2;
    part = part.split_bin(2, upper);
    first += upper ? (n + 1) / 2 : 0;
    const int left = upper ? n / 2 : (n + 1) / 2;
    check_members(part, world.rank(), ints(members.begin() + first, members.begin() + first + left));
  }
  check.throws<usage_error>([&] { part.split_bin(2, 2); },
                            {"split_bin", "bin", "is 2, but there are 2 bins"});
  check.throws<usage_error>([&] { part.split_bin(-1, -1); }, {"split_bin", "bins", "-1"});
}

template <class Structure>
void split_again(const communicator& world) {
  const Structure all(world);
  splits(world, all, all_of(world), 17, 1);
  bins(world, all, all_of(world));
}

// Runs collectives and messages on the groups that a split found.
template <class Structure>
void made_communicators(const communicator& world) {
  const int me = world.rank();
  const Structure all(world);
  for (const split_case& c : tests::split_cases(world.size(), 5)) {
    const Structure part = all.split(at(c.colors, me), at(c.keys, me));
    if (part.empty()) continue;
    const communicator made = world.over(part);
    const ints expected = c.part_of(me);
    check.equal(made.rank(), part.rank());
    check.equal(made.allgather(send_buf(me)), expected);
    check.equal(made.translate(made.rank(), world), me);
    int x = me;
    made.bcast(send_recv_buf(x), root(made.size() - 1));
    check.equal(x, expected.back());
    const int before = made.exscan_single(send_buf(1), op(std::plus<>{}));
    check.equal(before, made.rank());
  }
}

// Structures without a parent, with another parent, or without members.
void refused(const communicator& world) {
  communicator gone = world.duplicate();
  const chain orphan(gone);
  const logring orphan_ring(gone);
  check.throws<usage_error>([&] { world.over(orphan); }, {"over", "members", "parent"});
  gone.free();
  check.throws<usage_error>([&] { orphan.split(0); }, {"split", "freed"});
  check.throws<usage_error>([&] { orphan.split_bin(1, 0); }, {"split_bin", "freed"});
  check.throws<usage_error>([&] { (void)logchain(orphan); }, {"logchain", "freed"});
  check.throws<usage_error>([&] { orphan_ring.split(0); }, {"split", "freed"});
  check.throws<usage_error>([&] { gone.over(orphan); }, {"over", "freed"});
  check.throws<usage_error>([&] { (void)chain(gone); }, {"chain", "freed"});
  check.throws<usage_error>([&] { (void)ring(gone, {0}); }, {"ring", "freed"});
  check.throws<usage_error>([&] { (void)gone.translate(0, world); }, {"translate", "freed"});
  check.throws<usage_error>([&] { (void)world.translate(0, gone); }, {"translate", "freed"});
  if (world.size() > 1) check.throws<usage_error>([&] { (void)ring(orphan); }, {"ring", "freed"});
  const chain nobody = chain(world).split(colors::undefined);
  check.throws<usage_error>([&] { world.over(nobody); }, {"over", "members", "no group"});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("of_a_communicator", [&] { of_a_communicator(world); });
    cases("of_one_another", [&] { of_one_another(world); });
    cases("of_a_list", [&] { of_a_list(world); });
    cases("chains", [&] { split_again<chain>(world); });
    cases("rings", [&] { split_again<ring>(world); });
    cases("logchains", [&] { split_again<logchain>(world); });
    cases("logrings", [&] { split_again<logring>(world); });
    cases("communicators_of_chains", [&] { made_communicators<chain>(world); });
    cases("refused", [&] { refused(world); });
    cases("communicators_of_logrings", [&] { made_communicators<logring>(world); });
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests is_same_on_all_ranks: it must detect one rank that differs, whichever rank and wherever the
// difference is. Covers values, ranges of one and of several pieces, and types with padding.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/same.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

struct holed {
  char a;
  double b;  // after seven bytes of padding
  bool operator==(const holed&) const = default;
};

holed with_noise(char a, double b, int noise) {
  alignas(holed) unsigned char bytes[sizeof(holed)];
  for (unsigned char& one : bytes) one = static_cast<unsigned char>(noise);
  std::memcpy(bytes + offsetof(holed, a), &a, sizeof a);
  std::memcpy(bytes + offsetof(holed, b), &b, sizeof b);
  holed made;
  std::memcpy(static_cast<void*>(&made), bytes, sizeof made);
  return made;
}

void values(communicator& world) {
  const int p = world.size(), me = world.rank();
  check.that(is_same_on_all_ranks(world, 5));
  check.that(is_same_on_all_ranks(world, true));
  check.that(is_same_on_all_ranks(world, 2.5L));
  check.that(is_same_on_all_ranks(world, std::pair<int, char>(p, 'x')));
  check.that(is_same_on_all_ranks(world, std::optional<int>()));
  for (int odd = 0; odd < p; ++odd) {
    const bool other = me == odd;
    check.equal(is_same_on_all_ranks(world, other ? 1 : 0), p == 1);
    check.equal(is_same_on_all_ranks(world, other), p == 1);
    check.equal(is_same_on_all_ranks(world, std::pair<int, char>(7, other ? 'a' : 'b')), p == 1);
    check.equal(is_same_on_all_ranks(world, other ? std::optional<int>() : std::optional<int>(0)), p == 1);
    check.that(is_same_on_all_ranks(world, with_noise('x', 1.5, me)),
               "what lies between members was compared");
    check.equal(is_same_on_all_ranks(world, with_noise('x', other ? 2.5 : 1.5, me)), p == 1);
    check.that(is_same_on_all_ranks(world, other ? -0.0 : 0.0));
    check.equal(is_same_on_all_ranks(world, std::bit_cast<std::uint64_t>(other ? -0.0 : 0.0)), p == 1);
  }
  check.equal(is_same_on_all_ranks(world, me), p == 1);
  check.that(!is_same_on_all_ranks(world, std::numeric_limits<double>::quiet_NaN()));
  check.that(!is_same_on_all_ranks(world, std::vector<double>{1, std::nan("")}));
}

void ranges(communicator& world) {
  const int p = world.size(), me = world.rank();
  check.that(is_same_on_all_ranks(world, std::vector<int>{}));
  check.that(is_same_on_all_ranks(world, std::string("mode=fast")));
  check.that(is_same_on_all_ranks(world, "literal"));
  const std::vector<int> v{1, 2, 3};
  check.that(is_same_on_all_ranks(world, v));
  check.that(is_same_on_all_ranks(world, std::span<const int>(v)));
  check.that(is_same_on_all_ranks(world, std::vector<holed>{with_noise('a', 1, me), with_noise('b', 2, me)}));
  for (int odd = 0; odd < p; ++odd) {
    const bool other = me == odd;
    for (std::size_t at = 0; at < v.size(); ++at) {
      std::vector<int> w = v;
      if (other) ++w[at];
      check.equal(is_same_on_all_ranks(world, w), p == 1);
    }
    check.equal(is_same_on_all_ranks(world, std::vector<int>(other ? 3 : 2)), p == 1);
    check.equal(is_same_on_all_ranks(world, std::vector<int>(other ? 0 : 1)), p == 1);
    check.equal(is_same_on_all_ranks(world, std::string(other ? "abc" : "abd")), p == 1);
    check.equal(is_same_on_all_ranks(world, std::string(other ? "a" : "ab")), p == 1);
  }
}

// Several pieces, of which the last one is shorter.
void long_ranges(communicator& world) {
  const int p = world.size(), me = world.rank();
  std::vector<std::uint64_t> v(2 * (std::size_t{1} << 17) + 3);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = i * i;
  check.that(is_same_on_all_ranks(world, v));
  for (const std::size_t at : {std::size_t{0}, std::size_t{1} << 17, v.size() - 1}) {
    if (me == p - 1) v[at] ^= 1;
    check.equal(is_same_on_all_ranks(world, v), p == 1);
    if (me == p - 1) v[at] ^= 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("values", [&] { values(world); });
    cases("ranges", [&] { ranges(world); });
    if (world.size() <= 17) cases("long_ranges", [&] { long_ranges(world); });
  });
}

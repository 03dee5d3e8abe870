// SPDX-License-Identifier: Apache-2.0
//
// Tests messages beyond 2 GiB on two ranks: sizes that do not fit an int, in schedules and in the
// engine's own collectives. A layout that repeats a small piece of memory gives a long block with
// small buffers. Needs 6 GiB of memory; returns 77 if there is less.
#include <cstdio>
#include <cstring>
#include <vector>

#include <unistd.h>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

constexpr std::size_t length = (std::size_t{2} << 30) + (std::size_t{64} << 20) + 5;

std::uint8_t at(std::size_t i) { return static_cast<std::uint8_t>(i * 2654435761u >> 24); }

// Every page has different contents, and so have both ends.
void fill(std::vector<std::uint8_t>& v) {
  for (std::size_t i = 0; i < v.size(); i += 4093) v[i] = at(i);
  v.back() = 99;
}
bool is_filled(const std::vector<std::uint8_t>& v) {
  for (std::size_t i = 0; i + 1 < v.size(); i += 4093)
    if (v[i] != at(i)) return false;
  return v.back() == 99;
}

void bcasts(communicator& world) {
  std::vector<std::uint8_t> v(length);
  for (const char* name : {"knomial", "native"}) {
    if (world.is_root(1)) fill(v);
    world.bcast(send_recv_buf(v), send_recv_count(length), root(1), algorithm(name));
    check.that(is_filled(v));
    std::fill(v.begin(), v.end(), std::uint8_t{0});
  }
}

void reduction(communicator& world) {
  std::vector<std::uint8_t> v(length, 1);
  v.back() = 7;
  world.allreduce(send_recv_buf(v), op(std::plus<>{}), algorithm("ring"));
  check.equal(v.front(), std::uint8_t{2});
  check.equal(v[length / 2], std::uint8_t{2});
  check.equal(v[length - 2], std::uint8_t{2});
  check.equal(v.back(), std::uint8_t{14});
}

void layouts(communicator& world) {
  // 2200 times the same mebibyte.
  const layout same = layout::contiguous(std::size_t{1} << 20).resized(0), none = layout::contiguous(1);
  std::vector<std::uint8_t> v(std::size_t{1} << 20);
  if (world.is_root()) fill(v);
  const std::vector<std::size_t> give = world.is_root() ? std::vector<std::size_t>{0, 2200}
                                                        : std::vector<std::size_t>{0, 0},
                                 take = world.is_root() ? std::vector<std::size_t>{0, 0}
                                                        : std::vector<std::size_t>{2200, 0};
  const std::vector<layout> types{same, same};
  std::vector<std::uint8_t> w(v.size());
  world.alltoallw(send_buf(v), send_counts(give), send_types(types), recv_buf(w), recv_counts(take),
                  recv_types(types));
  check.that(world.is_root() || is_filled(w));
}

}  // namespace

int main(int argc, char** argv) {
  const auto memory =
      static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (memory < std::size_t{6} << 30) {
    std::puts("needs 6 GiB of free memory");
    return 77;
  }
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    if (world.size() != 2) throw std::runtime_error("run it on two ranks");
    cases("bcasts", [&] { bcasts(world); });
    cases("reduction", [&] { reduction(world); });
    cases("layouts", [&] { layouts(world); });
  });
}

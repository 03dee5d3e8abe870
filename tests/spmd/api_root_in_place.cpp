// SPDX-License-Identifier: Apache-2.0
//
// Tests rooted collectives whose root is in place in every second call. Nothing else differs
// between the calls, so the ranks select the same algorithm for all of them. The members know a few
// others only, so that no engine serves the calls without a schedule.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/group_kinds.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

constexpr int calls = 6;

int value(int call, int rank) { return 100 * call + rank; }

ints values(int call, int p) {
  ints all;
  for (int r = 0; r < p; ++r) all.push_back(value(call, r));
  return all;
}

ints gather(const communicator& c, int call) {
  const int me = c.rank();
  if (!c.is_root() || call % 2 != 0) return c.gather(send_buf(value(call, me)));
  ints all(static_cast<std::size_t>(c.size()), -1);
  all.front() = value(call, me);
  c.gather(send_recv_buf(all));
  return all;
}

ints gatherv(const communicator& c, int call) {
  const auto p = static_cast<std::size_t>(c.size());
  const int me = c.rank();
  const ints ones(p, 1);
  if (!c.is_root() || call % 2 != 0) return c.gatherv(send_buf(value(call, me)), recv_counts(ones));
  ints all(p, -1);
  all.front() = value(call, me);
  c.gatherv(send_recv_buf(all), recv_counts(ones));
  return all;
}

int reduce(const communicator& c, int call) {
  ints sum{value(call, c.rank())};
  if (c.is_root() && call % 2 == 0) {
    c.reduce(send_recv_buf(sum), op(std::plus<>{}));
    return sum.front();
  }
  const ints got = c.reduce(send_buf(sum), op(std::plus<>{}));
  return c.is_root() ? got.front() : 0;
}

void alternate(const communicator& c) {
  const int p = c.size();
  for (int call = 0; call < calls; ++call) {
    const ints all = gather(c, call), again = gatherv(c, call);
    const int sum = reduce(c, call);
    if (!c.is_root()) continue;
    check.equal(all, values(call, p));
    check.equal(again, values(call, p));
    check.equal(sum, 100 * call * p + p * (p - 1) / 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    for (const std::string_view kind : tests::group_kinds)
      cases(std::string(kind), [&] { alternate(tests::of_kind(world, kind)); });
  });
}

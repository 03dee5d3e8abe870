// SPDX-License-Identifier: Apache-2.0
#include "tutti/double_exscan.hpp"

#include <cstring>
#include <vector>

#include "communicator/communicator_impl.hpp"

namespace tutti::detail {
namespace {

// One direction: the operands on that side combined, and the same with this rank's operand.
struct one_side {
  std::vector<std::byte> inclusive;
  std::byte* exclusive = nullptr;
  bool has_value = false;

  // `received` combines ranks further away. If `left`, they precede those that are known.
  void combine_received(const std::byte* received, bool left, std::size_t n, std::size_t bytes,
                        const operation& op) {
    const auto combine_into = [&](std::byte* near) {
      op.combine(left ? received : near, left ? near : received, near, n, op.state);
    };
    if (has_value)
      combine_into(exclusive);
    else if (bytes != 0)
      std::memcpy(exclusive, received, bytes);
    has_value = true;
    combine_into(inclusive.data());
  }
};

// From each rank to the next, for members that know their neighbors only.
void pass_on(communicator_impl& where, int from, int to, one_side& side, bool left, std::size_t n,
             std::size_t bytes, const operation& op) {
  std::vector<std::byte> received(bytes);
  where.state().run_hops("double_exscan", {-1, nullptr, 0, from, received.data(), bytes});
  if (from >= 0) side.combine_received(received.data(), left, n, bytes, op);
  where.state().run_hops("double_exscan", {to, side.inclusive.data(), bytes, -1, nullptr, 0});
}

}  // namespace

sides_found double_exscan(communicator_impl& where, element type, std::size_t n, const operation& op,
                          const void* own, void* from_left, void* from_right) {
  if (where.state().inter())
    where.state().reject("double_exscan", "communicator", "has two groups", "scan within one group");
  where.state().validate_usable_at_entry("double_exscan");
  const std::size_t bytes = n * type.size;
  const int p = where.size(), me = where.rank();
  const auto* mine = static_cast<const std::byte*>(own);
  one_side left{{mine, mine + bytes}, static_cast<std::byte*>(from_left)};
  one_side right{{mine, mine + bytes}, static_cast<std::byte*>(from_right)};
  std::vector<std::byte> received(bytes), received_from_next(bytes);
  if (!where.state().has_log_hops()) {
    const int prev = me > 0 ? me - 1 : -1, next = me + 1 < p ? me + 1 : -1;
    pass_on(where, prev, next, left, true, n, bytes, op);
    pass_on(where, next, prev, right, false, n, bytes, op);
    return {left.has_value, right.has_value};
  }
  for (int d = 1; d < p; d *= 2) {
    const int prev = me >= d ? me - d : -1, next = p - me > d ? me + d : -1;
    where.state().run_hops("double_exscan",
                           {next, left.inclusive.data(), bytes, prev, received.data(), bytes},
                           {prev, right.inclusive.data(), bytes, next, received_from_next.data(), bytes});
    if (prev >= 0) left.combine_received(received.data(), true, n, bytes, op);
    if (next >= 0) right.combine_received(received_from_next.data(), false, n, bytes, op);
    if (d > p / 2) break;  // the next would not be an int
  }
  return {left.has_value, right.has_value};
}

}  // namespace tutti::detail

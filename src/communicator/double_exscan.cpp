// SPDX-License-Identifier: Apache-2.0
#include "tutti/double_exscan.hpp"

#include <cstring>
#include <vector>

#include "communicator/communicator_impl.hpp"

namespace tutti::detail {
namespace {

// One direction: the operands on that side combined, and the same with this rank's operand.
struct one_side {
  std::vector<std::byte> with_own;
  std::byte* without = nullptr;
  bool any = false;

  // `far` combines ranks further away. If `left`, they come before those that are known.
  void take(const std::byte* far, bool left, std::size_t n, std::size_t bytes, const operation& op) {
    const auto join = [&](std::byte* near) {
      op.combine(left ? far : near, left ? near : far, near, n, op.state);
    };
    if (any)
      join(without);
    else if (bytes != 0)
      std::memcpy(without, far, bytes);
    any = true;
    join(with_own.data());
  }
};

// From each rank to the next, for members that know their neighbours only.
void along(communicator_impl& where, int from, int to, one_side& side, bool left, std::size_t n,
           std::size_t bytes, const operation& op) {
  std::vector<std::byte> far(bytes);
  where.state().run_hops("double_exscan", {-1, nullptr, 0, from, far.data(), bytes});
  if (from >= 0) side.take(far.data(), left, n, bytes, op);
  where.state().run_hops("double_exscan", {to, side.with_own.data(), bytes, -1, nullptr, 0});
}

}  // namespace

sides_found double_exscan(communicator_impl& where, element type, std::size_t n, const operation& op,
                          const void* own, void* from_left, void* from_right) {
  if (where.state().inter())
    where.state().refuse("double_exscan", "communicator", "has two groups", "scan within one group");
  where.state().check_usable("double_exscan");
  const std::size_t bytes = n * type.size;
  const int p = where.size(), me = where.rank();
  const auto* mine = static_cast<const std::byte*>(own);
  one_side left{{mine, mine + bytes}, static_cast<std::byte*>(from_left)};
  one_side right{{mine, mine + bytes}, static_cast<std::byte*>(from_right)};
  std::vector<std::byte> far(bytes), far_behind(bytes);
  if (!where.state().goes_in_hops()) {
    const int before = me > 0 ? me - 1 : -1, behind = me + 1 < p ? me + 1 : -1;
    along(where, before, behind, left, true, n, bytes, op);
    along(where, behind, before, right, false, n, bytes, op);
    return {left.any, right.any};
  }
  for (int d = 1; d < p; d *= 2) {
    const int before = me >= d ? me - d : -1, behind = p - me > d ? me + d : -1;
    where.state().run_hops("double_exscan", {behind, left.with_own.data(), bytes, before, far.data(), bytes},
                           {before, right.with_own.data(), bytes, behind, far_behind.data(), bytes});
    if (before >= 0) left.take(far.data(), true, n, bytes, op);
    if (behind >= 0) right.take(far_behind.data(), false, n, bytes, op);
    if (d > p / 2) break;  // the next would not be an int
  }
  return {left.any, right.any};
}

}  // namespace tutti::detail

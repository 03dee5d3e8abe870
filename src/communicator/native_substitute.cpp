// SPDX-License-Identifier: Apache-2.0
#include "communicator/native_substitute.hpp"

#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

native_substitute::native_substitute(communicator_impl& of) noexcept
    : of_(of), active_(of.state().this_rank().active), next_id_(of.calls().next_id()) {}
std::optional<shm::line_exchange> native_substitute::lines_of(collective what) const {
  return of_.calls().lines_of(what);
}

}  // namespace tutti::detail

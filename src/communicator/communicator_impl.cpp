// SPDX-License-Identifier: Apache-2.0
#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

communicator_impl::communicator_impl(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where,
                                     topology shape, communicator_handle merged)
    : call_site_slot{&shared->current.place},
      calls_(*this, *shared, state_, checked_mode_),
      state_(shared, std::move(where), std::move(shape)),
      checked_mode_(state_, control(merged)),
      groups_(state_, control(merged), checked_mode_, std::move(merged)),
      p2p_(state_) {
  link();
  constexpr std::size_t max_active = 64;  // without another allocation
  if (!shared->by) shared->by = std::make_shared<const selection>();
  if (shared->active.capacity() == 0) {
    shared->active.reserve(max_active);
    shared->spare_memory.reserve(rank_state::max_spare);
  }
  calls_.open();
}

communicator_impl::communicator_impl(const std::shared_ptr<rank_state>& shared, const group& members,
                                     const group_name& name)
    : call_site_slot{&shared->current.place},
      calls_(*this, *shared, state_, checked_mode_),
      state_(shared, members, name),
      checked_mode_(state_, calls_),
      groups_(state_, calls_, checked_mode_, {}),
      p2p_(state_) {
  link();
}

communicator_impl::communicator_impl(const std::shared_ptr<rank_state>& shared, const group& members,
                                     const group_name& name, int first_group, communicator_handle merged)
    : call_site_slot{&shared->current.place},
      calls_(*this, *shared, state_, checked_mode_),
      state_(shared, members, name, topology{false, {}, {}, first_group}),
      checked_mode_(state_, control(merged)),
      groups_(state_, control(merged), checked_mode_, std::move(merged)),
      p2p_(state_) {
  link();
}

void communicator_impl::release() noexcept {
  if (!state_.usable()) return;
  state_.free();
  calls_.forget();
  p2p_.forget();
}

}  // namespace tutti::detail

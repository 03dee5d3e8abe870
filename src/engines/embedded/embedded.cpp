// SPDX-License-Identifier: Apache-2.0
#include "engines/embedded/embedded.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "engines/embedded/embedded_offers.hpp"
#include "engines/embedded/embedded_p2p.hpp"

namespace tutti::detail {

std::unique_ptr<context> embedded_endpoint::open(const group& members, std::uint64_t id, context*) {
  return std::make_unique<embedded_context>(*this, members, id);
}

std::unique_ptr<context> embedded_endpoint::open_locally(const group& members, const group_name& name) {
  return std::make_unique<embedded_context>(*this, members, node_.enter_group(name), name);
}

void embedded_endpoint::abandon(std::exception_ptr what) noexcept {
  try {
    std::rethrow_exception(what);
  } catch (...) {
    job_.fail(rank_, what, failure_of(rank_).text, true);
  }
  job_.wait_for_readers();
}

embedded_context::embedded_context(endpoint& ep, const group& members, std::uint64_t id,
                                   const group_name& name)
    : context(ep, members, id), group_name_(name) {}

// Messages to this rank may arrive before its first receive. So its queue lives as long as the
// communicator.
embedded_context::~embedded_context() {
  shm::node& all = *ep().node();
  all.close_p2p_queue(id(), ep().rank());
  if (direct_collectives_) all.leave_direct_collectives(id(), members(), std::move(direct_collectives_));
  if (id() >= shm::node::first_group) all.leave_group(group_name_, members().size());
}

std::unique_ptr<p2p_transport> embedded_context::open_p2p() {
  return std::make_unique<embedded_p2p_transport>(*this);
}

// Every pair of ranks has channels, so nothing uses these functions.
void embedded_context::isend(int, std::uint32_t, const void*, std::size_t, transfer&) {
  throw std::logic_error("an embedded engine has no messages but its channels");
}
void embedded_context::irecv(int, std::uint32_t, void*, std::size_t, transfer&) {
  throw std::logic_error("an embedded engine has no messages but its channels");
}
bool embedded_context::done(transfer&, const shm::wait_site&) { return true; }
void embedded_context::wait_both(transfer*, transfer*, const shm::wait_site&) {}

native_offer embedded_context::offers(const agreed_signature& s) const noexcept { return embedded_offers(s); }

inline shm::direct_collectives& embedded_context::direct_collectives() {
  if (!direct_collectives_) [[unlikely]]
    direct_collectives_ = ep().node()->direct_collectives_of(id(), members());
  return *direct_collectives_;
}

void embedded_context::native(const call& c, const shm::wait_site& site) {
  shm::direct_collectives::participation::run(direct_collectives(), members().rank(), next_++, c, ep(), site);
}

std::optional<shm::line_exchange> embedded_context::lines() {
  if (!shm::line_exchange::serves(direct_collectives())) return {};
  return shm::line_exchange(direct_collectives(), members().rank(), next_, ep());
}

void embedded_context::native_begin(const call& c, native_state& s) {
  static_assert(sizeof(native_in_progress) <= sizeof(native_state));
  auto* one = new (&s) native_in_progress{{}, &c, next_++, false};
  direct_collectives();
  outstanding_.push_back(one->call_id);
}

// Call n may begin when this rank has finished call n - direct_collectives::outstanding (see
// direct_collectives.hpp).
bool embedded_context::may_begin(std::uint32_t call_id) const noexcept {
  return outstanding_.empty() || static_cast<std::int32_t>(call_id - outstanding_.front()) <
                                     static_cast<std::int32_t>(shm::direct_collectives::outstanding);
}

bool embedded_context::native_progress(native_state& s, bool blocking, const shm::wait_site& site) {
  auto& one = *reinterpret_cast<native_in_progress*>(&s);
  if (!one.started) {
    if (!may_begin(one.call_id)) return false;
    one.participation.begin(*direct_collectives_, members().rank(), one.call_id, *one.what);
    one.started = true;
  }
  if (!one.participation.advance(ep(), blocking, site)) return false;
  outstanding_.erase(std::find(outstanding_.begin(), outstanding_.end(), one.call_id));
  return true;
}

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
#include "engines/embedded/embedded.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "engines/embedded/mail.hpp"
#include "engines/embedded/offers.hpp"

namespace tutti {

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
  job_.leave_in_peace();
}

embedded_context::embedded_context(endpoint& door, const group& members, std::uint64_t id,
                                   const group_name& name)
    : context(door, members, id), name_(name) {}

// Mail to this rank may come before it first asks for some, so its postbox stays as long as the communicator.
embedded_context::~embedded_context() {
  fabric::node& all = *door().node();
  all.close_postbox(id(), door().rank());
  if (team_) all.leave_team(id(), members(), std::move(team_));
  if (id() >= fabric::node::first_group) all.leave_group(name_, members().size());
}

std::unique_ptr<carrier> embedded_context::open_mail() { return std::make_unique<embedded_carrier>(*this); }

// Every pair of ranks has channels, so nothing is ever sent through these.
void embedded_context::isend(int, std::uint32_t, const void*, std::size_t, transfer&) {
  throw std::logic_error("an embedded engine has no messages but its channels");
}
void embedded_context::irecv(int, std::uint32_t, void*, std::size_t, transfer&) {
  throw std::logic_error("an embedded engine has no messages but its channels");
}
bool embedded_context::done(transfer&, const fabric::wait_site&) { return true; }
void embedded_context::wait_both(transfer*, transfer*, const fabric::wait_site&) {}

native_offer embedded_context::offers(const agreed_signature& s) const noexcept { return embedded_offers(s); }

inline fabric::team& embedded_context::team() {
  if (!team_) [[unlikely]]
    team_ = door().node()->team_of(id(), members());
  return *team_;
}

void embedded_context::native(const call& c, const fabric::wait_site& site) {
  fabric::team::visit::make(team(), members().rank(), next_++, c, door(), site);
}

std::optional<fabric::line_exchange> embedded_context::lines() {
  if (!fabric::line_exchange::serves(team())) return {};
  return fabric::line_exchange(team(), members().rank(), next_, door());
}

void embedded_context::native_begin(const call& c, native_state& s) {
  static_assert(sizeof(under_way) <= sizeof(native_state));
  auto* one = new (&s) under_way{{}, &c, next_++, false};
  team();
  unfinished_.push_back(one->number);
}

// Call n may begin once this rank has finished call n - team::outstanding (see team.hpp).
bool embedded_context::may_begin(std::uint32_t number) const noexcept {
  return unfinished_.empty() || static_cast<std::int32_t>(number - unfinished_.front()) <
                                    static_cast<std::int32_t>(fabric::team::outstanding);
}

bool embedded_context::native_go_on(native_state& s, bool blocking, const fabric::wait_site& site) {
  auto& one = *reinterpret_cast<under_way*>(&s);
  if (!one.begun) {
    if (!may_begin(one.number)) return false;
    one.visit.begin(*team_, members().rank(), one.number, *one.what);
    one.begun = true;
  }
  if (!one.visit.go_on(door(), blocking, site)) return false;
  unfinished_.erase(std::find(unfinished_.begin(), unfinished_.end(), one.number));
  return true;
}

}  // namespace tutti

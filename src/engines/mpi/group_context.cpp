// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/group_context.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "engines/mpi/group_mail.hpp"

namespace tutti::mpi {

group_context::group_context(mpi_endpoint& door, group_post& post, const group& members, std::uint64_t id,
                             const group_name& name)
    : context(door, members, id), door_(door), post_(post), name_(name) {
  post_.open(*this);
}

group_context::~group_context() { post_.close(*this); }

std::unique_ptr<carrier> group_context::open_mail() { return std::make_unique<group_carrier>(*this, door_); }

// Behind the handle stands what the endpoint needs of a transfer.
transfer& group_context::moving_of(transfer& t) noexcept {
  static_assert(sizeof(handle) + sizeof(ticket) <= sizeof(transfer) &&
                sizeof(handle) % alignof(transfer) == 0);
  return *reinterpret_cast<transfer*>(t.state + sizeof(handle));
}

void group_context::isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) {
  const head what{name_, bytes, members().rank(), run, 0, 0};
  const bool at_once = post_.send(members().address(to), what, data, false, moving_of(t), "a message");
  new (&t) handle{at_once ? handle::complete : handle::sends, 0, 0};
}

void group_context::irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) {
  auto row = static_cast<std::uint32_t>(
      std::find_if(wants_.begin(), wants_.end(), [](const want& w) { return w.number == 0; }) -
      wants_.begin());
  if (row == wants_.size()) wants_.emplace_back();
  want& w = wants_[row];
  w.number = ++numbers_;
  w.from = from;
  w.run = run;
  w.into = data;
  w.bytes = bytes;
  w.now = want::waits;
  new (&t) handle{handle::receives, row, w.number};
  const auto found = std::find_if(aside_.begin(), aside_.end(), [&](const arrival& a) {
    return a.what.source == from && a.what.number == run;
  });
  if (found == aside_.end()) return;
  const arrival one = std::move(*found);
  aside_.erase(found);
  give(w, one.what, one.contents.get());
}

bool group_context::done(transfer& t, const fabric::wait_site& site) {
  const handle& h = *reinterpret_cast<const handle*>(t.state);
  if (h.kind == handle::complete) return true;
  if (h.kind == handle::sends) {
    post_.poll(site.operation);
    return door_.finished(moving_of(t), site);
  }
  if (h.row >= wants_.size() || wants_[h.row].number != h.number) [[unlikely]]
    door_.throw_abandoned(site);
  if (wants_[h.row].now == want::waits) post_.poll(site.operation);
  want& w = wants_[h.row];
  if (w.now == want::waits) return false;
  if (w.now == want::moves && !door_.finished(w.moving, site)) return false;
  w.number = 0;
  if (w.came != w.bytes) [[unlikely]]
    door_.refuse_length(members().address(w.from), w.bytes, w.came, site);
  return true;
}

// Of receives that fit, the one that was begun first.
group_context::want* group_context::oldest_for(const head& what) noexcept {
  want* oldest = nullptr;
  for (want& w : wants_)
    if (w.number != 0 && w.now == want::waits && w.from == what.source && w.run == what.number &&
        (oldest == nullptr || w.number < oldest->number))
      oldest = &w;
  return oldest;
}

// One of another length is used up, and its receive told.
void group_context::give(want& w, const head& what, const std::byte* contents) {
  const int from = members().address(what.source);
  w.came = what.bytes;
  w.now = want::over;
  if (what.body == 0) {
    if (w.came == w.bytes && w.bytes != 0) std::memcpy(w.into, contents, w.bytes);
  } else if (w.came != w.bytes) {
    post_.take_in(from, what);
  } else {
    w.now = want::moves;
    post_.receive(from, what, w.into, w.moving, "a message");
  }
}

bool group_context::take_at_once(const head& what, const std::byte* contents) {
  if (what.is_mail != 0) return false;
  want* const w = oldest_for(what);
  if (w == nullptr) return false;
  give(*w, what, contents);
  return true;
}

void group_context::take(arrival&& one) {
  if (one.what.is_mail != 0)
    mail_.push_back(std::move(one));
  else
    aside_.push_back(std::move(one));
}

void group_context::forget() noexcept {
  for (want& w : wants_) w.number = 0;
}

}  // namespace tutti::mpi

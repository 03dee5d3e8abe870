// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/group_mail.hpp"

#include <cstring>

namespace tutti::mpi {

group_carrier::~group_carrier() {
  try {
    if (door_.may_talk())
      while (fabric::parcel* one = next("receiving")) drop(*one, false);
  } catch (...) {
    // The job is failing, and ends without it.
  }
  door_.retire_mail(MPI_COMM_NULL, std::move(kept_));
}

bool group_carrier::post(const detail::letter& what, transfer& t) {
  const int to = where_.members().address(what.destination);
  const head first{
      where_.name(), what.bytes, where_.members().rank(), static_cast<std::uint32_t>(what.tag), 0, 1};
  const bool synchronous = what.mode == send_modes::synchronous;
  if (what.mode != send_modes::buffered || what.bytes <= group_post::at_once)
    return where_.post().send(to, first, what.data, synchronous, t, what.operation);
  door_.reap(kept_);
  kept_message& one = kept_.emplace_back();
  try {
    one.data.reset(new std::byte[what.bytes]);
    std::memcpy(one.data.get(), what.data, what.bytes);
    where_.post().send(to, first, one.data.get(), false, one.moving, what.operation);
  } catch (...) {
    kept_.pop_back();
    throw;
  }
  return true;
}

fabric::parcel* group_carrier::next(const char* operation) {
  if (where_.mail().empty()) where_.post().poll(operation);
  if (where_.mail().empty()) return nullptr;
  found_message* const one = &found_.take();
  one->from = std::move(where_.mail().front());
  where_.mail().pop_front();
  one->source = one->from.what.source;
  one->tag = static_cast<int>(one->from.what.number);
  one->bytes = one->from.what.bytes;
  return one;
}

void group_carrier::use_up(found_message& one) noexcept {
  one.from.contents.reset();
  found_.give_back(one);
}

bool group_carrier::open(fabric::parcel& one, void* into, transfer& t, const char* operation) {
  auto& found = static_cast<found_message&>(one);
  const head& what = found.from.what;
  const bool here = what.body == 0;
  if (!here)
    where_.post().receive(where_.members().address(what.source), what, into, t, operation);
  else if (what.bytes != 0)
    std::memcpy(into, found.from.contents.get(), what.bytes);
  use_up(found);
  return here;
}

// Contents that come on a tag of their own are received all the same, since their sender waits for that.
void group_carrier::drop(fabric::parcel& one, bool) noexcept {
  auto& found = static_cast<found_message&>(one);
  const head& what = found.from.what;
  if (what.body != 0 && door_.may_talk()) {
    try {
      kept_message& place = kept_.emplace_back();
      place.data.reset(new std::byte[what.bytes + 1]);
      where_.post().receive(where_.members().address(what.source), what, place.data.get(), place.moving,
                            "receiving");
      door_.reap(kept_);
    } catch (...) {
      // The next wait says what MPI has against it.
    }
  }
  use_up(found);
}

}  // namespace tutti::mpi

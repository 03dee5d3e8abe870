// SPDX-License-Identifier: Apache-2.0
//
// Mail of an engine that has none: what a rank sends to itself.
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "mail/mailbox.hpp"
#include "tutti/core/error.hpp"

namespace tutti {
namespace {

struct own_parcel final : fabric::parcel {
  std::vector<std::byte> copy;
  const std::byte* contents = nullptr;
  bool* done = nullptr;
};

class own_carrier final : public carrier {
 public:
  explicit own_carrier(context& where) : where_(where) {}

  bool post(const detail::letter& what, transfer& t) override {
    const int me = where_.members().rank();
    if (what.destination != me)
      throw engine_error(what.operation, me, "destination",
                         "is rank " + std::to_string(what.destination) + ", but the engine " +
                             std::string(where_.door().engine()) +
                             " brings no messages from one rank to another",
                         "run on another engine");
    auto one = std::make_unique<own_parcel>();
    one->source = me;
    one->tag = what.tag;
    one->bytes = what.bytes;
    const auto* data = static_cast<const std::byte*>(what.data);
    const bool waits =
        what.mode == send_modes::synchronous || (what.bytes > at_once && what.mode != send_modes::buffered);
    if (waits) {
      one->done = new (t.state) bool(false);
      one->contents = data;
    } else {
      one->copy.assign(data, data + what.bytes);
      one->contents = one->copy.data();
    }
    come_.push_back(std::move(one));
    return !waits;
  }
  bool sent(transfer& t, const fabric::wait_site&) override { return *reinterpret_cast<bool*>(t.state); }
  void wait_until_sent(transfer& t, const fabric::wait_site& site) override {
    while (!sent(t, site)) where_.door().pause(site);
  }
  fabric::parcel* next(const char*) override {
    if (come_.empty()) return nullptr;
    fabric::parcel* const one = come_.front().release();
    come_.pop_front();
    return one;
  }
  void wait_for_next(const fabric::wait_site& site) override {
    if (come_.empty()) where_.door().pause(site);
  }
  bool open(fabric::parcel& one, void* into, transfer&, const char*) override {
    const auto& from = static_cast<own_parcel&>(one);
    if (from.bytes != 0) std::memcpy(into, from.contents, from.bytes);
    drop(one, true);
    return true;
  }
  bool opened(transfer&, const fabric::wait_site&) override { return true; }
  void drop(fabric::parcel& one, bool received) noexcept override {
    const std::unique_ptr<own_parcel> last(static_cast<own_parcel*>(&one));
    if (received && last->done != nullptr) *last->done = true;
  }

 private:
  static constexpr std::size_t at_once = 4096;
  context& where_;
  std::deque<std::unique_ptr<own_parcel>> come_;
};

}  // namespace

std::unique_ptr<carrier> mail_to_oneself(context& where) { return std::make_unique<own_carrier>(where); }

}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
//
// The transport for an engine without messages: carries what a rank sends to itself.
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "communicator/p2p/message_queue.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

struct self_message final : shm::unexpected_message {
  std::vector<std::byte> copy;
  const std::byte* contents = nullptr;
  bool* done = nullptr;
};

class self_p2p_transport final : public p2p_transport {
 public:
  explicit self_p2p_transport(context& where) : where_(where) {}

  bool post(const detail::send_args& what, transfer& t) override {
    const int me = where_.members().rank();
    if (what.destination != me)
      throw engine_error(what.operation, me, "destination",
                         "is rank " + std::to_string(what.destination) + ", but the engine " +
                             std::string(where_.ep().engine()) +
                             " sends no messages from one rank to another",
                         "run on another engine");
    auto one = std::make_unique<self_message>();
    one->source = me;
    one->tag = what.tag;
    one->bytes = what.bytes;
    const auto* data = static_cast<const std::byte*>(what.data);
    const bool waits =
        what.mode == send_modes::synchronous || (what.bytes > max_eager && what.mode != send_modes::buffered);
    if (waits) {
      one->done = new (t.state) bool(false);
      one->contents = data;
    } else {
      one->copy.assign(data, data + what.bytes);
      one->contents = one->copy.data();
    }
    arrived_.push_back(std::move(one));
    return !waits;
  }
  bool sent(transfer& t, const shm::wait_site&) override { return *reinterpret_cast<bool*>(t.state); }
  void wait_until_sent(transfer& t, const shm::wait_site& site) override {
    while (!sent(t, site)) where_.ep().pause(site);
  }
  shm::unexpected_message* next(const char*) override {
    if (arrived_.empty()) return nullptr;
    shm::unexpected_message* const one = arrived_.front().release();
    arrived_.pop_front();
    return one;
  }
  void wait_for_next(const shm::wait_site& site) override {
    if (arrived_.empty()) where_.ep().pause(site);
  }
  bool receive_contents(shm::unexpected_message& one, void* into, transfer&, const char*) override {
    const auto& from = static_cast<self_message&>(one);
    if (from.bytes != 0) std::memcpy(into, from.contents, from.bytes);
    drop(one, dropped::received);
    return true;
  }
  bool contents_received(transfer&, const shm::wait_site&) override { return true; }
  void drop(shm::unexpected_message& one, dropped how) noexcept override {
    const std::unique_ptr<self_message> owned(static_cast<self_message*>(&one));
    if (how == dropped::received && owned->done != nullptr) *owned->done = true;
  }

 private:
  static constexpr std::size_t max_eager = 4096;
  context& where_;
  std::deque<std::unique_ptr<self_message>> arrived_;
};

}  // namespace

std::unique_ptr<p2p_transport> make_self_transport(context& where) {
  return std::make_unique<self_p2p_transport>(where);
}

}  // namespace tutti::detail

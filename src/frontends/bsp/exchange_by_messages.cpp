// SPDX-License-Identifier: Apache-2.0
//
// The exchange between processes that cannot read each other's variables. If any process has
// messages outside the sync summary, each process sends a header to each other process. A header
// holds the length of the batch for that process. If the batch is short and processes are few, the
// header also holds the batch. A batch describes all puts and gets to one process. It contains the
// bytes of short puts. Long puts and replies to gets are separate messages, directly between their
// buffers. A put that a summary has delivered may come again as a message. This is correct, because
// the order of overlapping writes is unspecified.
#include <algorithm>
#include <cstring>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "frontends/bsp/exchange.hpp"

namespace tutti::bsp {
namespace {

struct item {
  std::uint64_t bytes, remote_slot, remote_offset;
  std::uint64_t is_get;
};

constexpr std::size_t max_inline_put = 16384;  // bytes of a put that travel in the batch
constexpr std::size_t max_inline_batch = 56;   // bytes of a batch that travel in the header
constexpr int max_inline_processes = 16;       // with more, no batch travels in the header
enum message_tag : int { batch_tag = 1, put_tag = 2, get_reply_tag = 3 };

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }
bool is_inline(const item& i) noexcept { return i.is_get == 0 && i.bytes <= max_inline_put; }

class by_messages final : public exchange {
 public:
  by_messages(detail::communicator_impl& all, const memory_register& memory)
      : all_(all),
        memory_(memory),
        me_(detail::rank_of(all)),
        n_(static_cast<std::size_t>(detail::size_of(all))),
        header_bytes_(sizeof(std::uint64_t) +
                      (detail::size_of(all) <= max_inline_processes ? max_inline_batch : 0)),
        batches_(n_),
        sent_headers_(n_ * header_bytes_),
        received_headers_(n_ * header_bytes_) {}

  std::uint32_t hand_over(outbox& box, std::uint64_t) override {
    return box.empty() ? 0 : summaries::messages;
  }

  void deliver(outbox& box, std::uint64_t, std::uint32_t) override {
    write_batches(box);
    exchange_headers();
    std::string diagnostic;
    for (std::size_t p = 0; p < n_; ++p)
      if (!batches_[p].empty() && batches_[p].size() > header_bytes_ - sizeof(std::uint64_t))
        send(static_cast<int>(p), batch_tag, batches_[p].data(), batches_[p].size());
    for (const message& m : box)
      if (m.kind() == message_kind::put && m.bytes > max_inline_put) send(m.peer, put_tag, m.source, m.bytes);
    for (const message& m : box)
      if (m.kind() == message_kind::get) post_receive(m.peer, get_reply_tag, m.target, m.bytes);
    for (std::size_t p = 0; p < n_; ++p) read_batch(static_cast<int>(p), diagnostic);
    finish();
    if (!diagnostic.empty())
      detail::reject(all_, "sync", "offset", diagnostic,
                     "register more memory on that process, and sync before you use it");
  }

 private:
  struct posted_receive {
    int from;
    int tag;
    std::byte* into;
    std::size_t bytes;
    // Offset in staging_ if the target overlaps another one or is missing; else not_staged.
    std::size_t staged_at;
  };
  static constexpr std::size_t not_staged = ~std::size_t{0};

  void write_batches(outbox& box) {
    for (auto& b : batches_) b.clear();
    for (const message& m : box) {
      const item i{m.bytes, m.remote_slot, m.remote_offset, m.kind() == message_kind::get ? 1u : 0u};
      auto& batch = batches_[static_cast<std::size_t>(m.peer)];
      const std::size_t at = batch.size();
      batch.resize(at + sizeof i + (is_inline(i) ? padded(i.bytes) : 0));
      std::memcpy(batch.data() + at, &i, sizeof i);
      if (is_inline(i) && i.bytes > 0) std::memcpy(batch.data() + at + sizeof i, m.source, i.bytes);
    }
  }

  void exchange_headers() {
    for (std::size_t p = 0; p < n_; ++p) {
      const std::uint64_t bytes = batches_[p].size();
      std::byte* header = sent_headers_.data() + p * header_bytes_;
      std::memcpy(header, &bytes, sizeof bytes);
      if (bytes <= header_bytes_ - sizeof bytes && bytes > 0)
        std::memcpy(header + sizeof bytes, batches_[p].data(), bytes);
    }
    call c;
    c.what = collective::alltoall;
    c.type = {.size = header_bytes_};
    c.count = 1;
    c.input = sent_headers_.data();
    c.output = received_headers_.data();
    detail::run_call(all_, c);
  }

  void read_batch(int from, std::string& diagnostic) {
    const std::byte* header = received_headers_.data() + static_cast<std::size_t>(from) * header_bytes_;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, header, sizeof bytes);
    if (bytes == 0) return;
    const std::byte* at = header + sizeof bytes;
    if (bytes > header_bytes_ - sizeof bytes) {
      batch_.resize(bytes);
      detail::receive(
          all_,
          {.operation = "sync", .source = from, .tag = batch_tag, .into = batch_.data(), .capacity = bytes});
      at = batch_.data();
    }
    for (const std::byte* const end = at + bytes; at != end;) {
      item i;
      std::memcpy(&i, at, sizeof i);
      at += sizeof i;
      message m{};
      m.bytes = i.bytes;
      m.remote_slot = i.remote_slot;
      m.remote_offset = i.remote_offset;
      m.set_origin(from, i.is_get != 0 ? message_kind::get : message_kind::put);
      std::byte* const address = remote_address(memory_, m, me_, diagnostic);
      if (i.is_get != 0) {
        send(from, get_reply_tag, address, address != nullptr ? i.bytes : 0);
      } else if (is_inline(i)) {
        if (address != nullptr && i.bytes > 0) std::memcpy(address, at, i.bytes);
        at += padded(i.bytes);
      } else {
        post_receive(from, put_tag, address, i.bytes);
      }
    }
  }

  void send(int to, message_tag tag, const void* data, std::size_t bytes) {
    pending_.push_back(detail::start_send(
        all_, {.operation = "sync", .destination = to, .tag = tag, .data = data, .bytes = bytes}));
  }
  void post_receive(int from, message_tag tag, std::byte* into, std::size_t bytes) {
    receives_.push_back({from, tag, into, bytes, not_staged});
  }

  // Messages to overlapping targets are received into staging_ and then copied one after the other.
  // Messages without a valid target are received into staging_ too.
  void stage_overlapping_targets() {
    order_.resize(receives_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return receives_[a].into < receives_[b].into; });
    std::size_t bytes = 0;
    const std::byte* written = nullptr;  // end of the targets so far
    for (const std::size_t i : order_) {
      posted_receive& r = receives_[i];
      if (r.into == nullptr || r.into < written) {
        r.staged_at = bytes;
        bytes += padded(r.bytes);
      } else {
        written = r.into + r.bytes;
      }
    }
    if (staging_.size() < bytes) staging_.resize(bytes);
  }

  void finish() {
    stage_overlapping_targets();
    for (const posted_receive& r : receives_)
      pending_.push_back(detail::start_receive(
          all_, {.operation = "sync",
                 .source = r.from,
                 .tag = r.tag,
                 .into = r.staged_at == not_staged ? r.into : staging_.data() + r.staged_at,
                 .capacity = r.bytes}));
    for (auto& pending : pending_) pending->wait();
    pending_.clear();
    for (const posted_receive& r : receives_)
      if (r.staged_at != not_staged && r.into != nullptr)
        std::memcpy(r.into, staging_.data() + r.staged_at, r.bytes);
    receives_.clear();
  }

  detail::communicator_impl& all_;
  const memory_register& memory_;
  int me_;
  std::size_t n_, header_bytes_;
  std::vector<std::vector<std::byte>> batches_;
  std::vector<std::byte> sent_headers_, received_headers_, batch_, staging_;
  std::vector<detail::pending_call> pending_;
  std::vector<posted_receive> receives_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::unique_ptr<exchange> exchange_by_messages(detail::communicator_impl& all,
                                               const memory_register& memory) {
  return std::make_unique<by_messages>(all, memory);
}

}  // namespace tutti::bsp

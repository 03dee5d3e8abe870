// SPDX-License-Identifier: Apache-2.0
//
// The exchange between processes that share no memory. After the meeting, if any process has
// messages, each process sends each other one note. A note holds the length of its batch for that
// process. If the batch is short and processes are few, it also holds the batch. A batch describes
// all puts and gets to one process. It contains the bytes of short puts. Long puts and answers to
// gets travel alone, directly between their buffers.
#include <algorithm>
#include <cstring>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "frontends/bsp/exchange.hpp"

namespace tutti::bsp {
namespace {

struct item {
  std::uint64_t bytes, far_slot, far_offset;
  std::uint64_t is_get;
};

constexpr std::size_t max_inside = 16384;  // bytes of a put that travel in the batch
constexpr std::size_t max_noted = 56;      // bytes of a batch that travel in the note
constexpr int max_with_notes = 16;         // processes
enum tag : int { of_batch = 1, of_put = 2, of_answer = 3 };

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }
bool is_inside(const item& i) noexcept { return i.is_get == 0 && i.bytes <= max_inside; }

class by_messages final : public exchange {
 public:
  by_messages(detail::communicator_impl& all, const memory_register& memory)
      : all_(all),
        memory_(memory),
        me_(detail::rank_of(all)),
        n_(static_cast<std::size_t>(detail::size_of(all))),
        note_bytes_(sizeof(std::uint64_t) + (detail::size_of(all) <= max_with_notes ? max_noted : 0)),
        batches_(n_),
        given_(n_ * note_bytes_),
        taken_(n_ * note_bytes_) {}

  std::uint32_t hand_over(outbox& box, std::uint64_t) override {
    return box.empty() ? 0 : summaries::messages;
  }

  void take(outbox& box, std::uint64_t, std::uint32_t) override {
    write_batches(box);
    exchange_notes();
    std::string diagnostic;
    for (std::size_t p = 0; p < n_; ++p)
      if (!batches_[p].empty() && batches_[p].size() > note_bytes_ - sizeof(std::uint64_t))
        send(static_cast<int>(p), of_batch, batches_[p].data(), batches_[p].size());
    for (const message& m : box)
      if (m.way() == direction::put && m.bytes > max_inside) send(m.peer, of_put, m.reads, m.bytes);
    for (const message& m : box)
      if (m.way() == direction::get) expect(m.peer, of_answer, m.writes, m.bytes);
    for (std::size_t p = 0; p < n_; ++p) read_batch(static_cast<int>(p), diagnostic);
    finish();
    if (!diagnostic.empty())
      detail::refuse(all_, "sync", "offset", diagnostic,
                     "register more memory on that process, and sync before you use it");
  }

 private:
  struct arrival {
    int from;
    int with;  // the tag
    std::byte* into;
    std::size_t bytes;
    // Offset in own_batch_ if the target overlaps others or is missing; else none.
    std::size_t aside;
  };
  static constexpr std::size_t none = ~std::size_t{0};

  void write_batches(outbox& box) {
    for (auto& b : batches_) b.clear();
    for (const message& m : box) {
      const item i{m.bytes, m.far_slot, m.far_offset, m.way() == direction::get ? 1u : 0u};
      auto& batch = batches_[static_cast<std::size_t>(m.peer)];
      const std::size_t at = batch.size();
      batch.resize(at + sizeof i + (is_inside(i) ? padded(i.bytes) : 0));
      std::memcpy(batch.data() + at, &i, sizeof i);
      if (is_inside(i) && i.bytes > 0) std::memcpy(batch.data() + at + sizeof i, m.reads, i.bytes);
    }
  }

  void exchange_notes() {
    for (std::size_t p = 0; p < n_; ++p) {
      const std::uint64_t bytes = batches_[p].size();
      std::byte* note = given_.data() + p * note_bytes_;
      std::memcpy(note, &bytes, sizeof bytes);
      if (bytes <= note_bytes_ - sizeof bytes && bytes > 0)
        std::memcpy(note + sizeof bytes, batches_[p].data(), bytes);
    }
    call c;
    c.what = collective::alltoall;
    c.type = {.size = note_bytes_};
    c.count = 1;
    c.input = given_.data();
    c.output = taken_.data();
    detail::run_call(all_, c);
  }

  void read_batch(int from, std::string& diagnostic) {
    const std::byte* note = taken_.data() + static_cast<std::size_t>(from) * note_bytes_;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, note, sizeof bytes);
    if (bytes == 0) return;
    const std::byte* at = note + sizeof bytes;
    if (bytes > note_bytes_ - sizeof bytes) {
      batch_.resize(bytes);
      detail::receive(
          all_, {.operation = "sync", .source = from, .tag = of_batch, .into = batch_.data(), .most = bytes});
      at = batch_.data();
    }
    for (const std::byte* const end = at + bytes; at != end;) {
      item i;
      std::memcpy(&i, at, sizeof i);
      at += sizeof i;
      message m{};
      m.bytes = i.bytes;
      m.far_slot = i.far_slot;
      m.far_offset = i.far_offset;
      m.come_from(from, i.is_get != 0 ? direction::get : direction::put);
      std::byte* const place = far_place(memory_, m, me_, diagnostic);
      if (i.is_get != 0) {
        send(from, of_answer, place, place != nullptr ? i.bytes : 0);
      } else if (is_inside(i)) {
        if (place != nullptr && i.bytes > 0) std::memcpy(place, at, i.bytes);
        at += padded(i.bytes);
      } else {
        expect(from, of_put, place, i.bytes);
      }
    }
  }

  void send(int to, tag with, const void* data, std::size_t bytes) {
    under_way_.push_back(detail::start_send(
        all_, {.operation = "sync", .destination = to, .tag = with, .data = data, .bytes = bytes}));
  }
  void expect(int from, tag with, std::byte* into, std::size_t bytes) {
    arrivals_.push_back({from, with, into, bytes, none});
  }

  // Messages to overlapping targets are received into own_batch_ and then written one after the
  // other. So are messages without a valid target, which must be received too.
  void set_aside_what_overlaps() {
    order_.resize(arrivals_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return arrivals_[a].into < arrivals_[b].into; });
    std::size_t bytes = 0;
    const std::byte* written = nullptr;  // end of the targets so far
    for (const std::size_t i : order_) {
      arrival& a = arrivals_[i];
      if (a.into == nullptr || a.into < written) {
        a.aside = bytes;
        bytes += padded(a.bytes);
      } else {
        written = a.into + a.bytes;
      }
    }
    if (own_batch_.size() < bytes) own_batch_.resize(bytes);
  }

  void finish() {
    set_aside_what_overlaps();
    for (const arrival& a : arrivals_)
      under_way_.push_back(
          detail::start_receive(all_, {.operation = "sync",
                                       .source = a.from,
                                       .tag = a.with,
                                       .into = a.aside == none ? a.into : own_batch_.data() + a.aside,
                                       .most = a.bytes}));
    for (auto& one : under_way_) one->wait();
    under_way_.clear();
    for (const arrival& a : arrivals_)
      if (a.aside != none && a.into != nullptr) std::memcpy(a.into, own_batch_.data() + a.aside, a.bytes);
    arrivals_.clear();
  }

  detail::communicator_impl& all_;
  const memory_register& memory_;
  int me_;
  std::size_t n_, note_bytes_;
  std::vector<std::vector<std::byte>> batches_;
  std::vector<std::byte> given_, taken_, batch_, own_batch_;
  std::vector<detail::pending_call> under_way_;
  std::vector<arrival> arrivals_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::unique_ptr<exchange> exchange_by_messages(detail::communicator_impl& all,
                                               const memory_register& memory) {
  return std::make_unique<by_messages>(all, memory);
}

}  // namespace tutti::bsp

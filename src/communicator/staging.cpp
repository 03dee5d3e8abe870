// SPDX-License-Identifier: Apache-2.0
#include "tutti/detail/staging.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "communicator/communicator_state.hpp"
#include "communicator/peer_rejections.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::detail {

// --- one side

staging::side::~side() {
  if (memory_ != nullptr) ::operator delete (memory_, std::align_val_t{align_});
}

void staging::side::resize(std::size_t elements) {
  if (packs_ && elements > capacity_) {
    auto* more = static_cast<std::byte*>(::operator new (elements* element_bytes_, std::align_val_t{align_}));
    if (memory_ != nullptr) ::operator delete (memory_, std::align_val_t{align_});
    memory_ = more;
    capacity_ = elements;
  }
  size_ = elements;
}

void staging::side::pack(const std::vector<block>& blocks) const noexcept {
  std::byte* to = memory_;
  for (const block& b : blocks) {
    item_->pack(items_ + b.at * item_->extent(), b.count, to);
    to += b.count * item_->size();
  }
}

void staging::side::unpack() const noexcept {
  const std::byte* from = memory_;
  for (const block& b : written_) {
    item_->unpack(from, b.count, items_ + b.at * item_->extent());
    from += b.count * item_->size();
  }
}

void staging::open(side& s, parameter buffer, parameter type, const layout& item, const void* items,
                   std::size_t bytes) {
  s.buffer_ = buffer;
  s.type_ = type;
  s.item_ = &item;
  // Only a side that is received into is written.
  s.items_ = static_cast<std::byte*>(const_cast<void*>(items));
  s.item_bytes_ = bytes;
  s.lowest_ = item.lowest();
  s.highest_ = item.highest();
}

void staging::set_element_size(caller where, std::size_t size, std::size_t align, bool whole_items) {
  element_bytes_ = size;
  for (side* s : {&in, &out}) {
    if (s->item_ == nullptr || s->item_->size() % size == 0) continue;
    if (whole_items)
      record_fault([&] {
        reject_call(
            where, s->type_,
            "an item of " + std::to_string(s->item_->size()) +
                " bytes is not a whole number of elements of " + std::to_string(size),
            "pass a layout of whole elements, or one layout for each buffer if the call has no operator");
      });
    else
      element_bytes_ = 1, elements_are_bytes_ = true;
  }
  for (side* s : {&in, &out}) {
    if (s->item_ == nullptr) continue;
    s->element_bytes_ = element_bytes_;
    s->align_ = std::max(align, alignof(std::max_align_t));
    s->elements_per_item_ = s->item_->size() / element_bytes_;
    const bool aligned = element_bytes_ == 1 || reinterpret_cast<std::uintptr_t>(s->items_) % align == 0;
    s->packs_ = !s->item_->is_contiguous() || !aligned;
  }
}

// --- faults

// The first one is kept.
template <class Validate>
void staging::record_fault(Validate&& validate) {
  if (fault_) return;
  try {
    validate();
  } catch (...) {
    fault_ = std::current_exception();
  }
}

void staging::rethrow_fault() const {
  if (fault_) std::rethrow_exception(fault_);
}

// Throws if some of these items lie outside of the container.
void staging::validate_reach(caller where, parameter name, const side& s, const block& b) {
  if (b.count == 0 || s.item_->size() == 0) return;
  std::size_t last = 0, items = 0;
  const bool far = __builtin_add_overflow(b.at, b.count - 1, &items) ||
                   __builtin_mul_overflow(items, s.item_->extent(), &last) ||
                   last > static_cast<std::size_t>(PTRDIFF_MAX) / 2;
  const std::ptrdiff_t begin = far ? 0 : static_cast<std::ptrdiff_t>(b.at * s.item_->extent()) + s.lowest_;
  if (begin < 0)
    reject_call(where, s.type_, "an item begins " + std::to_string(-begin) + " bytes before its buffer",
                "pass displacements that leave space for it");
  const std::ptrdiff_t end = far ? 0 : static_cast<std::ptrdiff_t>(last) + s.highest_;
  if (!far && end <= static_cast<std::ptrdiff_t>(s.item_bytes_)) return;
  std::string problem = std::to_string(b.count) + " items";
  if (b.at != 0) problem += " from index " + std::to_string(b.at) + " on";
  problem +=
      far ? " reach beyond the address space"
          : " reach to byte " + std::to_string(end) + " of a buffer of " + std::to_string(s.item_bytes_);
  reject_call(where, name, problem, "pass fewer items or a larger buffer");
}

void staging::disable_copies() noexcept {
  for (side* s : {&in, &out}) {
    if (fault_) s->read_.clear();
    s->written_.clear();
  }
  preserves_received_ = false;
}

// --- what is sent

void staging::set_send_length(caller where, parameter name, long long elements, std::size_t blocks) {
  if (elements < 0) return;
  record_fault([&] {
    std::size_t all = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(elements), blocks, &all))
      reject_call(where, name, "exceeds the address space", "make it smaller");
    const block run{0, items(where, name, all, in)};
    validate_reach(where, name, in, run);
    in.read_ = {run};
    in.resize(all);
  });
}

void staging::set_send_blocks(const collective_caller& where, parameter counts_name,
                              const counts_view& counts, parameter displs_name, const counts_view* displs,
                              std::vector<std::size_t>& to, std::vector<std::size_t>& to_displs) {
  scale(where, counts_name, counts, in, to);
  if (displs != nullptr) scale(where, displs_name, *displs, in, to_displs);
  // The frame will reject these.
  if (to.size() != static_cast<std::size_t>(where.blocks(counts_name)) ||
      (displs != nullptr && displs->size() != counts.size()))
    return;
  record_fault([&] {
    std::size_t first = 0, packed = 0, end = 0;  // in items; in elements
    for (std::size_t i = 0; i < to.size(); ++i) {
      const block b{displs != nullptr ? (*displs)[i] : first, counts[i]};
      validate_reach(where, counts_name, in, b);
      in.read_.push_back(b);
      first += b.count;
      const std::size_t at = in.packs_ || displs == nullptr ? packed : to_displs[i];
      if (displs != nullptr) to_displs[i] = at;
      if (b.count != 0) end = std::max(end, at + to[i]);
      packed += to[i];
    }
    in.resize(end);
  });
}

// Also after a fault, since the frame must know what the other ranks expect.
long long staging::scaled(caller where, parameter name, long long number, const side& s) {
  long long elements = -1;
  if (number < 0) return number;
  if (!__builtin_mul_overflow(number, s.elements_per_item_, &elements)) return elements;
  record_fault([&] {
    reject_call(where, name, "exceeds the address space: " + std::to_string(number), "make it smaller");
  });
  return -1;
}

void staging::scale(const collective_caller& where, parameter name, const counts_view& numbers, const side& s,
                    std::vector<std::size_t>& to) {
  to.clear();
  if (!numbers.given()) return;
  const auto wrong = [&](std::size_t i, const char* problem, const char* remedy) {
    record_fault(
        [&] { reject_call(where, name, "the entry of rank " + std::to_string(i) + problem, remedy); });
    to.clear();  // which the frame rejects: there are not enough
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t elements = 0;
    if (numbers.negative(i)) return wrong(i, " is negative", "entries are 0 or more");
    if (__builtin_mul_overflow(numbers[i], s.elements_per_item_, &elements))
      return wrong(i, " exceeds the address space", "make it smaller");
    to.push_back(elements);
  }
}

// --- what is received

std::size_t staging::items(caller where, parameter name, std::size_t elements, const side& s) const {
  if (s.elements_per_item_ == 0 ? elements != 0 : elements % s.elements_per_item_ != 0)
    reject_call(where, name,
                std::to_string(elements * element_bytes_) + " bytes are not a whole number of items of " +
                    std::to_string(s.elements_per_item_ * element_bytes_),
                "pass layouts of matching sizes on sender and receiver");
  return s.elements_per_item_ == 0 ? 0 : elements / s.elements_per_item_;
}

void staging::set_receive_length(caller where, side& s, std::size_t elements) {
  const block run{0, items(where, s.type_, elements, s)};
  validate_reach(where, s.buffer_, s, run);
  s.written_ = {run};
}

void staging::arrived(side& s, std::size_t bytes) noexcept {
  if (!s.written_.empty() && s.elements_per_item_ != 0)
    s.written_[0].count = bytes / (s.elements_per_item_ * s.element_bytes_);
}

namespace {

// Throws if data of two ranks would be received into the same items.
void reject_overlap(const collective_caller& where, const std::vector<staging::block>& blocks) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].count != 0) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return blocks[a].at < blocks[b].at; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const staging::block &a = blocks[order[i - 1]], &b = blocks[order[i]];
    if (a.at + a.count > b.at)
      reject_call(where, parameter::recv_displs,
                  "places block " + std::to_string(order[i]) + " over block " + std::to_string(order[i - 1]),
                  "pass displacements at which received blocks do not overlap");
  }
}

}  // namespace

counts_view staging::set_receive_blocks(const collective_caller& where, side& s, const counts_view& elements,
                                        const counts_view* displs) {
  const std::size_t n = elements.size();
  if (displs != nullptr && displs->size() != n)
    reject_call(where, parameter::recv_displs,
                "holds " + std::to_string(displs->size()) + " entries for " + std::to_string(n) + " blocks",
                "pass one for each of them");
  s.written_.clear();
  displs_.clear();
  std::size_t packed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (displs != nullptr && displs->negative(i))
      reject_call(where, parameter::recv_displs, "the entry of rank " + std::to_string(i) + " is negative",
                  "entries are 0 or more");
    block b{0, items(where, s.type_, elements[i], s)};
    b.at = displs != nullptr ? (*displs)[i] : packed;
    packed += b.count;
    validate_reach(where, s.buffer_, s, b);
    s.written_.push_back(b);
    displs_.push_back(b.count == 0 ? 0 : b.at * s.elements_per_item_);
  }
  reject_overlap(where, s.written_);
  return {displs_.data(), n};
}

// --- around the run

void staging::pack() const noexcept {
  if (in.packs_) in.pack(in.read_);
  if (preserves_received_ && out.packs_) out.pack(out.written_);
}

void staging::unpack() const noexcept {
  if (in.packs_) in.unpack();
  if (out.packs_) out.unpack();
}

namespace {

class staged_call final : public pending {
 public:
  staged_call(staging& stage, pending_call inner, bool started) noexcept
      : stage_(stage), inner_(std::move(inner)), under_way_(started) {
    slot = inner_->slot;
  }

  void start() override {
    // Nothing may be packed over what a run sends or has received. Until the program has waited for
    // the run, the start is rejected below.
    if (!under_way_) stage_.pack();
    inner_->start();
    under_way_ = true;
  }
  bool test() override {
    const bool over = unless_failed([&] { return inner_->test(); });
    if (over) finish();
    return over;
  }
  void wait() override {
    unless_failed([&] { return inner_->wait(), true; });
    finish();
  }
  bool test_at_entry() override {
    const bool over = unless_failed([&] { return inner_->test_at_entry(); });
    if (over) finish();
    return over;
  }
  void wait_at_entry() override {
    unless_failed([&] { return inner_->wait_at_entry(), true; });
    finish();
  }
  bool dismiss() noexcept override {
    if (std::uncaught_exceptions() == 0) {
      try {
        wait();
      } catch (...) {
        // The job is failing. An explicit wait reports it.
      }
    }
    const bool is_over = inner_.reset();
    delete this;
    return is_over;
  }
  const envelope* found() const noexcept override { return inner_->found(); }

 private:
  ~staged_call() = default;
  // A run that failed has nothing to unpack, then or later.
  template <class Step>
  bool unless_failed(const Step& step) {
    try {
      return step();
    } catch (const rejection_due&) {
      throw;
    } catch (const foreign_thread_error&) {
      throw;  // the run goes on
    } catch (...) {
      under_way_ = false;
      throw;
    }
  }
  void finish() noexcept {
    if (!under_way_) return;
    under_way_ = false;
    if (const envelope* received = inner_->found()) staging::arrived(stage_.out, received->bytes);
    stage_.unpack();
  }

  staging& stage_;
  pending_call inner_;
  bool under_way_;
};

}  // namespace

pending_call staging::wrap(pending_call inner, bool started) {
  if (!in.packs_ && !out.packs_) return inner;
  return pending_call(new staged_call(*this, std::move(inner), started));
}

}  // namespace tutti::detail

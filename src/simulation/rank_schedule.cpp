// SPDX-License-Identifier: Apache-2.0
#include "simulation/rank_schedule.hpp"

#include <algorithm>

namespace tutti::simulation {
namespace {

// Calls of a schedule that its author did not intend: a fault of the algorithm, which `tutti check`
// reports in full.
[[noreturn]] void reject(const char* what) {
  throw not_simulated(std::string("its schedule ") + what + " (tutti check proves it)");
}

}  // namespace

std::size_t block_lengths::sum(std::size_t first, std::size_t blocks) const noexcept {
  if (all.empty()) return each * blocks;
  std::size_t sum = 0;
  for (std::size_t i = first; i < std::min(first + blocks, all.size()); ++i) sum += all[i];
  return sum;
}

rank_schedule::rank_schedule(schedule&& s, const call_lengths& lengths) : lengths_(lengths) {
  bool loops = false;
  for (const item& i : s.items) {
    if (i.kind == item_kind::native) throw not_simulated("it calls the engine's own collective");
    loops = loops || i.kind == item_kind::loop;
  }
  written_ = std::make_unique<schedule>(std::move(s));
  words_.assign(static_cast<std::size_t>(std::max(0, written_->words)), 0);
  if (!loops && written_->words == 0) compact();
}

void rank_schedule::append(const planned_round& r, const local_work& after) {
  append(r.before);
  const auto first = static_cast<std::uint32_t>(transfers_.size());
  for (const planned_transfer& t : r.transfers) transfers_.push_back({t.bytes, t.peer, t.kind});
  rounds_.push_back(
      {first, static_cast<std::uint32_t>(r.sends), static_cast<std::uint32_t>(r.transfers.size()), after});
}

void rank_schedule::compact() {
  planned_round r;
  while (open_written(r)) append(r, close_written());
  append(r.before);
  rounds_.shrink_to_fit();
  transfers_.shrink_to_fit();
  written_.reset();
  pc_ = 0;
}

void rank_schedule::rewind() noexcept {
  pc_ = 0;
  depth_ = 0;
  std::fill(words_.begin(), words_.end(), 0);
}

std::size_t rank_schedule::memory() const noexcept {
  return sizeof *this + rounds_.capacity() * sizeof(compact_round) +
         transfers_.capacity() * sizeof(compact_transfer) + words_.capacity() * sizeof(std::uint64_t) +
         (written_ ? written_->memory() : 0);
}

std::size_t rank_schedule::longest_round() const noexcept {
  std::size_t longest = 0;
  for (const compact_round& r : rounds_) longest = std::max<std::size_t>(longest, r.count);
  if (written_)
    for (const item& i : written_->items)
      if (i.kind == item_kind::round) longest = std::max<std::size_t>(longest, i.sends + i.recvs);
  return longest;
}

std::uint64_t rank_schedule::count_messages() {
  std::uint64_t messages = 0;
  rewind();
  for (planned_round r; open(r); close()) messages += r.sends;
  rewind();
  return messages;
}

bool rank_schedule::open(planned_round& r) {
  if (written_) return open_written(r);
  r.before = {};
  r.transfers.clear();
  while (pc_ < rounds_.size() && rounds_[pc_].count == 0) r.before += rounds_[pc_++].work;
  if (pc_ == rounds_.size()) return false;
  const compact_round& c = rounds_[pc_];
  r.sends = c.sends;
  for (std::uint32_t i = c.first; i < c.first + c.count; ++i)
    r.transfers.push_back({transfers_[i].bytes, transfers_[i].peer, transfers_[i].kind});
  return true;
}

local_work rank_schedule::close() { return written_ ? close_written() : rounds_[pc_++].work; }

const item* rank_schedule::next_item() {
  const auto& items = written_->items;
  while (pc_ < items.size()) {
    const item& i = items[pc_];
    switch (i.kind) {
      case item_kind::round:
        ++pc_;
        return &i;
      case item_kind::loop: {
        const std::int32_t n = trips(i.trips);
        if (n <= 0) {
          pc_ = i.first + 1;
          break;
        }
        if (depth_ == 2) reject("nests loops three deep");
        loops_[depth_++] = {pc_, 0, n};
        ++pc_;
        break;
      }
      case item_kind::end_loop: {
        loop_state& l = loops_[depth_ - 1];
        if (++l.i < l.n) {
          pc_ = l.head + 1;
        } else {
          --depth_;
          ++pc_;
        }
        break;
      }
      case item_kind::native:
        ++pc_;  // the constructor rejects it
        break;
    }
  }
  return nullptr;
}

bool rank_schedule::open_written(planned_round& r) {
  r.before = {};
  while ((current_ = next_item()) != nullptr) {
    r.transfers.clear();
    r.sends = 0;
    if (current_->sends + current_->recvs != 0) plan_transfers(r);
    if (!r.transfers.empty()) return true;
    r.before += close_written();
  }
  return false;
}

void rank_schedule::plan_transfers(planned_round& r) const {
  const step* steps = written_->steps.data() + current_->first;
  for (std::uint32_t n = 0; n < current_->sends + current_->recvs; ++n) {
    const step& s = steps[n];
    planned_transfer t;
    t.kind = s.kind;
    t.peer = static_cast<std::int32_t>(resolve(s.peer));
    if (s.kind != step_kind::signal && s.kind != step_kind::await_signal) {
      const bool receives = s.kind == step_kind::recv || s.kind == step_kind::recv_reduce;
      const place& p = receives ? s.target : s.source;
      const extent e = locate(p);
      if (!e.exists) continue;
      t.carries_words = p.where == buffer::words;
      t.first_word = static_cast<std::uint32_t>(e.first);
      t.bytes = e.count * (t.carries_words ? sizeof(std::uint64_t) : lengths_.element_bytes);
      if (t.carries_words && static_cast<std::size_t>(e.first) + e.count > words_.size())
        reject("names a word that it lacks");
    }
    r.transfers.push_back(t);
    if (n < current_->sends) ++r.sends;
  }
}

local_work rank_schedule::close_written() {
  local_work all;
  const step* steps = written_->steps.data() + current_->first + current_->sends + current_->recvs;
  for (std::uint32_t i = 0; i < current_->locals; ++i) all += local(steps[i]);
  return all;
}

local_work rank_schedule::local(const step& s) {
  const auto word = [&](const place& p) -> std::uint64_t& {
    const extent e = locate(p);
    if (p.where != buffer::words || static_cast<std::size_t>(e.first) >= words_.size())
      reject("names a word that it lacks");
    return words_[static_cast<std::size_t>(e.first)];
  };
  switch (s.kind) {
    case step_kind::reserve:
      return {};
    case step_kind::measure:
      word(s.target) = locate(s.source).count;
      return {};
    case step_kind::maximum:
      word(s.target) = std::max(word(s.source), word(s.other));
      return {};
    default:
      break;
  }
  const extent from = locate(s.source), to = locate(s.target);
  if (!from.exists || !to.exists) return {};
  if (s.source.where == buffer::words) {  // words are copied within the run
    for (std::size_t i = 0; i < from.count; ++i)
      words_.at(static_cast<std::size_t>(to.first) + i) = words_.at(static_cast<std::size_t>(from.first) + i);
    return {};
  }
  const std::uint64_t bytes = (from.padded && !to.padded ? to.count : from.count) * lengths_.element_bytes;
  if (s.kind != step_kind::copy) return {0, bytes};
  const auto memory = [&](buffer b) { return lengths_.aliased && b == buffer::input ? buffer::output : b; };
  const bool same = memory(s.source.where) == memory(s.target.where) && s.source.how == s.target.how &&
                    from.first == to.first && from.segment == to.segment && !s.source.packed &&
                    !s.target.packed;
  return {same ? 0 : bytes, 0};
}

std::int64_t rank_schedule::resolve(const index& i) const noexcept {
  std::int64_t value = i.base;
  if (depth_ > 0) {
    value += static_cast<std::int64_t>(i.inner) * loops_[depth_ - 1].i;
    if (depth_ > 1) value += static_cast<std::int64_t>(i.outer) * loops_[0].i;
  }
  if (i.modulus > 0) {
    value %= i.modulus;
    if (value < 0) value += i.modulus;
  }
  return value;
}

std::size_t rank_schedule::segment_elements() const noexcept {
  return std::max<std::size_t>(written_->segment_bytes / lengths_.element_bytes, 1);
}

std::int32_t rank_schedule::trips(const trip_count& t) const {
  if (t.per_segment == 0) return t.fixed;
  std::size_t longest = lengths_.count;
  if (t.per_segment == 2) {
    const auto parts = static_cast<std::size_t>(std::max(1, written_->parts));
    longest = (lengths_.count + parts - 1) / parts;
  }
  const std::size_t each = segment_elements();
  const std::size_t segments = (longest + each - 1) / each;
  constexpr std::size_t max_segments = std::size_t{1} << 30;
  if (segments > max_segments)
    throw not_simulated("a block has " + std::to_string(segments) +
                        " segments; pass fewer bytes or longer segments");
  return t.fixed + static_cast<std::int32_t>(segments);
}

std::size_t rank_schedule::sum_of_words(std::size_t first, std::size_t blocks) const {
  if (first + blocks > words_.size()) reject("names a word that it lacks");
  std::size_t sum = 0;
  for (std::size_t i = first; i < first + blocks; ++i) sum += words_[i];
  return sum;
}

std::size_t rank_schedule::blocks_of(const place& p, std::size_t first) const {
  const auto blocks = static_cast<std::size_t>(std::max(0, p.blocks));
  switch (p.how) {
    case partition::uniform:
      return blocks * (p.where == buffer::words ? 1 : lengths_.count);
    case partition::split: {
      const auto parts = static_cast<std::size_t>(std::max(1, written_->parts));
      const std::size_t quotient = lengths_.count / parts, rest = lengths_.count % parts;
      const auto begin = [&](std::size_t i) { return i * quotient + std::min(i, rest); };
      return begin(first + blocks) - begin(first);
    }
    case partition::input_counts:
      return lengths_.input.sum(first, blocks);
    case partition::output_counts:
      return lengths_.output.sum(first, blocks);
    case partition::dense:
    case partition::spaced:
      return sum_of_words(first, blocks);
    case partition::padded:
      return blocks * sum_of_words(static_cast<std::size_t>(std::max(0, written_->width)), 1);
  }
  return 0;
}

rank_schedule::extent rank_schedule::locate(const place& p) const {
  extent e;
  e.exists = true;
  e.padded = p.how == partition::padded;
  e.first = resolve(p.first);
  if (p.permuted && written_->permutation != nullptr)
    e.first = written_->permutation(static_cast<std::int32_t>(e.first), written_->ranks);
  if (e.first < 0) reject("names a block before the first one");
  e.count = blocks_of(p, static_cast<std::size_t>(e.first));
  if (!p.segmented) return e;
  e.segment = resolve(p.segment);
  if (p.pieces > 0) {
    e.exists = e.segment >= 0 && e.segment < p.pieces;
    if (!e.exists) return e;
    const auto n = static_cast<std::size_t>(p.pieces), i = static_cast<std::size_t>(e.segment);
    e.count = e.count / n + (i < e.count % n ? 1 : 0);
    return e;
  }
  const std::size_t each = segment_elements();
  const std::size_t from = e.segment < 0 ? e.count : static_cast<std::size_t>(e.segment) * each;
  e.exists = from < e.count;
  if (e.exists) e.count = std::min(each, e.count - from);
  return e;
}

}  // namespace tutti::simulation

// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/process_messages.hpp"

#include <algorithm>
#include <utility>

namespace tutti::shm {

template class process_sender<process_memory>;
template class process_receiver<process_memory>;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t round_up(std::size_t bytes) noexcept { return (bytes + page - 1) / page * page; }

}  // namespace

process_messages::layout process_messages::layout::of(int ranks) noexcept {
  // 64 cells of 8 KiB serve eight full channels. From 33 ranks on, all cells together take 16 MiB,
  // but each rank has at least 8.
  constexpr std::size_t cell_bytes = 8192, all_cells = (std::size_t{16} << 20) / cell_bytes;
  const auto share = static_cast<std::uint32_t>(all_cells / static_cast<std::size_t>(std::max(ranks, 1)));
  return {ranks, std::clamp(share, 8u, 64u), cell_bytes};
}

std::size_t process_messages::layout::shared_bytes() const noexcept { return words_type::bytes(ranks); }

std::size_t process_messages::layout::cells_offset() const noexcept {
  return round_up(static_cast<std::size_t>(ranks) * sizeof(process_lines<>));
}

process_messages::process_messages(const layout& l, std::byte* shared, const std::vector<std::byte*>& blocks,
                                   const std::vector<int>& pids, int rank, settings s)
    : layout_(l),
      settings_(std::move(s)),
      blocks_(blocks),
      words_(shared, l.ranks, rank),
      refusals_(settings_.report_refusal),
      pids_(pids),
      pool_(blocks[static_cast<std::size_t>(rank)] + l.cells_offset(), l.cells, l.cell_bytes) {
  for (int r = 0; r < l.ranks; ++r) {
    if (r == rank) {
      senders_.emplace_back();
      receivers_.emplace_back();
      continue;
    }
    senders_.push_back(std::make_unique<sender>(lines(rank, r), pool_, words_, r, settings_.start));
    senders_.back()->set_by_address_above(settings_.by_address_above);
    const auto peer = static_cast<std::size_t>(r);
    receivers_.push_back(std::make_unique<receiver>(
        lines(r, rank), receiver::peer{r, pids[peer], blocks[peer] + l.cells_offset(), l.cell_bytes}, words_,
        refusals_, settings_.start, &arrivals_));
  }
}

process_messages::~process_messages() = default;

process_lines<>& process_messages::lines(int from, int to) const noexcept {
  return reinterpret_cast<process_lines<>*>(blocks_[static_cast<std::size_t>(to)])[from];
}

void process_messages::offer() {
  for (int r = 0; r < layout_.ranks; ++r) {
    if (r == rank()) continue;
    if (settings_.start != 0) lines(r, rank()).start_at(settings_.start);
    if (settings_.by_address_above != ~std::size_t{0})
      from(r).permit_reads(process_memory::may_read(pids_[static_cast<std::size_t>(r)]));
  }
  words_.offer_barriers(settings_.may_use_barriers);
}

void process_messages::note_sender(sender& s) {
  if (std::find(busy_senders_.begin(), busy_senders_.end(), &s) == busy_senders_.end())
    busy_senders_.push_back(&s);
}
void process_messages::note_receiver(receiver& r) {
  if (std::find(busy_receivers_.begin(), busy_receivers_.end(), &r) == busy_receivers_.end())
    busy_receivers_.push_back(&r);
}

void process_messages::drop_requests() noexcept {
  for (auto& s : senders_)
    if (s) s->close();
  for (auto& r : receivers_)
    if (r) r->close();
  busy_senders_.clear();
  busy_receivers_.clear();
}

void process_messages::take_arrivals() {
  for (auto& r : receivers_)
    if (r) r->take_arrivals();
}

void process_messages::take_first_arrivals() {
  for (auto& r : receivers_)
    if (r) r->take_first_arrivals();
}

void process_messages::progress() {
  std::erase_if(busy_senders_, [](sender* s) {
    s->progress();
    return !s->is_busy();
  });
  std::erase_if(busy_receivers_, [](receiver* r) {
    r->progress();
    return !r->is_busy();
  });
}

}  // namespace tutti::shm

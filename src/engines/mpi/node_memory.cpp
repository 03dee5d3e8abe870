// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/node_memory.hpp"

#include <algorithm>
#include <utility>

namespace tutti::mpi {
namespace {

constexpr std::int32_t blocks_with_slots = 16;
constexpr std::size_t node_bytes = std::size_t{24} << 20;  // for the blocks without slots

}  // namespace

void node_memory::open(MPI_Comm node, bool may_use) {
  int size = 1;
  check(MPI_Comm_rank(node, &rank_), "run", -1);
  check(MPI_Comm_size(node, &size), "run", rank_);
  const auto lines = std::min<std::size_t>(
      1024, node_bytes / static_cast<std::size_t>(size) / collectives::bytes(0));
  shm::segment_layout layout(size);
  words_part_ = layout.add("wakeup words", words::bytes(size));
  slots_part_ = layout.add_per_rank("collectives with slots",
                                    blocks_with_slots * collectives::bytes(slot_bytes));
  lines_part_ = layout.add_per_rank("collectives", lines * collectives::bytes(0));
  blocks_ = blocks_with_slots + static_cast<std::int32_t>(lines);
  segment_.open(node, layout, may_use ? shm::memory_kind::memfd : shm::memory_kind::none);
  if (!is_open()) return;
  words_.emplace(segment_.memory().at(words_part_), size, rank_);
  words_->offer_barriers();
  check(MPI_Barrier(node), "run", rank_);
  words_->agree_on_barriers();
}

std::byte* node_memory::memory_of(int rank, const block& b) const noexcept {
  if (b.has_slots != 0)
    return segment_.memory().at(slots_part_, rank) +
           static_cast<std::size_t>(b.number) * collectives::bytes(slot_bytes);
  return segment_.memory().at(lines_part_, rank) +
         static_cast<std::size_t>(b.number - blocks_with_slots) * collectives::bytes(0);
}

// Prefers blocks with slots.
node_memory::block node_memory::take_block() {
  if (!is_open()) return {};
  auto best = given_back_.end();
  for (auto one = given_back_.begin(); one != given_back_.end(); ++one)
    if ((best == given_back_.end() || one->number.number < best->number.number) &&
        (one->last == nullptr || one->last->all_have_finished()))
      best = one;
  const bool fresh_has_slots = fresh_ < blocks_with_slots;
  if (best != given_back_.end() && (best->number.has_slots != 0 || !fresh_has_slots)) {
    block found = best->number;
    if (best->last) found.sequence = best->last->next();
    given_back_.erase(best);
    return found;
  }
  if (fresh_ == blocks_) return {};
  const std::int32_t number = fresh_++;
  return {number, number < blocks_with_slots ? 1 : 0, 0};
}

// The sequence numbers of a new communicator begin above all those in the blocks of its members. A
// member that has not begun may still have old numbers in its block. They are too small, so the
// others wait for it.
std::unique_ptr<node_memory::collectives> node_memory::make(const std::vector<int>& members,
                                                            const std::vector<block>& blocks, int member) {
  std::vector<std::byte*> memory;
  std::size_t bytes = slot_bytes;
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (blocks[i].number < 0) return nullptr;
    memory.push_back(memory_of(members[i], blocks[i]));
    if (blocks[i].has_slots == 0) bytes = 0;
    start = std::max(start, blocks[i].sequence);
  }
  if (start != 0) collectives::start_at(memory[static_cast<std::size_t>(member)], start);
  return std::make_unique<collectives>(memory, members, member, bytes, *words_, start);
}

void node_memory::give_back(const block& mine, std::unique_ptr<collectives> of) {
  if (mine.number > 0) given_back_.push_back({mine, std::move(of)});
}

}  // namespace tutti::mpi

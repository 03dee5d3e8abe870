// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/node_memory.hpp"

#include "engines/mpi/memory_pieces.hpp"

namespace tutti::mpi {

void node_memory::open(MPI_Comm node, bool may_use) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(node, &rank), "run", -1);
  check(MPI_Comm_size(node, &size), "run", rank);
  static_assert(detail::post_line_bytes == collectives::inline_bytes);
  slot_bytes_ = detail::slot_bytes_of_node(size);
  const shm::group_memory::sizes sizes{size, collectives::bytes(0), collectives::bytes(slot_bytes_),
                                       collectives::head_bytes(slot_bytes_)};
  shm::segment_layout layout(size);
  const auto of_messages = shm::process_messages::layout::of(size);
  const shm::segment_part words_part = layout.add("wakeup words", of_messages.shared_bytes());
  const shm::segment_part channels_part =
      layout.add_per_rank("channels and cells", of_messages.rank_bytes(), 4096);
  const shm::segment_part groups_part = layout.add("collectives of groups", sizes.bytes());
  segment_.open(node, layout, may_use ? shm::memory_kind::memfd : shm::memory_kind::none);
  if (!is_open()) return;
  const shm::segment& memory = segment_.memory();
  std::vector<std::byte*> blocks;
  for (int r = 0; r < size; ++r) blocks.push_back(memory.at(channels_part, r));
  const std::vector<int> pids(blocks.size());  // no message travels by address
  messages_.emplace(of_messages, memory.at(words_part), blocks, pids, rank,
                    shm::process_messages::settings{});
  groups_.emplace(segment_.memory().at(groups_part), sizes);
  if (rank == 0) groups_->initialize();
  messages_->offer();
  check(MPI_Barrier(node), "run", rank);
  messages_->agree();
}

std::unique_ptr<node_memory::collectives> node_memory::enter(const detail::group_name& name,
                                                             const std::vector<int>& members, int member) {
  const shm::group_memory::place found = groups_->enter(name, static_cast<int>(members.size()));
  if (found.memory == nullptr) return nullptr;
  const std::size_t slots = found.large ? slot_bytes_ : 0;
  std::vector<std::byte*> blocks;
  for (std::size_t i = 0; i < members.size(); ++i)
    blocks.push_back(found.memory + i * collectives::bytes(slots));
  return std::make_unique<collectives>(blocks, members, member, slots, messages_->words());
}

}  // namespace tutti::mpi

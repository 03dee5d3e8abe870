// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/node_memory.hpp"

#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include <sys/prctl.h>

#include "engines/mpi/memory_pieces.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

// With scope 1, Yama lets a process be read by its ancestors only, unless it permits others. With
// scope 0 it needs to permit nothing, and with 2 or 3 it cannot. The kernel still compares the
// users.
void permit_reads() noexcept {
  std::FILE* const file = std::fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
  if (file == nullptr) return;
  if (std::fgetc(file) == '1') prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  std::fclose(file);
}

}  // namespace

void node_memory::open(MPI_Comm node, memory_use requested) {
  int size = 1;
  check(MPI_Comm_rank(node, &rank_), "run", -1);
  check(MPI_Comm_size(node, &size), "run", rank_);
  static_assert(detail::post_line_bytes == collectives::inline_bytes);
  slot_bytes_ = detail::slot_bytes_of_node(size);
  shm::group_memory::sizes sizes{size, collectives::bytes(0), collectives::bytes(slot_bytes_),
                                 collectives::head_bytes(slot_bytes_)};
  shm::segment_layout layout(size);
  const auto of_messages = shm::process_messages::layout::of(size);
  const shm::segment_part words_part = layout.add("wakeup words", of_messages.shared_bytes());
  const shm::segment_part channels_part =
      layout.add_per_rank("channels and cells", of_messages.rank_bytes(), 4096);
  const shm::segment_part groups_part = layout.add("collectives of groups", sizes.bytes());
  layout.allocate_later(groups_part, sizes.bytes_before_blocks());
  // Other ranks read this one after segment_.open(), for which all ranks are needed.
  if (requested >= memory_use::copy && size > 1) permit_reads();
  arenas_ = layout.add_per_rank("arenas", sizeof(shm::arena_offer));
  segment_.open(node, layout,
                requested != memory_use::off ? shm::memory_kind::memfd : shm::memory_kind::none);
  why_not_copy_ = why_not_buffers_ = segment_.why_not_better();
  if (!is_open()) return;
  const shm::segment& memory = segment_.memory();
  std::vector<std::byte*> blocks;
  for (int r = 0; r < size; ++r) blocks.push_back(memory.at(channels_part, r));
  const std::vector<int> pids(blocks.size());  // no message travels by address
  messages_.emplace(of_messages, memory.at(words_part), blocks, pids, rank_,
                    shm::process_messages::settings{});
  const bool has_pages = memory.kind() == shm::memory_kind::window || !shm::process_memory::can_allocate();
  // Memory of a file system may have a tight limit, so its groups get all or nothing.
  slots_have_pages_ = has_pages || memory.kind() != shm::memory_kind::memfd;
  sizes.only_heads_get_pages = !slots_have_pages_;
  groups_.emplace(memory.at(groups_part), sizes);
  if (rank_ == 0) groups_->initialize(0, has_pages);
  messages_->offer();
  for (int r = 0; r < size; ++r) pids_.push_back(r == rank_ ? 0 : memory.pid(r));
  mapped_.resize(pids_.size());
  agree(node, requested);
  messages_->agree();
}

// All ranks have joined the segment. The allreduce is also the barrier between the two steps of the
// messages.
void node_memory::agree(MPI_Comm node, memory_use requested) {
  constexpr int yes = std::numeric_limits<int>::max();
  enum { copies, buffers, expected, answers };
  int mine[answers] = {may_access(memory_use::copy, requested, &shm::process_memory::may_read),
                       may_access(memory_use::heap, requested, &shm::process_memory::may_open_files),
                       shm::shared_arena::is_expected() ? 0 : 1},
      first[answers] = {};
  check(MPI_Allreduce(mine, first, answers, MPI_INT, MPI_MIN, node), "run", rank_);
  may_copy_ = first[copies] == yes;
  shares_buffers_ = first[buffers] == yes && first[expected] == 0 && kind() == shm::memory_kind::memfd;
  const int size = segment_.memory().ranks();
  const auto why = [&](int code, const char* setting, const char* may_not) {
    if (code == yes) return std::string();
    if (code == -1) return "TUTTI_SHM is " + std::string(setting);
    return "rank " + std::to_string(code / size) + " of the node may not " + may_not + " of rank " +
           std::to_string(code % size);
  };
  why_not_copy_ = why(first[copies], "cells", "read the memory");
  why_not_buffers_ = why(first[buffers], first[copies] == -1 ? "cells" : "copy", "open the files");
  if (shares_buffers_ || !why_not_buffers_.empty()) return;
  why_not_buffers_ = first[expected] != 0 ? "no rank had asked for memory that others can map at the start"
                                          : "the memory of the node is not a memfd";
}

// The largest int if the setting permits it and this rank may access all others. -1: the setting
// does not. Else the number of the pair of ranks.
int node_memory::may_access(memory_use required, memory_use requested, bool (*may)(int pid) noexcept) const {
  if (requested < required) return -1;
  const int size = segment_.memory().ranks();
  for (int r = 0; r < size; ++r)
    if (r != rank_ && (pid(r) == 0 || !may(pid(r)))) return rank_ * size + r;
  return std::numeric_limits<int>::max();
}

bool node_memory::publish_arena() noexcept {
  if (arena_published_) return true;
  const shm::arena_offer mine = shm::shared_arena::offer();
  arena_published_ = mine.file >= 0;
  std::memcpy(segment_.memory().at(arenas_, rank_), &mine, sizeof mine);
  return arena_published_;
}

std::byte* node_memory::arena_of(int rank, const call& c) {
  std::unique_ptr<shm::mapped_arena>& of = mapped_[static_cast<std::size_t>(rank)];
  if (of == nullptr) {
    shm::arena_offer offer;
    std::memcpy(&offer, segment_.memory().at(arenas_, rank), sizeof offer);
    auto made = std::make_unique<shm::mapped_arena>();
    if (const std::string why = made->open(pid(rank), offer); !why.empty())
      throw engine_error(
          detail::called(c), -1, "",
          "the shared buffers of rank " + std::to_string(rank) + " of the node cannot be mapped: " + why,
          "set TUTTI_SHM=copy");
    of = std::move(made);
  }
  return of->memory();
}

std::size_t node_memory::min_bytes_by_address(collective what, bool oversubscribed) const noexcept {
  const detail::address_limits of = detail::address_limits_of(what);
  if (of.with_cores == detail::never_by_address && of.without_cores == detail::never_by_address)
    return detail::never_by_address;
  return min_bytes_by_address_.value_or(oversubscribed ? of.without_cores : of.with_cores);
}

void node_memory::report_refusal(int reader, int owner, int error) noexcept {
  if (std::exchange(refusal_reported_, true)) return;
  std::fprintf(stderr,
               "tutti: rank %d may not read the memory of rank %d (%s); long collectives copy through shared "
               "memory from now on\n",
               reader, owner, std::strerror(error));
}

void node_memory::report_full_table() noexcept {
  std::fprintf(stderr,
               "tutti: %zu communicators and groups are in use on a node; all later ones use MPI in place of "
               "its memory (free those that the program no longer needs)\n",
               shm::group_memory::sizes{}.all_groups);
}

std::unique_ptr<node_memory::collectives> node_memory::collectives_of(
    const shm::group_memory::membership& group, const std::vector<int>& members, int member) {
  const shm::group_memory::place found = groups_->blocks(group, members);
  if (found.lacks_pages && !std::exchange(lack_reported_, true))
    std::fprintf(stderr,
                 "tutti: rank %d of the node finds no memory for the collectives of a group of %zu ranks; "
                 "MPI makes them (enlarge /dev/shm or the memory limit of the job)\n",
                 rank_, members.size());
  if (found.memory == nullptr) return nullptr;
  const std::size_t slots = found.large ? slot_bytes_ : 0;
  std::vector<std::byte*> blocks;
  for (std::size_t i = 0; i < members.size(); ++i)
    blocks.push_back(found.memory + i * collectives::bytes(slots));
  if (first_call_ != 0) collectives::start_at(blocks[static_cast<std::size_t>(member)], slots, first_call_);
  return std::make_unique<collectives>(blocks, members, member, slots, messages_->words(), first_call_,
                                       slots_have_pages_);
}

}  // namespace tutti::mpi

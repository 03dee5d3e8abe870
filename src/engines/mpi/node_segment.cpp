// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/node_segment.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "engines/mpi/error_text.hpp"

namespace tutti::mpi {
namespace {

using shm::memory_kind;

static_assert(std::is_trivially_copyable_v<shm::segment_offer>);

std::string mpi_text(const char* call, int code) { return std::string(call) + ": " + error_text(code); }

}  // namespace

// Returns the same text on all ranks: empty if no rank has a reason, else that of the first one.
std::string node_segment::first_error_of_all(const std::string& why) {
  const int mine = why.empty() ? size_ : rank_;
  int first = size_;
  check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, node_), "run", rank_);
  if (first == size_) return {};
  std::array<char, 256> text{};
  std::memcpy(text.data(), why.data(), std::min(why.size(), text.size() - 1));
  check(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, first, node_), "run", rank_);
  return "rank " + std::to_string(first) + " of the node: " + text.data();
}

std::string node_segment::attach(memory_kind kind, const shm::segment_layout& layout) {
  if (kind == memory_kind::window) return attach_window(layout);
  shm::segment_offer offer;
  std::string why;
  if (rank_ == 0) why = memory_.create(kind, layout, offer);
  check(MPI_Bcast(&offer, static_cast<int>(sizeof offer), MPI_BYTE, 0, node_), "run", rank_);
  if (rank_ != 0 && offer.kind != memory_kind::none) why = memory_.attach(offer, layout);
  return why;
}

// The leader provides all memory of the window. The areas are placed by the ranks that touch them
// first, as in the other kinds.
std::string node_segment::attach_window(const shm::segment_layout& layout) {
  // Without space, a rank of MPICH gets SIGBUS later, and ranks of Open MPI 4.1 wait forever.
  std::string why;
  if (rank_ == 0) why = shm::segment::validate_window_space(layout);
  if (!first_error_of_all(why).empty()) return why;
  void* mine = nullptr;
  const std::size_t bytes = rank_ == 0 ? shm::segment::window_bytes(layout) : 0;
  const int code =
      MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node_, &mine, &window_);
  if (code != MPI_SUCCESS) why = mpi_text("MPI_Win_allocate_shared", code);
  if (!first_error_of_all(why).empty()) {
    window_ = MPI_WIN_NULL;  // some ranks may have none, so nobody can free it
    return why;
  }
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  MPI_Aint size = 0;
  int unit = 0;
  void* window = nullptr;
  check(MPI_Win_shared_query(window_, 0, &size, &unit, &window), "run", rank_);
  shm::segment_offer offer;
  if (rank_ == 0) why = memory_.create_in(window, layout, offer);
  check(MPI_Bcast(&offer, static_cast<int>(sizeof offer), MPI_BYTE, 0, node_), "run", rank_);
  if (rank_ != 0 && offer.kind != memory_kind::none) why = memory_.attach_in(window, offer, layout);
  return why;
}

// The leader removes the name of its file as soon as all ranks have opened it.
std::string node_segment::attempt(memory_kind kind, const shm::segment_layout& layout) {
  std::string why = first_error_of_all(attach(kind, layout));
  memory_.complete_attach();
  if (why.empty()) why = first_error_of_all(memory_.join(rank_));
  memory_.complete();
  if (!why.empty()) close_together();
  return why;
}

void node_segment::open(MPI_Comm node, const shm::segment_layout& layout, memory_kind best) {
  node_ = node;
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(node, &rank_), "run", -1);
  check(MPI_Comm_size(node, &size_), "run", rank_);
  if (size_ == 1) {
    why_not_better_ = "the node has one rank";
    return;
  }
  const int mine = static_cast<int>(best);
  int first = mine;
  check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MAX, node), "run", rank_);
  for (int k = first; k < static_cast<int>(memory_kind::none) && !is_open(); ++k) {
    const auto kind = static_cast<memory_kind>(k);
    const std::string why = attempt(kind, layout);
    if (why.empty()) break;
    why_not_better_ += (why_not_better_.empty() ? "" : "; ") + std::string(name_of(kind)) + ": " + why;
  }
}

void node_segment::close() noexcept {
  memory_.close();
  window_ = MPI_WIN_NULL;
}

void node_segment::close_together() noexcept {
  memory_.close();
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  window_ = MPI_WIN_NULL;
}

}  // namespace tutti::mpi

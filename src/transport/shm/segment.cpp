// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/segment.hpp"

#include <cerrno>
#include <cstring>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include "transport/shm/segment_file.hpp"

namespace tutti::shm {
namespace {

constexpr std::uint64_t header_magic = 0x746e656d67657374;  // "tsegment", little-endian
constexpr std::size_t window_alignment = 4096;              // that of the parts

}  // namespace

const char* name_of(memory_kind kind) noexcept {
  switch (kind) {
    case memory_kind::memfd:
      return "memfd";
    case memory_kind::file:
      return "/dev/shm";
    case memory_kind::window:
      return "MPI window";
    case memory_kind::none:
      break;
  }
  return "none";
}

void segment::begin(memory_kind kind, const segment_layout& layout) noexcept {
  close();
  kind_ = kind;
  ranks_ = layout.ranks();
  bytes_ = layout.bytes();
  shared_bytes_ = layout.shared_bytes();
  areas_ = layout.area_offset(0);
  area_bytes_ = layout.area_bytes();
  self_ = this_process();
}

std::string segment::map() {
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) return failed_call("mmap", errno);
  memory_ = static_cast<std::byte*>(mapped);
  return {};
}

// The memory has zeros.
void segment::write_header(const segment_layout& layout, segment_offer& offer) noexcept {
  segment_header& h = *new (memory_) segment_header;
  h.identity = {header_magic, {offer.nonce[0], offer.nonce[1]}, layout.hash(), bytes_};
  h.aborted.store(0, std::memory_order_relaxed);
  h.left_calls.store(0, std::memory_order_relaxed);
  for (int r = 0; r < ranks_; ++r) new (&entry(r)) segment_rank{{}, {segment_role::absent}};
  offer.bytes = bytes_;
  offer.kind = kind_;
}

std::string segment::create(memory_kind kind, const segment_layout& layout, segment_offer& offer) {
  begin(kind, layout);
  remove_leftover_files();
  offer = {};
  std::string why = draw_nonce(offer.nonce);
  if (why.empty())
    why = kind == memory_kind::memfd ? create_memfd("tutti-segment", bytes_, file_)
                                     : create_named_file(bytes_, offer.nonce[0], file_, name_);
  if (why.empty()) why = allocate(file_, 0, layout.allocated_shared_bytes());
  if (why.empty()) why = map();
  if (!why.empty()) {
    close();
    return why;
  }
  offer.pid = self_.pid;
  offer.file = file_;
  std::memcpy(offer.name, name_.c_str(), name_.size() + 1);
  write_header(layout, offer);
  return {};
}

// If the file has another size than the layout of this rank, validate_identity() reports that. The
// header is read before the file is mapped, because another file may have unallocated pages.
std::string segment::attach(const segment_offer& offer, const segment_layout& layout) {
  begin(offer.kind, layout);
  std::string why = offer.kind == memory_kind::memfd ? open_memfd(offer.pid, offer.file, offer.bytes, file_)
                                                     : open_named_file(offer.name, offer.bytes, file_);
  segment_identity found{};
  if (why.empty() && pread(file_, &found, sizeof found, 0) != sizeof found) why = "the memory has no header";
  if (why.empty()) why = validate_identity(found, offer, layout);
  if (why.empty()) why = map();
  if (!why.empty()) close();
  return why;
}

std::string segment::validate_identity(const segment_identity& found, const segment_offer& offer,
                                       const segment_layout& layout) {
  if (found.magic != header_magic || found.nonce[0] != offer.nonce[0] || found.nonce[1] != offer.nonce[1])
    return "the memory belongs to another job";
  if (found.layout_hash != layout.hash() || found.bytes != layout.bytes())
    return "the leader of the node has another layout or another build of the library";
  return {};
}

std::size_t segment::window_bytes(const segment_layout& layout) noexcept {
  return layout.bytes() + window_alignment;
}

std::string segment::validate_window_space(const segment_layout& layout) {
  std::uint64_t nonce[2];
  std::string why = draw_nonce(nonce), name;
  if (!why.empty()) return why;
  int file = -1;
  why = create_named_file(window_bytes(layout), nonce[0], file, name);
  if (!why.empty()) return why;
  remove_named_file(name);
  why = allocate(file, 0, window_bytes(layout));
  ::close(file);
  return why;
}

// The processes map whole pages, so the offset is the same in all of them.
std::string segment::create_in(void* window, const segment_layout& layout, segment_offer& offer) {
  begin(memory_kind::window, layout);
  offer = {};
  if (std::string why = draw_nonce(offer.nonce); !why.empty()) return why;
  const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(window) % window_alignment;
  offer.window_offset = static_cast<std::uint32_t>((window_alignment - beyond) % window_alignment);
  memory_ = static_cast<std::byte*>(window) + offer.window_offset;
  std::memset(memory_, 0, shared_bytes_);
  write_header(layout, offer);
  return {};
}

std::string segment::attach_in(void* window, const segment_offer& offer, const segment_layout& layout) {
  begin(memory_kind::window, layout);
  memory_ = static_cast<std::byte*>(window) + offer.window_offset;
  std::string why = reinterpret_cast<std::uintptr_t>(memory_) % window_alignment != 0
                        ? "the window begins at another offset in its page"
                        : validate_identity(header().identity, offer, layout);
  if (!why.empty()) close();
  return why;
}

std::string segment::join(int rank) {
  std::byte* const area = memory_ + areas_ + static_cast<std::size_t>(rank) * area_bytes_;
  if (file_ >= 0)
    if (std::string why = allocate(file_, static_cast<std::size_t>(area - memory_), area_bytes_);
        !why.empty())
      return why;
  if (area_bytes_ != 0 && kind_ == memory_kind::window) std::memset(area, 0, area_bytes_);
  rank_ = rank;
  entry(rank).process = self_;
  entry(rank).role.store(segment_role::joined, std::memory_order_release);
  return {};
}

void segment::complete_attach() noexcept {
  if (!name_.empty() && is_rank()) remove_named_file(name_);
  name_.clear();
}

void segment::complete() noexcept {
  complete_attach();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void segment::close() noexcept {
  if (memory_ != nullptr) {
    if (rank_ >= 0 && is_rank()) entry(rank_).role.store(segment_role::left, std::memory_order_release);
    if (kind_ != memory_kind::window) munmap(memory_, bytes_);
  }
  complete();
  memory_ = nullptr;
  kind_ = memory_kind::none;
  rank_ = -1;
}

void segment::abort(int lost_rank) noexcept {
  std::uint32_t none = 0;
  if (is_rank())
    header().aborted.compare_exchange_strong(none, static_cast<std::uint32_t>(lost_rank) + 1,
                                             std::memory_order_acq_rel);
}

bool segment::is_rank() const noexcept { return getpid() == self_.pid; }

}  // namespace tutti::shm

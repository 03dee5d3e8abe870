// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/segment_layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "transport/shm/process_memory.hpp"
#include "tutti/version.hpp"

namespace tutti::shm {
namespace {

constexpr std::size_t max_alignment = 4096;  // at most a page: areas begin on pages

std::size_t page_bytes() noexcept {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

// FNV-1a.
std::uint64_t hash_bytes(std::uint64_t hash, std::string_view bytes) noexcept {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::uint64_t hash_number(std::uint64_t hash, std::uint64_t number) noexcept {
  for (int byte = 0; byte < 8; ++byte, number >>= 8) hash = (hash ^ (number & 0xff)) * 0x100000001b3;
  return hash;
}

}  // namespace

segment_layout::segment_layout(int ranks)
    : ranks_(ranks),
      shared_end_(sizeof(segment_header) + static_cast<std::size_t>(ranks) * sizeof(segment_rank)),
      hash_(hash_bytes(0xcbf29ce484222325, TUTTI_VERSION)) {
  for (const std::size_t n :
       {static_cast<std::size_t>(ranks), sizeof(segment_header), sizeof(segment_rank), page_bytes()})
    hash_ = hash_number(hash_, n);
}

segment_part segment_layout::append(std::size_t& end, std::string_view name, std::size_t bytes,
                                    std::size_t alignment, bool per_rank) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > max_alignment)
    throw std::logic_error("the part " + std::string(name) + " of a segment has the alignment " +
                           std::to_string(alignment));
  const segment_part part{round_up(end, alignment), bytes, per_rank};
  end = part.offset + bytes;
  hash_ = hash_bytes(hash_number(hash_, name.size()), name);
  for (const std::size_t n : {part.offset, bytes, std::size_t{per_rank}}) hash_ = hash_number(hash_, n);
  return part;
}

segment_part segment_layout::add(std::string_view name, std::size_t bytes, std::size_t alignment) {
  return append(shared_end_, name, bytes, alignment, false);
}

segment_part segment_layout::add_per_rank(std::string_view name, std::size_t bytes, std::size_t alignment) {
  return append(area_end_, name, bytes, alignment, true);
}

void segment_layout::allocate_later(const segment_part& part, std::size_t all_but) noexcept {
  if (process_memory::can_allocate()) allocated_end_ = part.offset + all_but;
}

std::size_t segment_layout::allocated_shared_bytes() const noexcept {
  return round_up(std::min(allocated_end_, shared_end_), page_bytes());
}
std::size_t segment_layout::shared_bytes() const noexcept { return round_up(shared_end_, page_bytes()); }
std::size_t segment_layout::area_bytes() const noexcept { return round_up(area_end_, page_bytes()); }
std::size_t segment_layout::area_offset(int rank) const noexcept {
  return shared_bytes() + static_cast<std::size_t>(rank) * area_bytes();
}
std::size_t segment_layout::bytes() const noexcept { return area_offset(ranks_); }

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/group_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <pthread.h>

namespace tutti::shm {
namespace {

constexpr std::size_t line = 128;
constexpr std::size_t in_use_bytes = std::size_t{64} << 10;  // enough for a byte for each block
constexpr std::size_t none = ~std::size_t{0};

constexpr std::size_t in_lines(std::size_t bytes) noexcept { return (bytes + line - 1) / line * line; }

}  // namespace

struct group_memory::entry {
  detail::group_name name;
  std::uint32_t members;  // 0: the entry is free
  std::uint32_t left;
  std::size_t first;  // block; none: there was no memory
  bool large;
};

struct group_memory::table {
  pthread_mutex_t mutex;
  std::size_t end;  // all entries from here on are free
  bool closed;      // no entry was free for a group, so no new group ever gets one
};

group_memory::entry* group_memory::groups() const noexcept {
  static_assert(sizeof(table) % alignof(entry) == 0);
  return reinterpret_cast<entry*>(memory_ + sizeof(table));
}

std::size_t group_memory::sizes::table_bytes() const noexcept {
  return in_lines(sizeof(table) + all_groups * sizeof(entry));
}

// The table and its entries, a byte for each block (1: in use), and the blocks.
std::size_t group_memory::sizes::small_blocks() const noexcept {
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t others = table_bytes() + large_blocks() * large_block + in_use_bytes;
  const std::size_t left = others < max_bytes ? std::min(max_small_bytes, max_bytes - others) : 0;
  return std::clamp(left / small_block, min_small_groups * all, small_groups * all);
}

std::size_t group_memory::sizes::bytes() const noexcept {
  return table_bytes() + in_lines(small_blocks() + large_blocks()) + small_blocks() * small_block +
         large_blocks() * large_block;
}

group_memory::group_memory(std::byte* memory, const sizes& of) noexcept : of_(of), memory_(memory) {}

std::uint8_t* group_memory::used(bool large) const noexcept {
  auto* const all = reinterpret_cast<std::uint8_t*>(memory_ + of_.table_bytes());
  return large ? all + of_.small_blocks() : all;
}

std::byte* group_memory::block(bool large, std::size_t index) const noexcept {
  std::byte* const small = memory_ + of_.table_bytes() + in_lines(of_.small_blocks() + of_.large_blocks());
  return large ? small + of_.small_blocks() * of_.small_block + index * of_.large_block
               : small + index * of_.small_block;
}

void group_memory::initialize() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&reinterpret_cast<table*>(memory_)->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

class group_memory::lock {
 public:
  explicit lock(std::byte* memory) noexcept : of(*reinterpret_cast<table*>(memory)) {
    if (pthread_mutex_lock(&of.mutex) == EOWNERDEAD) pthread_mutex_consistent(&of.mutex);
  }
  ~lock() { pthread_mutex_unlock(&of.mutex); }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  table& of;
};

// The first run of blocks that are free.
std::size_t group_memory::reserve(bool large, std::size_t blocks) noexcept {
  std::uint8_t* const first = used(large);
  std::uint8_t* const end = first + (large ? of_.large_blocks() : of_.small_blocks());
  std::uint8_t* const found = std::search_n(first, end, blocks, std::uint8_t{0});
  if (found == end) return none;
  std::fill_n(found, blocks, std::uint8_t{1});
  return static_cast<std::size_t>(found - first);
}

void group_memory::release(bool large, std::size_t first, std::size_t blocks) noexcept {
  const std::size_t bytes = large ? of_.large_block : of_.small_block;
  for (std::size_t i = first; i < first + blocks; ++i)
    std::memset(block(large, i), 0, std::min(bytes, of_.head));
  std::fill_n(used(large) + first, blocks, std::uint8_t{0});
}

group_memory::place group_memory::enter(const detail::group_name& name, int members) {
  const lock held(memory_);
  entry *free = nullptr, *found = nullptr;
  for (std::size_t i = 0; i < held.of.end && found == nullptr; ++i) {
    entry& e = groups()[i];
    if (e.members == 0)
      free = free == nullptr ? &e : free;
    else if (e.name == name)
      found = &e;
  }
  if (found == nullptr) {
    if (free == nullptr && held.of.end < of_.all_groups) free = &groups()[held.of.end++];
    held.of.closed = held.of.closed || free == nullptr;
    if (held.of.closed) return {};
    const auto blocks = static_cast<std::size_t>(members);
    const std::size_t large = reserve(true, blocks);
    const std::size_t first = large != none ? large : reserve(false, blocks);
    found = free;
    *found = {name, static_cast<std::uint32_t>(members), 0, first, large != none};
  }
  if (found->first == none) return {};
  return {block(found->large, found->first), found->large};
}

void group_memory::leave(const detail::group_name& name) noexcept {
  const lock held(memory_);
  for (std::size_t i = 0; i < held.of.end; ++i) {
    entry& e = groups()[i];
    if (e.members == 0 || e.name != name || ++e.left != e.members) continue;
    if (e.first != none) release(e.large, e.first, e.members);
    e.members = 0;
    while (held.of.end > 0 && groups()[held.of.end - 1].members == 0) --held.of.end;
    return;
  }
}

}  // namespace tutti::shm

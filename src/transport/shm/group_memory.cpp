// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/group_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <pthread.h>

#include "transport/shm/process_memory.hpp"

namespace tutti::shm {
namespace {

constexpr std::size_t line = 128;
constexpr std::size_t in_use_bytes = std::size_t{64} << 10;  // enough for a byte for each block
constexpr std::size_t none = ~std::size_t{0};
constexpr std::size_t not_requested = none - 1;  // no member has requested memory so far

constexpr std::size_t in_lines(std::size_t bytes) noexcept { return (bytes + line - 1) / line * line; }

}  // namespace

struct group_memory::entry {
  detail::group_name name;
  std::uint32_t number;   // 0: the entry is free
  std::uint32_t inside;   // ranks that have entered and not left
  std::uint32_t awaited;  // ranks that must still enter
  std::uint32_t blocks;   // of the members
  std::size_t first;      // block; none: there was no memory; or not_requested
  bool large;
};

/// A rank of the node in an entry. `entered` stays when the rank leaves.
enum class group_memory::presence : std::uint8_t { absent, awaited, entered };

enum class group_memory::block_state : std::uint8_t { without_pages, unused, used };

struct group_memory::table {
  pthread_mutex_t mutex;
  std::size_t end;  // all entries from here on are free
  std::uint32_t last_number;
  bool closed;  // no entry was free for a group, so no new group ever gets one
};

group_memory::entry* group_memory::groups() const noexcept {
  static_assert(sizeof(table) % alignof(entry) == 0);
  return reinterpret_cast<entry*>(memory_ + sizeof(table));
}

// A byte for each rank of the node, behind the entries.
group_memory::presence* group_memory::ranks_of(std::size_t row) const noexcept {
  auto* const all = reinterpret_cast<presence*>(groups() + of_.all_groups);
  return all + row * static_cast<std::size_t>(of_.ranks);
}

std::size_t group_memory::sizes::table_bytes() const noexcept {
  return in_lines(sizeof(table) + all_groups * (sizeof(entry) + static_cast<std::size_t>(ranks)));
}

// The table and its entries, a byte for each block, and the blocks.
std::size_t group_memory::sizes::small_blocks() const noexcept {
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t others = table_bytes() + large_blocks() * large_block + in_use_bytes;
  const std::size_t left = others < max_bytes ? std::min(max_small_bytes, max_bytes - others) : 0;
  return std::clamp(left / small_block, min_small_groups * all, small_groups * all);
}

std::size_t group_memory::sizes::bytes_before_blocks() const noexcept {
  return table_bytes() + in_lines(small_blocks() + large_blocks());
}

std::size_t group_memory::sizes::bytes() const noexcept {
  return bytes_before_blocks() + small_blocks() * small_block + large_blocks() * large_block;
}

group_memory::group_memory(std::byte* memory, const sizes& of) noexcept : of_(of), memory_(memory) {}

group_memory::block_state* group_memory::states(bool large) const noexcept {
  auto* const all = reinterpret_cast<block_state*>(memory_ + of_.table_bytes());
  return large ? all + of_.small_blocks() : all;
}

std::byte* group_memory::block(bool large, std::size_t index) const noexcept {
  std::byte* const small = memory_ + of_.bytes_before_blocks();
  return large ? small + of_.small_blocks() * of_.small_block + index * of_.large_block
               : small + index * of_.small_block;
}

void group_memory::initialize(std::uint32_t last_number, bool has_pages) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&reinterpret_cast<table*>(memory_)->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  reinterpret_cast<table*>(memory_)->last_number = last_number;
  if (has_pages) std::fill_n(states(false), of_.small_blocks() + of_.large_blocks(), block_state::unused);
}

class group_memory::lock {
 public:
  explicit lock(std::byte* memory) noexcept : of(*reinterpret_cast<table*>(memory)) {
    int code = EBUSY;
    for (int i = 0; i < tries && code == EBUSY; ++i) {
      code = pthread_mutex_trylock(&of.mutex);
      if (code == EBUSY) process_memory::pause();
    }
    if (code == EBUSY) code = pthread_mutex_lock(&of.mutex);
    if (code == EOWNERDEAD) pthread_mutex_consistent(&of.mutex);
  }
  ~lock() { pthread_mutex_unlock(&of.mutex); }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  table& of;

 private:
  // Members often come at the same time, and hold the mutex for some 100 ns, or for 10 us if a
  // block gets pages. A sleep takes 30 us.
  static constexpr int tries = 300;
};

// The first run of blocks that are free.
std::size_t group_memory::reserve(bool large, std::size_t blocks) noexcept {
  block_state* const first = states(large);
  block_state* const end = first + (large ? of_.large_blocks() : of_.small_blocks());
  block_state* const found = std::search_n(first, end, blocks, block_state::used,
                                           [](block_state one, block_state used) { return one != used; });
  if (found == end) return none;
  const auto at = static_cast<std::size_t>(found - first);
  const std::size_t block_bytes = large ? of_.large_block : of_.small_block;
  const std::size_t bytes = of_.only_heads_get_pages ? std::min(of_.head, block_bytes) : block_bytes;
  for (std::size_t i = at; i < at + blocks; ++i) {
    if (first[i] == block_state::without_pages && !process_memory::allocate(block(large, i), bytes))
      return none;
    first[i] = block_state::unused;
  }
  std::fill_n(found, blocks, block_state::used);
  return at;
}

// Whether such a run of small blocks is free, which then lacks pages.
bool group_memory::has_unused(std::size_t blocks) const noexcept {
  const block_state* const first = states(false);
  const block_state* const end = first + of_.small_blocks();
  return std::search_n(first, end, blocks, block_state::used,
                       [](block_state one, block_state used) { return one != used; }) != end;
}

void group_memory::release(bool large, std::size_t first, std::size_t blocks) noexcept {
  const std::size_t bytes = large ? of_.large_block : of_.small_block;
  for (std::size_t i = first; i < first + blocks; ++i)
    std::memset(block(large, i), 0, std::min(bytes, of_.head));
  std::fill_n(states(large) + first, blocks, block_state::unused);
}

// After 2^27 groups the numbers of old ones come again, and some of these may still be open.
std::uint32_t group_memory::unused_number_after(std::uint32_t number, std::size_t end) const noexcept {
  const auto is_used = [&](std::uint32_t n) {
    return std::any_of(groups(), groups() + end, [n](const entry& e) { return e.number == n; });
  };
  do number = number % max_number + 1;
  while (is_used(number));
  return number;
}

group_memory::membership group_memory::enter(const detail::group_name& name, int rank) {
  const lock held(memory_);
  std::size_t row = none, free = none;
  for (std::size_t i = 0; i < held.of.end && row == none; ++i) {
    const entry& e = groups()[i];
    if (e.number == 0)
      free = free == none ? i : free;
    else if (e.name == name)
      row = i;
  }
  if (row == none) {
    if (free == none && held.of.end < of_.all_groups) free = held.of.end++;
    if (free == none || held.of.closed) return {0, 0, !std::exchange(held.of.closed, true)};
    row = free;
    held.of.last_number = unused_number_after(held.of.last_number, held.of.end);
    groups()[row] = {name, held.of.last_number, 0, 0, 0, not_requested, false};
  }
  entry& e = groups()[row];
  presence& mine = ranks_of(row)[rank];
  if (mine == presence::awaited) --e.awaited;
  mine = presence::entered;
  ++e.inside;
  return {e.number, static_cast<std::uint32_t>(row)};
}

void group_memory::await(std::size_t row, std::size_t rank) noexcept {
  presence& one = ranks_of(row)[rank];
  if (one != presence::absent) return;
  one = presence::awaited;
  ++groups()[row].awaited;
}

group_memory::place group_memory::blocks(const membership& of, std::span<const int> members) noexcept {
  if (of.number == 0) return {};
  const lock held(memory_);
  entry& e = groups()[of.row];
  if (e.first == not_requested) {
    const std::size_t large = reserve(true, members.size());
    e.first = large != none ? large : reserve(false, members.size());
    e.large = large != none;
    e.blocks = static_cast<std::uint32_t>(members.size());
    for (const int m : members) await(of.row, static_cast<std::size_t>(m));
    if (e.first == none) return {.lacks_pages = has_unused(members.size())};
  }
  if (e.first == none) return {};
  return {block(e.large, e.first), e.large};
}

void group_memory::leave(const membership& of, int rank, std::span<const bool> sent_to) noexcept {
  if (of.number == 0) return;
  const lock held(memory_);
  entry& e = groups()[of.row];
  for (std::size_t r = 0; r < sent_to.size(); ++r)
    if (sent_to[r] && r != static_cast<std::size_t>(rank)) await(of.row, r);
  if (--e.inside != 0 || e.awaited != 0) return;
  if (e.first < not_requested) release(e.large, e.first, e.blocks);
  std::fill_n(ranks_of(of.row), of_.ranks, presence::absent);
  e.number = 0;
  while (held.of.end > 0 && groups()[held.of.end - 1].number == 0) --held.of.end;
}

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/shared_arena.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/shm/arena_limits.hpp"
#include "transport/shm/best_fit.hpp"
#include "transport/shm/segment_file.hpp"

namespace tutti::shm {
namespace {

constexpr std::uint64_t arena_magic = 0x616e657261747574;  // "tutarena", little-endian
// From here on an allocation has pages of its own.
constexpr std::size_t large_bytes = std::size_t{64} << 10;
constexpr std::size_t max_idle_bytes = std::size_t{32} << 20;
// A signal makes the kernel undo the whole call, so a part takes about a millisecond.
constexpr std::size_t bytes_of_commitment = std::size_t{4} << 20;

struct arena_header {
  std::uint64_t magic, nonce[2], bytes;
};

std::size_t page_size() noexcept {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// The pages of the arena. A page is committed if the kernel has memory for it, and idle if it is
// also part of a freed large allocation.
class arena_pages {
 public:
  // Without a reason it can be used.
  std::string open();

  std::uintptr_t begin() const noexcept { return begin_; }
  std::size_t bytes() const noexcept { return bytes_; }
  const arena_header& header() const noexcept { return *reinterpret_cast<const arena_header*>(begin_); }
  // -1 if the program has closed the file. The number may then name a file of the program.
  int file() const noexcept;
  bool commit(best_fit::interval of) noexcept;
  void release(best_fit::interval of) noexcept;
  void make_private() noexcept;

 private:
  enum page_state : unsigned char { absent, used, idle };

  // The pages that an interval touches.
  std::pair<std::size_t, std::size_t> pages(best_fit::interval of) const noexcept {
    return {(of.begin - begin_) / page_size(), (of.end - begin_ + page_size() - 1) / page_size()};
  }
  void* address(std::size_t page) const noexcept {
    return reinterpret_cast<void*>(begin_ + page * page_size());
  }
  bool replace_by_copy(std::size_t bytes) noexcept;
  bool commit_absent(std::size_t first, std::size_t end) noexcept;

  std::uintptr_t begin_ = 0;
  std::size_t bytes_ = 0;
  int file_ = -1;
  dev_t device_{};
  ino_t inode_{};
  unsigned char* states_ = nullptr;  // of each page; untouched parts of this memory cost nothing
  std::size_t idle_pages_ = 0;
  std::size_t pages_ever_used_ = 0;
};

std::string arena_pages::open() {
  const std::size_t bytes = arena_bytes(page_size());
  std::uint64_t nonce[2];
  std::string why = why_no_arena();
  if (why.empty()) why = draw_nonce(nonce);
  if (why.empty()) why = create_memfd("tutti-arena", bytes, file_);
  if (!why.empty()) return why;
  struct stat found;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  void* const states = mmap(nullptr, bytes / page_size(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || states == MAP_FAILED || fstat(file_, &found) != 0) {
    why = failed_call("mmap", errno);
  } else {
    begin_ = reinterpret_cast<std::uintptr_t>(memory);
    bytes_ = bytes;
    device_ = found.st_dev;
    inode_ = found.st_ino;
    states_ = static_cast<unsigned char*>(states);
    if (!commit({begin_, begin_ + sizeof(arena_header)})) why = "no memory is left";
  }
  if (why.empty()) {
    new (memory) arena_header{arena_magic, {nonce[0], nonce[1]}, bytes};
    return {};
  }
  if (memory != MAP_FAILED) munmap(memory, bytes);
  if (states != MAP_FAILED) munmap(states, bytes / page_size());
  ::close(file_);
  return why;
}

int arena_pages::file() const noexcept {
  struct stat found;
  return fstat(file_, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_ ? file_ : -1;
}

bool arena_pages::commit_absent(std::size_t first, std::size_t end) noexcept {
  const int number = file();
  if (number < 0) return false;
  const std::size_t step = std::max<std::size_t>(bytes_of_commitment / page_size(), 1);
  while (first < end) {
    const std::size_t n = std::min(step, end - first);
    int code = 0;
    do
      code = posix_fallocate(number, static_cast<off_t>(first * page_size()),
                             static_cast<off_t>(n * page_size()));
    while (code == EINTR);
    if (code != 0) return false;
    std::fill_n(states_ + first, n, used);
    first += n;
  }
  pages_ever_used_ = std::max(pages_ever_used_, end);
  return true;
}

// False if no memory is left. The pages before the lack are committed then.
bool arena_pages::commit(best_fit::interval of) noexcept {
  auto [page, end] = pages(of);
  while (page < end) {
    if (states_[page] == absent) {
      std::size_t last = page;
      while (last < end && states_[last] == absent) ++last;
      if (!commit_absent(page, last)) return false;
      page = last;
    } else {
      if (states_[page] == idle) --idle_pages_;
      states_[page++] = used;
    }
  }
  return true;
}

// `of` has whole pages.
void arena_pages::release(best_fit::interval of) noexcept {
  const auto [first, end] = pages(of);
  const auto in_state = [&](page_state which) {
    return static_cast<std::size_t>(
        std::count(states_ + first, states_ + end, static_cast<unsigned char>(which)));
  };
  const std::size_t committed = in_state(used);
  idle_pages_ -= in_state(idle);  // there are some if memory was lacking for the rest
  if ((idle_pages_ + committed) * page_size() > max_idle_bytes &&
      madvise(address(first), (end - first) * page_size(), MADV_REMOVE) == 0) {
    std::fill(states_ + first, states_ + end, absent);
    return;
  }
  std::replace(states_ + first, states_ + end, static_cast<unsigned char>(used),
               static_cast<unsigned char>(idle));
  idle_pages_ += in_state(idle);
}

// In a forked child. Without it a write of the child would change the memory of the parent, so the
// child ends if the kernel refuses it.
void arena_pages::make_private() noexcept {
  const std::size_t bytes = pages_ever_used_ * page_size();
  const int number = file();
  if (number >= 0 && mmap(address(0), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                          number, 0) != MAP_FAILED)
    return;
  if (replace_by_copy(bytes)) return;
  constexpr char text[] = "tutti: a forked child cannot map its own copy of the shared memory\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
  std::abort();
}

// For programs that have closed the file.
bool arena_pages::replace_by_copy(std::size_t bytes) noexcept {
  void* const copy =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) return false;
  for (std::size_t page = 0; page < pages_ever_used_; ++page)
    if (states_[page] != absent)
      std::memcpy(static_cast<std::byte*>(copy) + page * page_size(), address(page), page_size());
  return mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, address(0)) != MAP_FAILED;
}

struct arena {
  arena_pages pages;
  std::optional<best_fit> space;
};

}  // namespace

struct arena_state {
  arena_range range;
  std::mutex mutex;
  std::atomic<arena*> made{nullptr};  // never destroyed
  std::atomic<bool> expected{false};
  bool failed = false;    // no arena can be made
  bool is_child = false;  // a forked child of the process that made the arena
};

namespace {

constinit arena_state local_state;
constinit std::atomic<arena_state*> state_in_use{&local_state};

arena_state& in_use() noexcept { return *state_in_use.load(std::memory_order_acquire); }

void before_fork() { local_state.mutex.lock(); }
void after_fork_in_parent() { local_state.mutex.unlock(); }
void after_fork_in_child() {
  arena_state& s = local_state;
  arena* const a = s.made.load(std::memory_order_relaxed);
  if (a != nullptr && !std::exchange(s.is_child, true)) {
    s.range.bytes.store(0, std::memory_order_release);
    a->pages.make_private();
  }
  s.mutex.unlock();
}

// Registered when the program starts, because a thread may fork while another one makes the arena.
const int fork_handlers_missing = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

// Under the mutex. Null if there can be none. Uses no operator new, which may be the program's.
arena* make(arena_state& s) {
  alignas(arena) static std::byte memory[sizeof(arena)];
  if (std::exchange(s.failed, true) || fork_handlers_missing != 0) return nullptr;
  arena* const a = new (memory) arena;
  if (!a->pages.open().empty()) return nullptr;
  const std::uintptr_t begin = a->pages.begin();
  a->space.emplace(begin + page_size(), begin + a->pages.bytes());
  s.failed = false;
  s.range.begin.store(begin, std::memory_order_relaxed);
  s.range.bytes.store(a->pages.bytes(), std::memory_order_release);
  s.made.store(a, std::memory_order_release);
  return a;
}

// Null if the address lies outside.
arena* arena_of(const arena_state& s, const void* p) noexcept {
  arena* const a = s.made.load(std::memory_order_acquire);
  return a != nullptr && reinterpret_cast<std::uintptr_t>(p) - a->pages.begin() < a->pages.bytes() ? a
                                                                                                   : nullptr;
}

[[noreturn]] void end_by_wrong_address() noexcept {
  constexpr char text[] = "tutti: shared memory is freed twice, or at an address that is no allocation\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
  std::abort();
}

// These allocations have pages of their own, which return to the kernel.
bool is_large(std::size_t bytes) noexcept { return bytes > large_bytes - best_fit::granule; }

}  // namespace

constinit std::atomic<const arena_range*> shared_arena::range_{&local_state.range};

arena_state& shared_arena::current() noexcept { return in_use(); }

void shared_arena::use(arena_state& of) noexcept {
  state_in_use.store(&of, std::memory_order_release);
  range_.store(&of.range, std::memory_order_release);
}

void* shared_arena::allocate(std::size_t bytes, std::size_t alignment) {
  if (void* const p = try_allocate(bytes, alignment)) return p;
  throw std::bad_alloc();
}

void* shared_arena::try_allocate(std::size_t bytes, std::size_t alignment) noexcept try {
  const bool large = is_large(bytes);
  if (large) {
    const std::size_t rounded = (bytes + page_size() - 1) & ~(page_size() - 1);
    if (rounded < bytes) return nullptr;
    bytes = rounded;
    alignment = std::max(alignment, page_size());
  }
  arena_state& s = in_use();
  const std::lock_guard lock(s.mutex);
  arena* a = s.made.load(std::memory_order_relaxed);
  if (a == nullptr) a = make(s);
  if (a == nullptr || s.is_child) return nullptr;
  const std::uintptr_t address = a->space->allocate(bytes, alignment);
  if (address == 0) return nullptr;
  if (const best_fit::interval of = a->space->find(address); !a->pages.commit(of)) {
    if (large) a->pages.release(of);
    a->space->deallocate(address);
    return nullptr;
  }
  return reinterpret_cast<void*>(address);
} catch (const std::bad_alloc&) {  // the bookkeeping has no memory
  return nullptr;
}

bool shared_arena::deallocate(void* p) noexcept {
  arena_state& s = in_use();
  arena* const a = arena_of(s, p);
  if (a == nullptr) return false;
  const std::lock_guard lock(s.mutex);
  if (s.is_child) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const best_fit::interval of = a->space->find(address);
  if (of.begin == of.end) end_by_wrong_address();
  if (is_large(of.end - of.begin)) a->pages.release(of);
  a->space->deallocate(address);
  return true;
}

std::size_t shared_arena::usable_size(const void* p) noexcept {
  arena_state& s = in_use();
  arena* const a = arena_of(s, p);
  if (a == nullptr) return 0;
  const std::lock_guard lock(s.mutex);
  const best_fit::interval of = a->space->find(reinterpret_cast<std::uintptr_t>(p));
  return of.end - of.begin;
}

arena_offer shared_arena::offer() noexcept {
  arena_state& s = in_use();
  const std::lock_guard lock(s.mutex);
  const arena* const a = s.made.load(std::memory_order_relaxed);
  if (a == nullptr || s.is_child) return {};
  const arena_header& h = a->pages.header();
  return {a->pages.file(), h.bytes, {h.nonce[0], h.nonce[1]}};
}

void shared_arena::expect() noexcept { in_use().expected.store(true, std::memory_order_relaxed); }

bool shared_arena::is_expected() noexcept {
  const arena_state& s = in_use();
  return s.expected.load(std::memory_order_relaxed) || s.made.load(std::memory_order_acquire) != nullptr;
}

// The header is read before the file is mapped, because another file may have no page there.
std::string mapped_arena::open(int pid, const arena_offer& of) {
  close();
  if (of.file < 0) return "the process has no shared memory";
  int file = -1;
  std::string why = open_memfd(pid, of.file, of.bytes, file);
  if (!why.empty()) return kill(pid, 0) != 0 && errno == ESRCH ? "the process has ended (" + why + ")" : why;
  arena_header found{};
  void* memory = MAP_FAILED;
  if (pread(file, &found, sizeof found, 0) != sizeof found || found.magic != arena_magic ||
      found.nonce[0] != of.nonce[0] || found.nonce[1] != of.nonce[1] || found.bytes != of.bytes) {
    why = "the memory belongs to another process";
  } else if (memory = mmap(nullptr, of.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
             memory == MAP_FAILED) {
    why = failed_call("mmap", errno);
  } else {
    memory_ = static_cast<std::byte*>(memory);
    bytes_ = of.bytes;
  }
  ::close(file);
  return why;
}

void mapped_arena::close() noexcept {
  if (memory_ != nullptr) munmap(memory_, bytes_);
  memory_ = nullptr;
  bytes_ = 0;
}

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process that others can map. A process has one, so each test runs in a process of
// its own, which this process forks before it has any.
#include "transport/shm/shared_arena.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "processes.hpp"

namespace {

using namespace tutti::shm;
using tests::child_process;
using tests::eventually;
using tests::in_child;

constexpr std::size_t kib = 1024, mib = 1024 * kib;

#define REQUIRE(condition) \
  if (!(condition)) throw std::runtime_error("line " + std::to_string(__LINE__) + ": " #condition)

bool throws_bad_alloc(std::size_t bytes) {
  try {
    shared_arena::allocate(bytes, 64);
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

struct allocation {
  unsigned char* at;
  std::size_t bytes;
  unsigned char value;
};

bool is_intact(const allocation& a) {
  for (std::size_t i = 0; i < a.bytes; ++i)
    if (a.at[i] != a.value) return false;
  return true;
}

void allocate_at_random(unsigned seed, int steps) {
  std::vector<allocation> all;
  std::mt19937 random(seed);
  for (int i = 0; i < steps; ++i) {
    if (random() % 5 < 3 || all.empty()) {
      const std::size_t bytes = random() % 4 != 0 ? random() % 3000 : random() % (300 * kib);
      const std::size_t alignment = std::size_t{1} << random() % 15;
      const allocation made{static_cast<unsigned char*>(shared_arena::allocate(bytes, alignment)), bytes,
                            static_cast<unsigned char>(random())};
      REQUIRE(reinterpret_cast<std::uintptr_t>(made.at) % alignment == 0);
      REQUIRE(shared_arena::usable_size(made.at) >= bytes);
      REQUIRE(shared_arena::offset_of(made.at, bytes) < shared_arena::offer().bytes);
      std::memset(made.at, made.value, shared_arena::usable_size(made.at));
      all.push_back(made);
    } else {
      std::swap(all[random() % all.size()], all.back());
      REQUIRE(is_intact(all.back()));
      REQUIRE(shared_arena::deallocate(all.back().at));
      all.pop_back();
    }
  }
  for (const allocation& a : all) {
    REQUIRE(is_intact(a));
    REQUIRE(shared_arena::deallocate(a.at));
  }
}

// Of the memory that the kernel has allocated for the file.
std::size_t committed_bytes() {
  struct stat found;
  REQUIRE(fstat(shared_arena::offer().file, &found) == 0);
  return static_cast<std::size_t>(found.st_blocks) * 512;
}

TEST(shared_arena, keeps_the_contents_of_random_allocations) {
  EXPECT_EQ(in_child([] {
              allocate_at_random(1, 4000);
              return std::string();
            }),
            "");
}

TEST(shared_arena, serves_threads_in_parallel) {
  EXPECT_EQ(in_child([] {
              std::string errors[4];
              std::vector<std::thread> threads;
              for (unsigned t = 0; t < 4; ++t)
                threads.emplace_back([t, &errors] {
                  try {
                    allocate_at_random(t, 1500);
                  } catch (const std::exception& e) {
                    errors[t] = e.what();
                  }
                });
              for (std::thread& t : threads) t.join();
              return errors[0] + errors[1] + errors[2] + errors[3];
            }),
            "");
}

TEST(shared_arena, knows_which_addresses_are_in_it) {
  EXPECT_EQ(in_child([] {
              int outside = 0;
              REQUIRE(shared_arena::offer().file == -1);
              REQUIRE(shared_arena::offset_of(&outside, 4) == shared_arena::npos);
              REQUIRE(shared_arena::offset_of(nullptr, 0) == shared_arena::npos);
              REQUIRE(!shared_arena::deallocate(&outside));
              auto* const p = static_cast<std::byte*>(shared_arena::allocate(100, 64));
              const arena_offer offer = shared_arena::offer();
              REQUIRE(offer.file >= 0);
              REQUIRE(!shared_arena::deallocate(&outside));
              REQUIRE(!shared_arena::deallocate(nullptr));
              REQUIRE(shared_arena::usable_size(&outside) == 0);
              REQUIRE(shared_arena::offset_of(&outside, 4) == shared_arena::npos);
              REQUIRE(shared_arena::offset_of(nullptr, 0) == shared_arena::npos);
              const std::size_t offset = shared_arena::offset_of(p, 100), rest = offer.bytes - offset;
              REQUIRE(offset != 0);
              REQUIRE(shared_arena::offset_of(p + 1, 99) == offset + 1);
              REQUIRE(shared_arena::offset_of(p, rest) == offset);
              REQUIRE(shared_arena::offset_of(p, rest + 1) == shared_arena::npos);
              REQUIRE(shared_arena::offset_of(p, ~std::size_t{0}) == shared_arena::npos);
              return std::string();
            }),
            "");
}

TEST(shared_arena, aligns_beyond_huge_pages) {
  EXPECT_EQ(in_child([] {
              for (std::size_t alignment = 1; alignment <= 8 * mib; alignment *= 2)
                for (const std::size_t bytes : {std::size_t{1}, 100 * kib}) {
                  void* const p = shared_arena::allocate(bytes, alignment);
                  REQUIRE(reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
                  std::memset(p, 1, bytes);
                }
              return std::string();
            }),
            "");
}

TEST(shared_arena, throws_if_it_is_full_and_serves_again_after_a_free) {
  EXPECT_EQ(in_child([] {
              const rlimit limit{16 * mib, 16 * mib};
              REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
              std::vector<void*> all;
              try {
                for (;;) all.push_back(shared_arena::allocate(mib, 64));
              } catch (const std::bad_alloc&) {
              }
              REQUIRE(all.size() == 15);  // the header takes a page
              REQUIRE(shared_arena::offer().bytes == 16 * mib);
              for (void* p : all) std::memset(p, 1, mib);
              for (void* p : all) REQUIRE(shared_arena::deallocate(p));
              std::memset(shared_arena::allocate(15 * mib, 64), 1, 15 * mib);
              REQUIRE(throws_bad_alloc(mib));
              REQUIRE(throws_bad_alloc(~std::size_t{0}));
              REQUIRE(throws_bad_alloc(~std::size_t{0} - 100));
              return std::string();
            }),
            "");
}

TEST(shared_arena, commits_allocations_and_returns_freed_pages_to_the_kernel) {
  EXPECT_EQ(in_child([] {
              void* const p = shared_arena::allocate(200 * mib, 64);
              REQUIRE(committed_bytes() >= 200 * mib);
              shared_arena::deallocate(p);
              REQUIRE(committed_bytes() < mib);
              void* const again = shared_arena::allocate(200 * mib, 64);
              REQUIRE(again == p);
              REQUIRE(committed_bytes() >= 200 * mib);
              std::memset(again, 1, 200 * mib);
              shared_arena::deallocate(again);
              // Small allocations keep their pages, and so do some large ones.
              for (int i = 0; i < 100; ++i) shared_arena::deallocate(shared_arena::allocate(mib, 64));
              REQUIRE(committed_bytes() < 3 * mib);
              std::vector<void*> all;
              for (int i = 0; i < 100; ++i) all.push_back(shared_arena::allocate(mib, 64));
              for (void* one : all) shared_arena::deallocate(one);
              REQUIRE(committed_bytes() > 16 * mib);
              REQUIRE(committed_bytes() < 40 * mib);
              return std::string();
            }),
            "");
}

TEST(shared_arena, is_private_to_the_parent_in_a_forked_child) {
  EXPECT_EQ(in_child([] {
              auto* const p = static_cast<int*>(shared_arena::allocate(mib, 64));
              auto* const small = static_cast<int*>(shared_arena::allocate(64, 64));
              p[0] = 1;
              p[5000] = 2;
              small[0] = 3;
              const std::string of_child = in_child([=] {
                REQUIRE(p[0] == 1 && p[5000] == 2 && small[0] == 3);
                p[0] = small[0] = 7;
                REQUIRE(shared_arena::offset_of(p, 4) == shared_arena::npos);
                REQUIRE(shared_arena::offer().file == -1);
                REQUIRE(throws_bad_alloc(64));
                REQUIRE(throws_bad_alloc(mib));
                REQUIRE(shared_arena::usable_size(p) == mib);
                REQUIRE(in_child([=] {
                          p[0] = 8;  // a grandchild has its own copy, too
                          return std::string();
                        }) == "");
                REQUIRE(p[0] == 7);
                REQUIRE(shared_arena::deallocate(p) && shared_arena::deallocate(small));
                p[5000] = 9;  // the memory stays
                return std::string();
              });
              if (!of_child.empty()) return "child: " + of_child;
              REQUIRE(p[0] == 1 && p[5000] == 2 && small[0] == 3);
              REQUIRE(shared_arena::offset_of(p, 4) != shared_arena::npos);
              REQUIRE(shared_arena::deallocate(p) && shared_arena::deallocate(small));
              REQUIRE(shared_arena::allocate(mib, 64) == p);
              return std::string();
            }),
            "");
}

TEST(shared_arena, forks_while_threads_allocate) {
  EXPECT_EQ(in_child([] {
              std::atomic<bool> stop{false};
              std::thread other([&] {
                while (!stop) shared_arena::deallocate(shared_arena::allocate(100 * kib, 64));
              });
              REQUIRE(eventually([] { return shared_arena::offer().file >= 0; }));
              std::string all;
              for (int i = 0; i < 50; ++i)
                all += in_child([] {
                  REQUIRE(throws_bad_alloc(64));
                  return std::string();
                });
              stop = true;
              other.join();
              return all;
            }),
            "");
}

TEST(shared_arena, survives_a_program_that_closes_its_file) {
  EXPECT_EQ(in_child([] {
              auto* const p = static_cast<int*>(shared_arena::allocate(mib, 64));
              p[0] = 1;
              const int number = shared_arena::offer().file;
              REQUIRE(close(number) == 0);
              REQUIRE(shared_arena::offer().file == -1);
              // Another file of the program gets the number.
              REQUIRE(memfd_create("tutti-test", 0) == number);
              REQUIRE(shared_arena::offer().file == -1);
              REQUIRE(throws_bad_alloc(64 * mib));
              struct stat found;
              REQUIRE(fstat(number, &found) == 0 && found.st_size == 0);
              const std::string of_child = in_child([=] {
                REQUIRE(p[0] == 1);
                p[0] = 2;
                return std::string();
              });
              if (!of_child.empty()) return "child: " + of_child;
              REQUIRE(p[0] == 1);
              REQUIRE(shared_arena::deallocate(p));
              return std::string();
            }),
            "");
}

TEST(shared_arena, throws_if_the_kernel_has_no_memfd) {
  const std::string text = in_child([] {
    if (const std::string why = tests::refuse_system_call(SYS_memfd_create, ENOSYS); !why.empty()) return why;
    REQUIRE(throws_bad_alloc(64));
    REQUIRE(throws_bad_alloc(64));
    REQUIRE(shared_arena::offer().file == -1);
    return std::string();
  });
  SKIP_IF_REFUSED(text);
  EXPECT_EQ(text, "");
}

// Each rank would map the arenas of all.
TEST(shared_arena, throws_if_the_address_space_is_limited) {
  EXPECT_EQ(in_child([] {
              const rlimit limit{std::size_t{1} << 40, std::size_t{1} << 40};
              REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
              REQUIRE(throws_bad_alloc(64));
              REQUIRE(shared_arena::offer().file == -1);
              return std::string();
            }),
            "");
}

TEST(shared_arena, ends_the_process_at_a_wrong_free) {
  EXPECT_EQ(in_child([] {
              void* const p = shared_arena::allocate(100, 64);
              shared_arena::deallocate(p);
              shared_arena::deallocate(p);
              return std::string("freed twice");
            }),
            "signal " + std::to_string(SIGABRT));
}

// What the owner and the process that maps its memory exchange.
struct exchanged {
  arena_offer offer;
  std::atomic<std::size_t> offset{0};
  std::atomic<int> step{0};
};

TEST(mapped_arena, shares_writes_in_both_directions) {
  auto* const shared =
      new (mmap(nullptr, sizeof(exchanged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          exchanged;
  mapped_arena mapped;
  EXPECT_EQ(mapped.open(getpid(), arena_offer{}), "the process has no shared memory");
  arena_offer of_owner;
  int pid = 0;
  {
    child_process owner([=] {
      auto* const p = static_cast<int*>(shared_arena::allocate(mib, 64));
      p[1000] = 11;
      shared->offer = shared_arena::offer();
      shared->offset = shared_arena::offset_of(p, mib);
      shared->step = 1;
      REQUIRE(eventually([&] { return shared->step == 2; }));
      p[1000] = 12;
      shared->step = 3;
      REQUIRE(eventually([&] { return shared->step == 4; }));
      REQUIRE(p[1000] == 13);
      return std::string();
    });
    pid = owner.pid();
    ASSERT_TRUE(eventually([&] { return shared->step == 1; }));
    of_owner = shared->offer;
    ASSERT_EQ(mapped.open(pid, of_owner), "");
    EXPECT_EQ(mapped.bytes(), of_owner.bytes);
    volatile int& seen = reinterpret_cast<volatile int*>(mapped.memory() + shared->offset.load())[1000];
    EXPECT_EQ(seen, 11);
    shared->step = 2;
    ASSERT_TRUE(eventually([&] { return shared->step == 3; }));
    EXPECT_EQ(seen, 12);

    mapped_arena other;
    arena_offer wrong = of_owner;
    wrong.nonce[1] ^= 1;
    EXPECT_EQ(other.open(pid, wrong), "the memory belongs to another process");
    wrong = of_owner;
    wrong.bytes += 4096;
    EXPECT_NE(other.open(pid, wrong).find("bytes instead of"), std::string::npos);
    EXPECT_EQ(other.memory(), nullptr);

    seen = 13;
    shared->step = 4;
    EXPECT_EQ(owner.result(), "");
    EXPECT_EQ(seen, 13);  // the mapping outlives the owner
  }
  EXPECT_EQ(mapped.open(pid, of_owner).rfind("the process has ended", 0), 0u);
  EXPECT_EQ(mapped.memory(), nullptr);
  munmap(shared, sizeof(exchanged));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Slots of collectives that get their pages when a member first writes as much.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/process_channel/forked_job.hpp"

namespace tutti::shm {
namespace {

constexpr std::size_t long_slot = 65536;

/// The blocks of two members, behind which is a file of `bytes`, and their wakeup words.
class two_members {
 public:
  explicit two_members(std::size_t bytes) : file_(memfd_create("slots", MFD_CLOEXEC)) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) std::abort();
    memory_ = static_cast<std::byte*>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    if (memory_ == MAP_FAILED) std::abort();
  }
  ~two_members() { munmap(memory_, mapped), close(file_); }
  two_members(const two_members&) = delete;
  two_members& operator=(const two_members&) = delete;

  collectives member(int i) { return {{memory_, memory_ + block}, {0, 1}, i, long_slot, words, 0, false}; }
  std::size_t bytes() const {
    struct stat is {};
    return fstat(file_, &is) == 0 ? static_cast<std::size_t>(is.st_blocks) * 512 : 0;
  }

  static constexpr std::size_t head = collectives::head_bytes(long_slot);
  static constexpr std::size_t block = collectives::bytes(long_slot), mapped = 2 * block;

 private:
  std::vector<std::byte> of_words_ = std::vector<std::byte>(wakeup_words<process_memory>::bytes(2) + 128);
  std::byte* aligned() {
    void* at = of_words_.data();
    std::size_t space = of_words_.size();
    return static_cast<std::byte*>(std::align(128, wakeup_words<process_memory>::bytes(2), at, space));
  }
  int file_;
  std::byte* memory_;

 public:
  wakeup_words<process_memory> words{aligned(), 2, 0};
};

// The kernel has no MADV_POPULATE_WRITE. (The engine allocates all slots at the set-up then.)
void expect_no_pages() {
  two_members job(two_members::mapped);
  EXPECT_THROW((void)job.member(0).operand(0, 49), lack_of_pages);
}

TEST(slot_pages, come_with_the_operands) {
  if (!process_memory::can_allocate()) return expect_no_pages();
  two_members job(two_members::mapped);
  collectives writer = job.member(0), reader = job.member(1);
  const auto exchange = [&](std::size_t bytes) {
    const std::vector<std::byte> data(bytes, static_cast<std::byte>(bytes % 251));
    const std::uint64_t n = writer.begin();
    EXPECT_EQ(reader.begin(), n);
    ASSERT_TRUE(writer.may_post(n, bytes));
    std::memcpy(writer.operand(n, bytes), data.data(), bytes);
    writer.post(n, 7);
    ASSERT_TRUE(reader.has_posted(n, 0));
    EXPECT_EQ(std::memcmp(reader.operand_of(n, 0, bytes), data.data(), bytes), 0) << bytes;
    reader.finish(n);
    writer.finish(n);
  };
  // A part of the memory that begins and ends inside a page takes two more at most.
  const auto ends = 2 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  exchange(48);
  const std::size_t short_calls = job.bytes();
  EXPECT_LE(short_calls, two_members::head + ends);
  exchange(49);
  EXPECT_LE(job.bytes(), short_calls + 4096 + ends);
  for (int i = 0; i < 9; ++i) exchange(4096);  // all four slots
  const std::size_t with_4k = job.bytes();
  EXPECT_LE(with_4k, short_calls + 4 * (4096 + ends));
  exchange(4097);
  EXPECT_GE(job.bytes(), std::size_t{16384});
  EXPECT_LE(job.bytes(), with_4k + 16384 + ends);
  for (const std::size_t bytes : {16384, 16385, 65536, 1, 65535, 65536, 50, 65536}) exchange(bytes);
}

TEST(slot_pages, that_the_node_does_not_have_are_an_error) {
  if (!process_memory::can_allocate()) return expect_no_pages();
  two_members job(two_members::head + long_slot / 2);
  collectives writer = job.member(0);
  const std::uint64_t n = writer.begin();
  std::memset(writer.operand(n, 48), 1, 48);
  std::memset(writer.operand(n, 16384), 1, 16384);
  std::memset(writer.operand(n, 16385), 1, 16385);  // fewer pages than it asks for first
  EXPECT_THROW((void)writer.operand(n, 40'000), lack_of_pages);
  std::memset(writer.operand(n, 49), 1, 49);  // the failure has taken the pages of before
  std::memset(writer.operand(n, 16384), 1, 16384);
}

}  // namespace
}  // namespace tutti::shm

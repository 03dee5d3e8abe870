// SPDX-License-Identifier: Apache-2.0
//
// Segments that cannot be made, with the reason that the rank reports. Each test runs in processes
// of its own, which lose the right or the resource that the segment needs.
#include <cerrno>
#include <fstream>
#include <memory>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "processes.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/segment_file.hpp"

namespace {

using namespace tutti::shm;
using tests::child_process;
using tests::in_child;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

segment_layout layout_of(std::size_t bytes_per_rank, const char* name = "block") {
  segment_layout layout(2);
  layout.add_per_rank(name, bytes_per_rank);
  return layout;
}

std::string create(memory_kind kind, const segment_layout& layout) {
  segment s;
  segment_offer offer;
  std::string why = s.create(kind, layout, offer);
  return why.empty() ? s.join(0) : why;
}

std::string attach(const segment_offer& offer, const segment_layout& layout) {
  segment s;
  std::string why = s.attach(offer, layout);
  return why.empty() ? s.join(1) : why;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << text;
}

// An offer that each test makes wrong in one respect.
class wrong_offers : public testing::TestWithParam<memory_kind> {
 protected:
  void SetUp() override { ASSERT_EQ(leader.create(GetParam(), layout, offer), ""); }
  void TearDown() override { EXPECT_EQ(attach(offer, layout), "") << "the right offer"; }
  const segment_layout layout = layout_of(4096);
  segment leader;
  segment_offer offer;
};

TEST_P(wrong_offers, nonce) {
  for (const int word : {0, 1}) {
    segment_offer other = offer;
    ++other.nonce[word];
    EXPECT_EQ(attach(other, layout), "the memory belongs to another job");
  }
}

TEST_P(wrong_offers, layout_of_the_same_size) {
  ASSERT_EQ(layout_of(4096, "other").bytes(), layout.bytes());
  EXPECT_EQ(attach(offer, layout_of(4096, "other")),
            "the leader of the node has another layout or another build of the library");
}

TEST_P(wrong_offers, layout_of_another_size) {
  for (const std::size_t bytes : {std::size_t{0}, mebibyte})
    EXPECT_EQ(attach(offer, layout_of(bytes)),
              "the leader of the node has another layout or another build of the library");
}

TEST_P(wrong_offers, size) {
  for (const long more : {-4096, 4096}) {
    segment_offer other = offer;
    other.bytes += static_cast<std::uint64_t>(more);
    expect_part(attach(other, layout),
                "has " + std::to_string(offer.bytes) + " bytes instead of " + std::to_string(other.bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(kinds, wrong_offers, testing::Values(memory_kind::memfd, memory_kind::file),
                         [](const auto& info) {
                           return info.param == memory_kind::memfd ? "memfd" : "file";
                         });

TEST(refusals, a_name_that_is_not_there) {
  const segment_layout layout = layout_of(4096);
  segment leader;
  segment_offer offer;
  ASSERT_EQ(leader.create(memory_kind::file, layout, offer), "");
  leader.complete_attach();
  EXPECT_EQ(attach(offer, layout), std::string("/dev/shm/") + offer.name + ": No such file or directory");
}

// The leader has died, and its pid belongs to a process that has something else behind the number.
TEST(refusals, another_process_behind_the_pid) {
  const segment_layout layout = layout_of(4096);
  segment leader;
  segment_offer offer;
  ASSERT_EQ(leader.create(memory_kind::memfd, layout, offer), "");
  const int number = offer.file;
  // The child closes the leader's descriptor and puts `what` behind its number.
  const auto attach_to_child = [&](int (*what)()) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    child_process child([&]() -> std::string {
      close(number);
      const int file = what();
      if (file >= 0 && file != number && dup2(file, number) < 0) return "dup2";
      if (file != number && file >= 0) close(file);
      if (write(ready[1], "", 1) != 1) return "write";
      for (;;) pause();
    });
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]), close(ready[1]);
    segment_offer other = offer;
    other.pid = child.pid();
    return attach(other, layout);
  };
  expect_part(attach_to_child([] { return -1; }), "No such file or directory");
  expect_part(attach_to_child([] { return open("/dev/null", O_RDWR); }), "is not a regular file");
  expect_part(attach_to_child([] { return open("/", O_RDONLY | O_DIRECTORY); }), "is not a regular file");
  expect_part(attach_to_child([] {
                int file = -1;
                return create_memfd("tutti-test", 4096, file).empty() ? file : -1;
              }),
              "has 4096 bytes instead of");
  expect_part(attach_to_child([] {
                int file = -1;
                return create_memfd("tutti-test", layout_of(4096).bytes(), file).empty() ? file : -1;
              }),
              "another job");
  expect_part(attach_to_child([] {
                const int file = memfd_create("unsealed", MFD_CLOEXEC);
                return ftruncate(file, static_cast<off_t>(layout_of(4096).bytes())) == 0 ? file : -1;
              }),
              "can be resized");
  EXPECT_EQ(attach(offer, layout), "");
  kill(offer.pid, 0);
  offer.pid = 0x7ffffff0;
  expect_part(attach(offer, layout), "No such file or directory");
}

TEST(refusals, nobody_can_resize_a_memfd) {
  int file = -1;
  ASSERT_EQ(create_memfd("tutti-test", 8192, file), "");
  EXPECT_NE(ftruncate(file, 4096), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(ftruncate(file, 16384), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(allocate(file, 0, 8192), "");
  close(file);
}

TEST(refusals, no_memfd) {
  const std::string text = in_child([]() -> std::string {
    if (std::string why = tests::refuse_system_call(SYS_memfd_create, ENOSYS); !why.empty()) return why;
    const segment_layout layout = layout_of(4096);
    return create(memory_kind::memfd, layout) + " | " + create(memory_kind::file, layout);
  });
  SKIP_IF_REFUSED(text);
  EXPECT_EQ(text, "memfd_create: Function not implemented | ");
}

// The 1 MiB hold the header and the first area of this layout, but not the second one.
TEST(refusals, small_dev_shm) {
  const std::string text = in_child([]() -> std::string {
    if (std::string why = tests::limit_dev_shm("1m"); !why.empty()) return why;
    const segment_layout layout = layout_of(mebibyte * 3 / 4);
    segment leader, other;
    segment_offer offer;
    std::string why = leader.create(memory_kind::file, layout, offer);
    if (why.empty()) why = other.attach(offer, layout);
    if (why.empty()) why = leader.join(0);
    if (!why.empty()) return why;
    why = other.join(1);
    leader.close();
    other.close();
    return why + " | " + create(memory_kind::file, layout_of(4 * mebibyte)) + " | " +
           create(memory_kind::file, layout_of(4096)) + " | " +
           create(memory_kind::memfd, layout_of(4 * mebibyte));
  });
  SKIP_IF_REFUSED(text);
  EXPECT_EQ(text,
            "posix_fallocate: No space left on device | posix_fallocate: No space left on device |  | ");
}

// The shared parts are the leader's.
TEST(refusals, small_dev_shm_and_large_shared_parts) {
  const std::string text = in_child([]() -> std::string {
    if (std::string why = tests::limit_dev_shm("1m"); !why.empty()) return why;
    segment_layout layout(2);
    layout.add("pool", 2 * mebibyte);
    return create(memory_kind::file, layout);
  });
  SKIP_IF_REFUSED(text);
  EXPECT_EQ(text, "posix_fallocate: No space left on device");
}

// The kernel allows no process to look into one of the enclosing user namespace.
TEST(refusals, user_namespaces) {
  const segment_layout layout = layout_of(4096);
  for (const memory_kind kind : {memory_kind::memfd, memory_kind::file}) {
    segment leader;
    segment_offer offer;
    ASSERT_EQ(leader.create(kind, layout, offer), "");
    const std::string text = in_child([&]() -> std::string {
      if (unshare(CLONE_NEWUSER) != 0) return "refused: no user namespace";
      return attach(offer, layout);
    });
    SKIP_IF_REFUSED(text);
    EXPECT_EQ(text, kind == memory_kind::file ? ""
                                              : "/proc/" + std::to_string(getpid()) + "/fd/" +
                                                    std::to_string(offer.file) + ": Permission denied");
  }
}

// ftruncate() beyond this limit would end the process with SIGXFSZ.
TEST(refusals, limit_of_the_file_size) {
  for (const memory_kind kind : {memory_kind::memfd, memory_kind::file}) {
    const std::string text = in_child([&] {
      const rlimit limit{65536, 65536};
      setrlimit(RLIMIT_FSIZE, &limit);
      return create(kind, layout_of(4096)) + " | " + create(kind, layout_of(65536));
    });
    EXPECT_EQ(text, " | RLIMIT_FSIZE is 65536 bytes, but the segment takes " +
                        std::to_string(layout_of(65536).bytes()));
  }
}

TEST(refusals, limit_of_the_address_space) {
  const segment_layout layout = layout_of(64 * mebibyte);
  segment leader;
  segment_offer offer;
  ASSERT_EQ(leader.create(memory_kind::memfd, layout, offer), "");
  const std::string text = in_child([&] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + 16 * mebibyte,
                       RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    return attach(offer, layout);
  });
  EXPECT_EQ(text, "mmap: Cannot allocate memory");
}

TEST(refusals, limit_of_open_files) {
  const std::string text = in_child([] {
    const rlimit limit{0, 0};
    setrlimit(RLIMIT_NOFILE, &limit);
    return create(memory_kind::memfd, layout_of(4096));
  });
  EXPECT_TRUE(text == "memfd_create: Too many open files" || text.rfind("random numbers: ", 0) == 0) << text;
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Calls and messages of a program whose results do not depend on the memory that the ranks share,
// and the files that a process has left in /dev/shm.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

#include "memory_world.hpp"
#include "support/system_calls.hpp"

namespace tests {

/// Short and long calls and messages, native and as schedules.
inline void make_checked_calls(tutti::communicator& c) {
  using namespace tutti;
  const int p = here_is.size, me = here_is.rank, right = (me + 1) % p, left = (me + p - 1) % p;
  for (const std::size_t n : {1, 500, 100'000})
    for (const char* const name : {"native", "allreduce/ring"})
      for (int i = 0; i < 3; ++i) {
        const std::vector<int> mine(n, me + i);
        std::vector<int> sum(n), got(n), spread(n, me == p - 1 ? i : -1);
        auto sent = c.isend(send_buf(mine), destination(right), tag(i));
        c.allreduce(send_buf(mine), recv_buf(sum), op(std::plus<>{}), algorithm(name));
        c.bcast(send_recv_buf(spread), root(p - 1));
        c.recv(recv_buf(got), source(left), tag(i));
        const std::vector<int> all = c.allgather(send_buf(mine));
        sent.wait();
        c.barrier();
        require(sum == std::vector<int>(n, p * (p - 1) / 2 + p * i), "an allreduce is wrong");
        require(spread == std::vector<int>(n, i), "a bcast is wrong");
        require(got == std::vector<int>(n, left + i), "a message is wrong");
        for (std::size_t k = 0; k < all.size(); ++k)
          require(all[k] == static_cast<int>(k / n) + i, "an allgather is wrong");
      }
}

/// From now on this process has no memfds, as on an old kernel. Returns false, and says why, if
/// this cannot be tested here.
inline bool lose_memfds() {
  const std::string why = refuse_system_call(SYS_memfd_create, ENOSYS);
  if (!why.empty()) std::printf("%s\n", why.c_str());
  return why.empty();
}
/// What node_memory says then.
inline constexpr const char* no_memfd = "memfd: rank 0 of the node: memfd_create: Function not implemented";

/// The files in /dev/shm that this process has created for tutti.
inline std::string own_files_in_dev_shm() {
  std::string found;
  std::error_code error;
  const std::string pid = std::to_string(getpid());
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm", error)) {
    const std::string name = file.path().filename().string();
    if (name.rfind("tutti-" + pid + "-", 0) == 0 || name.rfind("tutti-segment-" + pid + "-", 0) == 0)
      found += " " + name;
  }
  return found;
}

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
//
// Takes a system call away from a process, as an old kernel or a container does.
#pragma once

#include <cstddef>
#include <string>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

namespace tests {

/// From now on the system call fails in this process with the error `code`. Returns a reason if the
/// kernel refuses that.
inline std::string refuse_system_call(unsigned number, unsigned code) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
    return {};
  return "refused: no seccomp filter";
}

}  // namespace tests

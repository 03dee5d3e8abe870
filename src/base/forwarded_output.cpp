// SPDX-License-Identifier: Apache-2.0
#include "base/forwarded_output.hpp"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

namespace tutti::detail {

// First the launcher empties the pipe, and then it forwards the text.
void wait_until_forwarded() noexcept {
  const timespec interval{0, 20'000'000};
  int unread = 0;
  for (int i = 0; i < 100 && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; ++i)
    nanosleep(&interval, nullptr);
  for (int i = 0; i < 5; ++i) nanosleep(&interval, nullptr);
}

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Stands for code of another user: its constructor runs as soon as it is loaded.
#include <cstdio>
#include <cstdlib>

[[gnu::constructor]] static void loaded() {
  std::fputs("foreign code ran\n", stderr);
  std::_Exit(99);
}

// expect: is private within this context
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm) {
#ifndef CORRECTED
  comm.native();
#else
  comm.barrier();
#endif
}

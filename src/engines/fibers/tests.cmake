# SPDX-License-Identifier: Apache-2.0
#
# The numbers of ranks that tests try this engine with, and one of them for what takes long.
set(fibers_ranks 1 2 3 5 7 8 16 17 64)
set(fibers_ranks_once 8)
if(TUTTI_SANITIZE MATCHES "thread")
  set(fibers_ranks "")  # every switch of a fiber costs microseconds there, and hides races between its ranks
elseif(TUTTI_TEST_FULL)
  set(fibers_ranks 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 33 64 100)
endif()

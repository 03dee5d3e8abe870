# SPDX-License-Identifier: Apache-2.0
#
# The numbers of ranks for the tests of this engine, and one of them for slow tests.
set(fibers_ranks 1 2 3 5 7 8 16 17 64)
set(fibers_ranks_once 8)
if(TUTTI_SANITIZE MATCHES "thread")
  # With ThreadSanitizer each fiber switch takes microseconds and hides races between its ranks.
  set(fibers_ranks "")
elseif(TUTTI_TEST_FULL)
  set(fibers_ranks 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 33 64 100)
endif()

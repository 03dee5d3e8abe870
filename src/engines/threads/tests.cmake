# SPDX-License-Identifier: Apache-2.0
#
# The numbers of ranks for the tests of this engine, and one of them for slow tests.
set(threads_ranks 1 2 3)
set(threads_ranks_once 3)
if(TUTTI_TEST_FULL)
  set(threads_ranks 1 2 3 4 5 6 7 8)
elseif(TUTTI_SANITIZE MATCHES "thread")
  set(threads_ranks 1 2 3 5 8)
endif()
set(threads_ranks_take_cores ON)

# SPDX-License-Identifier: Apache-2.0
#
# The numbers of ranks for tests of this engine, and the one for tests that take long.
set(loopback_ranks 1)
set(loopback_ranks_once 1)

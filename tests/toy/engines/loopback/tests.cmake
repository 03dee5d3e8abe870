# SPDX-License-Identifier: Apache-2.0
#
# The numbers of ranks that tests try this engine with, and one of them for what takes long.
set(loopback_ranks 1)
set(loopback_ranks_once 1)

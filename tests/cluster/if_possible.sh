#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# if_possible.sh CLUSTER MPI COMMAND...: runs COMMAND if scripts/cluster (CLUSTER) finds all that it
# needs. Otherwise prints what is missing and ends with 77.
"$1" --mpi "$2" --quiet --check || exit
shift 2
exec "$@"

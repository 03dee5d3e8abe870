#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# late_lower_rank.sh PROGRAM: plays the launcher of Open MPI for two processes of a node. The first
# has its environment two seconds after the second, which cannot start. Passes if the second prints
# the reason, because the first runs.
set -u
program=$1
export OMPI_COMM_WORLD_SIZE=2

output=$(mktemp) || exit 2
trap 'rm -f "$output"' EXIT
# Both processes are children of this one.
(sleep 2; exec env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_RANK=0 sleep 100) &
first=$!
env OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_LOCAL_RANK=1 TUTTI_MPI=none timeout 90 "$program" root > "$output" 2>&1 &
wait $!
kill $first
[ "$(grep -cF 'TUTTI_MPI: is none' "$output")" != 1 ] || exit 0

. "$(dirname "$0")/../print_failure.sh"
print_failure 'the second process does not print the reason' "$(cat "$output")" "$0" "$program"
exit 1

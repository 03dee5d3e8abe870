#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ended_lower_ranks.sh PROGRAM: plays the launcher of Open MPI for two jobs that cannot start. In
# the first job all processes below rank 20 have ended. In the second job rank 0 runs beside rank 1.
# Passes if rank 20, which has no process to wait for, ends before rank 1, and only rank 1 prints.
set -u
program=$1
export OMPI_COMM_WORLD_SIZE=21 TUTTI_MPI=none

folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
env OMPI_COMM_WORLD_RANK=20 OMPI_COMM_WORLD_LOCAL_RANK=20 "$program" root > "$folder/alone" 2>&1 &
alone=$!
# The subshell is the launcher of the second job.
(
  env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_RANK=0 sleep 1000 &
  env OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_LOCAL_RANK=1 "$program" root > "$folder/beside" 2>&1
  touch "$folder/ended"
  kill $!
) &
wait $alone
first=$([ -e "$folder/ended" ] || echo alone)
wait
[ "$first" != alone ] || grep -qF 'TUTTI_MPI: is none' "$folder/alone" ||
  [ "$(grep -cF 'TUTTI_MPI: is none' "$folder/beside")" != 1 ] || exit 0

. "$(dirname "$0")/../print_failure.sh"
print_failure 'rank 20 waits for ranks that have ended, or another rank than rank 1 prints' \
  "first to end: ${first:-rank 1}"$'\n'"$(cat "$folder/alone" "$folder/beside")" "$0" "$program"
exit 1

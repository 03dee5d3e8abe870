#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# some_cannot_start.sh PROGRAM LAUNCHER...: in a job whose rank 0 can start, ranks 1 and 2 cannot.
# Passes if exactly one of them prints the reason. Then MPICH's launcher waits for rank 0, which
# waits in MPI_Init, so the script ends the launcher.
set -u
program=$1
shift
text='TUTTI_MPI: is none'

output=$(mktemp) || exit 2
trap 'rm -f "$output"' EXIT
timeout -k 5 150 "$@" -n 1 "$program" root : -n 2 env TUTTI_MPI=none "$program" root > "$output" 2>&1 < /dev/null &
job=$!
while kill -0 $job 2> /dev/null && ! grep -qF "$text" "$output"; do sleep 0.2; done
# The other rank learns within a second that one has printed. The report may come twice until then.
for _ in {1..40}; do
  kill -0 $job 2> /dev/null || break
  sleep 0.2
done
kill $job 2> /dev/null
wait $job 2> /dev/null
[ "$(grep -cF "$text" "$output")" != 1 ] || exit 0

. "$(dirname "$0")/../print_failure.sh"
print_failure "it does not print \"$text\" on one line" "$(cat "$output")" "$0" "$program" "$@"
exit 1

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# prints.sh TEXT... -- COMMAND...: passes if COMMAND prints each TEXT. Then ends COMMAND, and does
# not wait for it: in MPICH 4.0 over UCX 1.13, MPI_Finalize hangs if a rank enters it while another
# rank of another node has finished its part. A program of MPI calls alone shows it.
set -u
texts=()
while [ "$1" != -- ]; do
  texts+=("$1")
  shift
done
shift
output=$(mktemp) || exit 2
"$@" > "$output" 2>&1 < /dev/null &
job=$!
trap 'kill $job 2> /dev/null; wait $job; rm -f "$output"' EXIT
all_printed() {
  missing=
  for text in "${texts[@]}"; do grep -qF -- "$text" "$output" || missing=$text; done
  [ -z "$missing" ]
}
for ((i = 0; i < 600; ++i)); do
  ! all_printed || exit 0
  kill -0 $job 2> /dev/null || break
  sleep 0.1
done
! all_printed || exit 0
echo "FAILED: it did not print \"$missing\":"
cat "$output"
printf 'again:'
printf ' %q' "$0" "${texts[@]}" -- "$@"
echo
exit 1

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# preload_statistics.sh TOOL LAUNCHER... PROGRAM: runs the MPI program under `tutti preload`, with a
# FIFO and with devices as the file of the statistics. Each must be rejected with a message, and the
# job must neither wait nor fail.
set -u
tool=$1
shift
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/fifo" || exit 2

failed=0
# run FILE: runs the job, and sets `output` and `status`
run() { output=$(timeout -k 5 60 "$tool" preload --stats-json "$1" -- "${@:2}" 2>&1 < /dev/null); status=$?; }
fail() { echo "FAILED $1: $2: status $status: $output"; failed=1; }

for file in "$folder/fifo" /dev/null /dev/full; do
  run "$file" "$@"
  [ $status = 0 ] || fail "$file" 'the job failed'
  grep -qF "tutti preload: $file" <<< "$output" || fail "$file" 'it is not named'
  grep -qF 'only a regular file can be written' <<< "$output" || fail "$file" 'the reason is missing'
done

# Tests the check itself: the same job writes a regular file.
run "$folder/regular" "$@"
[ $status = 0 ] || fail regular 'the job failed'
grep -qF 'tutti/preload/1' "$folder/regular" || fail regular 'nothing was written'
exit $failed

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expect_overflow.sh PATTERN COMMAND...: passes if SIGSEGV or SIGBUS ends COMMAND, which has printed
# exactly one line that matches PATTERN.
set -u
pattern=$1
shift

ulimit -c 0
output=$(timeout -k 5 150 bash -c '"$@"; exit $?' - "$@" 2>&1 | grep -v 'Segmentation fault\|Bus error'; exit "${PIPESTATUS[0]}")
status=$?
if [ $status != 139 ] && [ $status != 135 ]; then
  why="its status is $status"
elif [ "$(grep -Ec "$pattern" <<<"$output")" != 1 ]; then
  why="it did not print one line that matches \"$pattern\""
else
  exit 0
fi
. "$(dirname "$0")/../print_failure.sh"
print_failure "$why" "$output" "$0" "$pattern" "$@"
exit 1

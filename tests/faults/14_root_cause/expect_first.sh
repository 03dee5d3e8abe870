#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expect_first.sh PATTERN COMMAND...: passes if COMMAND ends by itself with a non-zero status, and
# the first line that tutti printed matches PATTERN.
set -u
pattern=$1
shift

output=$(timeout -k 5 150 "$@" 2>&1)
status=$?
first=$(grep -m 1 '^tutti: ' <<<"$output")
if [ $status = 0 ]; then
  why='it ended with 0'
elif [ $status = 124 ] || [ $status = 137 ]; then
  why='it hung'
elif ! grep -Eq "$pattern" <<<"$first"; then
  why="its first line does not match \"$pattern\""
else
  exit 0
fi

. "$(dirname "$0")/../print_failure.sh"
print_failure "$why" "$output" "$0" "$pattern" "$@"
exit 1

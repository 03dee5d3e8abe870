#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expect_first.sh PATTERN COMMAND...: passes when COMMAND ends by itself with a status that is not
# 0, and the first of its lines that tutti has written matches PATTERN.
set -u
pattern=$1
shift

said=$(timeout -k 5 60 "$@" 2>&1)
status=$?
first=$(grep -m 1 '^tutti: ' <<<"$said")
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
print_failure "$why" "$said" "$0" "$pattern" "$@"
exit 1

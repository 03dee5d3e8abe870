#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ends_well.sh [-r REPORTS] [-s STATUS] TEXT COMMAND...: passes if COMMAND ends by itself with
# status 0, or STATUS, and its output matches TEXT. It must print at most REPORTS reports (default
# 1) and never FAILED. TEXT is an extended regular expression in which . also matches the end of a
# line. CTest's PASS_REGULAR_EXPRESSION ignores the status.
set -u
max_reports=1
other_status=0
if [ "$1" = -r ]; then max_reports=$2 && shift 2; fi
if [ "$1" = -s ]; then other_status=$2 && shift 2; fi
text=$1
shift

output=$(mktemp) || exit 2
trap 'rm -f "$output"' EXIT
"$@" > "$output" 2>&1 < /dev/null
status=$?
why=''
grep -qzE -e "$text" "$output" || why="it did not print \"$text\""
reports=$(grep -c '^tutti: ' "$output")
[ "$reports" -le "$max_reports" ] || why="it reported $reports times"
! grep -q FAILED "$output" || why='it printed FAILED'
[ $status = 0 ] || [ $status = "$other_status" ] || why="it ended with $status"
[ -n "$why" ] || exit 0

echo "FAILED: $why:"
cat "$output"
printf 'again:'
printf ' %q' "$0" -r "$max_reports" -s "$other_status" "$text" "$@"
echo
exit 1

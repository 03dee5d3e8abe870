#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ends_well.sh [-r REPORTS] TEXT COMMAND...: passes if COMMAND ends by itself with status 0 and its
# output matches TEXT. It must print at most REPORTS reports (default 1) and never FAILED. TEXT is
# an extended regular expression in which . also matches the end of a line. CTest's
# PASS_REGULAR_EXPRESSION ignores the status.
set -u
most=1
if [ "$1" = -r ]; then most=$2 && shift 2; fi
text=$1
shift

said=$(mktemp) || exit 2
trap 'rm -f "$said"' EXIT
"$@" > "$said" 2>&1 < /dev/null
status=$?
why=''
grep -qzE -e "$text" "$said" || why="it did not say \"$text\""
reports=$(grep -c '^tutti: ' "$said")
[ "$reports" -le "$most" ] || why="it reported $reports times"
! grep -q FAILED "$said" || why='it said FAILED'
[ $status = 0 ] || why="it ended with $status"
[ -n "$why" ] || exit 0

echo "FAILED: $why:"
cat "$said"
printf 'again:'
printf ' %q' "$0" -r "$most" "$text" "$@"
echo
exit 1

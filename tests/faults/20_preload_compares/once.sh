#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# once.sh TEXT COMMAND...: passes if COMMAND ends by itself within 150 seconds with a non-zero
# status, and prints its report, which contains TEXT, once.
set -u
text=$1
shift

output=$(timeout -k 5 150 "$@" 2>&1)
status=$?
times=$(grep -c -F -e "$text" <<< "$output")
why=''
[ "$times" = 1 ] || why="it printed \"$text\" $times times"
case $output in *"the call returned"*) why='an invalid call returned' ;; esac
[ $status != 0 ] || why='it ended with 0'
case $status in 124 | 137) why='it hung' ;; esac
[ -n "$why" ] || exit 0

echo "FAILED: $why:"
echo "$output"
printf 'again:'
printf ' %q' "$0" "$text" "$@"
echo
exit 1

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# refused_start.sh TEXT COMMAND...: passes if COMMAND fails and prints TEXT on one line.
set -u
text=$1
shift

output=$(timeout -k 5 150 "$@" 2>&1 < /dev/null)
status=$?
why=''
[ "$(grep -cF -e "$text" <<< "$output")" = 1 ] || why="it does not print \"$text\" on one line"
[ $status != 0 ] || why='it ended with 0'
case $status in 124 | 137) why='it hung' ;; esac
[ -n "$why" ] || exit 0

. "$(dirname "$0")/../print_failure.sh"
print_failure "$why" "$output" "$0" "$text" "$@"
exit 1

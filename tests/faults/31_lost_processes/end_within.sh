#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# end_within.sh WHO COMMAND...: passes if all processes of COMMAND end within 4 s of the loss, and
# leave nothing in /dev/shm. COMMAND gets one more argument, a file that it makes just before the
# loss. If WHO is rank, the output must name rank 1 or its process.
set -u
who=$1
shift
output=$(mktemp) || exit 2
mark=$output.mark
trap 'rm -f "$output" "$mark"; pkill -9 -f "$mark"' EXIT
files() { find /dev/shm -maxdepth 1 -name 'tutti*' 2> /dev/null | sort; }
before=$(files)
"$@" "$mark" > "$output" 2>&1 < /dev/null &
for ((i = 0; i < 600; ++i)); do
  [ -e "$mark" ] && break
  sleep 0.05
done
started=$(date +%s%N)
alive() { pgrep -f -- "$mark" | grep -v "^$$\$" | grep -q .; }
for ((i = 0; i < 80; ++i)); do
  alive || break
  sleep 0.05
done
took=$((($(date +%s%N) - started) / 1000000))
why=''
[ -e "$mark" ] || why='it killed nothing'
! alive || why='processes are left after 4 s'
[ "$who" != rank ] || grep -qiE 'rank[: ]+1([^0-9]|$)|PID' "$output" || why='it names no rank'
for ((i = 0; i < 60; ++i)); do # another test may have a file, but only for a moment
  left=$(comm -13 <(echo "$before") <(files))
  [ -n "$left" ] || break
  sleep 0.05
done
[ -z "$left" ] || why="it left $left"
[ "$(grep -c '^tutti: ' "$output")" -le 1 ] || why='it reported more than once'
[ -n "$why" ] || exit 0
echo "FAILED: $why, after $took ms:"
cat "$output"
echo "again: $0 $who $*"
exit 1

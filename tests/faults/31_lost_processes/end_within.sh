#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# end_within.sh WHO COMMAND...: passes if all processes of COMMAND end within 4 s of the loss, which
# COMMAND prints as "killed", and leave nothing in /dev/shm. If WHO is rank, the output must name
# rank 1. The last argument of COMMAND gets a mark that identifies its processes.
set -u
who=$1
shift
mark=mark.$$.$RANDOM
output=$(mktemp) || exit 2
trap 'rm -f "$output"; pkill -9 -f "$mark"' EXIT
before=$(find /dev/shm -maxdepth 1 -name 'tutti*' 2> /dev/null | sort)
"$@" "$mark" > "$output" 2>&1 < /dev/null &
for ((i = 0; i < 600; ++i)); do
  grep -q killed "$output" && break
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
grep -q killed "$output" || why='it killed nothing'
! alive || why='processes are left after 4 s'
[ "$who" != rank ] || grep -qiE 'rank[: ]+1([^0-9]|$)|PID' "$output" || why='it names no rank'
after=$(find /dev/shm -maxdepth 1 -name 'tutti*' 2> /dev/null | sort)
[ "$before" = "$after" ] || why="it left $after"
[ "$(grep -c '^tutti: ' "$output")" -le 1 ] || why='it reported more than once'
[ -n "$why" ] || exit 0
echo "FAILED: $why, after $took ms:"
cat "$output"
echo "again: $0 $who $*"
exit 1

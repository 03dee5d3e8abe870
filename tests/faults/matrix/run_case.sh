#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_case.sh STATUS SECONDS REPORTS TEXT COMMAND...: passes if COMMAND ends by itself within
# SECONDS with STATUS, a number, or "failure" for any but 0. It must print TEXT, a regular
# expression, or "-" for any output. REPORTS is the number of lines that begin with "tutti:", or a
# range such as 0-1. COMMAND must leave no process behind. With STATUS "waits", it must print TEXT
# within SECONDS and continue to wait; the script then ends it. Such a job prints 1 to REPORTS
# lines.
set -u
status=$1 seconds=$2 reports=$3 text=$4
shift 4

output=$(mktemp)
trap 'rm -f "$output"' EXIT
begin=$(date +%s%N)
mark=MISUSE_CASE=$$.$RANDOM  # identifies its processes, because several cases may run at once
env "$mark" timeout -k 5 "$seconds" "$@" > "$output" 2>&1 &
job=$!
waited=no
if [ "$status" = waits ]; then
  while kill -0 $job 2> /dev/null && ! grep -qE "$text" "$output"; do sleep 0.1; done
  sleep 0.5  # other ranks may print it too, and should not
  kill -0 $job 2> /dev/null && waited=yes
  kill $job 2> /dev/null
fi
wait $job 2> /dev/null
ended=$?
took=$((($(date +%s%N) - begin) / 1000000))

sed -i 's/complete\(tutti:\)/complete\n\1/' "$output"  # output of several ranks may share a line

why=()
case $status in
  waits) [ $waited = yes ] || why+=("it ended with $ended, and should have gone on waiting") ;;
  failure) [ $ended != 0 ] || why+=('it ended with 0') ;;
  *) [ $ended = "$status" ] || why+=("it ended with $ended in place of $status") ;;
esac
[ $waited = yes ] || [ $took -lt $((seconds * 1000)) ] || why+=("it did not end within $seconds s")
[ "$text" = - ] || grep -qE "$text" "$output" || why+=("it did not print \"$text\"")
printed=$(grep -cE '^tutti:' "$output")
least=${reports%-*}
[ "$status" != waits ] || least=1
[ "$printed" -ge "$least" ] && [ "$printed" -le "${reports#*-}" ] || why+=("it printed $printed reports in place of $reports")

# Finds ranks that outlive their launcher.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  left=$(cd /proc && grep -slzxF "$mark" [0-9]*/environ | sed 's,/.*,,' | tr '\n' ' ')
  [ -n "$left" ] || break
  sleep 0.5
done
[ -z "$left" ] || why+=("processes are left: $left")
[ ${#why[@]} != 0 ] || exit 0

printf 'FAILED: %s\n' "${why[@]}"
echo "after $took ms, with:"
cat "$output"
printf 'again:'
compgen -e | grep -E '^TUTTI_|SAN_OPTIONS$' | while IFS= read -r name; do printf ' %s=%q' "$name" "${!name}"; done
printf ' %q' "$0" "$status" "$seconds" "$reports" "$text" "$@"
echo
exit 1

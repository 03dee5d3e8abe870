#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expect.sh TEXT COMMAND...: passes if COMMAND ends by itself with a non-zero status, prints TEXT,
# and dumps no core.
set -u
text=$1
shift

output=$(timeout -k 5 150 "$@" 2>&1)
status=$?
case $output in
  *"core dumped"* | *"Segmentation fault"* | *"signal 11"*) why='it crashed' ;;
  *"$text"*) why='' ;;
  *) why="it did not print \"$text\"" ;;
esac
if [ $status = 0 ]; then why='it ended with 0'; fi
if [ $status = 124 ] || [ $status = 137 ]; then why='it hung'; fi
if [ -z "$why" ]; then exit 0; fi

echo "FAILED: $why:"
echo "$output"
printf 'again:'
compgen -e | grep -E '^(TUTTI_|FAILURE_)|SAN_OPTIONS$' | while IFS= read -r name; do printf ' %s=%q' "$name" "${!name}"; done
printf ' %q' "$0" "$text" "$@"
echo
exit 1

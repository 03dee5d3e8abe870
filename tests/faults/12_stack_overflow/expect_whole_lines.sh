#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expect_whole_lines.sh COMMAND...: runs COMMAND ten times. Passes if SIGSEGV or SIGBUS ends each run,
# which has printed at least one line about an overflow, and nothing else.
set -u
ulimit -c 0
for _ in {1..10}; do
  output=$(timeout -k 5 20 bash -c '"$@"; exit $?' - "$@" 2>&1 | grep -v 'Segmentation fault\|Bus error'; exit "${PIPESTATUS[0]}")
  status=$?
  others=$(grep -Evc '^tutti: stack overflow in rank [0-7]; raise TUTTI_STACK$' <<<"$output")
  [ "$others" = 0 ] && { [ $status = 139 ] || [ $status = 135 ]; } && continue
  . "$(dirname "$0")/../print_failure.sh"
  print_failure "status $status, or the lines are mixed" "$output" "$0" "$@"
  exit 1
done

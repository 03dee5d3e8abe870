#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expect_reports.sh CASE SOURCE REPORTS COMMAND...: passes if COMMAND ends with 0 and prints REPORTS
# reports of long waits. Each must contain the line of SOURCE that is marked "PLACE CASE", the
# remedy, and the seconds of TUTTI_DEADLOCK_AFTER or its default, 10.
set -u
case=$1 source=$2 reports=$3
shift 3

output=$(timeout -k 5 150 "$@" 2>&1)
status=$?
line=$(grep -n "PLACE $case\$" "$source" | cut -d: -f1)
found=$(grep -c "tutti: rank [02] has waited for more than ${TUTTI_DEADLOCK_AFTER:-10} s in [a-z]* at ${source##*/}:$line.*TUTTI_CHECK=1" <<< "$output")
all=$(grep -c 'has waited for more' <<< "$output")
[ $status = 0 ] && [ "$found" = "$reports" ] && [ "$all" = "$reports" ] && exit 0
echo "FAILED: it ended with $status and printed $found reports of $reports:"
echo "$output"
exit 1

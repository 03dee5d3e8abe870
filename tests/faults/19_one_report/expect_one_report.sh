#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expect_one_report.sh CASE SOURCE TEXT COMMAND...: passes if COMMAND fails by itself and prints one
# report ("tutti: rank N failed: ..."), without a doubled prefix. The report must contain TEXT ("%"
# separates several) and every line of SOURCE that is marked "PLACE CASE".
set -u
case=$1 source=$2 texts=$3
shift 3

output=$(timeout -k 5 150 "$@" 2>&1)
status=$?
why=''
expect() {  # WHY TEXT: TEXT is printed
  case $output in *"$2"*) ;; *) why="$1: \"$2\"" ;; esac
}
[ $status != 0 ] || why='it ended with 0'
case $status in 124 | 137) why='it hung' ;; esac
reports=$(grep -c 'tutti: rank [0-9]* failed: ' <<< "$output")
[ "$reports" = 1 ] || why="it printed $reports reports"
case $output in *'failed: tutti:'* | *'(tutti:'* | *': tutti: '*) why='a prefix is doubled' ;; esac
IFS='%' read -ra expected <<< "$texts"
for text in "${expected[@]}"; do expect 'it does not print' "$text"; done
case $output in *'(allgather/'*) why='it names an exchange of the library' ;; esac
places=$(grep -n "PLACE $case\$" "$source" | cut -d: -f1)
for line in $places; do expect 'it does not name' "${source##*/}:$line"; done
[ -n "$why" ] || exit 0
echo "FAILED: $why:"
echo "$output"
exit 1

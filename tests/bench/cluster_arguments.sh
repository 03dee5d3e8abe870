#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cluster_arguments.sh SCRIPT: tests which network bench/cluster.sh names to compare. In place of
# compare runs a program that prints its arguments.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
printf '#!/bin/sh\necho "$@"\n' > "$folder/compare"
chmod +x "$folder/compare"

expect() { # TEXT ARGUMENT...: the arguments after those of every call
  local text=$1 got
  shift
  got=$("$script" "$folder" "$@")
  [ "$got" = "--cluster 4 --ranks 8 --sizes 8,1KiB,32KiB,1MiB $text" ] && return
  echo "cluster.sh $*: compare gets '$got', which does not end with '$text'" >&2
  exit 1
}
script=$1
expect '--rate 100mbit --delay 1ms'
expect '--rate 100mbit --delay 1ms --repeat 5' --repeat 5
expect '--delay 1ms --rate 1gbit' --rate 1gbit
expect '--delay 1ms --rate=1gbit' --rate=1gbit
expect '--rate 100mbit --delay 5us' --delay 5us
expect '--rate=1gbit --delay 5us' --rate=1gbit --delay 5us
if "$script" "$folder/none" 2> "$folder/text"; then exit 1; fi
grep -q 'has no program compare' "$folder/text"
echo 'cluster.sh: the arguments are right'

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# one_job.sh LAUNCHER... PROGRAM: runs one_job.cpp's PROGRAM once for all examples of ranks, and
# once for each whole program in it.
set -u
program=${!#}
failed=0
"$@" || { echo "FAILED: $*"; failed=1; }
while read -r name; do
  "$@" "$name" < /dev/null || { echo "FAILED: $* $name"; failed=1; }
done < <("$program" --list)
exit $failed

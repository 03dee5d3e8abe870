#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# two_jobs.sh PROGRAM PORT LAUNCHER ... : starts the program as two jobs whose processes 0 and 1 try
# to join. Fails if one of them succeeds.
program=$1
port=$2
shift 2
for ranks in 1 2; do
  port=$((port + 1))
  "$@" -n $ranks "$program" 2 $port 0 &
  "$@" -n $ranks "$program" 2 $port 1 || exit 1
  wait $! || exit 1
done

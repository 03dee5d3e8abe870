#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# small_dev_shm.sh COMMAND...: runs COMMAND with a /dev/shm of 1 MiB, in which it must leave no file
# of tutti. Exits with 77 if this user may not mount one.
set -u
flags=(--mount)
[ "$(id -u)" = 0 ] || flags+=(--user --map-root-user)
mount_it='mount -t tmpfs -o size=1M,mode=1777 tmpfs /dev/shm'
if ! unshare "${flags[@]}" bash -c "$mount_it"; then
  echo "refused: no mount of /dev/shm"
  exit 77
fi
exec unshare "${flags[@]}" bash -c "$mount_it"'
  "$@"
  status=$?
  left=$(find /dev/shm -name "tutti*")
  [ -z "$left" ] && exit $status
  echo "FAILED: it left $left"
  exit 1' "$0" "$@"

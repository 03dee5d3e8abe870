#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# chroot.sh CLUSTER [OPTION...]: in a chroot, the ranks of a cluster see the files of the chroot. A
# launcher that only enters the mount namespace of a node would start the files outside it.
set -u
cluster=("$@" --nodes 2 --ranks-per-node 1 --delay 0)
[ "$(id -u)" = 0 ] || {
  echo 'only root may change its root directory'
  exit 77
}
folder=$(mktemp -d) || exit 2
trap 'rmdir "$folder"' EXIT
inside() { # FOLDER COMMAND...
  mount --rbind / "$1" && mount -t tmpfs tmpfs "$1/mnt" && echo > "$1/mnt/only_in_the_chroot" && exec chroot "$@"
}
found=$(timeout 30 unshare --mount bash -c "$(declare -f inside); inside \"\$@\"" inside "$folder" \
  env --chdir="$PWD" "${cluster[@]}" -- sh -c 'test -e /mnt/only_in_the_chroot && echo a rank in the chroot')
status=$?
[ $status = 0 ] && [ "$(grep -c 'a rank in the chroot' <<< "$found")" = 2 ] && exit 0
printf 'FAILED: the cluster ended with %s, and printed:\n%s\n' "$status" "$found"
exit 1

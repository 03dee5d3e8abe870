#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# printed_once.sh TEXT COMMAND...: passes if expect.sh does, and COMMAND prints TEXT once.
set -u
text=$1
shift
output=$(mktemp) || exit 2
trap 'rm -f "$output"' EXIT
"$(dirname "$0")/expect.sh" "$text" bash -c '"$@" > >(tee "$0") 2>&1' "$output" "$@" || exit
printed=$(grep -cF -- "$text" "$output")
if [ "$printed" != 1 ]; then
  echo "FAILED: it printed \"$text\" $printed times:"
  cat "$output"
  printf 'again:'
  compgen -e | grep -E '^TUTTI_' | while IFS= read -r name; do printf ' %s=%q' "$name" "${!name}"; done
  printf ' %q' "$0" "$text" "$@"
  echo
  exit 1
fi

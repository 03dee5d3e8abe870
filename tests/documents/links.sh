#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# links.sh ROOT: fails if a document links to a missing file.
cd "$1" || exit 2
failed=0
for document in README.md docs/*.md docs/guide/*.md docs/history/*.md; do
  while read -r target; do
    [ -e "$(dirname "$document")/$target" ] || { echo "$document: there is no $target"; failed=1; }
  done < <(awk '/^```/{code = !code} !code' "$document" | grep -oE '[^ `]\]\([^)#: ]+' | sed 's/^.](//')
done
exit $failed

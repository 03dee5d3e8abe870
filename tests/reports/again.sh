#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# again.sh TEXT COMMAND...: passes if COMMAND fails and prints a line that begins with FAILED and
# contains TEXT. A shell then runs the command line after "again: " in an empty environment. It must
# fail with the same line and run no other case.
set -u
text=$1
shift

wrong() { echo "$1"; echo "--- first:"; echo "$first"; echo "--- again:"; echo "${second-}"; exit 1; }

first=$(timeout -k 5 60 "$@" 2>&1) && wrong 'it ended with 0'
failed=$(grep -F -m 1 'FAILED' <<< "$first" | grep -F -- "$text") || wrong "no line contains FAILED and \"$text\""
again=$(grep -m 1 '^again: ' <<< "$first") || wrong 'no line has the command that runs it again'

second=$(env -i PATH="$PATH" HOME="${HOME-/}" timeout -k 5 60 sh -c "${again#again: }" 2>&1) && wrong 'the repetition ended with 0'
grep -qF -- "$failed" <<< "$second" || wrong 'the repetition failed with another line'
if grep -q -e '--only' <<< "$again" && grep -q 'another case' <<< "$second"; then wrong 'the repetition tried another case'; fi

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# lines.sh EXAMPLE... : prints `NAME: lines` for each part between `// count: NAME` and `// end` in
# the examples. Counts lines of code without comments and blank lines.
awk '/^ *\/\/ count: /{name = $0; sub(/.*count: /, "", name); n = 0; next}
     /^ *\/\/ end$/{printf "%s: %d\n", name, n; name = ""; next}
     name != "" && !/^ *(\/\/|$)/{++n}' "$@"

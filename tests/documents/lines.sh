#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# lines.sh EXAMPLE... : the lines of code between `// count: NAME` and `// end` in examples, without comments and blank
# lines, as `NAME: lines`.
awk '/^ *\/\/ count: /{name = $0; sub(/.*count: /, "", name); n = 0; next}
     /^ *\/\/ end$/{printf "%s: %d\n", name, n; name = ""; next}
     name != "" && !/^ *(\/\/|$)/{++n}' "$@"

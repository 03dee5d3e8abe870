#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# headers.sh INCLUDE COMPILER FLAGS ... : checks that every header of LPF compiles by itself,
# included twice, as C99 and as C++, without warnings. It may define no macro except its guard, the
# versions of the specification and those of tutti/detail/export.hpp.
include=$1
compiler=$2
shift 2
bad=0
report() { echo "$1"; bad=1; }
for header in "$include"/lpf/*.h; do
  name=lpf/$(basename "$header")
  text=$(printf '#include "%s"\n#include "%s"\nint x;\n' "$name" "$name")
  for language in 'c -std=c99 -pedantic' 'c++ -std=c++20'; do
    "$compiler" -x $language -Wall -Wextra -Werror -fsyntax-only "-I$include" "$@" - <<< "$text" || report "$name: as $language"
  done
  # The header's own macros: all macros except those of the foreign headers that it includes.
  others=$(grep -rhoE '#include <[^>]+>' "$include/lpf" | sort -u)
  extra=$(comm -13 \
    <("$compiler" -x c -std=c99 -dM -E "$@" - <<< "$others" | awk '{ print $2 }' | sort -u) \
    <("$compiler" -x c -std=c99 -dM -E "-I$include" "$@" - <<< "$others"$'\n'"$text" | awk '{ print $2 }' | sort -u) |
    grep -vE '^(TUTTI_API(_BEGIN|_END)?|LPF_[A-Z]+_H|_LPF_VERSION|_LPF_INCLUSIVE_MEMORY|_LPF_COLLECTIVES_VERSION)$')
  case $name in lpf/checked.h) ;; *) [ -z "$extra" ] || report "$name leaks macros: $extra" ;; esac
done
exit $bad

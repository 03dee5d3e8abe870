#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# alone.sh FOLDER COMPILER FLAG... : each header under FOLDER/tutti compiles by itself. Headers that include <mpi.h> are left
# out where the flags do not lead to one.
set -u
folder=$1
shift
failed=0
if ! "$@" -fsyntax-only -x c++ - <<<'#include <mpi.h>' 2>/dev/null; then without_mpi=1; fi
while read -r header; do
  [ -n "${without_mpi:-}" ] && [[ $header == tutti/mpi.hpp || $header == tutti/kamping* ]] && continue
  "$@" -fsyntax-only -x c++ - <<<"#include \"$header\"" || { echo "$header does not compile by itself"; failed=1; }
done < <(cd "$folder" && find tutti -name '*.hpp' | sort)
exit $failed

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# alone.sh FOLDER COMPILER FLAG... : checks that each header under FOLDER/tutti compiles by itself.
# Skips the headers for MPI and for cereal if the flags do not lead to one.
set -u
folder=$1
shift
failed=0
left_out='^$'
"$@" -fsyntax-only -x c++ - <<<'#include <mpi.h>' 2>/dev/null || left_out+='|^tutti/(mpi\.hpp|kamping)'
"$@" -fsyntax-only -x c++ - <<<'#include <cereal/cereal.hpp>' 2>/dev/null || left_out+='|^tutti/cereal\.hpp'
while read -r header; do
  [[ $header =~ $left_out ]] && continue
  "$@" -fsyntax-only -x c++ - <<<"#include \"$header\"" || { echo "$header does not compile by itself"; failed=1; }
done < <(cd "$folder" && find tutti -name '*.hpp' | sort)
exit $failed

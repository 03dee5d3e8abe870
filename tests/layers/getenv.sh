#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# getenv.sh ROOT         fails if the library or the command line reads a variable with getenv()
# getenv.sh --self-test  makes such calls in a scratch tree, and fails if they are not detected
#
# A set-user-ID program must ignore all variables of its caller that name code or files, so all
# variables are read with secure_getenv().

set -u
export LC_ALL=C

if [ "${1-}" = --self-test ]; then
  self=$(realpath "$0")
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
  failed=0
  # expect STATUS FILE LINE: runs the check on a tree that has only FILE with this line
  expect() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/src" "$scratch/tree/include" "$scratch/tree/$(dirname "$2")"
    printf '%s\n' "$3" > "$scratch/tree/$2"
    bash "$self" "$scratch/tree" > "$scratch/output" 2>&1
    [ $? -eq "$1" ] || { echo "self-test: $2 with '$3' should give $1:"; cat "$scratch/output"; failed=1; }
  }
  expect 0 src/base/a.cpp 'const char* x = secure_getenv("A");'
  expect 0 tests/a/a.cpp 'const char* x = getenv("A");'
  expect 0 src/base/a.cpp 'own_getenv("A"); getenvs("A"); // no getenv'
  expect 1 src/base/a.cpp 'const char* x = getenv("A");'
  expect 1 src/base/a.cpp 'getenv("A");'
  expect 1 src/base/a.hpp 'const char* x = std::getenv("A");'
  expect 1 src/base/a.cpp 'const char* x = ::getenv ("A");'
  expect 1 src/base/a.cpp 'read(&std::getenv);'
  expect 1 tools/tutti/a.cpp 'if (std::getenv(name.c_str()))'
  expect 1 include/tutti/a.hpp 'if (getenv("A"))'
  [ $failed = 0 ] && echo 'getenv: the check detects all errors'
  exit $failed
fi

cd "${1:?usage: getenv.sh ROOT | --self-test}" || exit 2
places=()
for place in src include tools; do [ -d "$place" ] && places+=("$place"); done
[ ${#places[@]} != 0 ] || exit 2

calls=$(grep -rnE --include='*.[ch]pp' --include='*.[ch]' '(^|[^A-Za-z0-9_])getenv *\(|&(std::|::)?getenv\b' "${places[@]}")
if [ -n "$calls" ]; then
  printf '%s\n' "$calls"
  echo 'getenv: use secure_getenv()'
  exit 1
fi
echo 'getenv: all variables are read with secure_getenv()'

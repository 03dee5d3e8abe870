#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# widths.sh ROOT         fails if a line of ROOT with a comment, or a line of Markdown, has more
#                        than 100 columns, or if a ruler has another form than this one:
#                        // --- topic
# widths.sh --self-test  makes such lines in a scratch tree, and fails if they are not detected
#
# Tables and code of Markdown may be wider. A ruler is a comment that divides a file by topics. It
# has one line, and neither dashes nor a full stop at its end.

set -u
export LC_ALL=C
max_columns=100

if [ "${1-}" = --self-test ]; then
  self=$(realpath "$0")
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
  failed=0
  # expect STATUS FILE LINE...: runs the check on a tree that has only FILE with these lines
  expect() {
    local status=$1 file=$2
    shift 2
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/$(dirname "$file")"
    printf '%s\n' "$@" > "$scratch/tree/$file"
    bash "$self" "$scratch/tree" > "$scratch/output" 2>&1
    [ $? -eq "$status" ] || { echo "self-test: $file with '$*' should give $status:"; cat "$scratch/output"; failed=1; }
  }
  x10=xxxxxxxxxx
  x90=$x10$x10$x10$x10$x10$x10$x10$x10$x10
  expect 0 src/base/a.cpp "// ${x90}1234567"
  expect 1 src/base/a.cpp "// ${x90}12345678"
  expect 1 src/base/a.hpp "  /// ${x90}123456"
  expect 1 src/base/a.cpp "int a;  // ${x90}12345"
  expect 1 src/base/a.cpp "int a;  ///< ${x90}12345"
  expect 0 src/base/a.cpp "f(\"${x90}\", \"// 12345\");"
  expect 0 src/base/a.cpp "f(${x90}, /*later*/ 12345);"
  expect 0 src/base/a.cpp 'auto a = R"(' "// ${x90}12345678" ')";'
  expect 1 src/base/a.cpp 'auto a = R"(' 'a' ')";' "// ${x90}12345678"
  expect 1 include/lpf/a.h '/** a' " * ${x90}12345678"
  expect 0 include/lpf/a.h '/** a */' " * ${x90}12345678"
  expect 1 tests/a/a.c "int a; /* ${x90}12345 */"
  expect 1 cmake/a.cmake "# ${x90}123456789"
  expect 1 CMakeLists.txt "set(a b)  # ${x90}123456789"
  expect 0 tests/a/CMakeLists.txt "set(a \"${x90} # 123456789\")"
  expect 1 scripts/test "# ${x90}123456789"
  expect 1 tests/a/a.F90 "! ${x90}123456789"
  expect 0 docs/a.md "${x90}1234567890"
  expect 1 docs/a.md "${x90}12345678901"
  expect 1 README.md "${x90}12345678901"
  expect 0 docs/a.md "${x90}123456789$(printf '\302\265')"
  expect 0 docs/a.md "| ${x90}12345678901"
  expect 0 docs/a.md '```' "${x90}12345678901" '```'
  expect 1 docs/a.md '```' 'a' '```' "${x90}12345678901"
  expect 0 src/base/a.cpp '// --- the lists' '' 'int a;'
  expect 0 src/base/a.cpp '  // --- the lists' '  //' '  // Each has an owner.'
  expect 0 cmake/a.cmake '# --- the lists' 'set(a b)'
  expect 1 src/base/a.cpp '// --- the lists ---'
  expect 1 src/base/a.cpp '// --- the lists.'
  expect 1 src/base/a.cpp '// --- the lists, which' '// have owners'
  expect 1 src/base/a.cpp '// ---'
  expect 1 src/base/a.cpp '// ------------'
  expect 1 src/base/a.cpp '// ---- the lists'
  expect 1 src/base/a.cpp '// === the lists'
  expect 1 src/base/a.cpp '//---'
  expect 1 include/lpf/a.h '/* --- the lists */'
  expect 1 cmake/a.cmake '##########'
  [ $failed = 0 ] && echo 'widths: the check detects all errors'
  exit $failed
fi

cd "${1:?usage: widths.sh ROOT | --self-test}" || exit 2
places=()
for place in ./*.md CMakeLists.txt bench cmake docs examples include scripts src tests tools trees; do
  [ -e "$place" ] && places+=("$place")
done

find "${places[@]}" -type f \( -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.cmake' -o -name '*.sh' -o -name '*.awk' \
  -o -name '*.py' -o -name '*.F90' -o -name '*.md' -o -name CMakeLists.txt -o -path 'scripts/*' \) -exec awk -v max=$max_columns '
  function report(what) {
    print FILENAME ":" FNR ": " what
    bad = 1
  }
  # The number of characters of the line; only the first byte of each is counted.
  function columns(text) {
    gsub(/[\200-\277]/, "", text)
    return length(text)
  }
  FNR == 1 {
    in_code = in_block = in_raw = after_ruler = 0
    language = FILENAME ~ /[.]([ch]|[ch]pp)$/ ? "c" : FILENAME ~ /[.]md$/ ? "markdown" : FILENAME ~ /[.]F90$/ ? "fortran" : "script"
  }

  language == "markdown" {
    if (/^ *```/) in_code = !in_code
    else if (!in_code && !/^ *[|]/ && columns($0) > max) report("the line has more than " max " columns")
    next
  }

  { is_comment = is_line = 0 }  # whether the line has a comment, and nothing but a comment
  language == "c" {
    if (in_raw) {
      if (/\)[a-z_]*"/) in_raw = 0
      next
    }
    code = $0
    gsub(/\\./, "", code)
    gsub(/"[^"]*"/, "", code)
    is_line = in_block || code ~ /^ *\/[\/*]/
    is_comment = is_line || code ~ /\/\// || code ~ /\*\/$/
    if (code ~ /R"[a-z_]*\(/ && code !~ /\)[a-z_]*"/) in_raw = 1
    if (in_block ? code ~ /\*\// : code ~ /^ *\/\*/ && code !~ /\*\//) in_block = !in_block
  }
  language == "script" {
    code = $0
    gsub(/\\./, "", code)
    gsub(/"[^"]*"|\047[^\047]*\047/, "", code)
    is_line = code ~ /^ *#/
    is_comment = is_line || code ~ / # /
  }
  language == "fortran" { is_comment = is_line = /^ *!/ }

  is_comment && columns($0) > max { report("the comment has more than " max " columns") }
  after_ruler && /^ *(\/\/|#) [^-]/ { report("the ruler above has a second line") }
  { after_ruler = 0 }
  is_line && /^ *(\/\/+|#|!|\/[*]+) ?[-=*#_~]([-=*#_~][-=*#_~])/ {
    after_ruler = 1
    if (!/^ *(\/\/|#) --- [^ -]/ || /[-.]$/) report("the ruler is not of the form: --- topic")
  }
  END { exit bad }
' {} +
status=$?
[ $status = 0 ] && echo "widths: comments and Markdown have at most $max_columns columns, and rulers have one form"
exit $status

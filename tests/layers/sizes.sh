#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sizes.sh ROOT         reports files of ROOT with more than 400 lines, and functions with more than
#                       60. Fails if the head of such a file lacks the sentence below. Also fails
#                       if a file has this sentence without need
# sizes.sh --self-test  makes such files in a scratch tree, and fails if they are not detected
#
# Authors cut files by idea, not at 400 lines. A report asks the author whether the file has more
# than one idea. If it has, each idea gets a file with a name of its own. If it has one, the comment
# at the beginning of the file names the idea in a sentence. The sentence begins with
#
#   "Longer than a file should be"      for the file
#   "Longer than a screen"              for its functions
#
# and a colon.
#
# The script recognizes functions as clang-format writes them: the closing brace is in the column
# where the function begins. Functions of tests may be of any length, because they list cases.

set -u
export LC_ALL=C
max_lines=400
max_function_lines=60

if [ "${1-}" = --self-test ]; then
  self=$(realpath "$0")
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
  failed=0
  # expect STATUS WHAT: runs the check on a tree that has only src/core/a.cpp, which is read from
  # stdin
  expect() {
    mkdir -p "$scratch/src/core"
    cat > "$scratch/src/core/a.cpp"
    bash "$self" "$scratch" > "$scratch/output" 2>&1
    [ $? -eq "$1" ] || { echo "self-test: $2 should give $1:"; cat "$scratch/output"; failed=1; }
  }
  lines() { for ((i = 0; i < $1; ++i)); do echo "${2-}"; done; }
  head='// SPDX-License-Identifier: Apache-2.0'
  expect 0 'a file of 400 lines' < <(echo "$head"; lines 399)
  expect 1 'a file of 401 lines' < <(echo "$head"; lines 400)
  expect 0 'a longer file that names its idea' < <(echo "$head"; echo '// Longer than a file should be: one list.'; lines 400)
  expect 1 'an idea that is not in the head' < <(echo "$head"; lines 400; echo '// Longer than a file should be: one list.')
  expect 0 'a function of 60 lines' < <(echo "$head"; echo 'int f(int x) {'; lines 58 '  ++x;'; echo '}')
  expect 1 'a function of 61 lines' < <(echo "$head"; echo 'int f(int x) {'; lines 59 '  ++x;'; echo '}')
  expect 1 'a long function with a long signature' < <(echo "$head"; printf 'int f(int x,\n      int y) {\n'; lines 58 '  ++x;'; echo '}')
  expect 1 'a long constructor' < <(echo "$head"; printf 'a::a(int x)\n    : x_(x) {\n'; lines 58 '  ++x;'; echo '}')
  expect 1 'a long member' < <(echo "$head"; printf 'class a {\n  int f(int x) {\n'; lines 59 '    ++x;'; printf '  }\n};\n')
  expect 0 'a long function that names its step' < \
    <(echo "$head"; echo '// Longer than a screen: one list.'; echo 'int f(int x) {'; lines 59 '  ++x;'; echo '}')
  expect 1 'a sentence in a file of 400 lines' < <(echo "$head"; echo '// Longer than a file should be: one list.'; lines 398)
  expect 1 'a sentence for functions that are short' < \
    <(echo "$head"; echo '// Longer than a screen: one list.'; echo 'int f(int x) {'; lines 58 '  ++x;'; echo '}')
  expect 0 'a long class of short members' < \
    <(echo "$head"; echo 'class a {'; for ((j = 0; j < 9; ++j)); do printf '  int f(int x) {\n'; lines 9 '    ++x;'; echo '  }'; done; echo '};')
  [ $failed = 0 ] && echo 'sizes: the check detects all errors'
  exit $failed
fi

cd "${1:?usage: sizes.sh ROOT | --self-test}" || exit 2
places=()
for place in CMakeLists.txt src include tools bench examples cmake scripts tests; do [ -e "$place" ] && places+=("$place"); done

find "${places[@]}" -type f \( -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.cmake' -o -name '*.sh' -o -name CMakeLists.txt \
  -o -path 'scripts/*' \) -exec awk -v max_lines=$max_lines -v max_function_lines=$max_function_lines '
  function report(line, what) {
    print name ":" line ": " what
    bad = 1
  }
  function finish() {
    if (name == "") return
    if (lines > max_lines && !idea_of_file)
      report(lines, "the file has more than " max_lines " lines. Give each of its ideas a file. If it has one idea, name it in the head: Longer than a file should be: IDEA")
    if (idea_of_file && lines <= max_lines)
      report(idea_of_file, "the file has " lines " lines; remove the sentence: Longer than a file should be")
    if (step_of_functions && !has_long_function)
      report(step_of_functions, "no function has more than " max_function_lines " lines; remove the sentence: Longer than a screen")
  }
  FNR == 1 {
    finish()
    name = FILENAME
    in_head = 1
    idea_of_file = step_of_functions = has_long_function = in_class = begun[0] = begun[2] = 0
  }
  { lines = FNR }
  in_head && !/^(\/\/|#)/ { in_head = 0 }
  in_head && /Longer than a file should be:/ { idea_of_file = FNR }
  in_head && /Longer than a screen:/ { step_of_functions = FNR }
  name !~ /[ch]pp$/ || name ~ /^tests\// { next }
  { column = match($0, /[^ ]/) - 1 }
  column == 0 && /^(class|struct|union) / { in_class = 1; begun[0] = 0; next }
  column == 0 && /^[A-Za-z_~]/ && !/^(namespace|using|template|enum|extern|public|private|protected)/ { begun[0] = FNR; in_class = 0 }
  column == 2 && in_class && /^  [A-Za-z_~]/ && !/^  (using|template|enum|friend class)/ { begun[2] = FNR }
  (column == 0 || column == 2 && in_class) && /^ *}$/ {
    if (begun[column] && FNR - begun[column] + 1 > max_function_lines) {
      has_long_function = 1
      if (!step_of_functions)
        report(begun[column], "the function has more than " max_function_lines " lines. Give each of its steps a function. If it has one step, name it in the head of the file: Longer than a screen: STEP")
    }
    begun[column] = 0
  }
  END {
    finish()
    exit bad
  }
' {} +
status=$?
[ $status = 0 ] && echo 'sizes: files and functions are short, or the head of the file names their one idea'
exit $status

# SPDX-License-Identifier: Apache-2.0
#
# awk -f examples.awk FILE...: extracts the examples in the comments of headers and in Markdown as a
# C++ source for examples.cpp or one_job.cpp. Omits examples that need an MPI; with -v mpi=1 it
# extracts only these. With -v left_out=REGEX it omits examples whose includes match REGEX.
#
# An example stands between ```cpp and ```. An example with a main() is a whole program. Any other
# is code of one rank that uses `world`. `#line` directives let the compiler and assert() name the
# file.
function close_example() {
  whole = text ~ /int main\(/
  needs_mpi = includes ~ /<mpi\.h>|mpi\.hpp|kamping\.hpp/
  if (needs_mpi != (mpi != 0) || (left_out != "" && includes ~ left_out)) {
    table = table sprintf("    {\"%s\", %d, nullptr, nullptr},\n", name, first)
    return
  }
  hoisted = hoisted includes
  ++n
  sub(/int main\(\)/, "int main(int, char**)", text)
  if (whole) sub(/}\n*$/, "return 0; }\n", text)  # only a main() at namespace scope may omit it
  opening = whole ? "namespace program_" n " {\n" : \
                    "void example_" n "([[maybe_unused]] communicator& world) {\nusing namespace tutti;\n"
  body = body sprintf("%s#line %d \"%s\"\n%s}\n", opening, first + 1, FILENAME, text)
  table = table sprintf("    {\"%s\", %d, %s, %s},\n", name, first, whole ? "nullptr" : "&example_" n,
                        whole ? "&program_" n "::main" : "nullptr")
}

FNR == 1 {
  if (inside) exit no_end()
  name = FILENAME
  markdown = name ~ /\.md$/
  if (markdown) {
    if (!sub(/.*\/docs\//, "docs/", name)) sub(/.*\//, "", name)
  } else {
    sub(/.*include\//, "", name)
  }
  list = list sprintf("    \"%s\",\n", name)
}
function no_end() {
  printf "%s:%d: this example has no end\n", name, first > "/dev/stderr"
  return failed = 1
}
{
  line = $0
  if (markdown || sub(/^ *\/\/\/? ?/, "", line)) {
    if (!inside && line == "```cpp") {
      inside = 1
      first = FNR
      text = includes = ""
      next
    }
    if (inside && line == "```") {
      inside = 0
      close_example()
      next
    }
  } else if (inside) {
    exit no_end()
  }
  if (!inside) next
  if (line ~ /^#include/) {
    includes = includes line "\n"
    line = ""
  }
  text = text line "\n"
}
END {
  if (inside && !failed) no_end()
  if (failed) exit 1
  printf "%s#include \"headers/examples.hpp\"\n", hoisted
  print "namespace {\nusing tutti::communicator;\n" body "}  // namespace"
  print "#line 1 \"examples\""
  print "const std::vector<example> examples = {\n" table "};"
  print "const std::vector<std::string> sources = {\n" list "};"
}

# SPDX-License-Identifier: Apache-2.0
#
# awk -f examples.awk HEADER...: the examples in the comments of the headers, as a C++ source for examples.cpp.
# awk -v program=1 -f examples.awk HEADER: the one whole program in that header's comments, as it stands there.
#
# An example stands between ```cpp and ```. One with a main() is a whole program; any other is what a rank does with `world`.
# `#line` lets the compiler, and assert(), name the header.
function close_example() {
  whole = text ~ /int main\(/
  if (program) {
    if (whole) printf "#line %d \"%s\"\n%s", first + 1, FILENAME, includes text
    found += whole
  } else if (includes ~ /(mpi|kamping)\.hpp/) {
    table = table sprintf("    {\"%s\", %d, nullptr, nullptr},\n", header, first)
  } else {
    hoisted = hoisted includes
    ++n
    sub(/int main\(\)/, "int main(int, char**)", text)
    if (whole) sub(/int main\(/, "int program_" n "(", text)
    else text = "void example_" n "([[maybe_unused]] communicator& world) {\n" text "}\n"
    body = body sprintf("#line %d \"%s\"\n%s", first + (whole ? 1 : 0), FILENAME, text)
    table = table sprintf("    {\"%s\", %d, %s, %s},\n", header, first, whole ? "nullptr" : "&example_" n,
                          whole ? "&program_" n : "nullptr")
  }
}

FNR == 1 {
  header = FILENAME
  sub(/.*include\//, "", header)
  list = list sprintf("    \"%s\",\n", header)
}
{
  line = $0
  if (sub(/^ *\/\/\/? ?/, "", line)) {
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
    printf "%s:%d: this example has no end\n", FILENAME, first > "/dev/stderr"
    failed = 1
    exit
  }
  if (!inside) next
  if (line ~ /^#include/) {
    includes = includes line "\n"
    line = ""
  }
  text = text line "\n"
}
END {
  if (failed) exit 1
  if (program) exit found != 1
  printf "%s#include \"heads/examples.hpp\"\n", hoisted
  print "using namespace tutti;\nnamespace {\n" body "}  // namespace"
  print "#line 1 \"examples\""
  print "const std::vector<example> examples = {\n" table "};"
  print "const std::vector<std::string> public_headers = {\n" list "};"
}

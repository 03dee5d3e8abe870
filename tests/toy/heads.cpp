// SPDX-License-Identifier: Apache-2.0
//
// Tests that an error in the head of an algorithm or composition ends the build. The message must
// name the file, the error, and the correct form.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

using namespace tests;
namespace fs = std::filesystem;

struct mistake {
  const char *name, *kind;
  std::string right, wrong;  // in the head of the toy
  const char* message;       // on one line

  friend void PrintTo(const mistake& m, std::ostream* out) { *out << m.name; }
};

// Joins lines, because CMake may break the message at any width.
std::string unbroken(const std::string& text) {
  std::string all;
  for (const char c : text)
    if (c != '\n' && c != ' ')
      all += c;
    else if (!all.empty() && all.back() != ' ')
      all += ' ';
  return all;
}

command_result catalogue(const std::string& kind, const fs::path& folder) {
  return shell("'" CMAKE "' -Dkind=" + kind + " '-Dfolders=" TOYS ";" + folder.string() +
               "' '-Doutput=" + (folder / "made.cpp").string() + "' -P '" CATALOGUE "'");
}

// Writes the toy to a file of another name, with the error.
void write_toy(const fs::path& folder, const mistake& m) {
  const bool pure = std::string(m.kind) == "algorithms";
  const std::string toy = pure ? "algorithms/allreduce/everybody.cpp" : "compositions/own_last.cpp";
  const fs::path file = folder / (pure ? "algorithms/allreduce/nobody.cpp" : "compositions/own_first.cpp");
  std::string text = contents(fs::path(TOYS) / toy);
  const auto replace = [&](const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    ASSERT_NE(at, text.npos) << what;
    text.replace(at, what.size(), by);
  };
  replace(pure ? "allreduce/everybody" : "scan/own_last", pure ? "allreduce/nobody" : "scan/own_first");
  replace(m.right, m.wrong);
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

class heads : public testing::TestWithParam<mistake> {};

TEST_P(heads, with_a_mistake_end_the_build) {
  const mistake& m = GetParam();
  const scratch_folder folder;
  write_toy(folder.path(""), m);
  const command_result e = catalogue(m.kind, folder.path(""));
  EXPECT_NE(e.status, 0);
  EXPECT_NE(unbroken(e.text).find(m.message), std::string::npos) << e.text;
  EXPECT_NE(e.text.find(std::string(m.kind) == "algorithms" ? "nobody.cpp" : "own_first.cpp"), e.text.npos)
      << e.text;
  EXPECT_FALSE(fs::exists(folder.path("made.cpp")));
}

const mistake mistakes[] = {
    {"no_rounds", "algorithms", "// Rounds:       p - 1\n", "", "the head lacks \"Rounds:\""},
    {"no_good_for", "algorithms", "// Good for:     tests\n", "", "the head lacks \"Good for:\""},
    {"no_calls", "compositions", "// Calls:        exscan on the same ranks, a segment each\n", "",
     "the head lacks \"Calls:\""},
    {"no_idea", "compositions",
     "// A toy: an exscan of the ranks before this one, and the own operand last; segment after segment.\n",
     "", "the head has no description"},
    {"unknown_field", "algorithms",
     "// Rounds:", "// Cost:  1\n// Rounds:", "the head has \"Cost:\", known are Source:"},
    {"formulas_of_a_composition", "compositions",
     "// Calls:", "// Rounds: 1\n// Calls:", "the head has \"Rounds:\""},
    {"unknown_restriction", "algorithms", "commutative, not", "comutative, not",
     "there is no restriction \"comutative\", known are power_of_two, commutative"},
    {"unknown_parameter", "algorithms", "window = 4", "widnow = 4",
     "there is no parameter \"widnow\", known are k, radix"},
    {"parameter_without_a_range", "algorithms", "window = 4 in 1..64:", "window = 4:",
     "a parameter must have the form \"k = 2 in 2..64: meaning\", not \"window = 4: messages"},
    {"parameter_out_of_its_range", "algorithms", "window = 4", "window = 65",
     "the default value is out of range"},
    {"parameter_twice", "compositions", "// Parameters:   ", "// Parameters:   segment = 1 in 1..2: once; ",
     "there are two parameters \"segment\""},
    {"line_not_indented", "algorithms",
     "// Bytes:", "// and on\n// Bytes:", "must be indented by two: and on"},
    {"name_of_another_file", "algorithms", "// allreduce/nobody", "// allreduce/somebody",
     "the head begins with allreduce/somebody, but the file is allreduce/nobody"},
    {"name_of_another_composition", "compositions", "// scan/own_first", "// scan/last",
     "\"scan/last\" does not end in the name of the file"},
    {"no_name", "compositions", "// scan/own_first", "// own_first",
     "\"own_first\" is not <collective>/<name>"},
    {"unknown_collective", "compositions", "// scan/own_first", "// scam/own_first",
     "there is no collective \"scam\", known are barrier, bcast"},
    {"name_that_there_is", "algorithms", "// allreduce/nobody", "// allreduce/nobody, allreduce/everybody",
     "there is another allreduce/everybody, in "},
    {"name_of_the_engines_own", "algorithms", "// allreduce/nobody", "// allreduce/nobody, reduce/native",
     "\"native\" means something else where an algorithm is named"},
};
INSTANTIATE_TEST_SUITE_P(all, heads, testing::ValuesIn(mistakes),
                         [](const auto& info) { return info.param.name; });

TEST(heads, without_a_mistake_make_a_catalogue) {
  const scratch_folder folder;
  for (const char* kind : {"algorithms", "compositions"}) {
    write_toy(folder.path(""), {"", kind, "tests", "the other tests", ""});
    const command_result e = catalogue(kind, folder.path(""));
    EXPECT_EQ(e.status, 0) << e.text;
    EXPECT_NE(contents(folder.path("made.cpp")).find("\"the other tests\""), std::string::npos);
  }
}

TEST(files, in_a_wrong_place_end_the_build) {
  const scratch_folder folder;
  fs::create_directories(folder.path("algorithms"));
  std::ofstream(folder.path("algorithms/nobody.cpp")) << "// SPDX-License-Identifier: Apache-2.0\n";
  const command_result e = catalogue("algorithms", folder.path(""));
  EXPECT_NE(e.status, 0);
  EXPECT_NE(unbroken(e.text).find("an algorithm is called algorithms/<collective>/<name>.cpp"),
            std::string::npos)
      << e.text;
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Tests tutti preload with every launcher on this machine: it starts the ranks, and only them, with
// the library of the launcher's MPI. Variables and arguments reach the ranks unchanged, and the
// status of the job is returned. The library of these tests does nothing; other tests cover the
// real one.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "support/launchers.hpp"
#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;
namespace fs = std::filesystem;

// The launchers by every name on this machine, with their MPI. The plain names are Debian's
// alternatives, which link to one of the others.
struct launcher {
  std::string name, mpi;
};

bool can_run(const std::string& name) { return shell("command -v " + name).status == 0; }

std::vector<launcher> launchers_here() {
  std::vector<launcher> all;
  const auto known = mpi_launchers();
  const auto served = [&](const std::string& mpi) {
    return std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.mpi == mpi; });
  };
  for (const std::string mpi : {"openmpi", "mpich"})
    for (const std::string head : {"mpirun.", "mpiexec."})
      if (served(mpi) && can_run(head + mpi)) all.push_back({head + mpi, mpi});
  for (const std::string name : {"mpirun", "mpiexec", "mpiexec.hydra", "orterun"}) {
    if (!can_run(name)) continue;
    const std::string version = shell(name + " --version").text;
    const std::string mpi = version.find("HYDRA") != version.npos ? "mpich" : "openmpi";
    if (served(mpi)) all.push_back({name, mpi});
  }
  return all;
}

// A folder of libraries for both MPIs, and a program that prints its arguments and environment, one
// line per rank.
class preload : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(files_.path("lib"));
    ASSERT_EQ(mkfifo(files_.path("input").c_str(), 0600), 0);
    for (const std::string mpi : {"openmpi", "mpich"}) fs::copy_file(TUTTI_PRELOAD_STUB, library(mpi));
    program_ = script("app",
                      "text=\"LD_PRELOAD=$LD_PRELOAD RING=$TUTTI_ALLREDUCE_ALGORITHM "
                      "STATS=$TUTTI_PRELOAD_STATS WORDS=$#\"\n"
                      "for word in \"$@\"; do text=\"$text<$word>\"; done\necho \"$text\"\n");
  }

  [[nodiscard]] std::string library(const std::string& mpi) const {
    return files_.path("lib/libtutti-preload-" + mpi + ".so");
  }
  [[nodiscard]] std::string script(const std::string& name, const std::string& text) const {
    const std::string file = files_.file(name, "#!/bin/sh\n" + text);
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  // Runs `tutti preload ...` in the same way as a user. Its standard input never ends: MPICH's
  // launcher may die if it cannot pass the end of the input to a program that has exited.
  [[nodiscard]] command_result call(const std::string& arguments, const std::string& variables = "") const {
    return shell(
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
        "TUTTI_MODULE_PATH='" +
        files_.path("lib") + "' " + variables + " '" TUTTI_TOOL "' preload " + arguments + " 0<> '" +
        files_.path("input") + "'");
  }
  [[nodiscard]] json plan(const std::string& arguments, const std::string& variables = "") const {
    const command_result e = call("--print --json " + arguments, variables);
    EXPECT_EQ(e.status, 0) << arguments << e.text;
    return e.status == 0 ? json::parse(e.text) : json();
  }

  scratch_folder files_;
  std::string program_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("LD_PRELOAD=")) all.push_back(line);
  std::sort(all.begin(), all.end());
  return all;
}

TEST_F(preload, ranks_load_the_library_of_their_launcher) {
  const auto all = launchers_here();
  for (const auto& [name, mpi] : all) {
    const command_result e =
        call("--stats -- " + name + " -n 2 '" + program_ + "' one 'two  words' '[x,y]' '' -- -n '$HOME'",
             "TUTTI_ALLREDUCE_ALGORITHM=ring:segment=64K");
    EXPECT_EQ(e.status, 0) << name << e.text;
    const std::string line =
        "LD_PRELOAD=" + library(mpi) +
        " RING=ring:segment=64K STATS=1 WORDS=7<one><two  words><[x,y]><><--><-n><$HOME>";
    EXPECT_EQ(lines_of(e.text), (std::vector<std::string>{line, line})) << name << ": " << e.text;
  }
  EXPECT_EQ(all.empty(), mpi_launchers().empty());
}

TEST_F(preload, every_program_of_a_job_loads_the_library) {
  for (const auto& [name, mpi] : launchers_here()) {
    const command_result e = call("-- " + name + " -n 1 '" + program_ + "' a : -n 2 '" + program_ + "' b c",
                                  "TUTTI_ALLREDUCE_ALGORITHM='ring;x y'");
    EXPECT_EQ(e.status, 0) << name << e.text;
    const std::string head = "LD_PRELOAD=" + library(mpi) + " RING=ring;x y STATS= WORDS=";
    EXPECT_EQ(lines_of(e.text), (std::vector<std::string>{head + "1<a>", head + "2<b><c>", head + "2<b><c>"}))
        << name << ": " << e.text;
  }
}

TEST_F(preload, a_library_of_the_user_is_loaded_second) {
  const std::string theirs = files_.path("theirs.so");
  fs::copy_file(TUTTI_PRELOAD_STUB, theirs);
  for (const auto& [name, mpi] : launchers_here()) {
    const command_result e = call("-- " + name + " -n 1 '" + program_ + "'", "LD_PRELOAD='" + theirs + "'");
    ASSERT_EQ(lines_of(e.text).size(), 1u) << name << ": " << e.text;
    EXPECT_TRUE(lines_of(e.text)[0].starts_with("LD_PRELOAD=" + library(mpi) + ":" + theirs + " ")) << e.text;
  }
}

TEST_F(preload, the_heap_is_loaded_if_the_variable_requests_it) {
  const std::string heap = files_.path("lib/libtutti-heap.so"), app = "--mpi mpich -- '" + program_ + "'";
  fs::copy_file(TUTTI_PRELOAD_STUB, heap);
  EXPECT_EQ(plan(app, "TUTTI_SHARED_HEAP=1").at("environment").at("LD_PRELOAD"),
            library("mpich") + ":" + heap);
  EXPECT_EQ(plan(app, "TUTTI_SHARED_HEAP=0").at("environment").at("LD_PRELOAD"), library("mpich"));
  for (const auto& [name, mpi] : launchers_here()) {
    const command_result e = call("-- " + name + " -n 1 '" + program_ + "'", "TUTTI_SHARED_HEAP=1");
    ASSERT_EQ(lines_of(e.text).size(), 1u) << name << ": " << e.text;
    EXPECT_TRUE(lines_of(e.text)[0].starts_with("LD_PRELOAD=" + library(mpi) + ":" + heap + " ")) << e.text;
  }
}

// The launcher's own process must not load the library. The test uses a launcher script that prints
// its environment; the tool knows it by its name.
TEST_F(preload, the_launcher_does_not_load_the_library) {
  fs::create_directory(files_.path("bin"));
  const std::string fake_launcher =
      script("bin/mpirun",
             "if [ \"$1\" = --version ]; then echo 'mpirun (Open MPI) 9'; exit; fi\n"
             "echo \"launcher has <$LD_PRELOAD> <$1> <$2>\"\n");
  const command_result e = call("-- '" + fake_launcher + "' -n 1 app");
  EXPECT_EQ(e.text, "launcher has <> <-x> <LD_PRELOAD=" + library("openmpi") + ">\n");
}

TEST_F(preload, the_version_text_of_a_launcher_overrides_its_name) {
  fs::create_directory(files_.path("bin"));
  const std::string odd = script("bin/mpirun.openmpi", "echo 'HYDRA build details:'\n"),
                    silent = script("bin/mpiexec.hydra", "exit 1\n"), mute = script("bin/mpirun", "exit 1\n");
  EXPECT_EQ(plan("-- '" + odd + "' app")["mpi"], "mpich");
  EXPECT_EQ(plan("-- '" + silent + "' app")["mpi"], "mpich");
  EXPECT_EQ(plan("--mpi openmpi -- '" + mute + "' app")["mpi"], "openmpi");
  fs::create_symlink(mute, files_.path("bin/orterun"));
  fs::create_symlink(files_.path("bin/orterun"), files_.path("bin/start"));
  EXPECT_EQ(plan("-- '" + files_.path("bin/start") + "' app")["mpi"], "openmpi");
  const command_result e = call("-- '" + mute + "' app");
  EXPECT_EQ(e.status, 2);
  EXPECT_NE(e.text.find("--mpi openmpi or --mpi mpich"), e.text.npos) << e.text;
}

TEST_F(preload, the_status_of_the_job_is_returned) {
  const std::string fails = script("fails", "exit 7\n");
  std::set<std::string> seen;  // one name for each MPI: Open MPI takes long to end a failing job
  for (const auto& [name, mpi] : launchers_here())
    if (seen.insert(mpi).second) {
      EXPECT_EQ(call("-- " + name + " -n 1 '" + fails + "'").status, 7) << name;
    }
  EXPECT_EQ(call("--mpi mpich -- '" + fails + "'").status, 7);
}

TEST_F(preload, a_program_by_itself) {
  const command_result e = call("--mpi mpich --stats -- '" + program_ + "' 'a b'");
  EXPECT_EQ(e.text, "LD_PRELOAD=" + library("mpich") + " RING= STATS=1 WORDS=1<a b>\n");
  EXPECT_EQ(plan("-- '" + program_ + "'", "TUTTI_MPI=openmpi")["mpi"], "openmpi");
  const command_result unknown = call("-- '" + program_ + "'");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.text.find("pass --mpi openmpi or --mpi mpich"), unknown.text.npos) << unknown.text;
}

// TUTTI_PRELOAD_LINKED: "mpi|program@" for each program that links an MPI.
std::map<std::string, std::string> linked_programs() {
  std::map<std::string, std::string> linked;
  std::istringstream text(TUTTI_PRELOAD_LINKED);
  for (std::string one; std::getline(text, one, '@');)
    linked[one.substr(0, one.find('|'))] = one.substr(one.find('|') + 1);
  return linked;
}

// Uses the library that was built, which the tool finds in its own installation.
TEST_F(preload, the_library_writes_its_report) {
  for (const auto& [name, mpi] : launchers_here()) {
    const std::string program = linked_programs().at(mpi), file = files_.path(name + ".json");
    const command_result e = call("--stats-json '" + file + "' -- " + name + " -n 3 '" + program + "'",
                                  "TUTTI_MODULE_PATH= TUTTI_ALLREDUCE_ALGORITHM=ring");
    ASSERT_EQ(e.status, 0) << name << e.text;
    const json report = json::parse(contents(file));
    EXPECT_EQ(report["mpi"], mpi);
    EXPECT_EQ(report["ranks"], 3);
    EXPECT_EQ(report["collectives"]["allreduce"]["rerouted"], 1) << report;
    const command_result table = call("--stats -- " + name + " -n 3 '" + program + "'", "TUTTI_MODULE_PATH=");
    EXPECT_EQ(table.status, 0) << name << table.text;
    EXPECT_NE(table.text.find("allreduce"), table.text.npos) << name << table.text;
  }
}

TEST_F(preload, programs_are_recognized_by_their_libraries) {
  const auto linked = linked_programs();
  EXPECT_EQ(linked.empty(), mpi_launchers().empty());
  for (const auto& [mpi, program] : linked) {
    const json alone = plan("-- '" + program + "'"), behind = plan("-- timeout 9 '" + program + "'");
    EXPECT_EQ(alone["mpi"], mpi);
    EXPECT_EQ(alone["environment"]["LD_PRELOAD"], library(mpi));
    EXPECT_EQ(behind["mpi"], mpi);
    for (const auto& [name, launchers] : launchers_here()) {
      const command_result e = call("--print -- " + name + " -n 2 '" + program + "'");
      EXPECT_EQ(e.status, launchers == mpi ? 0 : 2) << name << e.text;
      EXPECT_NE(e.text.find(launchers == mpi ? library(mpi) : "mpirun." + mpi), e.text.npos) << e.text;
    }
  }
}

TEST_F(preload, the_printed_command_can_be_run) {
  for (const auto& [name, mpi] : launchers_here()) {
    const std::string arguments = "-- " + name + " -n 1 '" + program_ + "' \"it's\" 'a  b'";
    const command_result line = call("--print " + arguments), direct = call(arguments);
    ASSERT_EQ(line.status, 0) << line.text;
    const command_result pasted = shell("exec 0<> '" + files_.path("input") +
                                        "'; export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                                        "TUTTI_MODULE_PATH=; " +
                                        line.text);
    EXPECT_EQ(lines_of(direct.text).size(), 1u) << direct.text;
    EXPECT_EQ(lines_of(pasted.text), lines_of(direct.text)) << name << ": " << line.text;
  }
  const json one = plan("--stats-json here.json -- '" + program_ + "'", "TUTTI_MPI=mpich");
  EXPECT_EQ(one["environment"]["TUTTI_PRELOAD_STATS"], "json:" + (fs::current_path() / "here.json").string());
  EXPECT_EQ(one["command"], json::array({program_}));
  EXPECT_EQ(one["library"], library("mpich"));
}

TEST_F(preload, wrong_calls_end_with_2_and_one_line) {
  const std::string app = " '" + program_ + "'";
  fs::create_directory(files_.path("a b"));
  fs::copy_file(TUTTI_PRELOAD_STUB, files_.path("a b/libtutti-preload-mpich.so"));
  const std::string blank = "TUTTI_MODULE_PATH='" + files_.path("a b") + "'";
  struct wrong_call {
    std::string arguments, text, variables;
  };
  std::vector<wrong_call> wrong{
      {"", "tutti preload -- mpirun -n 4 ./app", ""},
      {"--", "tutti preload -- mpirun -n 4 ./app", ""},
      {"mpirun -n 4 ./app", "write the command after --", ""},
      {"--statz --" + app, "\"--statz\" is not an option", ""},
      {"-- no_such_launcher -n 2 ./app", "no_such_launcher is not a program", ""},
      {"-- ./no/such/app", "./no/such/app is not a program", ""},
      {"--mpi mpich --" + app, "set TUTTI_MODULE_PATH to a link to its folder", blank}};
  for (const auto& [name, mpi] : launchers_here()) {
    const std::string other = mpi == "mpich" ? "openmpi" : "mpich";
    wrong.push_back({"--mpi " + other + " -- " + name + app, "leave --mpi out", ""});
    const std::string option = mpi == "mpich" ? " -genv LD_PRELOAD x.so" : " -x LD_PRELOAD=x.so";
    wrong.push_back({"-- " + name + option + app, "set LD_PRELOAD before tutti instead", ""});
    if (mpi == "mpich") continue;
    wrong.push_back({"-- " + name + app, "pass its variables with -x", "OMPI_MCA_mca_base_env_list='A;B'"});
    wrong.push_back({"-- " + name + " --app programs", "write them on the command line instead", ""});
  }
  for (const auto& [arguments, text, variables] : wrong) {
    const command_result e = call(arguments, variables);
    EXPECT_EQ(e.status, 2) << arguments;
    EXPECT_NE(e.text.find(text), e.text.npos) << arguments << " prints " << e.text;
    EXPECT_EQ(e.text.find('\n'), e.text.size() - 1) << arguments << " prints more than a line: " << e.text;
  }
  // An MPI that this tutti was not built for. The tool is copied, because the folders beside the
  // original may have the library.
  const std::string lone = files_.path("lone"), tool = lone + "/bin/tutti";
  fs::create_directories(lone + "/bin");
  fs::copy_file(TUTTI_TOOL, tool);
  const command_result e =
      shell("TUTTI_MODULE_PATH='" + lone + "' '" + tool + "' preload --mpi mpich --" + app);
  if (fs::exists(TUTTI_INSTALLED_MODULES "/libtutti-preload-mpich.so")) return;
  EXPECT_EQ(e.status, 2);
  EXPECT_NE(e.text.find("there is no libtutti-preload-mpich.so for MPICH (searched: " + lone), e.text.npos)
      << e.text;
  // A library of the MPI without the one of the heap.
  if (fs::exists(TUTTI_INSTALLED_MODULES "/libtutti-heap.so")) return;
  fs::copy_file(TUTTI_PRELOAD_STUB, lone + "/libtutti-preload-mpich.so");
  const command_result heap = shell("TUTTI_SHARED_HEAP=1 TUTTI_MODULE_PATH='" + lone + "' '" + tool +
                                    "' preload --mpi mpich --" + app);
  EXPECT_EQ(heap.status, 2);
  EXPECT_NE(heap.text.find("there is no libtutti-heap.so for TUTTI_SHARED_HEAP=1 (searched: " + lone),
            heap.text.npos)
      << heap.text;
}

}  // namespace

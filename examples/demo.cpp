// SPDX-License-Identifier: Apache-2.0
//
// The demo runs real work on real input, with the same program on every engine. It searches the
// dependency graph of Debian's packages, finds its components, and sorts every word of the
// documentation on this machine. It compares each result with that of a serial program. graph/ and
// sort/ contain the work; demo/ runs it and reports the results.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demo/demo_report.hpp"
#include "demo/engines.hpp"

namespace {

constexpr const char* examples = R"(
Examples:
  demo                                  all engines that this machine has
  demo --engines threads:2,fibers:256   only these
  demo --edges roads.txt --from A7      another graph: two vertices on a line, '#' begins a comment
  demo --text /usr/share/doc book.txt   other texts: files, and folders with all texts in them
  demo --json > demo.json               for scripts
  mpirun -n 4 demo                      as one MPI job

Exit code: 0 all results equal, 1 a result differs or an engine failed, 2 bad input or options.)";

void show_job(const demo::run& done, const demo::material& input) { demo::print_tables(input, {}, {done}); }

int all_engines(const demo::request& options, const std::string& engines, bool json) {
  const demo::plan plan = demo::make_plan(engines);
  const demo::material input = demo::read(options);
  std::vector<demo::run> runs;
  for (const demo::engine& engine : plan.engines) runs.push_back(demo::run_on(engine, input, options));
  (json ? demo::print_json : demo::print_tables)(input, plan, runs);
  return demo::all_equal(runs) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Runs real work on real input on every engine of this machine, and compares it with a sequential "
      "program.");
  demo::request options;
  std::string engines;
  bool json = false, report = false;
  app.add_option("--edges", options.edges, "search this edge list instead of the packages")
      ->type_name("FILE");
  app.add_option("--from", options.from,
                 "begin the search at this vertex instead of the one with the most edges")
      ->type_name("VERTEX");
  app.add_option("--text", options.texts, "sort the words of these files instead of the documentation")
      ->type_name("FILE|FOLDER");
  app.add_option("--engines", engines, "threads, fibers, openmpi, mpich; each optionally with :RANKS")
      ->type_name("LIST");
  app.add_flag("--json", json, "for scripts");
  app.add_flag("--report", report)->group("");  // internal: the demo starts itself with it
  app.footer(examples);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  options.quiet = report;  // the demo that started this process shows progress
  if (report || demo::under_launcher()) return demo::run_as_rank(options, report, show_job);
  try {
    return all_engines(options, engines, json);
  } catch (const std::exception& e) {  // input_error, or an engine that cannot run
    fmt::print(stderr, "demo: {}\n", e.what());
    return 2;
  }
}

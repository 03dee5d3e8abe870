// SPDX-License-Identifier: Apache-2.0
#include "support/program.hpp"

#include <cstdio>
#include <mutex>

#include "communicator/internal_calls.hpp"
#include "runtime/launch/modules.hpp"
#include "support/group_kinds.hpp"
#include "support/scoped_variable.hpp"

namespace tests {

std::uint64_t seed_of_interleaving(std::string_view engine) {
  const auto text = variable("TUTTI_SEED");
  return engine == "fibers" && text && !text->empty() ? std::stoull(*text) : 0;
}

void print_failure(const program_start& start, const failure_site& at, const std::exception& e) {
  const auto* named = dynamic_cast<const failed_case*>(&e);
  // A random interleaving belongs to all cases: one case alone would have another interleaving.
  std::vector<std::string> arguments = start.arguments();
  if (named != nullptr && at.seed == 0)
    arguments.insert(arguments.end(), {"--only", named->name()});
  else if (!selected_case().empty())
    arguments.insert(arguments.end(), {"--only", selected_case()});
  std::fputs(
      ("FAILED " + at.text() + ": " + e.what() + "\n" + start.repeat_command(at, arguments) + "\n").c_str(),
      stderr);
}

int run_program(int argc, char** argv, const std::function<void(tutti::communicator&, cases&)>& body) {
  const program_start start(argc, argv);
  // Only the first failure of this process is reported. Ranks in other processes report themselves.
  std::once_flag printed;
  return tutti::run(argc, argv, [&](tutti::communicator& world) {
    try {
      cases all;
      if (const auto kind = variable("GROUP_OF_TESTS")) {
        tutti::communicator few = of_kind(world, *kind);
        body(few, all);
      } else {
        body(world, all);
      }
      if (world.rank() == 0) all.expect_some();
    } catch (const tutti::peer_error&) {
      throw;
    } catch (const std::exception& e) {
      const std::string engine(tutti::detail::engine_of(tutti::detail::impl_of(world)));
      const failure_site at{world.rank(), world.size(),
                            engine == "mpi" ? tutti::detail::find_launcher().module : engine,
                            seed_of_interleaving(engine)};
      std::call_once(printed, [&] { print_failure(start, at, e); });
      throw;
    }
  });
}

}  // namespace tests

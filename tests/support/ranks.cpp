// SPDX-License-Identifier: Apache-2.0
#include "support/ranks.hpp"

#include <stdexcept>

#include "engines/engine_table.hpp"
#include "support/named_cases.hpp"

namespace tests {
namespace {

testing::AssertionResult judged(const job& j, const tutti::detail::outcome& end) {
  if (end.failed_rank < 0) return testing::AssertionSuccess();
  try {
    if (end.what) std::rethrow_exception(end.what);
  } catch (const failed_case& e) {
    // For --only; a random interleaving belongs to all cases.
    if (j.seed == 0) testing::Test::RecordProperty("case", e.name());
  } catch (...) {
  }
  return testing::AssertionFailure() << failure_site{end.failed_rank, j.ranks, j.engine, j.seed}.text()
                                     << ": " << end.text;
}

}  // namespace

tutti::run_options job::options() const {
  tutti::run_options o;
  o.engine = engine;
  o.ranks = ranks;
  o.workers = workers;
  o.seed = seed;
  return o;
}

tutti::detail::launch job::launch() const {
  tutti::detail::launch how;
  how.ranks = ranks;
  how.workers = workers;
  how.seed = seed;
  return how;
}

std::string job::name() const {
  return engine + "_" + std::to_string(ranks) + (workers == 0 ? "" : "_on_" + std::to_string(workers));
}

testing::AssertionResult passes(const job& j, const std::function<void(tutti::communicator&)>& program) {
  try {
    run(j.options(), program);
  } catch (const tutti::rank_error& e) {
    try {
      std::rethrow_if_nested(e);
    } catch (const std::exception& inner) {
      return judged(j, {e.failed_rank(), inner.what(), std::current_exception()});
    }
    return judged(j, {e.failed_rank(), e.what(), nullptr});
  } catch (const std::exception& e) {
    return testing::AssertionFailure() << failure_site{-1, 0, j.engine, j.seed}.text() << ": " << e.what();
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult passes(const job& j, const tutti::detail::rank_program& program) {
  return judged(j, tutti::detail::find_engine(j.engine)->run(j.launch(), program));
}

std::string failure_of(const tutti::run_options& options,
                       const std::function<void(tutti::communicator&)>& program, int* rank) {
  try {
    run(options, program);
  } catch (const tutti::rank_error& e) {
    if (rank != nullptr) *rank = e.failed_rank();
    return e.what();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace tests

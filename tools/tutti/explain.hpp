// SPDX-License-Identifier: Apache-2.0
//
// The query of `tutti explain` about one call, the result, and its two output formats. It uses the
// same functions to decide as the library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/group/hierarchy.hpp"
#include "runtime/settings/settings.hpp"
#include "selection/resolve.hpp"
#include "tutti/call.hpp"

namespace tutti::tool {

using namespace tutti::detail;

/// The arguments as typed. An empty text or a zero means that the argument is not given.
struct explain_query {
  std::string what, bytes, count, type, op, nodes, engine, mpi, group, algorithm, composition;
  std::vector<std::string> conditions;  ///< "oversubscribed", "oversubscribed=false"
  int ranks = 0, root = 0;
  bool in_place = false, inter = false, nonblocking = false;
};

/// The queried call, and everything that selection may read of it.
struct queried_call {
  call arguments;
  std::string engine, mpi, type_name, op_name;
  std::string builtin_trees;  ///< their name
  hierarchy topology;
  selection_context context;
  bool blocking = true;
  bool node_memory = false;                    ///< ranks of one node share memory (engine mpi)
  std::vector<std::string> engine_conditions;  ///< the engine's own conditions that hold
  std::map<std::string, std::string> sources;  ///< value: "requested", "environment" or "default"

  /// Whether this condition of the engine holds.
  bool has(std::string_view condition) const {
    return std::find(engine_conditions.begin(), engine_conditions.end(), condition) !=
           engine_conditions.end();
  }
};

/// The variables of the environment and the trees that the library would load. Trees are read once
/// for each engine and set of files.
class environment {
 public:
  /// `builtin`: the name of the built-in trees. Throws usage_error in the same cases as run().
  explicit environment(const std::string& builtin);

  const selection& by() const noexcept { return by_; }
  detail::fallback when_unfit() const noexcept { return set_.when_unfit; }

 private:
  detail::settings set_;
  selection by_;
};

/// Throws called_wrongly.
queried_call read_query(const explain_query& q);
/// Writes the conditions of the engine in the order in which these trees declare them.
void set_engine_conditions(queried_call& requested, const document& trees);

/// A call that the composition makes on the ranks of rank 0's node.
struct inner_result {
  int by = 0;  ///< the first rank of that node that makes the call
  collective what = collective::barrier;
  std::vector<int> ranks;
  std::uint64_t count = 0;
  int root = 0;
  bool in_place = false;
  int times = 1;  ///< number of equal calls
  selection_context context;
  resolution found;
  std::string transport;  ///< empty if no algorithm serves the call
};

struct explain_result {
  explain_query query;
  queried_call requested;
  std::shared_ptr<const environment> settings;
  resolution found;
  std::string rejection;  ///< the error of the library if it rejects the call
  std::vector<inner_result> inner_calls;
  /// How the data travel (transport_of()). A composed call has the transports of its inner calls,
  /// separated by "; ". Empty if the library rejects the call.
  std::string transport;

  const document& trees() const noexcept { return *settings->by().trees; }
  /// Null if the engine's native collective is chosen.
  const catalogue_entry* chosen() const noexcept {
    if (found.composed.which != nullptr) return found.composed.which;
    return found.pure.pure;
  }
  const algorithm_parameter_values& parameter_values() const noexcept {
    return found.composed.which != nullptr ? found.composed.parameter_values : found.pure.parameter_values;
  }
};

/// Throws called_wrongly. Throws usage_error if a variable has an invalid value.
explain_result resolve_query(const explain_query& q);

/// One step on the path to the choice.
struct path_step {
  std::string_view half;  ///< "composition", "pure"
  std::string text, file;
  int line = 0;
  std::string source;     ///< "default", "file", "environment", "call"
  bool requested = true;  ///< false: the choice of this tree, where another setting decided
};
std::vector<path_step> path_of(const explain_result& a);

/// An algorithm or composition that was not chosen, and the reason.
struct rejected_entry {
  std::string name, reason;
  bool permitted = false;  ///< the call would permit it
};
std::vector<rejected_entry> rejected_by(const explain_result& a);

/// "default", "file", "environment", "call", or "code" if the fallback in code chose.
std::string source_of(const explain_result& a);
/// The place of the decision as a user would look for it: "trees/common.json:12",
/// "TUTTI_ALLREDUCE_ALGORITHM=ring".
std::string place_of(const explain_result& a);
std::string source_of(chosen_by by, const leaf& from);

/// "allreduce/ring", "allreduce/native"
std::string name_of_entry(const catalogue_entry* e, collective what);
nlohmann::ordered_json parameters_of(const catalogue_entry* e,
                                     const algorithm_parameter_values& parameter_values);

std::string as_text(const explain_result& a);
nlohmann::ordered_json as_json(const explain_result& a);

}  // namespace tutti::tool

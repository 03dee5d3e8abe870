// SPDX-License-Identifier: Apache-2.0
//
// Maps MPICH's names of algorithms to those of tutti.
#include <algorithm>

#include <fmt/core.h>

#include "base/environment_variables.hpp"
#include "mpich_tree.hpp"

namespace tutti::tool {
namespace {

struct name_pair {
  // MPICH's name after MPIR_<Collective>_, and ours, which may fix a parameter: "knomial:k=2".
  std::string_view theirs, ours;
};
constexpr name_pair names[] = {
    {"intra_k_dissemination", "dissemination"},
    {"intra_dissemination", "dissemination:k=2"},
    {"intra_recexch", "recursive_exchange"},
    {"intra_binomial", "knomial:k=2"},
    {"intra_scatter_recursive_doubling_allgather", "scatter_recursive_doubling"},
    {"intra_scatter_ring_allgather", "scatter_ring"},
    {"intra_reduce_scatter_gather", "rabenseifner"},
    {"intra_reduce_scatter_allgather", "rabenseifner"},
    {"intra_k_reduce_scatter_allgather", "reduce_scatter_allgather"},
    {"intra_recursive_doubling", "recursive_doubling"},
    {"intra_recursive_multiplying", "recursive_multiplying"},
    {"intra_ring", "ring"},
    {"intra_brucks", "bruck:k=2"},
    {"intra_brucks", "bruck"},
    {"intra_k_brucks", "bruck"},
    {"intra_pairwise", "pairwise"},
    {"intra_pairwise_sendrecv_replace", "in_place_exchange"},
    {"intra_pairwise_sendrecv_replace", "in_place_pairwise"},
    {"intra_scattered", "scattered"},
    {"intra_recursive_halving", "recursive_halving"},
    {"intra_noncommutative", "butterfly"},
    {"allcomm_linear", "linear"},
    {"intra_linear", "linear"},
};

// The recursive exchange of allreduce, and the neighborhood collectives, have other names.
constexpr struct {
  collective what;
  name_pair names;
} exceptions[] = {
    {collective::allreduce, {"intra_recexch", "recursive_multiplying"}},
    {collective::neighbor_allgatherv, {"allcomm_nb", "scattered"}},
    {collective::neighbor_alltoallv, {"allcomm_nb", "scattered"}},
};

// Returns the broadcast or reduction tree of this shape, or "" if tutti has none.
std::string_view tree_of(collective what, const mpich_parameters& with, bool pipelined) {
  const auto value = [&](const char* key, const char* otherwise) {
    const auto at = with.find(key);
    return at == with.end() ? std::string(otherwise) : at->second;
  };
  const std::string type = value("tree_type", "knomial"), k = value("k", "2");
  const bool rooted = what == collective::bcast || what == collective::reduce;
  if (!rooted) return "";
  if (!pipelined && type.starts_with("knomial")) return "knomial";
  if (k == "1") return "chain";
  if (type == "kary" && k == "2") return what == collective::bcast ? "binary_pipeline" : "in_order_binary";
  return "";
}

// Returns the part after "MPIR_Bcast_". Empty if the name belongs to another collective or to a
// device.
std::string_view tail_of(collective what, std::string_view name) {
  std::string head = "MPIR_" + std::string(name_of(what)) + "_";
  head[5] = static_cast<char>(head[5] - 'a' + 'A');
  return name.starts_with(head) ? name.substr(head.size()) : std::string_view();
}

const algorithm_parameter_range* parameter_of(const pure_algorithm& a, std::string_view name) {
  for (const algorithm_parameter_range& k : a.parameters)
    if (name_of(k.which) == name) return &k;
  return nullptr;
}

void set_parameters(const pure_algorithm& a, const mpich_parameters& with, leaf& made,
                    std::vector<std::string>& left_out) {
  for (const auto& [key, value] : with) {
    if (key == "tree_type") continue;  // part of the name
    const algorithm_parameter_range* range = parameter_of(a, key);
    if (range == nullptr && key == "radix") range = parameter_of(a, "k");
    if (range == nullptr && (key == "chunk_size" || key == "segsize")) range = parameter_of(a, "segment");
    if (range == nullptr && (key == "batch_size" || key == "throttle")) range = parameter_of(a, "window");
    const auto number = read_number(value);
    if (range == nullptr || !number || *number < range->min || *number > range->max)
      left_out.push_back(key + "=" + value);
    else
      made.chosen.parameter_values[static_cast<std::size_t>(range->which)] =
          static_cast<std::uint32_t>(*number);
  }
}

}  // namespace

bool counterpart_of(collective what, std::string_view name, const mpich_parameters& parameters, leaf& made,
                    std::string& why, std::vector<std::string>& left_out) {
  const std::string_view tail = tail_of(what, name);
  std::vector<std::string_view> candidates;
  if (tail == "intra_tree") candidates.push_back(tree_of(what, parameters, false));
  if (tail == "intra_pipelined_tree") candidates.push_back(tree_of(what, parameters, true));
  for (const auto& one : exceptions)
    if (one.what == what && one.names.theirs == tail) candidates.push_back(one.names.ours);
  for (const name_pair& one : names)
    if (!tail.empty() && one.theirs == tail) candidates.push_back(one.ours);
  for (const std::string_view ours : candidates) {
    const pure_algorithm* a = find_algorithm(what, ours.substr(0, ours.find(':')));
    if (a == nullptr) continue;
    const bool fixes_parameter = ours.find(':') != ours.npos;
    if (fixes_parameter && parameter_of(*a, "k") == nullptr) continue;
    made.what = leaf::kind::algorithm;
    made.chosen = read_choice(what, ours);
    made.composed = {};
    set_parameters(*a, parameters, made, left_out);
    return true;
  }
  if (tail == "intra_smp")
    why = "the composition node_leader does the same, named in a tree \"composition\"";
  else if (tail == "allcomm_nb")
    why = "the composition blocking_by_nonblocking does the same, named in a tree \"composition\"";
  else if (name.starts_with("MPID"))
    why = "it belongs to a device of MPICH";
  return false;
}

}  // namespace tutti::tool

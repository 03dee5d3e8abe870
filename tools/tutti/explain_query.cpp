// SPDX-License-Identifier: Apache-2.0
//
// Turns the options of `tutti explain` into a call and its selection context. Options that are not
// given come from environment variables, or else have defaults.
#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include <fmt/core.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/engine_table.hpp"
#include "engines/mpi/memory_use.hpp"
#include "engines/node_topology.hpp"
#include "explain.hpp"
#include "runtime/launch/modules.hpp"
#include "selection/suggestion.hpp"
#include "subcommands.hpp"

namespace tutti::tool {
namespace {

struct named_type {
  std::string_view name;
  element type;
};
constexpr auto types = std::to_array<named_type>({
    {"double", element_of<double>()},
    {"float", element_of<float>()},
    {"long_double", element_of<long double>()},
    {"int", element_of<int>()},
    {"unsigned", element_of<unsigned>()},
    {"long", element_of<long>()},
    {"unsigned_long", element_of<unsigned long>()},
    {"short", element_of<short>()},
    {"unsigned_short", element_of<unsigned short>()},
    {"char", element_of<char>()},
    {"bool", element_of<bool>()},
    {"byte", element_of<std::byte>()},
    {"i8", element_of<std::int8_t>()},
    {"i16", element_of<std::int16_t>()},
    {"i32", element_of<std::int32_t>()},
    {"i64", element_of<std::int64_t>()},
    {"u8", element_of<std::uint8_t>()},
    {"u16", element_of<std::uint16_t>()},
    {"u32", element_of<std::uint32_t>()},
    {"u64", element_of<std::uint64_t>()},
    {"f32", element_of<float>()},
    {"f64", element_of<double>()},
    {"f80", element_of<long double>()},
});

struct named_op {
  std::string_view name;
  builtin_op which;
  bool commutative;
};
constexpr auto operators = std::to_array<named_op>({
    {"sum", builtin_op::sum, true},
    {"product", builtin_op::product, true},
    {"min", builtin_op::min, true},
    {"max", builtin_op::max, true},
    {"bit_and", builtin_op::bit_and, true},
    {"bit_or", builtin_op::bit_or, true},
    {"bit_xor", builtin_op::bit_xor, true},
    {"logical_and", builtin_op::logical_and, true},
    {"logical_or", builtin_op::logical_or, true},
    {"logical_xor", builtin_op::logical_xor, true},
    {"commutative", builtin_op::user, true},
    {"noncommutative", builtin_op::user, false},
});

template <class Table>
auto names_in(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& one : table) names.push_back(one.name);
  return names;
}

[[noreturn]] void throw_unknown(const char* noun, std::string_view name,
                                std::span<const std::string_view> known) {
  throw called_wrongly(
      fmt::format("there is no {} {}; {}", noun, tutti::detail::quoted(name), suggest(name, known)));
}

collective read_collective(const std::string& name) {
  const auto at = std::find(collective_names.begin(), collective_names.end(), name);
  if (at == collective_names.end()) throw_unknown("collective", name, collective_names);
  return static_cast<collective>(at - collective_names.begin());
}

std::uint64_t number_of(const char* option, const std::string& text) {
  const auto value = read_number(text);
  if (!value)
    throw called_wrongly(fmt::format("{} is {}, which is not a number (1000, 64K, 64KiB, 1M)", option,
                                     tutti::detail::quoted(text)));
  return *value;
}

element read_type(const std::string& name) {
  if (name.starts_with("opaque:")) {
    const std::uint64_t size = number_of("--type", name.substr(7));
    if (size == 0 || size > (std::uint64_t{1} << 30))
      throw called_wrongly(
          fmt::format("--type is {}; an element has 1 byte to 1G", tutti::detail::quoted(name)));
    return {size, element_kind::opaque, {}};
  }
  for (const named_type& t : types)
    if (t.name == name) return t.type;
  std::vector<std::string_view> known = names_in(types);
  known.push_back("opaque:24");
  throw_unknown("type", name, known);
}

void read_op(queried_call& requested, const std::string& name) {
  call& c = requested.arguments;
  for (const named_op& o : operators) {
    if (o.name != name && !(name == "user" && o.name == "noncommutative")) continue;
    const bool bits =
        o.which == builtin_op::bit_and || o.which == builtin_op::bit_or || o.which == builtin_op::bit_xor;
    const element_kind k = c.type.kind;
    const bool fraction = k == element_kind::f32 || k == element_kind::f64 || k == element_kind::f80;
    if (o.which != builtin_op::user && (k == element_kind::opaque || (bits && fraction)))
      throw called_wrongly(fmt::format("{} is not an operator on {}; use another --type, or --op {}", o.name,
                                       requested.type_name, "commutative or noncommutative"));
    c.op.which = o.which;
    c.op.commutative = o.commutative;
    return;
  }
  std::vector<std::string_view> known = names_in(operators);
  known.push_back("user");
  throw_unknown("operator", name, known);
}

// The engine that the library would use, and the source of that choice.
std::string engine_of(const explain_query& q, queried_call& requested, int ranks) {
  const auto set = setting("TUTTI_ENGINE");
  const std::string name = !q.engine.empty() ? q.engine : set.value_or("");
  requested.sources["engine"] = !q.engine.empty() ? "requested" : set ? "environment" : "default";
  if (name.empty()) {
    if (!q.mpi.empty()) return "mpi";
    // It only matters whether the value is 0.
    const std::uint64_t seed = setting("TUTTI_SEED").value_or("0") != "0" ? 1 : 0;
    return std::string(
        tutti::detail::pick_engine("", {.seed = seed, .ranks = ranks, .cores = usable_cores()}).name);
  }
  if (find_engine(name) == nullptr) {
    std::vector<std::string_view> known;
    for (const engine_entry* e : engines()) known.push_back(e->name);
    throw_unknown("engine", name, known);
  }
  return name;
}

std::string pick_mpi(const explain_query& q, queried_call& requested) {
  static constexpr std::string_view known[] = {"openmpi", "mpich"};
  if (requested.engine != "mpi") {
    if (!q.mpi.empty())
      throw called_wrongly(
          fmt::format("--mpi is given for the engine {}; use --engine mpi", requested.engine));
    return "";
  }
  const auto set = setting("TUTTI_MPI");
  requested.sources["mpi"] = !q.mpi.empty() ? "requested" : set ? "environment" : "default";
  std::string name = !q.mpi.empty() ? q.mpi : set.value_or("");
  if (name.empty()) {
    const auto installed = find_modules();
    name = installed.size() == 1 ? installed.front().name : "openmpi";
  }
  if (std::find(std::begin(known), std::end(known), name) == std::end(known))
    throw_unknown("MPI", name, known);
  return name;
}

void read_topology(const explain_query& q, queried_call& requested, int ranks) {
  requested.sources["nodes"] = !q.nodes.empty()             ? "requested"
                               : setting(topology_variable) ? "environment"
                                                            : "default";
  try {
    requested.topology = q.nodes.empty() ? topology_of_process(ranks) : read_nodes(q.nodes, ranks);
  } catch (const std::invalid_argument& fault) {
    throw called_wrongly(fmt::format("--nodes {}: {}", echoed(q.nodes), fault.what()));
  }
}

// Returns the count of a block, or of the whole vector if the collective has no blocks.
std::size_t read_count(const explain_query& q, const element& type, collective what) {
  if (!q.bytes.empty() && !q.count.empty())
    throw called_wrongly("--bytes and --count both set the length of a block; pass one of them");
  if (what == collective::barrier && !(q.bytes.empty() && q.count.empty()))
    throw called_wrongly("a barrier has no elements; leave --bytes and --count out");
  if (!q.count.empty()) return number_of("--count", q.count);
  if (q.bytes.empty()) return what == collective::barrier ? 0 : 1;
  const std::uint64_t bytes = number_of("--bytes", q.bytes);
  if (bytes % type.size != 0)
    throw called_wrongly(fmt::format(
        "{} bytes are not a whole number of elements of {} bytes; pass --bytes {}, or another --type",
        echoed(q.bytes), type.size, bytes / type.size * type.size));
  return bytes / type.size;
}

void validate_combination(const explain_query& q, collective what, int ranks) {
  if (q.in_place && (what == collective::barrier || what == collective::bcast || is_neighborhood(what)))
    throw called_wrongly(fmt::format("{} does not work in place; leave --in-place out", q.what));
  if (q.in_place && q.inter) throw called_wrongly("calls between two groups have no form in place");
  if (q.root != 0 && !is_rooted(what))
    throw called_wrongly(fmt::format("{} has no root; leave --root out", q.what));
  if (q.root < 0 || q.root >= ranks)
    throw called_wrongly(fmt::format("--root is {}, but ranks are 0 to {}", q.root, ranks - 1));
  if (q.inter && (what == collective::scan || what == collective::exscan || is_neighborhood(what)))
    throw called_wrongly(fmt::format("{} does not work between two groups; leave --inter out", q.what));
  if (q.inter && ranks < 2) throw called_wrongly("two groups have at least two ranks; pass --ranks");
}

reach read_group(const explain_query& q) {
  if (q.group.empty()) return reach::any_rank;
  if (q.inter) throw called_wrongly("between two groups all ranks know one another; leave --group out");
  if (q.group == "chain") return reach::neighbors;
  if (q.group == "ring") return reach::neighbors_around;
  if (q.group == "logchain") return reach::hops;
  if (q.group == "logring") return reach::hops_around;
  throw called_wrongly(fmt::format("--group is {}; pass chain, ring, logchain or logring", echoed(q.group)));
}

// The conditions that the engine declares: facts of the machine, or given by the user.
void read_conditions(const explain_query& q, const engine_entry& engine, int ranks, queried_call& requested) {
  const auto known = engine.conditions;
  const auto state = [&](std::string_view name, bool holds) {
    std::erase(requested.engine_conditions, name);
    if (holds) requested.engine_conditions.emplace_back(name);
  };
  const auto has = [&](std::string_view name) {
    return std::any_of(known.begin(), known.end(), [&](const engine_condition& k) { return k.name == name; });
  };
  // Nodes of --nodes are other machines, with a core for each rank.
  const bool elsewhere = requested.sources["nodes"] == "requested" && requested.topology.nodes() > 1;
  if (has("oversubscribed")) state("oversubscribed", !elsewhere && ranks > usable_cores());
  // Simulated nodes use messages of MPI.
  const hierarchy& nodes = requested.topology;
  const auto use = has("node_memory") && requested.sources["nodes"] != "environment"
                       ? tutti::mpi::memory_use_setting()
                       : tutti::mpi::memory_use::off;
  const bool shares = use != tutti::mpi::memory_use::off && nodes.nodes() < ranks;
  if (has("node_memory")) state("node_memory", shares && nodes.nodes() == 1);
  if (has("cross_memory")) state("cross_memory", shares && use >= tutti::mpi::memory_use::copy);
  if (!requested.mpi.empty()) state(requested.mpi == "mpich" ? "mpich" : "open_mpi", true);
  for (const std::string& text : q.conditions) {
    const std::string name = text.substr(0, text.find('='));
    const std::string value = name.size() == text.size() ? "true" : text.substr(name.size() + 1);
    if (std::none_of(known.begin(), known.end(), [&](const engine_condition& k) { return k.name == name; }))
      throw_unknown("condition of this engine", name, names_in(known));
    if (value != "true" && value != "false")
      throw called_wrongly(fmt::format("--condition {}: pass {}=true or {}=false", echoed(text), name, name));
    state(name, value == "true");
  }
  requested.node_memory = nodes.nodes() > 1 ? shares : requested.has("node_memory");
}

}  // namespace

queried_call read_query(const explain_query& q) {
  queried_call requested;
  call& c = requested.arguments;
  c.what = read_collective(q.what);
  requested.sources["ranks"] = q.ranks != 0             ? "requested"
                               : setting("TUTTI_RANKS") ? "environment"
                                                        : "default";
  const int ranks = q.ranks != 0
                        ? q.ranks
                        : static_cast<int>(number_setting("TUTTI_RANKS", 1, 1000000,
                                                          static_cast<std::uint64_t>(usable_cores())));
  requested.engine = engine_of(q, requested, ranks);
  if (const engine_entry& e = *find_engine(requested.engine); ranks > e.max_ranks)
    throw called_wrongly(fmt::format("the engine {} has at most {} rank{}; pass --ranks", e.name, e.max_ranks,
                                     e.max_ranks == 1 ? "" : "s"));
  requested.mpi = pick_mpi(q, requested);
  read_topology(q, requested, ranks);

  requested.sources["type"] = q.type.empty() ? "default" : "requested";
  requested.type_name = c.what == collective::alltoallw ? "byte" : q.type.empty() ? "double" : q.type;
  c.type = read_type(requested.type_name);
  if (combines(c.what)) {
    const bool opaque = c.type.kind == element_kind::opaque;
    requested.op_name = !q.op.empty() ? q.op : opaque ? "noncommutative" : "sum";
    read_op(requested, requested.op_name);
  } else if (!q.op.empty()) {
    throw called_wrongly(fmt::format("{} has no operator; leave --op out", q.what));
  }
  c.count = read_count(q, c.type, c.what);
  c.in_place = q.in_place;
  c.root = q.root;
  validate_combination(q, c.what, ranks);

  requested.blocking = !q.nonblocking;
  selection_context& s = requested.context;
  s.call = agreed_part(c, ranks, q.inter);
  if (has_agreed_counts(c.what) && !q.inter) {  // all blocks have the same length
    const std::vector<std::size_t> counts(static_cast<std::size_t>(ranks), c.count);
    s.call.total_bytes = agreed_total({counts.data(), counts.size()}, c.type.size);
  }
  const engine_entry& engine = *find_engine(requested.engine);
  requested.builtin_trees =
      engine.trees != nullptr ? engine.trees(requested.topology.nodes(), 0, requested.mpi) : engine.name;
  s.shared_memory = engine.shared_memory;
  s.reaches = read_group(q);
  if (s.reaches == reach::any_rank) s.set_topology(requested.topology);

  read_conditions(q, engine, ranks, requested);
  if (s.reaches == reach::any_rank) s.offer(engine.native(s.call, requested.engine_conditions));
  return requested;
}

void set_engine_conditions(queried_call& requested, const document& trees) {
  const auto known = find_engine(requested.engine)->conditions;
  std::vector<engine_condition> registered(known.begin(), known.end());
  for (engine_condition& one : registered)
    one.holds = std::find(requested.engine_conditions.begin(), requested.engine_conditions.end(), one.name) !=
                requested.engine_conditions.end();
  requested.context.engine = engine_bits(trees, registered);
}

}  // namespace tutti::tool

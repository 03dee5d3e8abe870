// SPDX-License-Identifier: Apache-2.0
//
// tutti simulate: the time of a call on a machine that is not at hand. It simulates the schedules
// or composite plans of all ranks (src/simulation/).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "base/regular_file.hpp"
#include "engines/engine_table.hpp"
#include "explain.hpp"
#include "machine_argument.hpp"
#include "progress_bar.hpp"
#include "simulation_report.hpp"
#include "subcommands.hpp"
#include "text.hpp"
#include "tuning/peer_choice.hpp"
#include "tuning/promising_candidates.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

constexpr std::size_t max_drawn = 200'000;  // messages of a Gantt chart

struct simulate_options {
  std::string name, machine, svg, engine = "mpi", like;
  int ranks = 0, root = 0;
  std::size_t bytes = 0;
  bool has_bytes = false;
  bool in_place = false, ordered = false, as_json = false, everything = false;
};

/// What runs: a pure algorithm, a composition, or what the trees choose for a collective.
struct named_entry {
  collective what = collective::barrier;
  choice pure;
  composed_choice composed;
  bool by_tree = false;
};

template <class Entry>
std::vector<const Entry*> entries_named(std::span<const Entry* const> all, std::string_view base) {
  std::vector<const Entry*> found;
  for (const Entry* e : all)
    if (e->name == base || (base.find('/') == base.npos && e->short_name() == base)) found.push_back(e);
  return found;
}

named_entry find_entry(const std::string& text) {
  const std::string base = text.substr(0, text.find(':'));
  named_entry e;
  if (const auto at = std::find(collective_names.begin(), collective_names.end(), base);
      at != collective_names.end() && base.size() == text.size()) {
    e.what = static_cast<collective>(at - collective_names.begin());
    e.by_tree = true;
    return e;
  }
  if (base == "native" || base.ends_with("/native"))
    throw called_wrongly{
        fmt::format("{} runs inside of the engine, so it cannot be simulated", detail::quoted(base))};
  const auto pure = entries_named(catalogue(), base);
  const auto composed = entries_named(composition_catalogue(), base);
  if (pure.size() + composed.size() > 1) {
    std::string names;
    for (const auto* a : pure) names += (names.empty() ? "" : ", ") + std::string(a->name);
    for (const auto* c : composed) names += (names.empty() ? "" : ", ") + std::string(c->name);
    throw called_wrongly{fmt::format("several algorithms are called {}: {}", detail::quoted(base), names)};
  }
  if (pure.empty() && composed.empty())
    throw called_wrongly{
        fmt::format("there is no algorithm {}; {}", detail::quoted(base), suggest_any(base))};
  const catalogue_entry& entry = pure.empty() ? static_cast<const catalogue_entry&>(*composed[0]) : *pure[0];
  e.what = entry.what;
  try {
    const std::string full = std::string(entry.name) + text.substr(base.size());
    if (pure.empty())
      e.composed = read_composition(e.what, full);
    else
      e.pure = read_choice(e.what, full);
  } catch (const usage_error& fault) {
    const std::string why = fault.what();
    throw called_wrongly{why.substr(std::min(why.find('"'), why.size()))};
  }
  return e;
}

simulation::simulated_call call_of(const simulate_options& options, const named_entry& e) {
  simulation::simulated_call c;
  c.what = e.what;
  c.root = options.root;
  c.in_place = options.in_place;
  c.ordered = options.ordered;
  if (options.root != 0 && !is_rooted(e.what))
    throw called_wrongly{fmt::format("{} has no root; leave --root out", name_of(e.what))};
  if (options.root < 0 || options.root >= options.ranks)
    throw called_wrongly{fmt::format("--root is {}, but ranks are 0 to {}", options.root, options.ranks - 1)};
  if (options.ordered && !combines(e.what))
    throw called_wrongly{fmt::format("{} has no operator; leave --ordered out", name_of(e.what))};
  if (options.in_place &&
      (e.what == collective::barrier || e.what == collective::bcast || is_neighborhood(e.what)))
    throw called_wrongly{fmt::format("{} does not work in place; leave --in-place out", name_of(e.what))};
  if (!options.has_bytes && e.what != collective::barrier)
    throw called_wrongly{
        fmt::format("--bytes is missing: the length of a block of {}, such as 64K", name_of(e.what))};
  if (options.has_bytes && e.what == collective::barrier)
    throw called_wrongly{"barrier sends no blocks; leave --bytes out"};
  if (options.bytes > (std::size_t{1} << 40))
    throw called_wrongly{fmt::format("--bytes is {}; pass at most 1T", options.bytes)};
  if (e.pure.pure != nullptr && has_restriction(e.pure.pure->restrictions, restriction::inter))
    c.first_group = options.ranks / 2;
  if (e.pure.pure != nullptr && has_restriction(e.pure.pure->restrictions, restriction::in_place))
    c.in_place = true;
  if (c.first_group == 0 && e.pure.pure != nullptr &&
      has_restriction(e.pure.pure->restrictions, restriction::inter))
    throw called_wrongly{"a call between two groups has at least 2 ranks; pass --ranks 2"};
  c.element_bytes = options.bytes % 8 == 0 ? 8 : 1;
  c.count = e.what == collective::barrier ? 0 : options.bytes / c.element_bytes;
  return c;
}

// The MPI whose choices are simulated; null if the trees of an engine decide.
std::optional<tuning::peer_mpi> peer_of(const simulate_options& options, const named_entry& e) {
  if (options.like.empty()) return std::nullopt;
  const auto found = tuning::find_peer_mpi(options.like);
  if (!found)
    throw called_wrongly{fmt::format("no choices of an MPI {} are known; {}", detail::quoted(options.like),
                                     suggest(options.like, tuning::peer_mpi_names()))};
  if (!e.by_tree)
    throw called_wrongly{fmt::format("--like chooses the algorithm, but {} names one; pass {}",
                                     detail::quoted(options.name), name_of(e.what))};
  return found;
}

// The built-in trees of a job on this machine.
std::string trees_of(const engine_entry& engine, const simulation::network& links) {
  if (engine.trees == nullptr) return std::string(engine.name);
  const double message_us = links.ranks() < 2 ? 0 : tuning::speed_of(links).alpha;
  return std::string(engine.trees(links.nodes(), message_us, ""));
}

// Decides like the library on an engine without native collectives.
void choose(named_entry& e, const selection& by, const std::string& trees, const selection_context& s,
            simulation_report& r) {
  if (e.by_tree) {
    const resolution found = resolve(by, s, {});
    if (!found.served || (found.composed.which == nullptr && found.pure.pure == nullptr))
      throw called_wrongly{fmt::format("no algorithm serves this {}", name_of(e.what))};
    e.pure = found.pure;
    e.composed = found.composed;
    r.chosen_by = fmt::format("the trees {}, without native collectives", trees);
  }
  const std::string unmet = e.composed.which != nullptr ? why_not(e.composed, s) : why_not(e.pure, s);
  const catalogue_entry& entry =
      e.composed.which != nullptr ? static_cast<const catalogue_entry&>(*e.composed.which) : *e.pure.pure;
  if (!unmet.empty()) throw called_wrongly{fmt::format("{} does not serve this call: {}", entry.name, unmet)};
  const auto& values = e.composed.which != nullptr ? e.composed.parameter_values : e.pure.parameter_values;
  r.name = std::string(entry.name);
  char before = ':';
  for (const algorithm_parameter_range& p : entry.parameters) {
    const std::uint32_t value = values[static_cast<std::size_t>(p.which)];
    if (value == p.default_value) continue;
    r.name += fmt::format("{}{}={}", before, name_of(p.which), value);
    before = ',';
  }
}

// Shows on standard error how far a long simulation is. A second after its first messages it states
// how long it will take, if that is long.
class progress_display {
 public:
  progress_display() = default;
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;
  ~progress_display() { bar_.end(); }

  void operator()(const simulation::simulation_progress& p) {
    const auto now = std::chrono::steady_clock::now();
    if (last_ < 0 || p.messages < last_) {  // it starts, maybe once more
      begin_ = now;
      first_ = p.messages;
      next_ = 1;
      announced_ = false;
    }
    last_ = p.messages;
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    if (elapsed < next_ || p.messages <= first_) return;
    next_ = elapsed + 0.2;
    const double left = elapsed * std::max(0.0, p.expected - p.messages) / (p.messages - first_);
    if (!announced_ && left > worth_a_line) {
      bar_.end();
      fmt::print(stderr, "tutti simulate: {:.2g} messages take about {}\n", p.expected, duration(left));
    }
    announced_ = true;
    if (bar_.on_terminal())
      bar_.show(fmt::format("{:.2g} messages, {} left", p.messages, duration(left)),
                std::min(1.0, p.messages / p.expected));
  }

 private:
  static std::string duration(double seconds) {
    if (seconds < 90) return fmt::format("{:.0f} seconds", seconds);
    if (seconds < 5400) return fmt::format("{:.0f} minutes", seconds / 60);
    return fmt::format("{:.1f} hours", seconds / 3600);
  }

  static constexpr double worth_a_line = 20;  // seconds
  progress_bar bar_;
  std::chrono::steady_clock::time_point begin_{};
  double first_ = 0, last_ = -1, next_ = 1;
  bool announced_ = false;
};

simulation_report simulate(const simulate_options& options) {
  simulation_report r;
  named_entry e = find_entry(options.name);
  const auto peer = peer_of(options, e);
  const simulation::machine machine = read_machine_argument(options.machine).made;
  const engine_entry* const engine = find_engine(options.engine);
  if (engine == nullptr)
    throw called_wrongly{
        fmt::format("there is no engine {}; pass {}", detail::quoted(options.engine), engine_names("or"))};
  if (options.ranks < 1 || options.ranks > simulation::max_ranks)
    throw called_wrongly{fmt::format("--ranks is {}; pass 1 to {}", options.ranks, simulation::max_ranks)};
  const simulation::simulated_call c = call_of(options, e);
  try {
    simulation::simulator simulator(machine, options.ranks);
    std::optional<environment> settings;
    const std::string trees = peer ? "" : trees_of(*engine, simulator.links());
    if (!peer) settings.emplace(trees);
    const selection& by = peer ? tuning::peer_selection(*peer) : settings->by();
    choose(e, by, trees, simulation::context_of(c, simulator.links()), r);
    if (peer) r.chosen_by = by.trees->machine.at("mpi");
    const bool wants_all = !options.svg.empty();
    progress_display display;
    simulation::simulation_options how;
    how.max_recorded = wants_all ? max_drawn : std::size_t{4'000'000};
    how.must_record = wants_all;
    // A call that is drawn has few messages, or is rejected soon.
    if (!wants_all) how.progress = [&](const simulation::simulation_progress& p) { display(p); };
    r.result =
        e.composed.which != nullptr ? simulator.run(c, e.composed, by, how) : simulator.run(c, e.pure, how);
    if (r.result.any_link) r.busiest_link = simulator.links().name_of_link(r.result.busiest_link);
  } catch (const simulation::too_many_messages&) {
    throw called_wrongly{fmt::format(
        "--svg draws at most {} messages, and this call has more; simulate fewer ranks", max_drawn)};
  } catch (const simulation::not_simulated& fault) {
    throw called_wrongly{fmt::format("{} cannot be simulated: {}", options.name, fault.what())};
  } catch (const std::invalid_argument& fault) {
    throw called_wrongly{fault.what()};
  } catch (const std::length_error& fault) {
    throw called_wrongly{fault.what()};
  }
  r.machine = options.machine;
  r.like = options.like;
  r.about = machine.about;
  r.ranks = options.ranks;
  r.root = options.root;
  r.what = e.what;
  r.bytes = options.bytes;
  r.in_place = c.in_place;
  r.everything = options.everything;
  return r;
}

int print_simulation(const simulate_options& options) {
  if (options.as_json && options.svg == "-")
    throw called_wrongly{"--json and --svg - both write to standard output; pass a file to --svg"};
  const simulation_report r = simulate(options);
  if (options.as_json) fmt::print("{}", as_json(r));
  if (options.svg == "-") {
    fmt::print("{}", as_gantt_chart(r));
  } else if (!options.svg.empty()) {
    if (const std::string problem = write_regular_file(options.svg, as_gantt_chart(r)); !problem.empty()) {
      fmt::print(stderr, "tutti simulate: {}\n", problem);
      return 1;
    }
  }
  if (!options.as_json && options.svg.empty()) fmt::print("{}", as_text(r));
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("simulate", "The time of a call on a machine that a file describes");
  auto options = std::make_shared<simulate_options>();
  command
      ->add_option(
          "name", options->name,
          "An algorithm or composition, allreduce/ring or bcast/chain:segment=64K; or a collective, for "
          "the choice of the trees")
      ->required();
  command->add_option("--machine", options->machine, "A machine of the list below, or a file")->required();
  command->add_option("--ranks", options->ranks, "How many")->required();
  const CLI::Option* bytes =
      command
          ->add_option("--bytes", options->bytes,
                       "Bytes of a block, or of the vector if there are no blocks, such as 64K; only "
                       "barrier has none")
          ->transform(as_size());
  command->add_option("--root", options->root, "Root of a rooted collective")->capture_default_str();
  command->add_flag("--in-place", options->in_place, "The call is in place");
  command->add_flag("--ordered", options->ordered, "The operator does not commute");
  auto* engine =
      command->add_option("--engine", options->engine, "The engine whose trees choose, also inner calls")
          ->capture_default_str();
  command->add_option("--like", options->like,
                      "Choose as this MPI does by default: open_mpi (4.1.4) or mpich (4.0.2)");
  command->add_flag(
      "--all", options->everything,
      "The whole critical path, and how long each rank waits (shown for up to 16 ranks anyway)");
  command->add_flag("--json", options->as_json, "One object: seconds, critical_path[] ...; times in seconds");
  command->add_option(
      "--svg", options->svg,
      fmt::format("A Gantt chart, a row for each rank, of at most {} messages, to this file; - is "
                  "standard output",
                  max_drawn));
  command->footer([] {
    return "It simulates the messages of all ranks: overheads, links that messages share fairly, and local\n"
           "work. Nothing is measured. docs/guide/scale.md describes the model and the files. All blocks "
           "have\n"
           "the same length; neighborhood collectives are those of a ring; calls between two groups have\n"
           "groups of half the ranks. The trees are those of a job on such a network, with TUTTI_TREES, "
           "TUTTI_NETWORK\n"
           "and TUTTI_PREFER.\n"
           "Status 0: simulated; 1: a file could not be written; 2: a wrong machine file, or the algorithm\n"
           "does not exist or does not serve the call.\n\n"
           "Machines:\n" +
           machine_list() +
           "\nExamples:\n"
           "  tutti simulate allreduce/rabenseifner --machine flat --ranks 64 --bytes 1M\n"
           "  tutti simulate bcast --machine fast-cluster-8 --ranks 256 --bytes 64K\n"
           "  tutti simulate bcast --like open_mpi --machine fast-cluster-8 --ranks 256 --bytes 64K\n"
           "  tutti simulate alltoall/bruck:k=4 --machine my-cluster.json --ranks 1024 --bytes 8 --json\n"
           "  tutti simulate allreduce/ring --machine flat --ranks 16 --bytes 1M --svg ring.svg\n";
  });
  command->callback([options, engine, bytes, &status] {
    options->has_bytes = bytes->count() != 0;
    if (!options->like.empty() && engine->count() != 0)
      throw called_wrongly{"--like and --engine both name the trees that choose; pass one of them"};
    status = print_simulation(*options);
  });
}

}  // namespace tutti::tool

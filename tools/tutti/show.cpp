// SPDX-License-Identifier: Apache-2.0
//
// tutti show: shows an algorithm for one call, message by message. It executes the schedules of all
// ranks symbolically (src/proof/). Of more than 16 ranks, --rank executes only the schedule of that
// rank.
#include "show.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>

#include <fmt/core.h>

#include "base/regular_file.hpp"
#include "proof/cases.hpp"
#include "subcommands.hpp"
#include "text.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

constexpr int max_shown_ranks = 1024, max_ranks_with_rank = 65536;
constexpr int max_strip_ranks = 16;     // more are drawn as a matrix, and one of them is run alone
constexpr int max_uneven_ranks = 4096;  // of collectives with a length for each pair of ranks
constexpr int max_random_ranks = 256;   // the random graph of more ranks has no edge

struct show_options {
  std::string name, svg, graph = "ring";
  int ranks = 8, root = 0;
  std::optional<std::size_t> count;
  std::optional<int> first;
  std::optional<int> rank;
  bool in_place = false, ordered = false, uneven = false, as_json = false, everything = false;
};

[[noreturn]] void reject_composition(const composed_algorithm& c) {
  throw called_wrongly{
      fmt::format("{0} is a composition: it calls {1}. These commands show it, and the choice of each call:\n"
                  "  tutti list {0} --long\n"
                  "  tutti explain {2} --ranks 8 --composition {3}",
                  c.name, c.calls, name_of(c.what), c.short_name())};
}

choice find(const std::string& text) {
  const std::string base = text.substr(0, text.find(':'));
  const auto slash = base.find('/');
  std::vector<const pure_algorithm*> found;
  for (const pure_algorithm* a : catalogue())
    if (a->name == base || (slash == base.npos && a->short_name() == base)) found.push_back(a);
  if (found.size() == 1) try {
      const std::string full_name = std::string(found[0]->name) + text.substr(base.size());
      return read_choice(found[0]->what, full_name);
    } catch (const usage_error& e) {
      const std::string why = e.what();
      throw called_wrongly{why.substr(why.find('"'))};  // the user knows the part before it
    }
  if (found.size() > 1) {
    std::string names;
    for (const auto* a : found) names += (names.empty() ? "" : ", ") + std::string(a->name);
    throw called_wrongly{fmt::format("several algorithms are called \"{}\": {}", base, names)};
  }
  if (std::find(collective_names.begin(), collective_names.end(), base) != collective_names.end())
    throw called_wrongly{fmt::format("\"{0}\" is a collective; \"tutti list {0}\" has its algorithms", base)};
  for (const composed_algorithm* c : composition_catalogue())
    if (c->name == base || c->short_name() == base) reject_composition(*c);
  throw called_wrongly{
      fmt::format("there is no algorithm {}; {}", detail::quoted(base), suggest_algorithm(base))};
}

proof::case_options call_of(const show_options& options, const choice& c) {
  const pure_algorithm& a = *c.pure;
  const auto needs = [&](restriction r) { return has_restriction(a.restrictions, r); };
  const auto reject = [&]<class... Values>(fmt::format_string<Values...> text, Values&&... values) {
    throw called_wrongly{std::string(a.name) + fmt::format(text, std::forward<Values>(values)...)};
  };
  const int p = options.ranks;
  if (options.rank && (p < 1 || p > max_ranks_with_rank))
    throw called_wrongly{fmt::format("--ranks is {}; pass 1 to {}", p, max_ranks_with_rank)};
  if (!options.rank && (p < 1 || p > max_shown_ranks))
    throw called_wrongly{fmt::format("--ranks is {}; pass 1 to {}, or --rank R to show one rank of up to {}",
                                     p, max_shown_ranks, max_ranks_with_rank)};
  if (needs(restriction::power_of_two) && !std::has_single_bit(static_cast<unsigned>(p)))
    reject(" serves powers of two only, not {} ranks (power_of_two)", p);
  if (needs(restriction::even_ranks) && p % 2 != 0)
    reject(" serves even numbers of ranks only, not {} (even_ranks)", p);
  if (needs(restriction::equal_regions)) {
    const auto region = c.parameter_values[static_cast<std::size_t>(algorithm_parameter::region)];
    if (region == 0 || static_cast<unsigned>(p) % region != 0)
      reject(" needs regions of equal size, and {} does not divide {} ranks (equal_regions)", region, p);
  }
  if (options.ordered && !combines(a.what)) reject(" has no operator, so --ordered has no meaning");
  if (options.ordered && needs(restriction::commutative))
    reject(" needs an operator that commutes (commutative)");
  if (options.in_place && needs(restriction::not_in_place)) reject(" cannot be in place (not_in_place)");
  if (options.in_place && (a.what == collective::barrier || a.what == collective::bcast ||
                           is_neighborhood(a.what) || needs(restriction::inter)))
    reject(" implements a call that does not work in place");
  const bool inter = needs(restriction::inter);
  if (options.first && !inter) reject(" serves calls within one group, so --first has no meaning");
  if (inter && p < 2) reject(" serves calls between two groups, which have at least 2 ranks (inter)");

  proof::case_options w;
  w.what = a.what;
  w.ranks = p;
  w.root = options.root;
  w.in_place = options.in_place || needs(restriction::in_place);
  w.ordered = options.ordered;
  w.parameter_values = c.parameter_values;
  w.blocks = options.uneven ? proof::blocks_are::uneven : proof::blocks_are::even;
  w.first_group = inter ? options.first.value_or(p / 2) : 0;
  w.graph = options.graph == "ring" ? 0 : options.graph == "star" ? 1 : 2;
  if (inter && (w.first_group < 1 || w.first_group >= p))
    throw called_wrongly{
        fmt::format("--first is {}, but both groups need ranks; pass 1 to {}", w.first_group, p - 1)};
  if (w.root < 0 || w.root >= p)
    throw called_wrongly{fmt::format("--root is {}, but ranks are 0 to {}", w.root, p - 1)};
  if (is_neighborhood(a.what) && w.graph == 2 && p > max_random_ranks)
    throw called_wrongly{
        fmt::format("--graph random has no edges above {} ranks; pass ring or star", max_random_ranks)};
  if (w.root != 0 && !is_rooted(a.what)) reject(" has no root");
  if (options.rank && (*options.rank < 0 || *options.rank >= p))
    throw called_wrongly{fmt::format("--rank is {}, but ranks are 0 to {}", *options.rank, p - 1)};
  if (options.count && *options.count < static_cast<std::size_t>(p) && needs(restriction::count_ge_ranks))
    reject(" needs at least as many elements as ranks (count_ge_ranks)");
  return w;
}

// A vector of two elements per rank, or blocks of two elements. The count is larger if the
// schedules cut them into smaller pieces.
std::size_t default_count(proof::case_options w, std::span<const schedule> schedules) {
  const bool blocks = is_vector_form(w.what) || w.what == collective::gather ||
                      w.what == collective::scatter || w.what == collective::allgather ||
                      w.what == collective::alltoall || w.what == collective::reduce_scatter_block;
  if (blocks) w.ranks = 1;
  return proof::divisible_counts(w, schedules).back();
}

std::size_t count_of(const show_options& options, const proof::case_options& w,
                     std::span<const schedule> schedules) {
  const std::size_t count = options.count ? *options.count : default_count(w, schedules);
  if (count > (std::size_t{1} << 40)) throw called_wrongly{"--count is too large to be shown"};
  return count;
}

call_trace trace_call(const show_options& options, const choice& c, proof::case_options w) {
  const auto schedules = proof::write_all(c.pure->write, proof::make_abstract_call(w));
  w.count = count_of(options, w, schedules);
  call_trace p;
  p.algorithm = c.pure;
  p.count = w.count;
  p.call = proof::make_abstract_call(w);
  std::size_t elements = 0;  // results are compared only if that is quick
  for (int r = 0; r < w.ranks; ++r) elements += p.call.input_size(r) + p.call.output_size(r);
  p.result = proof::run_abstract(p.call, schedules, {.symbols = elements < 4'000'000, .record = true});
  if (p.result.ok()) collect_messages(p);
  return p;
}

rank_view view_rank(const show_options& options, const choice& c, proof::case_options w) {
  rank_view v;
  v.algorithm = c.pure;
  v.rank = *options.rank;
  const auto what = w.what;
  const bool pairs = what == collective::alltoallv || what == collective::alltoallw;
  if (options.uneven && pairs && w.ranks > max_uneven_ranks)
    throw called_wrongly{fmt::format(
        "--uneven has p * p lengths in {}, and the formulas need all; leave it out or pass --ranks up to {}",
        name_of(what), max_uneven_ranks)};
  {
    builder b;
    const proof::abstract_call shapes = proof::make_abstract_call(w, v.rank);
    c.pure->write(proof::shape_of(shapes, v.rank), b);
    v.steps = b.finish();
  }
  w.count = count_of(options, w, {&v.steps, 1});
  v.options = w;
  v.count = w.count;
  v.call = proof::make_abstract_call(w, v.rank);
  return v;
}

int report_fault(const pure_algorithm& a, const proof::abstract_call& call, const proof::fault& f) {
  fmt::print(stderr, "tutti show: {} fails the proof: {}{}{}: {}\n", a.name, call.text(),
             f.rank < 0 ? "" : fmt::format(", rank {}", f.rank),
             f.round < 0 ? "" : fmt::format(", round {}", f.round), f.what);
  return 1;
}

int write_drawing(const std::string& file, const std::string& drawing) {
  if (file == "-") {
    fmt::print("{}", drawing);
    return 0;
  }
  const std::string problem = write_regular_file(file, drawing);
  if (problem.empty()) return 0;
  fmt::print(stderr, "tutti show: {}\n", problem);
  return 1;
}

int show_one_rank(const show_options& options, const choice& c, const proof::case_options& w) {
  rank_view v = view_rank(options, c, w);
  const proof::rank_outcome result = v.run();
  if (!result.ok()) return report_fault(*v.algorithm, v.call, result.faults.front());
  v.measured = result.measured;
  if (options.as_json) write_json(stdout, v);
  if (!options.svg.empty()) return write_drawing(options.svg, as_matrix(v));
  if (!options.as_json) write_text(stdout, v, options.everything);
  return 0;
}

int show(const show_options& options) {
  const choice c = find(options.name);
  const proof::case_options w = call_of(options, c);
  if (options.as_json && options.svg == "-")
    throw called_wrongly{"--json and --svg - both write to standard output; pass a file to --svg"};
  const bool many = w.ranks > max_strip_ranks;
  if (many && options.everything && !options.svg.empty())
    throw called_wrongly{fmt::format(
        "--all has no meaning for the drawing of more than {} ranks; leave it out", max_strip_ranks)};
  if (many && options.rank) return show_one_rank(options, c, w);
  const call_trace p = trace_call(options, c, w);
  if (!p.result.ok()) return report_fault(*p.algorithm, p.call, p.result.faults.front());
  const view how{options.rank.value_or(-1), options.everything};
  if (options.as_json) write_json(stdout, p, how);
  if (!options.svg.empty()) return write_drawing(options.svg, many ? as_matrix(p) : as_svg(p, how));
  if (!options.as_json) write_text(stdout, p, how);
  return 0;
}

}  // namespace

proof::rank_outcome rank_view::run(const proof::round_visitor& visit) const {
  return proof::abstract_machine().run_rank(call, steps, rank, {.record = static_cast<bool>(visit)}, visit);
}

void add_show(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("show", "An algorithm for one call: its messages, as text, JSON or a drawing");
  auto options = std::make_shared<show_options>();
  command
      ->add_option("name", options->name,
                   "allreduce/ring, or with parameters: allreduce/dual_root:segment=64")
      ->required();
  command->add_option("--ranks", options->ranks, "How many: 1 to 1024, with --rank 1 to 65536")
      ->capture_default_str();
  command
      ->add_option("--count", options->count,
                   "Number of 8-byte elements of the vector or of a block, such as 1000 or 64K; default: one "
                   "that divides evenly")
      ->transform(as_size());
  command->add_option("--root", options->root, "Root of a rooted collective")->capture_default_str();
  command->add_flag("--in-place", options->in_place, "The call is in place");
  command->add_flag("--ordered", options->ordered, "The operator does not commute");
  command->add_flag("--uneven", options->uneven,
                    "Vector forms: blocks of different lengths, gaps between them");
  command->add_option("--first", options->first, "Between two groups: ranks of the first; default: half");
  command->add_option("--graph", options->graph, "Neighbors")
      ->check(CLI::IsMember({"ring", "star", "random"}))
      ->capture_default_str();
  command->add_option("--rank", options->rank,
                      "Only what this rank does, round by round; above 16 ranks it alone is executed");
  command->add_flag("--all", options->everything, "Abbreviate nothing");
  command->add_flag("--json", options->as_json, "One object: ranks[].rounds[][] of steps");
  command->add_option(
      "--svg", options->svg,
      "Draw it to this file; - is standard output. Above 16 ranks: the matrix of bytes between ranks, "
      "and the rounds");
  command->footer(
      "Text and drawing show the steps of the one-port model: a message takes one step, and a rank sends\n"
      "one and receives one message at a time. Algorithms that serve only calls in place, or only calls\n"
      "between two groups, are shown for such calls. In JSON the steps of one array of `rounds` are in\n"
      "progress together; an array has transfers or local steps, never both. `op` is send, recv, reduce\n"
      "(with `from`: a message reduced where it arrives, its operand in the buffer \"received\") or copy;\n"
      "an exchange is a send and a recv. Algorithms that count at run time also have measure, maximum\n"
      "and reserve. Places are in elements.\n"
      "Above 16 ranks, --rank executes the schedule of that rank alone: JSON has `of_rank` in place of\n"
      "`measured`, and places are null (in text: [?]) if messages of other ranks carry their lengths.\n"
      "Status 0: shown; 1: the schedules break a rule; 2: there is no such algorithm, or it does not serve\n"
      "the call.\n\n"
      "Examples:\n"
      "  tutti show allreduce/ring --ranks 5\n"
      "  tutti show bcast/knomial:k=4 --ranks 16 --root 3\n"
      "  tutti show allreduce/dual_root:segment=64 --count 64 --rank 2\n"
      "  tutti show alltoall/pairwise --ranks 65536 --rank 5\n"
      "  tutti show allreduce/swing --ranks 256 --svg matrix.svg\n"
      "  tutti show scan/recursive_doubling --svg scan.svg\n"
      "  tutti show alltoall/bruck --json | jq '.ranks[0].rounds'\n");
  command->callback([options, &status] { status = show(*options); });
}

}  // namespace tutti::tool

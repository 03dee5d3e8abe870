// SPDX-License-Identifier: Apache-2.0
//
// tutti show: shows an algorithm for one call, message by message. It executes the schedules of all
// ranks symbolically (src/proof/).
#include "show.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "base/regular_file.hpp"
#include "proof/cases.hpp"
#include "subcommands.hpp"
#include "text.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

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
  if (p < 1 || p > 1024) throw called_wrongly{fmt::format("--ranks is {}; pass 1 to 1024", p)};
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
  if (w.root != 0 && !is_rooted(a.what)) reject(" has no root");
  if (options.rank && (*options.rank < 0 || *options.rank >= p))
    throw called_wrongly{fmt::format("--rank is {}, but ranks are 0 to {}", *options.rank, p - 1)};
  if (options.count && *options.count < static_cast<std::size_t>(p) && needs(restriction::count_ge_ranks))
    reject(" needs at least as many elements as ranks (count_ge_ranks)");
  return w;
}

// A vector of two elements per rank, or blocks of two elements. The count is larger if the
// schedules cut them into smaller pieces.
std::size_t default_count(proof::case_options w, const std::vector<schedule>& schedules) {
  const bool blocks = is_vector_form(w.what) || w.what == collective::gather ||
                      w.what == collective::scatter || w.what == collective::allgather ||
                      w.what == collective::alltoall || w.what == collective::reduce_scatter_block;
  if (blocks) w.ranks = 1;
  return proof::divisible_counts(w, schedules).back();
}

call_trace trace_call(const show_options& options) {
  const choice c = find(options.name);
  proof::case_options w = call_of(options, c);
  const auto schedules = proof::write_all(c.pure->write, proof::make_abstract_call(w));
  w.count = options.count ? *options.count : default_count(w, schedules);
  if (w.count > (std::size_t{1} << 40)) throw called_wrongly{"--count is too large to be shown"};
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

int show(const show_options& options) {
  const call_trace p = trace_call(options);
  if (!p.result.ok()) {
    const proof::fault& f = p.result.faults.front();
    fmt::print(stderr, "tutti show: {} fails the proof: {}{}{}: {}\n", p.algorithm->name, p.call.text(),
               f.rank < 0 ? "" : fmt::format(", rank {}", f.rank),
               f.round < 0 ? "" : fmt::format(", round {}", f.round), f.what);
    return 1;
  }
  const view how{options.rank.value_or(-1), options.everything};
  if (options.as_json) fmt::print("{}", as_json(p, how));
  if (options.svg == "-") {
    fmt::print("{}", as_svg(p, how));
  } else if (!options.svg.empty()) {
    if (const std::string problem = write_regular_file(options.svg, as_svg(p, how)); !problem.empty()) {
      fmt::print(stderr, "tutti show: {}\n", problem);
      return 1;
    }
  }
  if (!options.as_json && options.svg.empty()) fmt::print("{}", as_text(p, how));
  return 0;
}

}  // namespace

void add_show(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("show", "An algorithm for one call: its messages, as text, JSON or a drawing");
  auto options = std::make_shared<show_options>();
  command
      ->add_option("name", options->name,
                   "allreduce/ring, or with parameters: allreduce/dual_root:segment=64")
      ->required();
  command->add_option("--ranks", options->ranks, "How many")->capture_default_str();
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
  command->add_option("--rank", options->rank, "Only what this rank does, round by round");
  command->add_flag("--all", options->everything, "Abbreviate nothing");
  command->add_flag("--json", options->as_json, "One object: ranks[].rounds[][] of steps");
  command->add_option("--svg", options->svg, "Draw it to this file; - is standard output");
  command->footer(
      "Text and drawing show the steps of the one-port model: a message takes one step, and a rank sends\n"
      "one and receives one message at a time. Algorithms that serve only calls in place, or only calls\n"
      "between two groups, are shown for such calls. In JSON the steps of one array of `rounds` are in\n"
      "progress together; an array has transfers or local steps, never both. `op` is send, recv, reduce\n"
      "(with `from`: a message reduced where it arrives, its operand in the buffer \"received\") or copy;\n"
      "an exchange is a send and a recv. Algorithms that count at run time also have measure, maximum\n"
      "and reserve. Places are in elements.\n"
      "Status 0: shown; 1: the schedules break a rule; 2: there is no such algorithm, or it does not serve\n"
      "the call.\n\n"
      "Examples:\n"
      "  tutti show allreduce/ring --ranks 5\n"
      "  tutti show bcast/knomial:k=4 --ranks 16 --root 3\n"
      "  tutti show allreduce/dual_root:segment=64 --count 64 --rank 2\n"
      "  tutti show scan/recursive_doubling --svg scan.svg\n"
      "  tutti show alltoall/bruck --json | jq '.ranks[0].rounds'\n");
  command->callback([options, &status] { status = show(*options); });
}

}  // namespace tutti::tool

// SPDX-License-Identifier: Apache-2.0
#include "proof/prove.hpp"

#include <algorithm>

namespace tutti::proof {
namespace {

constexpr std::size_t max_findings = 4;  // findings reported for one number of ranks

bool differ_in_counts_only(const case_options& a, const case_options& b) {
  return a.root == b.root && a.in_place == b.in_place && a.ordered == b.ordered &&
         a.parameter_values == b.parameter_values && a.first_group == b.first_group && a.graph == b.graph;
}

void add_findings(proof_result& all, const pure_algorithm& a, const abstract_call& p,
                  std::vector<fault> faults) {
  for (fault& f : faults)
    if (all.findings.size() < max_findings)
      all.findings.push_back({std::string(a.name), p.ranks, p.text(), std::move(f)});
}

// Exceptions of an algorithm, and formulas that do not parse, become findings.
template <class Body>
void guarded(proof_result& all, const pure_algorithm& a, const abstract_call& p, Body&& body) {
  try {
    body();
  } catch (const std::exception& e) {
    add_findings(all, a, p, {{-1, -1, e.what()}});
  }
}

void count(proof_result& all, const outcome& o) {
  ++all.calls;
  all.messages += o.measured.messages;
  all.combined += o.measured.combined;
  for (const std::size_t bytes : o.measured.memory) all.max_memory = std::max(all.max_memory, bytes);
}

}  // namespace

proof_result& proof_result::operator+=(const proof_result& other) {
  calls += other.calls;
  messages += other.messages;
  combined += other.combined;
  default_parameters += other.default_parameters;
  all_parameters += other.all_parameters;
  topologies += other.topologies;
  max_rounds = std::max(max_rounds, other.max_rounds);
  max_memory = std::max(max_memory, other.max_memory);
  findings.insert(findings.end(), other.findings.begin(), other.findings.end());
  return *this;
}

std::vector<fault> compare_claims(const pure_algorithm& a, const abstract_call& p, const costs& measured) {
  std::vector<fault> faults;
  const variables given = variables_of(p);
  const auto compare = [&](const char* name, std::string_view claim, double value, bool at_most) {
    try {
      claimed c = evaluate_claim(claim, given);
      c.bound = c.bound || at_most;
      if (c.holds(value)) return;
      faults.push_back({-1, -1,
                        std::string(name) + ": " + std::string(claim) + " is " + (c.bound ? "at most " : "") +
                            number_text(c.value) + " here, but it takes " + number_text(value)});
    } catch (const formula_error& e) {
      faults.push_back({-1, -1, std::string(name) + ": " + e.what()});
    }
  };
  compare("Rounds", a.rounds, static_cast<double>(measured.rounds), false);
  compare("Bytes", a.bytes, static_cast<double>(measured.max_bytes()), false);
  compare("Scratch", a.scratch, static_cast<double>(measured.max_scratch()), true);
  return faults;
}

proof_result prove(const pure_algorithm& a, int ranks, abstract_machine& machine, bool exhaustive) {
  proof_result all;
  const case_list results = result_cases(a, ranks, exhaustive);
  all.default_parameters = results.default_parameters;
  all.all_parameters = results.all_parameters;
  std::vector<schedule> schedules;
  case_options written;
  for (const case_options& w : results.cases) {
    if (all.findings.size() >= max_findings) return all;
    const abstract_call p = make_abstract_call(w);
    guarded(all, a, p, [&] {
      if (schedules.empty() || !differ_in_counts_only(w, written)) schedules = write_all(a.write, p);
      written = w;
      outcome o = machine.run(p, schedules, {.permitted_reach = a.reach_with(p.parameter_values)});
      count(all, o);
      add_findings(all, a, p, std::move(o.faults));
    });
  }
  for (case_options w : claim_cases(a, ranks)) {
    if (all.findings.size() >= max_findings) return all;
    guarded(all, a, make_abstract_call(w), [&] {
      schedules = write_all(a.write, make_abstract_call(w));
      for (const std::size_t n : divisible_counts(w, schedules)) {
        w.count = n;
        const abstract_call p = make_abstract_call(w);
        outcome o = machine.run(p, schedules, {.symbols = false});
        count(all, o);
        all.max_rounds = std::max(all.max_rounds, o.measured.rounds);
        if (o.ok()) o.faults = compare_claims(a, p, o.measured);
        add_findings(all, a, p, std::move(o.faults));
      }
    });
  }
  return all;
}

}  // namespace tutti::proof

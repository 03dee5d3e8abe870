// SPDX-License-Identifier: Apache-2.0
#include "proof/prove_rank.hpp"

#include <algorithm>

namespace tutti::proof {
namespace {

constexpr std::size_t max_rank_findings = 4;
// For one number of ranks: the work after which no other call is tried, and for peers.
constexpr std::uint64_t max_work = 100'000'000, max_peer_work = 12'000'000;

class rank_prover {
 public:
  rank_prover(const pure_algorithm& a, int ranks, int rank, abstract_machine& machine)
      : algorithm_(a), ranks_(ranks), rank_(rank), machine_(machine) {}

  rank_proof prove() {
    const case_list results = rank_result_cases(algorithm_, ranks_, rank_);
    const case_list claims = rank_claim_cases(algorithm_, ranks_, rank_);
    made_.calls.all = results.all_parameters.all + claims.all_parameters.all;
    const std::uint64_t work = max_peer_work / std::max<std::size_t>(1, results.cases.size());
    limit_ = max_work / 3 * 2;
    for (const case_options& w : results.cases)
      attempt(w, [&] { prove_messages(w, write(make_abstract_call(w, rank_)), work); });
    limit_ = std::max(max_work, work_);  // at least one call
    for (case_options w : claims.cases)
      attempt(w, [&] {
        const schedule s = write(make_abstract_call(w, rank_));
        for (const std::size_t n : divisible_counts(w, {&s, 1})) {
          w.count = n;
          prove_claims(w, s);
        }
      });
    return std::move(made_);
  }

 private:
  // Exceptions of an algorithm, and formulas that do not parse, become findings.
  template <class Body>
  void attempt(const case_options& w, Body&& body) {
    if (made_.findings.size() >= max_rank_findings || work_ > limit_) return;
    ++made_.calls.tried;
    try {
      body();
    } catch (const std::exception& e) {
      add(make_abstract_call(w, rank_), {{rank_, -1, e.what()}});
    }
  }

  schedule write(const abstract_call& p) const {
    builder b;
    algorithm_.write(shape_of(p, rank_), b);
    return b.finish();
  }

  void add(const abstract_call& p, std::vector<fault> faults) {
    for (fault& f : faults)
      if (made_.findings.size() < max_rank_findings)
        made_.findings.push_back({std::string(algorithm_.name), ranks_, p.text(), std::move(f)});
  }

  void count(const rank_outcome& o) {
    work_ += o.measured.work;
    made_.messages += o.measured.messages;
    made_.unknown += o.measured.unknown;
    made_.max_rounds = std::max(made_.max_rounds, o.measured.rounds);
    made_.max_memory = std::max(made_.max_memory, o.measured.memory);
  }

  void prove_messages(const case_options& w, const schedule& s, std::uint64_t max_work) {
    const abstract_call p = make_abstract_call(w, rank_);
    std::vector<peer_message> messages;
    int round = 0;
    rank_outcome o = machine_.run_rank(p, s, rank_,
                                       {
                                           .record = true,
                                           .permitted_reach = algorithm_.reach_with(w.parameter_values),
                                       },
                                       [&](const traced_round& r) { append_messages(r, round++, messages); });
    count(o);
    if (!o.measured.tracked) ++made_.untracked;
    if (!o.ok()) return add(p, std::move(o.faults));
    peer_schedules peers(algorithm_.write, w);
    work_ += messages.size();
    peer_comparison c = compare_with_peers(rank_, std::move(messages), peers, max_work);
    made_.peers += {c.peers, c.compared};
    add(p, std::move(c.faults));
  }

  void prove_claims(const case_options& w, const schedule& s) {
    const abstract_call p = make_abstract_call(w, rank_);
    rank_outcome o = machine_.run_rank(p, s, rank_, {.contents = false});
    count(o);
    if (o.ok()) o.faults = compare_claims(algorithm_, w, rank_, o.measured);
    add(p, std::move(o.faults));
  }

  const pure_algorithm& algorithm_;
  int ranks_, rank_;
  abstract_machine& machine_;
  std::uint64_t work_ = 0, limit_ = 0;
  rank_proof made_;
};

}  // namespace

rank_proof& rank_proof::operator+=(const rank_proof& other) {
  messages += other.messages;
  unknown += other.unknown;
  max_rounds = std::max(max_rounds, other.max_rounds);
  max_memory = std::max(max_memory, other.max_memory);
  calls += other.calls;
  peers += other.peers;
  findings.insert(findings.end(), other.findings.begin(), other.findings.end());
  return *this;
}

std::vector<fault> compare_claims(const pure_algorithm& a, const case_options& w, int rank,
                                  const rank_costs& measured) {
  std::vector<fault> faults;
  const variables given = variables_of(w);
  const auto compare = [&](const char* name, std::string_view formula, double value, const char* unit) {
    claimed c = evaluate_claim(formula, given);
    c.bound = true;
    if (c.holds(value)) return;
    faults.push_back({rank, -1,
                      std::string(name) + ": " + std::string(formula) + " is " + number_text(c.value) +
                          " here, but this rank alone " + unit + " " + number_text(value)});
  };
  compare("Rounds", a.rounds, static_cast<double>(measured.rounds), "takes");
  compare("Bytes", a.bytes, static_cast<double>(measured.sent), "sends");
  compare("Bytes", a.bytes, static_cast<double>(measured.received), "receives");
  compare("Scratch", a.scratch, static_cast<double>(measured.scratch), "needs");
  return faults;
}

rank_proof prove_rank(const pure_algorithm& a, int ranks, int rank, abstract_machine& machine) {
  return rank_prover(a, ranks, rank, machine).prove();
}

}  // namespace tutti::proof

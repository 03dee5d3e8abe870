// SPDX-License-Identifier: Apache-2.0
//
// Tests the proof itself: correct schedules pass, and each schedule with one mutation is rejected,
// at every place of every algorithm. If a mutation gives an equivalent schedule, the test must
// recognize that from the accesses of the correct run.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proof/prove.hpp"
#include "unit/check_mutations/accesses.hpp"

namespace tutti::proof {

const pure_algorithm& algorithm(std::string_view name);

/// Correct schedules of one call, and the record of their run.
struct subject {
  std::string name;
  abstract_call call;
  std::vector<schedule> schedules;
  outcome unmodified;

  subject(const pure_algorithm& a, int ranks) : name(std::string(a.name) + " of " + std::to_string(ranks)) {
    case_options w;
    w.what = a.what;
    w.ranks = ranks;
    w.root = ranks / 2;
    w.in_place = has_restriction(a.restrictions, restriction::in_place);
    w.ordered = combines(a.what) && !has_restriction(a.restrictions, restriction::commutative);
    w.parameter_values = a.default_values();
    for (const algorithm_parameter_range& k : a.parameters)
      if (k.which == algorithm_parameter::segment)
        w.parameter_values[static_cast<std::size_t>(k.which)] = std::max(16u, k.min);
    w.count = a.what == collective::barrier ? 0 : static_cast<std::size_t>(2 * ranks + 3);
    w.blocks = blocks_are::even;  // and no message is empty
    if (has_restriction(a.restrictions, restriction::inter)) w.first_group = ranks / 2;
    w.graph = 2;
    call = make_abstract_call(w);
    schedules = write_all(a.write, call);
    unmodified = run_abstract(call, schedules, {.symbols = true, .record = true});
  }
};

struct tally {
  int found = 0, equivalent = 0;
};

class mutation_checker {
 public:
  explicit mutation_checker(const subject& s, tally& t) : subject_(s), tally_(t) {}

  // Runs with one rank's schedule replaced. If `harmless` is true, the mutation is no error, and
  // none may be reported.
  void expect_found(int rank, schedule mutated, const std::string& how, bool harmless = false,
                    const schedule* without_it = nullptr) {
    auto all = subject_.schedules;
    all[static_cast<std::size_t>(rank)] = std::move(mutated);
    const outcome o = machine_.run(subject_.call, all, {.symbols = true, .record = true});
    // Another name of the same place: a packed one if all blocks have equal length.
    if (o.ok()) harmless = harmless || same_accesses(o.recorded, subject_.unmodified.recorded);
    // A redundant step: it copies what its target contains already.
    if (o.ok() && !harmless && without_it != nullptr) {
      all[static_cast<std::size_t>(rank)] = *without_it;
      harmless = machine_.run(subject_.call, all).ok();
    }
    (harmless ? tally_.equivalent : tally_.found) += 1;
    EXPECT_EQ(o.ok(), harmless) << subject_.name << ", rank " << rank << ": " << how
                                << (o.ok() ? "" : ": " + o.faults[0].what);
  }

 private:
  const subject& subject_;
  tally& tally_;
  abstract_machine machine_;
};

// Removes step `at` from its round.
schedule without(schedule s, std::uint32_t at);

/// For the algorithms in subject.cpp.
class mutations : public testing::TestWithParam<std::string_view> {
 protected:
  template <class Mutate>
  void everywhere(Mutate&& mutate) {
    tally t;
    for (const int ranks : {3, 4, 5, 8}) {
      const subject s(algorithm(GetParam()), ranks);
      ASSERT_TRUE(s.unmodified.ok()) << s.name << ": " << s.unmodified.faults[0].what;
      for (int r = 0; r < ranks; ++r) mutate(s, r, t);
    }
    RecordProperty("found", t.found);
    RecordProperty("equivalent", t.equivalent);
  }
};

}  // namespace tutti::proof

// SPDX-License-Identifier: Apache-2.0
#include "proof/composite_proof.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "proof/inner_call_rules.hpp"
#include "proof/oracle.hpp"

namespace tutti::proof {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Returns whether all ranks are in place and this rank, which gets no result, has its operand in
// its output.
bool has_operand_in_output(const abstract_call& p, int rank, bool everywhere) {
  return everywhere && p.in_place && !p.in_place_at(rank) && p.has_operand(rank) && is_rooted(p.what) &&
         p.what != collective::bcast;
}

struct rule_violation {
  fault what;
};

// Runs the ranks in turn, each until it waits for another rank.
class machine {
 public:
  machine(const abstract_call& p, const std::vector<composite_plan>& plans, bool everywhere)
      : call_(p), plans_(plans), oracle_(p, symbols_), ranks_(at(p.ranks)) {
    for (int r = 0; r < p.ranks; ++r) {
      rank_state& me = of(r);
      auto& cells = me.buffers.cells;
      oracle_.fill(r, cells[0], cells[1]);
      me.operand_in_output = has_operand_in_output(p, r, everywhere);
      if (me.operand_in_output) cells[1].swap(cells[0]);
      me.initial_output = cells[1];
      cells[2].assign(plans[at(r)].scratch, uninitialized);
      me.entered.assign(at(p.ranks), false);
      me.entered[at(r)] = true;
    }
  }

  composite_outcome run() {
    try {
      bool moved = true;
      while (moved) {
        moved = false;
        for (int r = 0; r < call_.ranks; ++r) moved = advance(r) || moved;
      }
      require_end();
      compare();
    } catch (const rule_violation& b) {
      end_.faults.push_back(b.what);
    }
    return std::move(end_);
  }

 private:
  struct rank_state {
    memory buffers;
    std::size_t pc = 0;
    bool operand_in_output = false;
    std::vector<symbol> initial_output;
    std::optional<std::uint32_t> last_sequence_number;
    std::map<std::uint32_t, accesses> in_progress;   // by index in composite_plan::calls
    std::map<std::uint32_t, std::size_t> instances;  // by index in composite_plan::calls
    std::vector<bool> entered;                       // ranks known to have entered, for barriers
  };
  struct instance {
    std::vector<int> members;
    std::vector<const subcall*> parts;  // by position; null: that member has not started the call
    std::vector<bool> entered;
    std::size_t missing = 0;
    std::uint32_t sequence_number = 0;
  };

  rank_state& of(int rank) { return ranks_[at(rank)]; }

  [[noreturn]] void fail(int rank, const std::string& what) {
    throw rule_violation{{rank, rank < 0 ? -1 : static_cast<int>(of(rank).pc), what}};
  }

  static std::string text(const element_range& s) {
    static constexpr const char* names[] = {"input", "output", "scratch"};
    return std::string(names[static_cast<int>(s.where)]) + "[" + std::to_string(s.first) + ", " +
           std::to_string(s.end) + ")";
  }

  // --- areas
  void require_inside(int rank, const element_range& s) {
    if (s.where > buffer::scratch0) fail(rank, "an area in a buffer that does not exist");
    const std::size_t size = of(rank).buffers.of(s.where).size();
    if (s.end > size || s.first > s.end)
      fail(rank, text(s) + " exceeds the " + std::to_string(size) + " elements of its buffer");
  }
  void require_readable(int rank, const element_range& s) {
    require_inside(rank, s);
    for (std::size_t i = s.first; i < s.end; ++i) {
      const symbol cell = of(rank).buffers.of(s.where)[i];
      if (cell == uninitialized || cell == gap)
        fail(rank,
             "reads " + text(s) + ", where element " + std::to_string(i) + " is " + symbols_.text(cell));
    }
    for (const auto& [call, t] : of(rank).in_progress)
      for (const element_range& w : t.writes)
        if (w.overlaps(s))
          fail(rank, "reads " + text(s) + ", into which call " + name(rank, call) + " writes");
  }
  void require_writable(int rank, const element_range& s) {
    require_inside(rank, s);
    if (s.where == buffer::input) fail(rank, "writes " + text(s));
    if (s.where == buffer::output && of(rank).operand_in_output)
      fail(rank, "writes " + text(s) + ", which only holds its operand");
    for (std::size_t i = s.first; i < s.end; ++i)
      if (of(rank).buffers.of(s.where)[i] == gap)
        fail(rank, "writes " + text(s) + ", where element " + std::to_string(i) + " is not its own");
    for (const auto& [call, t] : of(rank).in_progress)
      for (const auto* list : {&t.reads, &t.writes})
        for (const element_range& busy : *list)
          if (busy.overlaps(s))
            fail(rank, "writes " + text(s) + ", which is in use by call " + name(rank, call));
  }
  std::string name(int rank, std::uint32_t call) const {
    const subcall& c = plans_[at(rank)].calls[call];
    return std::to_string(c.sequence_number) + " (" + std::string(name_of(c.what)) + ")";
  }

  // --- steps
  bool advance(int rank) {
    rank_state& me = of(rank);
    const composite_plan& p = plans_[at(rank)];
    const std::size_t first_pc = me.pc;
    for (; me.pc < p.steps.size(); ++me.pc) {
      const composite_step& s = p.steps[me.pc];
      const auto require = [&](std::size_t size) {
        if (s.which >= size) fail(rank, "a step of an object that does not exist");
      };
      switch (s.what) {
        case composite_step::kind::start:
          require(p.calls.size());
          start(rank, s.which);
          break;
        case composite_step::kind::wait:
          require(p.calls.size());
          if (!wait(rank, s.which)) return me.pc != first_pc;
          break;
        case composite_step::kind::copy:
          require(p.copies.size());
          copy(rank, p.copies[s.which]);
          break;
        case composite_step::kind::combine:
          require(p.combinations.size());
          combine(rank, p.combinations[s.which]);
          break;
      }
    }
    return me.pc != first_pc;
  }

  std::vector<int> members_of(int rank, const subcall& c) {
    const auto& groups = plans_[at(rank)].groups;
    if (c.group < 0 || at(c.group) >= groups.size()) fail(rank, "a call on a group that does not exist");
    std::vector<int> members = groups[at(c.group)];
    if (c.group == 0) {
      members.resize(at(call_.ranks));
      std::iota(members.begin(), members.end(), 0);
    }
    std::vector<int> sorted = members;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.empty() || sorted.front() < 0 || sorted.back() >= call_.ranks ||
        std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
        !std::binary_search(sorted.begin(), sorted.end(), rank))
      fail(rank, "a call on a group that is not one of this rank's groups");
    return members;
  }

  void start(int rank, std::uint32_t which) {
    rank_state& me = of(rank);
    const subcall& c = plans_[at(rank)].calls[which];
    if (me.last_sequence_number && c.sequence_number <= *me.last_sequence_number)
      fail(rank, "the numbers of its calls do not increase");
    me.last_sequence_number = c.sequence_number;
    const std::vector<int> members = members_of(rank, c);
    const auto position =
        static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
    accesses t;
    try {
      t = accesses_of(c, static_cast<int>(position), static_cast<int>(members.size()));
    } catch (const invalid_call& e) {
      fail(rank, "call " + name(rank, which) + ": " + e.what());
    }
    for (std::size_t i = 0; i < t.writes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (t.writes[i].overlaps(t.writes[j]))
          fail(rank, "call " + name(rank, which) + " writes " + text(t.writes[i]) + " twice");
      for (const element_range& r : t.reads)
        if (!c.in_place && r.overlaps(t.writes[i]))
          fail(rank, "call " + name(rank, which) + " writes " + text(t.writes[i]) + ", its operand");
    }
    for (const element_range& r : t.reads) require_readable(rank, r);
    for (const element_range& w : t.writes) require_writable(rank, w);
    me.in_progress[which] = std::move(t);

    const auto [entry, is_new] = instance_index_.try_emplace({c.sequence_number, members}, instances_.size());
    me.instances[which] = entry->second;
    if (is_new) {
      instances_.push_back({members, std::vector<const subcall*>(members.size(), nullptr),
                            std::vector<bool>(at(call_.ranks), false), members.size(), c.sequence_number});
      if (c.what != collective::barrier) instances_.back().entered.clear();
    }
    instance& all = instances_[entry->second];
    all.parts[position] = &c;
    for (std::size_t r = 0; r < all.entered.size(); ++r) all.entered[r] = all.entered[r] || me.entered[r];
    if (--all.missing == 0) complete(all);
  }

  void complete(const instance& one) {
    std::vector<participant> participants;
    for (std::size_t i = 0; i < one.members.size(); ++i)
      participants.push_back({one.parts[i], &of(one.members[i]).buffers});
    const std::string which =
        "call " + std::to_string(one.sequence_number) + " (" + std::string(name_of(one.parts[0]->what)) +
        ") of " + std::to_string(one.members.size()) + " ranks from " + std::to_string(one.members[0]);
    try {
      require_agreement(participants);
    } catch (const invalid_call& e) {
      fail(one.members[0], which + ": " + e.what());
    }
    proof::perform(participants, symbols_);
    ++end_.calls;
  }

  bool wait(int rank, std::uint32_t which) {
    rank_state& me = of(rank);
    const auto entry = me.instances.find(which);
    if (entry == me.instances.end()) fail(rank, "waits for a call that it has not started");
    const instance& one = instances_[entry->second];
    if (one.missing != 0) return false;
    for (std::size_t r = 0; r < one.entered.size(); ++r) me.entered[r] = me.entered[r] || one.entered[r];
    me.in_progress.erase(which);
    me.instances.erase(entry);
    return true;
  }

  void copy(int rank, const copy_step& c) {
    for (std::size_t i = 0; i < c.blocks; ++i) {
      const area from = c.from + i * c.from_distance, to = c.to + i * c.to_distance;
      const element_range source{from.where, from.offset, from.offset + c.n};
      const element_range target{to.where, to.offset, to.offset + c.n};
      if (source.overlaps(target)) fail(rank, "copies " + text(source) + " onto itself");
      require_readable(rank, source);
      require_writable(rank, target);
      auto& buffers = of(rank).buffers;
      for (std::size_t k = 0; k < c.n; ++k)
        buffers.of(target.where)[target.first + k] = buffers.of(source.where)[source.first + k];
    }
  }

  void combine(int rank, const combine_step& c) {
    const element_range target{c.to.where, c.to.offset, c.to.offset + c.n};
    for (const area& a : {c.left, c.right}) {
      const element_range operand{a.where, a.offset, a.offset + c.n};
      require_readable(rank, operand);
      if (!(a == c.to) && operand.overlaps(target))
        fail(rank, "combines " + text(operand) + " into a part of itself");
    }
    require_writable(rank, target);
    auto& buffers = of(rank).buffers;
    for (std::size_t k = 0; k < c.n; ++k)
      buffers.of(c.to.where)[c.to.offset + k] = symbols_.product(
          buffers.of(c.left.where)[c.left.offset + k], buffers.of(c.right.where)[c.right.offset + k]);
  }

  // --- the end
  void require_end() {
    for (int r = 0; r < call_.ranks; ++r) {
      const rank_state& me = of(r);
      const composite_plan& p = plans_[at(r)];
      if (me.pc < p.steps.size()) {
        const std::uint32_t which = p.steps[me.pc].which;
        const instance& one = instances_[me.instances.at(which)];
        std::string missing;
        for (std::size_t i = 0; i < one.parts.size(); ++i)
          if (one.parts[i] == nullptr) missing += " " + std::to_string(one.members[i]);
        fail(r, "no rank can continue: it waits for call " + name(r, which) +
                    ", which is not called by rank" + missing);
      }
      if (!me.in_progress.empty())
        fail(r, "no rank waits for call " + name(r, me.in_progress.begin()->first));
    }
  }

  void compare() {
    end_.combined = symbols_.products();
    for (int r = 0; r < call_.ranks && end_.faults.size() < 8; ++r) {
      rank_state& me = of(r);
      if (call_.what == collective::barrier)
        for (int other = 0; other < call_.ranks; ++other)
          if (!me.entered[at(other)])
            fail(r, "it may leave the barrier before rank " + std::to_string(other) + " has arrived");
      if (me.operand_in_output && me.buffers.cells[1] != me.initial_output)
        fail(r, "the operand in its output was overwritten");
      if (me.operand_in_output) continue;
      const auto expected = oracle_.expected(r);
      const auto& cells = me.buffers.cells[1];
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] == uninitialized || symbols_.same(expected[i], cells[i], call_.ordered)) continue;
        end_.faults.push_back({r, -1,
                               "element " + std::to_string(i) + " of the result is " +
                                   symbols_.text(cells[i]) + ", not " + symbols_.text(expected[i])});
        break;
      }
    }
  }

  const abstract_call& call_;
  const std::vector<composite_plan>& plans_;
  symbols symbols_;
  oracle oracle_;
  std::vector<rank_state> ranks_;
  std::vector<instance> instances_;
  std::map<std::pair<std::uint32_t, std::vector<int>>, std::size_t> instance_index_;
  composite_outcome end_;
};

}  // namespace

call call_of(const abstract_call& p, int rank, bool everywhere) {
  const auto me = at(rank);
  const auto view = [](const std::vector<std::size_t>& v) {
    return v.empty() ? counts_view() : counts_view(v.data(), v.size());
  };
  call c;
  c.what = p.what;
  c.in_place = p.in_place_at(rank) || (everywhere && p.in_place);
  c.root = p.root;
  c.type.size = p.element_bytes;
  c.count = p.counts[me];
  c.op.commutative = !p.ordered;
  c.in_counts = view(p.in[me].counts);
  c.in_displs = view(p.in[me].displs);
  const block_table& out = p.what == collective::reduce_scatter ? p.in[me] : p.out[me];
  c.out_counts = view(out.counts);
  c.out_displs = view(out.displs);
  return c;
}

std::vector<composite_plan> make_composite_plans(void (*write)(planner&), const abstract_call& p,
                                                 const hierarchy& topology, bool everywhere) {
  std::vector<composite_plan> all;
  for (int r = 0; r < p.ranks; ++r) {
    const call c = call_of(p, r, everywhere);
    planner one(c, r, topology, p.parameter_values);
    write(one);
    all.push_back(one.finish());
  }
  return all;
}

composite_outcome run_composite_plans(const abstract_call& p, const std::vector<composite_plan>& plans,
                                      bool everywhere) {
  return machine(p, plans, everywhere).run();
}

}  // namespace tutti::proof

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
bool lends_output(const plan& p, int rank, bool everywhere) {
  return everywhere && p.in_place && !p.in_place_at(rank) && p.gives(rank) && is_rooted(p.what) &&
         p.what != collective::bcast;
}

struct broken {
  fault what;
};

// Runs the ranks in turn, each until it waits for another rank.
class machine {
 public:
  machine(const plan& p, const std::vector<composite_plan>& programs, bool everywhere)
      : plan_(p), programs_(programs), oracle_(p, symbols_), ranks_(at(p.ranks)) {
    for (int r = 0; r < p.ranks; ++r) {
      rank_state& me = of(r);
      auto& cells = me.own.cells;
      oracle_.fill(r, cells[0], cells[1]);
      me.lends = lends_output(p, r, everywhere);
      if (me.lends) cells[1].swap(cells[0]);
      me.lent = cells[1];
      cells[2].assign(programs[at(r)].scratch, uninitialised);
      me.met.assign(at(p.ranks), false);
      me.met[at(r)] = true;
    }
  }

  composite_outcome run() {
    try {
      bool moved = true;
      while (moved) {
        moved = false;
        for (int r = 0; r < plan_.ranks; ++r) moved = advance(r) || moved;
      }
      require_end();
      compare();
    } catch (const broken& b) {
      end_.faults.push_back(b.what);
    }
    return std::move(end_);
  }

 private:
  struct rank_state {
    memory own;
    std::size_t pc = 0;
    bool lends = false;
    std::vector<symbol> lent;
    std::optional<std::uint32_t> last_number;
    std::map<std::uint32_t, touched> under_way;      // by index in composite_plan::calls
    std::map<std::uint32_t, std::size_t> instances;  // by index in composite_plan::calls
    std::vector<bool> met;                           // ranks known to have entered, for barriers
  };
  struct instance {
    std::vector<int> members;
    std::vector<const subcall*> parts;  // by position; null: that member has not started the call
    std::vector<bool> met;
    std::size_t missing = 0;
    std::uint32_t number = 0;
  };

  rank_state& of(int rank) { return ranks_[at(rank)]; }

  [[noreturn]] void fail(int rank, const std::string& what) {
    throw broken{{rank, rank < 0 ? -1 : static_cast<int>(of(rank).pc), what}};
  }

  static std::string text(const stretch& s) {
    static constexpr const char* names[] = {"input", "output", "scratch"};
    return std::string(names[static_cast<int>(s.where)]) + "[" + std::to_string(s.first) + ", " +
           std::to_string(s.end) + ")";
  }

  // --- areas
  void require_inside(int rank, const stretch& s) {
    if (s.where > buffer::scratch0) fail(rank, "an area in a buffer that does not exist");
    const std::size_t size = of(rank).own.of(s.where).size();
    if (s.end > size || s.first > s.end)
      fail(rank, text(s) + " exceeds the " + std::to_string(size) + " elements of its buffer");
  }
  void require_readable(int rank, const stretch& s) {
    require_inside(rank, s);
    for (std::size_t i = s.first; i < s.end; ++i) {
      const symbol cell = of(rank).own.of(s.where)[i];
      if (cell == uninitialised || cell == gap)
        fail(rank,
             "reads " + text(s) + ", where element " + std::to_string(i) + " is " + symbols_.text(cell));
    }
    for (const auto& [call, t] : of(rank).under_way)
      for (const stretch& w : t.writes)
        if (w.meets(s)) fail(rank, "reads " + text(s) + ", into which call " + name(rank, call) + " writes");
  }
  void require_writable(int rank, const stretch& s) {
    require_inside(rank, s);
    if (s.where == buffer::input) fail(rank, "writes " + text(s));
    if (s.where == buffer::output && of(rank).lends)
      fail(rank, "writes " + text(s) + ", which only holds its operand");
    for (std::size_t i = s.first; i < s.end; ++i)
      if (of(rank).own.of(s.where)[i] == gap)
        fail(rank, "writes " + text(s) + ", where element " + std::to_string(i) + " is not its own");
    for (const auto& [call, t] : of(rank).under_way)
      for (const auto* list : {&t.reads, &t.writes})
        for (const stretch& busy : *list)
          if (busy.meets(s))
            fail(rank, "writes " + text(s) + ", which is in use by call " + name(rank, call));
  }
  std::string name(int rank, std::uint32_t call) const {
    const subcall& c = programs_[at(rank)].calls[call];
    return std::to_string(c.number) + " (" + std::string(name_of(c.what)) + ")";
  }

  // --- steps
  bool advance(int rank) {
    rank_state& me = of(rank);
    const composite_plan& p = programs_[at(rank)];
    const std::size_t begun = me.pc;
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
          if (!wait(rank, s.which)) return me.pc != begun;
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
    return me.pc != begun;
  }

  std::vector<int> members_of(int rank, const subcall& c) {
    const auto& groups = programs_[at(rank)].groups;
    if (c.group < 0 || at(c.group) >= groups.size()) fail(rank, "a call on a group that does not exist");
    std::vector<int> members = groups[at(c.group)];
    if (c.group == 0) {
      members.resize(at(plan_.ranks));
      std::iota(members.begin(), members.end(), 0);
    }
    std::vector<int> sorted = members;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.empty() || sorted.front() < 0 || sorted.back() >= plan_.ranks ||
        std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
        !std::binary_search(sorted.begin(), sorted.end(), rank))
      fail(rank, "a call on a group that is not one of this rank's groups");
    return members;
  }

  void start(int rank, std::uint32_t which) {
    rank_state& me = of(rank);
    const subcall& c = programs_[at(rank)].calls[which];
    if (me.last_number && c.number <= *me.last_number) fail(rank, "the numbers of its calls do not increase");
    me.last_number = c.number;
    const std::vector<int> members = members_of(rank, c);
    const auto place =
        static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
    touched t;
    try {
      t = touched_by(c, static_cast<int>(place), static_cast<int>(members.size()));
    } catch (const wrong_call& e) {
      fail(rank, "call " + name(rank, which) + ": " + e.what());
    }
    for (std::size_t i = 0; i < t.writes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (t.writes[i].meets(t.writes[j]))
          fail(rank, "call " + name(rank, which) + " writes " + text(t.writes[i]) + " twice");
      for (const stretch& r : t.reads)
        if (!c.in_place && r.meets(t.writes[i]))
          fail(rank, "call " + name(rank, which) + " writes " + text(t.writes[i]) + ", its operand");
    }
    for (const stretch& r : t.reads) require_readable(rank, r);
    for (const stretch& w : t.writes) require_writable(rank, w);
    me.under_way[which] = std::move(t);

    const auto [known, is_new] = known_.try_emplace({c.number, members}, instances_.size());
    me.instances[which] = known->second;
    if (is_new) {
      instances_.push_back({members, std::vector<const subcall*>(members.size(), nullptr),
                            std::vector<bool>(at(plan_.ranks), false), members.size(), c.number});
      if (c.what != collective::barrier) instances_.back().met.clear();
    }
    instance& all = instances_[known->second];
    all.parts[place] = &c;
    for (std::size_t r = 0; r < all.met.size(); ++r) all.met[r] = all.met[r] || me.met[r];
    if (--all.missing == 0) complete(all);
  }

  void complete(const instance& one) {
    std::vector<participant> parties;
    for (std::size_t i = 0; i < one.members.size(); ++i)
      parties.push_back({one.parts[i], &of(one.members[i]).own});
    const std::string which =
        "call " + std::to_string(one.number) + " (" + std::string(name_of(one.parts[0]->what)) + ") of " +
        std::to_string(one.members.size()) + " ranks from " + std::to_string(one.members[0]);
    try {
      require_agreement(parties);
    } catch (const wrong_call& e) {
      fail(one.members[0], which + ": " + e.what());
    }
    proof::carry_out(parties, symbols_);
    ++end_.calls;
  }

  bool wait(int rank, std::uint32_t which) {
    rank_state& me = of(rank);
    const auto known = me.instances.find(which);
    if (known == me.instances.end()) fail(rank, "waits for a call that it has not started");
    const instance& one = instances_[known->second];
    if (one.missing != 0) return false;
    for (std::size_t r = 0; r < one.met.size(); ++r) me.met[r] = me.met[r] || one.met[r];
    me.under_way.erase(which);
    me.instances.erase(known);
    return true;
  }

  void copy(int rank, const copying& c) {
    for (std::size_t i = 0; i < c.blocks; ++i) {
      const area from = c.from + i * c.from_distance, to = c.to + i * c.to_distance;
      const stretch source{from.where, from.at, from.at + c.n}, target{to.where, to.at, to.at + c.n};
      if (source.meets(target)) fail(rank, "copies " + text(source) + " onto itself");
      require_readable(rank, source);
      require_writable(rank, target);
      auto& own = of(rank).own;
      for (std::size_t k = 0; k < c.n; ++k)
        own.of(target.where)[target.first + k] = own.of(source.where)[source.first + k];
    }
  }

  void combine(int rank, const combining& c) {
    const stretch target{c.to.where, c.to.at, c.to.at + c.n};
    for (const area& a : {c.left, c.right}) {
      const stretch operand{a.where, a.at, a.at + c.n};
      require_readable(rank, operand);
      if (!(a == c.to) && operand.meets(target))
        fail(rank, "combines " + text(operand) + " into a part of itself");
    }
    require_writable(rank, target);
    auto& own = of(rank).own;
    for (std::size_t k = 0; k < c.n; ++k)
      own.of(c.to.where)[c.to.at + k] =
          symbols_.product(own.of(c.left.where)[c.left.at + k], own.of(c.right.where)[c.right.at + k]);
  }

  // --- the end
  void require_end() {
    for (int r = 0; r < plan_.ranks; ++r) {
      const rank_state& me = of(r);
      const composite_plan& p = programs_[at(r)];
      if (me.pc < p.steps.size()) {
        const std::uint32_t which = p.steps[me.pc].which;
        const instance& one = instances_[me.instances.at(which)];
        std::string who;
        for (std::size_t i = 0; i < one.parts.size(); ++i)
          if (one.parts[i] == nullptr) who += " " + std::to_string(one.members[i]);
        fail(r, "no rank can continue: it waits for call " + name(r, which) +
                    ", which is not called by rank" + who);
      }
      if (!me.under_way.empty()) fail(r, "no rank waits for call " + name(r, me.under_way.begin()->first));
    }
  }

  void compare() {
    end_.combined = symbols_.products();
    for (int r = 0; r < plan_.ranks && end_.faults.size() < 8; ++r) {
      rank_state& me = of(r);
      if (plan_.what == collective::barrier)
        for (int other = 0; other < plan_.ranks; ++other)
          if (!me.met[at(other)])
            fail(r, "it may leave the barrier before rank " + std::to_string(other) + " has arrived");
      if (me.lends && me.own.cells[1] != me.lent) fail(r, "the operand in its output was overwritten");
      if (me.lends) continue;
      const auto expected = oracle_.expected(r);
      const auto& cells = me.own.cells[1];
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] == uninitialised || symbols_.same(expected[i], cells[i], plan_.ordered)) continue;
        end_.faults.push_back({r, -1,
                               "element " + std::to_string(i) + " of the result is " +
                                   symbols_.text(cells[i]) + ", not " + symbols_.text(expected[i])});
        break;
      }
    }
  }

  const plan& plan_;
  const std::vector<composite_plan>& programs_;
  symbols symbols_;
  oracle oracle_;
  std::vector<rank_state> ranks_;
  std::vector<instance> instances_;
  std::map<std::pair<std::uint32_t, std::vector<int>>, std::size_t> known_;
  composite_outcome end_;
};

}  // namespace

call call_of(const plan& p, int rank, bool everywhere) {
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
  const layout& out = p.what == collective::reduce_scatter ? p.in[me] : p.out[me];
  c.out_counts = view(out.counts);
  c.out_displs = view(out.displs);
  return c;
}

std::vector<composite_plan> programs_of(void (*write)(planner&), const plan& p, const hierarchy& layout,
                                        bool everywhere) {
  std::vector<composite_plan> all;
  for (int r = 0; r < p.ranks; ++r) {
    const call c = call_of(p, r, everywhere);
    planner one(c, r, layout, p.parameter_values);
    write(one);
    all.push_back(one.finish());
  }
  return all;
}

composite_outcome run_composite_plans(const plan& p, const std::vector<composite_plan>& programs,
                                      bool everywhere) {
  return machine(p, programs, everywhere).run();
}

}  // namespace tutti::proof

// SPDX-License-Identifier: Apache-2.0
//
// Draws a program and tracks which ranks hold copies or have contributed. These ranks stay
// concerned. The library may need fewer ranks, never more.
//
// Longer than a file should be: one class draws each kind of step from the state that it keeps.
#include <algorithm>
#include <random>
#include <set>

#include "random_graphs/random_graph.hpp"

namespace graphs {
namespace {

using tutti::tasks::use_mode;

class drawing {
 public:
  drawing(std::uint64_t seed, int p, int max_tasks, int workers) : random_(mixed(seed + 1)), p_(p) {
    g_.how.workers = workers != 0 ? workers : chance(50) ? 1 : 3;
    g_.how.cache = !chance(20);
    const std::size_t cache_limits[] = {0, 100, 4000, 200000, std::size_t{64} << 20, std::size_t{64} << 20};
    g_.how.cache_bytes = cache_limits[below(6)];
    const std::size_t pending[] = {1, 8, 100, 16384, 16384};
    g_.how.max_pending = pending[below(5)];
    g_.omitted = seed % 2 == 0 ? omission::nothing : seed % 4 == 1 ? omission::all : omission::some;
    tagged_ = g_.omitted != omission::nothing || chance(30);
    max_tasks_ = 1 << below(12);  // small numbers more often than large ones
    max_tasks_ =
        std::min(max_tasks, max_tasks_ + static_cast<int>(below(static_cast<std::size_t>(max_tasks_))));
  }

  graph program() {
    for (int i = static_cast<int>(2 + below(12) + below(30) * below(2)); i > 0; --i) create();
    scatter_first_contents();
    beginning_ = false;
    for (int tasks = 0; tasks < max_tasks_;) {
      if (below(10) < 8) {
        tasks += task() ? 1 : 0;
        continue;
      }
      other_step();
    }
    for (int d = 0; d < data(); ++d)
      if (alive_[at(d)]) move_to_owner(d);
    add({.kind = step_kind::wait_all, .concerned = everyone()});
    draw_known_handles();
    return std::move(g_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool chance(int percent) { return below(100) < at(percent); }
  int any_rank() { return static_cast<int>(below(at(p_))); }
  int data() const { return static_cast<int>(g_.data.size()); }
  std::vector<char> everyone() const { return std::vector<char>(at(p_), 1); }
  std::vector<char> nobody() const { return std::vector<char>(at(p_), 0); }
  std::vector<char> some() {
    std::vector<char> ranks = nobody();
    for (char& w : ranks) w = chance(50);
    return ranks;
  }

  /// The ranks that a use of the data concerns.
  std::vector<char> around(int d) const {
    std::vector<char> ranks = nobody();
    ranks[at(owner_[at(d)])] = 1;
    for (const int r : holders_[at(d)]) ranks[at(r)] = 1;
    for (const int r : pending_ranks_[at(d)]) ranks[at(r)] = 1;
    return ranks;
  }
  static void join(std::vector<char>& ranks, const std::vector<char>& more) {
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<char>(ranks[r] | more[r]);
  }
  void add(step s) { g_.steps.push_back(std::move(s)); }

  // --- data
  void create() {
    object_shape d;
    d.of = static_cast<type>(below(types));
    if (d.of == type::numbers || d.of == type::shorts) {
      const std::size_t max_counts[] = {1, 10, 100, 600, 2000, 20000};
      const std::size_t percent = below(100);
      d.count = 1 + below(max_counts[percent < 90 ? below(4) : percent < 97 ? 4 : 5]);
    }
    d.owner = any_rank();
    d.salt = random_();
    if (tagged_ && (g_.omitted != omission::nothing || chance(50))) d.tag = 1000 + 3 * data();
    if (beginning_ && chance(15))
      if (const int from = any_rank(); from != d.owner) d.contents_at = from;
    for (int r = 0; r < p_; ++r) d.own_memory.push_back(chance(r == d.owner ? 60 : 20));
    if (d.contents_at >= 0) d.own_memory[at(d.contents_at)] = 1;
    owner_.push_back(d.owner);
    holders_.emplace_back();
    pending_ranks_.emplace_back();
    alive_.push_back(1);
    g_.data.push_back(std::move(d));
    add({.kind = step_kind::create, .object = data() - 1, .concerned = everyone()});
  }
  // One rank has read all input, as in the original programs.
  void scatter_first_contents() {
    for (int root = 0; root < p_; ++root) {
      step s{.kind = step_kind::scatter, .rank = root, .concerned = everyone()};
      for (int d = 0; d < data(); ++d)
        if (g_.data[at(d)].contents_at == root) {
          s.list.push_back(d);
          holders_[at(d)].insert(root);
        }
      if (!s.list.empty()) add(std::move(s));
    }
  }
  int any_object() {
    for (int tries = 0; tries < 1000; ++tries)
      if (const int d = static_cast<int>(below(g_.data.size())); alive_[at(d)]) return d;
    create();
    return data() - 1;
  }
  // Moves contributions and contents to the owner, in a step that concerns all their ranks.
  void move_to_owner(int d) {
    if (pending_ranks_[at(d)].empty()) return;
    add({.kind = step_kind::fetch, .object = d, .rank = owner_[at(d)], .concerned = around(d)});
    make_holders(d);
  }
  void make_holders(int d) {
    holders_[at(d)].insert(pending_ranks_[at(d)].begin(), pending_ranks_[at(d)].end());
    pending_ranks_[at(d)].clear();
  }
  void flushed(int d) {
    add({.kind = step_kind::flush, .object = d, .concerned = around(d)});
    holders_[at(d)].clear();
  }

  // --- tasks
  bool task() {
    work w;
    w.shape = below(shapes().size());
    if (w.shape == 0 && !chance(20)) return false;
    const shape& s = shapes()[w.shape];
    for (const type t : s.of) {
      int found = -1;
      for (int tries = 0; tries < 20 && found < 0; ++tries) {
        const int d = any_object();
        if (g_.data[at(d)].of == t && std::find(w.data.begin(), w.data.end(), d) == w.data.end()) found = d;
      }
      if (found < 0) return false;
      w.data.push_back(found);
    }
    w.salt = random_();
    std::set<int> owners, writers;
    for (std::size_t i = 0; i < w.data.size(); ++i) {
      owners.insert(owner_[at(w.data[i])]);
      if (s.how[i] != use_mode::read) writers.insert(owner_[at(w.data[i])]);
    }
    const std::set<int>& running = writers.empty() ? owners : writers;
    const std::size_t percent = below(100);
    if (percent < 60 && running.size() < 2) {
      w.runs = running.empty() ? -1 : *running.begin();
    } else if (percent < 85 || w.data.empty()) {
      w.placement = placement_kind::on;
      w.runs = any_rank();
    } else {
      w.placement = placement_kind::on_owner;
      w.owner_of = chance(80) ? w.data[below(w.data.size())] : any_object();
      w.runs = owner_[at(w.owner_of)];
    }
    add_task(std::move(w));
    return true;
  }
  void add_task(work w) {
    const shape& s = shapes()[w.shape];
    step one{.kind = step_kind::task, .concerned = nobody()};
    for (std::size_t i = 0; i < w.data.size(); ++i) {
      const std::size_t d = at(w.data[i]);
      join(one.concerned, around(w.data[i]));
      if (s.how[i] == use_mode::reduce) {
        make_pending(w.data[i]);
        pending_ranks_[d].insert(w.runs);
        continue;
      }
      if (s.how[i] == use_mode::read)
        make_holders(w.data[i]);
      else
        holders_[d].clear(), pending_ranks_[d].clear();
      if (w.runs != owner_[d]) holders_[d].insert(w.runs);
    }
    if (w.runs < 0)
      one.concerned = some();
    else
      one.concerned[at(w.runs)] = 1;
    one.work = std::move(w);
    add(std::move(one));
  }
  // A contribution invalidates copies. A rank that has the contents stays concerned.
  void make_pending(int d) {
    pending_ranks_[at(d)].insert(holders_[at(d)].begin(), holders_[at(d)].end());
    holders_[at(d)].clear();
  }

  // --- other steps
  void other_step() {
    switch (below(14)) {
      case 0:
      case 1:
        return look();
      case 2:
        return change();
      case 3:
      case 4:
        return transfer();
      case 5:
        return set_owner();
      case 6:
        return gather();
      case 7:
        return move_and_scatter();
      case 8:
        if (chance(50)) return add({.kind = step_kind::cache, .on = chance(70), .concerned = everyone()});
        return add({.kind = step_kind::progress, .concerned = some()});
      case 9:
        return flushed(any_object());
      case 10:
        if (chance(70)) return flushed(any_object());
        add({.kind = step_kind::flush_all, .concerned = everyone()});
        for (auto& h : holders_) h.clear();
        return;
      case 11:
        return add({.kind = step_kind::wait_all, .concerned = chance(50) ? everyone() : some_who_wait()});
      case 12:
        return chance(30) ? add({.kind = step_kind::barrier, .concerned = everyone()}) : create();
      default:
        if (chance(30)) remove(any_object());
    }
  }
  // Ranks that have contributed to data of a waiting rank wait too.
  std::vector<char> some_who_wait() {
    std::vector<char> ranks = some();
    for (bool more = true; more;) {
      more = false;
      for (int d = 0; d < data(); ++d) {
        if (!alive_[at(d)] || pending_ranks_[at(d)].empty()) continue;
        const std::vector<char> all = around(d);
        std::size_t both = 0, missing = 0;
        for (std::size_t r = 0; r < ranks.size(); ++r)
          both += all[r] && ranks[r], missing += all[r] && !ranks[r];
        if (both == 0 || missing == 0) continue;
        join(ranks, all);
        more = true;
      }
    }
    return ranks;
  }
  void look() {
    const int d = any_object(), to = any_rank();
    move_to_owner(d);
    step s{.kind = step_kind::fetch, .object = d, .rank = to, .concerned = around(d)};
    s.concerned[at(to)] = 1;
    if (to != owner_[at(d)]) holders_[at(d)].insert(to);
    std::vector<char> ranks = nobody();
    ranks[at(to)] = 1;
    if (to != owner_[at(d)] || chance(50)) add(std::move(s));
    add({.kind = step_kind::acquire, .object = d, .rank = to, .concerned = ranks});
  }
  void change() {
    const int d = any_object();
    move_to_owner(d);
    std::vector<char> ranks = nobody();
    ranks[at(owner_[at(d)])] = 1;
    add({.kind = step_kind::change, .object = d, .salt = random_(), .concerned = ranks});
    flushed(d);
  }
  void transfer() {
    const int from = any_object();
    int to = -1;
    for (int tries = 0; tries < 20 && to < 0; ++tries)
      if (const int d = any_object(); d != from && g_.data[at(d)].of == g_.data[at(from)].of &&
                                      g_.data[at(d)].count == g_.data[at(from)].count)
        to = d;
    if (to < 0) return;
    move_to_owner(from), move_to_owner(to);
    step s{.kind = step_kind::transfer, .object = from, .other = to, .concerned = nobody()};
    s.concerned[at(owner_[at(from)])] = s.concerned[at(owner_[at(to)])] = 1;
    s.tag = transfers_++;  // unique: transfers of a pair may overtake each other
    work w;
    w.shape = shape_of_one(g_.data[at(to)].of);
    if (w.shape != 0 && chance(40)) {
      s.unlocks = ++tags_;
      w.waits_for = tags_;
      w.placement = placement_kind::on_after;
      w.runs = owner_[at(to)];
      w.salt = random_();
      for (int tries = 0; tries < 20 && w.data.empty(); ++tries)
        if (const int d = any_object(); g_.data[at(d)].of == g_.data[at(to)].of) w.data.push_back(d);
    }
    add(std::move(s));
    flushed(to);
    if (!w.data.empty()) add_task(std::move(w));
  }
  static std::size_t shape_of_one(type t) {  // that reads and writes it
    for (std::size_t i = 0; i < shapes().size(); ++i)
      if (shapes()[i].of == std::vector<type>{t} && shapes()[i].how[0] == use_mode::read_write) return i;
    return 0;
  }
  void set_owner() { move(any_object(), any_rank()); }
  void move(int d, int to) {
    move_to_owner(d);
    const int before = owner_[at(d)];
    step s{.kind = step_kind::set_owner, .object = d, .rank = to, .concerned = around(d)};
    s.concerned[at(to)] = 1;
    add(std::move(s));
    owner_[at(d)] = to;
    if (before != to) pending_ranks_[at(d)].insert(before);
  }
  std::vector<int> some_data() {
    std::set<int> all;
    for (std::size_t n = 1 + below(8); n > 0; --n) all.insert(any_object());
    return {all.begin(), all.end()};
  }
  void gather() {
    step s{.kind = step_kind::gather, .rank = any_rank(), .list = some_data(), .concerned = everyone()};
    for (const int d : s.list) {
      move_to_owner(d);
      if (s.rank != owner_[at(d)]) holders_[at(d)].insert(s.rank);
    }
    const step done = s;
    add(std::move(s));
    // Otherwise some copies have been evicted.
    if (g_.how.cache_bytes < std::size_t{1} << 20 || !chance(50)) return;
    std::vector<char> ranks = nobody();
    ranks[at(done.rank)] = 1;
    for (const int d : done.list)
      add({.kind = step_kind::acquire, .object = d, .rank = done.rank, .concerned = ranks});
  }
  // Data of one rank get other owners and move there at once.
  void move_and_scatter() {
    step s{.kind = step_kind::scatter, .rank = any_rank(), .concerned = everyone()};
    for (const int d : some_data())
      if (owner_[at(d)] == s.rank) {
        move(d, any_rank());
        make_holders(d);
        s.list.push_back(d);
      }
    if (!s.list.empty()) add(std::move(s));
  }
  void remove(int d) {
    move_to_owner(d);
    add({.kind = step_kind::remove, .object = d, .concerned = around(d)});
    alive_[at(d)] = 0;
  }

  // --- at the end

  // A rank creates the data that concern it at any time. Calls for all ranks with the data concern
  // these ranks.
  void draw_known_handles() {
    for (auto& d : g_.data) d.known = d.tag < 0 || g_.omitted == omission::nothing ? everyone() : nobody();
    const auto add_known = [&](int d, const std::vector<char>& ranks) { join(g_.data[at(d)].known, ranks); };
    for (const step& s : g_.steps) {
      if (s.kind == step_kind::create) {
        std::vector<char>& ranks = g_.data[at(s.object)].known;
        ranks[at(g_.data[at(s.object)].owner)] = 1;
        if (const int from = g_.data[at(s.object)].contents_at; from >= 0) ranks[at(from)] = 1;
      } else if (s.kind == step_kind::task) {
        for (const int d : s.work.data) add_known(d, s.concerned);
        if (s.work.placement == placement_kind::on_owner) add_known(s.work.owner_of, s.concerned);
      } else if (s.object >= 0) {
        if (s.kind == step_kind::transfer) add_known(s.other, s.concerned);
        add_known(s.object, s.concerned);
      } else {
        for (const int d : s.list) {
          std::vector<char> root = nobody();
          root[at(s.rank)] = 1;
          add_known(d, root);
        }
      }
    }
    for (step& s : g_.steps)
      if (s.kind == step_kind::create || s.kind == step_kind::set_owner || s.kind == step_kind::flush ||
          s.kind == step_kind::remove)
        s.concerned = g_.data[at(s.object)].known;
    if (g_.omitted != omission::some) return;
    for (step& s : g_.steps)  // some other ranks insert the task too, and can skip it
      if (s.kind == step_kind::task && s.work.placement != placement_kind::on_after && s.work.runs >= 0)
        join(s.concerned, some());
  }

  std::mt19937_64 random_;
  int p_, max_tasks_ = 1;
  bool tagged_ = false, beginning_ = true;
  graph g_;
  std::vector<int> owner_;
  // By data handle: ranks. The latter have contents or contributions that the owner lacks.
  std::vector<std::set<int>> holders_, pending_ranks_;
  std::vector<char> alive_;
  std::uint64_t tags_ = 0;  // to unlock
  int transfers_ = 0;
};

}  // namespace

graph draw(std::uint64_t seed, int p, int max_tasks, int workers) {
  return drawing(seed, p, max_tasks, workers).program();
}

}  // namespace graphs

// SPDX-License-Identifier: Apache-2.0
//
// A model of what a runtime sends, from the documentation only. Contents move from their home to
// ranks that use them and have no copy. Copies are kept for each pair of ranks; the least recently
// used ones are evicted first. A write to the data invalidates all copies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace bytes {

class model {
 public:
  using table = std::vector<std::vector<std::uint64_t>>;  // [from][to]

  model(int p, bool cache, std::size_t max_bytes)
      : p_(p), cache_(cache), max_bytes_(max_bytes), sent_(make()), messages_(make()) {}

  int add(std::size_t size, int owner) {
    data_.push_back({size, owner, owner, {}});
    return static_cast<int>(data_.size()) - 1;
  }
  int owner(int d) const { return at(d).owner; }
  /// Returns whether this rank has the contents.
  bool has(int d, int rank) { return at(d).home == rank || holds(at(d).home, rank, d); }

  // --- insertions
  struct use {
    int object;
    char how;  // r, w, x: both, +: contributes
  };
  void task(int on, const std::vector<use>& uses) {
    for (const use& u : uses) {
      if (u.how == '+')
        move_to_owner(u.object, false, true);
      else
        move_to_owner(u.object, u.how == 'w');
      if (u.how == 'r' || u.how == 'x') copy_to(u.object, on);
    }
    for (const use& u : uses) {
      if (u.how == 'r') continue;
      forget_copies(u.object);
      data_object& d = at(u.object);
      if (u.how == '+') {
        if (on != d.home && std::ranges::find(d.contributors, on) == d.contributors.end())
          d.contributors.push_back(on);
      } else if (on != d.home) {
        move(u.object, on, d.home);  // the result moves home, and its writer keeps it
        if (cache_) hold(d.home, on, u.object);
      }
    }
  }
  void fetch(int d, int to) {
    move_to_owner(d, false);
    copy_to(d, to);
  }
  // Contents to read, without copies.
  void gather(const std::vector<int>& list, int root) {
    for (const int d : list) {
      move_to_owner(d, false);
      tree_transfer(d, at(d).home, root, root);
    }
  }
  void scatter(const std::vector<int>& list, int root) {
    for (const int d : list) {
      collect(d);
      data_object& one = at(d);
      forget_copies(d, one.home == root ? one.owner : -1);
      one.home = root;
      if (one.owner == root) continue;
      tree_transfer(d, root, one.owner, root);
      forget_copies(d);
      one.home = one.owner;
    }
  }
  void set_owner(int d, int owner) {
    move_to_owner(d, false);  // not all ranks know whether the last owner has the contents
    if (at(d).owner == owner) return;
    at(d).owner = owner;
    forget_copies(d, owner);
  }
  void flush(int d) {
    move_to_owner(d, false);
    forget_copies(d);
  }
  void flush() {
    for (int d = 0; d < static_cast<int>(data_.size()); ++d) flush(d);
  }
  void cache(bool on) {
    if (on != cache_) flush();
    cache_ = on;
  }
  void wait_all() {
    for (int d = 0; d < static_cast<int>(data_.size()); ++d) collect(d);
  }

  // --- results
  const table& sent() const { return sent_; }
  const table& messages() const { return messages_; }
  // The bytes that move up trees, in any way.
  std::uint64_t contributed() const { return contributed_; }
  std::uint64_t hits() const { return hits_; }
  bool packed() const { return packed_; }  // some messages were combined
  static std::uint64_t to(const table& t, int r) {
    std::uint64_t sum = 0;
    for (const auto& row : t) sum += row[static_cast<std::size_t>(r)];
    return sum;
  }
  static std::uint64_t all(const table& t) {
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < t.size(); ++r) sum += to(t, static_cast<int>(r));
    return sum;
  }

 private:
  struct data_object {
    std::size_t size;
    int owner, home;
    std::vector<int> contributors;
  };
  table make() const {
    return table(static_cast<std::size_t>(p_), std::vector<std::uint64_t>(static_cast<std::size_t>(p_)));
  }
  data_object& at(int d) { return data_[static_cast<std::size_t>(d)]; }
  const data_object& at(int d) const { return data_[static_cast<std::size_t>(d)]; }

  void move(int d, int from, int to) {
    sent_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] += at(d).size;
    ++messages_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  // Short data use the binomial tree below the root, if there are four ranks or more.
  void tree_transfer(int d, int from, int to, int root) {
    if (from == to) return;
    if (p_ < 4 || at(d).size > 1024) return move(d, from, to);
    packed_ = true;
    for (int r = ((from == root ? to : from) - root + p_) % p_; r != 0; r &= r - 1) {
      const int below = (r + root) % p_, above = ((r & (r - 1)) + root) % p_;
      from == root ? move(d, above, below) : move(d, below, above);
    }
  }
  void copy_to(int d, int to) {
    const int home = at(d).home;
    if (home == to) return;
    if (holds(home, to, d))
      ++hits_;
    else
      move(d, home, to);
    if (cache_) hold(home, to, d);
  }
  void collect(int d) {
    contributed_ += at(d).contributors.size() * at(d).size;
    at(d).contributors.clear();
  }
  void move_to_owner(int d, bool overwritten, bool contributes = false) {
    data_object& one = at(d);
    if (!contributes) collect(d);
    if (one.home == one.owner) return;
    const int before = one.home;
    if (!overwritten) copy_to(d, one.owner);
    forget_copies(d);
    one.home = one.owner;
    if (!overwritten && cache_) hold(one.home, before, d);
  }

  using pair = std::pair<int, int>;  // home, holder
  bool holds(int home, int holder, int d) {
    const auto& list = copies_[{home, holder}];
    return std::ranges::find(list, d) != list.end();
  }
  void hold(int home, int holder, int d) {
    auto& list = copies_[{home, holder}];
    std::erase(list, d);
    list.push_back(d);
    std::size_t sum = 0;
    for (const int one : list) sum += at(one).size;
    while (sum > max_bytes_) {
      sum -= at(list.front()).size;
      list.erase(list.begin());
    }
  }
  void forget_copies(int d, int but = -1) {
    for (auto& [ranks, list] : copies_)
      if (ranks.second != but) std::erase(list, d);
  }

  int p_;
  bool cache_;
  std::size_t max_bytes_;
  std::vector<data_object> data_;
  std::map<pair, std::vector<int>> copies_;  // least recently used first
  table sent_, messages_;
  std::uint64_t contributed_ = 0, hits_ = 0;
  bool packed_ = false;
};

}  // namespace bytes

// SPDX-License-Identifier: Apache-2.0
#include "tutti/timer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "communicator/internal_calls.hpp"
#include "frontends/toolkit/measured_tree.hpp"
#include "tutti/error.hpp"
#include "tutti/ops.hpp"

namespace tutti {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// A value in an allreduce. Ranks that lack it contribute the neutral element.
struct accumulated {
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
  std::int64_t ranks = 0;

  accumulated() = default;
  explicit accumulated(double x) : min(x), max(x), sum(x), ranks(1) {}
  friend accumulated operator+(const accumulated& a, const accumulated& b) {
    accumulated both;
    both.min = std::min(a.min, b.min);
    both.max = std::max(a.max, b.max);
    both.sum = a.sum + b.sum;
    both.ranks = a.ranks + b.ranks;
    return both;
  }
};

measurement::spread spread_of(const accumulated& g) {
  if (g.ranks == 0) return {};
  return {g.min, g.sum / static_cast<double>(g.ranks), g.max, g.sum, static_cast<int>(g.ranks)};
}

// Merges the names of all ranks into one tree, in the order of the ranks. Rank 0's names are
// compared first, because most programs measure the same everywhere.
detail::measured_tree merged(const communicator& ranks, const detail::measured_tree& mine) {
  const std::vector<char> own = mine.outline();
  std::vector<char> common = own;
  ranks.bcast(send_recv_buf<resize_to_fit>(common));
  const bool same = common == own;
  detail::measured_tree all;
  if (!ranks.allreduce_single(send_buf(same), op(std::logical_and<>{}))) {
    const std::vector<char> others =
        ranks.gatherv(send_buf(std::span<const char>(own.data(), same ? 0 : own.size())));
    if (ranks.is_root()) {
      all.merge(own.data(), own.size());
      all.merge(others.data(), others.size());
      common = all.outline();
    }
    ranks.bcast(send_recv_buf<resize_to_fit>(common));
    all = {};
  }
  all.merge(common.data(), common.size());
  return all;
}

// For each node of `order` in the merged tree, its index in this rank's tree; `none` if it is
// missing.
std::vector<int> indices_in(const detail::measured_tree& mine, const detail::measured_tree& all,
                            const std::vector<int>& order) {
  std::vector<int> by_node(order.size() + 1, detail::measured_tree::top), indices;
  for (const int i : order) {
    const auto& n = all.at(i);
    const int above = by_node[static_cast<std::size_t>(n.parent)];
    const int own = above == detail::measured_tree::none ? above : mine.find(above, n.is_timer, n.name);
    by_node[static_cast<std::size_t>(i)] = own;
    indices.push_back(own);
  }
  return indices;
}

double total_of(const detail::measured_tree::node& n) {
  return n.is_timer ? static_cast<double>(n.nanoseconds) * 1e-9 : n.amount;
}

}  // namespace

timer::timer(const communicator& ranks) : ranks_(ranks), tree_(new detail::measured_tree) {}
timer::timer(timer&& other) noexcept
    : ranks_(std::move(other.ranks_)), tree_(std::exchange(other.tree_, nullptr)) {}
timer& timer::operator=(timer&& other) noexcept {
  std::swap(ranks_, other.ranks_);
  std::swap(tree_, other.tree_);
  return *this;
}
timer::~timer() { delete tree_; }

timer::scope::scope(timer& of) : tree_(of.tree("timer::scope", {})), depth_(tree_.depth()) {}
timer::scope::~scope() {
  while (tree_.depth() >= depth_) tree_.stop(false);
}

detail::measured_tree& timer::tree(const char* operation, const std::source_location& at) const {
  if (tree_ == nullptr) reject(operation, "was moved from", "use the timer that it was moved to", at);
  return *tree_;
}

void timer::start(std::string_view name, std::source_location at) { tree("timer::start", at).start(name); }
void timer::start_synchronized(std::string_view name, std::source_location at) {
  call c;
  c.label = "timer::start_synchronized";
  detail::measured_tree& mine = tree(c.label, at);
  detail::run_call(detail::at_call_site(detail::impl_of(ranks_), at), c);
  mine.start(name);
}
void timer::stop(std::source_location at) {
  if (!tree("timer::stop", at).stop(false)) reject("timer::stop", "no timer runs", "call start() first", at);
}
void timer::stop_and_append(std::source_location at) {
  if (!tree("timer::stop_and_append", at).stop(true))
    reject("timer::stop_and_append", "no timer runs", "call start() first", at);
}
void timer::count(std::string_view name, double amount, std::source_location at) {
  tree("timer::count", at).count(name, amount);
}

void timer::clear(std::source_location at) {
  detail::measured_tree& mine = tree("timer::clear", at);
  if (mine.depth() != 0) reject("timer::clear", "\"" + mine.running() + "\" runs", "stop() it first", at);
  mine = {};
}

void timer::reject(const char* operation, const std::string& problem, const char* remedy,
                   const std::source_location& at) const {
  usage_error what(operation, ranks_.rank(), "", problem, remedy);
  what.locate(at);
  throw what;
}

measurements timer::aggregate(extent e, std::source_location at) const {
  const detail::measured_tree& mine = tree("timer::aggregate", at);
  if (mine.depth() != 0)
    reject("timer::aggregate", "\"" + mine.running() + "\" runs", "stop() it on all ranks first", at);
  detail::set_call_site(detail::impl_of(ranks_), at);
  const detail::enclosing_call scope(detail::impl_of(ranks_), "timer::aggregate", at);
  detail::validate_entry(detail::impl_of(ranks_), "timer::aggregate");
  const detail::deferred_rejections steps(detail::count_of_deferrals(detail::impl_of(ranks_)));
  const detail::measured_tree all = merged(ranks_, mine);
  const std::vector<int> order = all.in_order(), indices = indices_in(mine, all, order);

  std::vector<accumulated> values;
  std::vector<double> own_totals;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool exists = indices[i] != detail::measured_tree::none;
    const detail::measured_tree::node nothing, &n = exists ? mine.at(indices[i]) : nothing;
    own_totals.push_back(exists ? total_of(n) : no_value);
    values.push_back(exists ? accumulated(total_of(n)) : accumulated());
    values.push_back(exists ? accumulated(static_cast<double>(n.calls)) : accumulated());
    for (std::size_t k = 0; k < all.at(order[i]).each.size(); ++k)
      values.push_back(k < n.each.size() ? accumulated(n.each[k]) : accumulated());
  }
  ranks_.allreduce(send_recv_buf(values), op(std::plus<accumulated>{}, ops::commutative));
  std::vector<double> totals;
  if (e == per_rank) totals = ranks_.allgather(send_buf(own_totals));

  std::vector<measurement> table;
  const accumulated* next = values.data();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& n = all.at(order[i]);
    measurement m{n.name, n.depth, n.is_timer, spread_of(next[0]), spread_of(next[1]), {}, {}};
    next += 2;
    for (std::size_t k = 0; k < n.each.size(); ++k) m.each.push_back(spread_of(*next++));
    for (std::size_t at = i; at < totals.size(); at += order.size()) m.total_of.push_back(totals[at]);
    table.push_back(std::move(m));
  }
  return {std::move(table), ranks_.size()};
}

}  // namespace tutti

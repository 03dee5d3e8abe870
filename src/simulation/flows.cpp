// SPDX-License-Identifier: Apache-2.0
#include "simulation/flows.hpp"

#include <algorithm>

namespace tutti::simulation {

void flow_set::reset(const std::vector<double>& bandwidths) {
  computed_ = 0;
  flows_.clear();
  free_.clear();
  ends_ = {};
  changed_.clear();
  mark_ = 0;
  links_.resize(bandwidths.size());
  for (std::size_t l = 0; l < links_.size(); ++l) {
    link& one = links_[l];
    one.bandwidth = bandwidths[l];
    one.mark = 0;
    one.flows.clear();
  }
  carried_.assign(bandwidths.size(), 0);
}

void flow_set::begin(const route& r, double bytes, std::uint32_t user, double now) {
  std::uint32_t number;
  if (free_.empty()) {
    number = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  flow& f = flows_[number];
  f.left = bytes;
  f.rate = 0;
  f.updated = now;
  f.end = f.queued = unlimited;
  f.max_rate = r.max_rate;
  f.user = user;
  f.mark = 0;
  f.hops = r.hops;
  for (std::uint32_t h = 0; h < r.hops; ++h) {
    link& l = links_[r.links[h]];
    f.links[h] = r.links[h];
    f.positions[h] = static_cast<std::uint32_t>(l.flows.size());
    l.flows.push_back({number, h});
    carried_[r.links[h]] += bytes;
  }
  if (f.hops != 0)
    changed_.push_back(f.links[0]);
  else
    fix(number, f.max_rate, now);
}

void flow_set::remove(std::uint32_t number) {
  flow& f = flows_[number];
  for (std::uint32_t h = 0; h < f.hops; ++h) {
    link& l = links_[f.links[h]];
    const reference last = l.flows.back();
    l.flows[f.positions[h]] = last;
    flows_[last.flow].positions[last.hop] = f.positions[h];
    l.flows.pop_back();
    if (!l.flows.empty()) changed_.push_back(f.links[h]);
  }
  f.queued = -1;
  free_.push_back(number);
}

void flow_set::end(double now, double precision, std::vector<std::uint32_t>& ended) {
  while (!ends_.empty() && ends_.top().time <= now + precision) {
    const ending e = ends_.top();
    ends_.pop();
    flow& f = flows_[e.flow];
    if (f.queued != e.time) continue;  // it has ended, or ends earlier
    if (f.end > now + precision) {
      f.queued = f.end;
      ends_.push({f.end, e.flow});
      continue;
    }
    ended.push_back(f.user);
    remove(e.flow);
  }
}

void flow_set::share(double now) {
  if (changed_.empty()) return;
  if (++mark_ == 0) {  // marks have wrapped around
    mark_ = 1;
    for (link& l : links_) l.mark = 0;
    for (flow& f : flows_) f.mark = 0;
  }
  for (const std::uint32_t l : changed_) {
    if (links_[l].mark == mark_ || links_[l].flows.empty()) continue;
    collect(l);
    fill(now);
  }
  changed_.clear();
}

// The connected component of a link: all links and messages that its sharing can influence.
void flow_set::collect(std::uint32_t first_link) {
  component_links_.assign(1, first_link);
  component_flows_.clear();
  links_[first_link].mark = mark_;
  for (std::size_t i = 0; i < component_links_.size(); ++i)
    for (const reference& r : links_[component_links_[i]].flows) {
      flow& f = flows_[r.flow];
      if (f.mark == mark_) continue;
      f.mark = mark_;
      component_flows_.push_back(r.flow);
      for (std::uint32_t h = 0; h < f.hops; ++h) {
        link& l = links_[f.links[h]];
        if (l.mark == mark_) continue;
        l.mark = mark_;
        component_links_.push_back(f.links[h]);
      }
    }
}

// Fills the links of the component. The link whose share is least determines the rates of its
// messages, which takes bandwidth of other links. The shares of these can only increase.
void flow_set::fill(double now) {
  computed_ += component_flows_.size();
  if (component_flows_.size() == 1) {
    const flow& f = flows_[component_flows_[0]];
    double rate = f.max_rate;
    for (std::uint32_t h = 0; h < f.hops; ++h) rate = std::min(rate, links_[f.links[h]].bandwidth);
    return fix(component_flows_[0], rate, now);
  }
  order_.clear();
  for (const std::uint32_t l : component_links_) {
    link& one = links_[l];
    one.left = one.bandwidth;
    one.unfixed = static_cast<std::uint32_t>(one.flows.size());
    order_.push_back({one.bandwidth / one.unfixed, l, false});
  }
  for (const std::uint32_t f : component_flows_) {
    flows_[f].mark = 0;  // not fixed
    if (flows_[f].max_rate < unlimited) order_.push_back({flows_[f].max_rate, f, true});
  }
  std::make_heap(order_.begin(), order_.end());
  std::size_t unfixed = component_flows_.size();
  const auto settle = [&](std::uint32_t number, double rate) {
    flow& f = flows_[number];
    f.mark = mark_;
    for (std::uint32_t h = 0; h < f.hops; ++h) {
      link& l = links_[f.links[h]];
      l.left = std::max(0.0, l.left - rate);
      --l.unfixed;
    }
    --unfixed;
    fix(number, rate, now);
  };
  while (unfixed > 0) {
    std::pop_heap(order_.begin(), order_.end());
    const candidate c = order_.back();
    order_.pop_back();
    if (c.is_flow) {
      if (flows_[c.which].mark != mark_) settle(c.which, c.rate);
      continue;
    }
    const link& l = links_[c.which];
    if (l.unfixed == 0) continue;
    const double rate = l.left / l.unfixed;
    if (rate > c.rate * (1 + 1e-12)) {
      order_.push_back({rate, c.which, false});
      std::push_heap(order_.begin(), order_.end());
      continue;
    }
    for (const reference& r : l.flows)
      if (flows_[r.flow].mark != mark_) settle(r.flow, rate);
  }
}

void flow_set::fix(std::uint32_t number, double rate, double now) {
  flow& f = flows_[number];
  if (f.rate > 0) {
    if (rate <= f.rate * (1 + 1e-12) && rate >= f.rate * (1 - 1e-12)) return;
    f.left = std::max(0.0, f.left - f.rate * (now - f.updated));
  }
  f.rate = rate;
  f.updated = now;
  f.end = now + f.left / rate;
  if (f.end < f.queued) {
    f.queued = f.end;
    ends_.push({f.end, number});
  }
}

}  // namespace tutti::simulation

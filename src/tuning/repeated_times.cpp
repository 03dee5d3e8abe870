// SPDX-License-Identifier: Apache-2.0
#include "tuning/repeated_times.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::tuning {

void repeated_times::add(const measurement& m) {
  us_.push_back(m.us);
  noise_ = m.noise;
}

bool repeated_times::good() const noexcept {
  return !us_.empty() && std::all_of(us_.begin(), us_.end(), [](double us) { return std::isfinite(us); });
}

namespace {

// How many of n ordered values to drop at each end, so that the others span an interval that lies
// on one side of the true median in at most one of 2000 cases, for any distribution: each value is
// above it with probability 1/2.
std::size_t dropped(std::size_t n) {
  constexpr double max_error = 5e-4;
  double term = std::exp2(-static_cast<double>(n)), sum = term;  // of the binomial distribution
  std::size_t d = 0;
  while (2 * (d + 1) < n) {
    term *= static_cast<double>(n - d) / static_cast<double>(d + 1);
    sum += term;
    if (sum > max_error) break;
    ++d;
  }
  return d;
}

}  // namespace

timing repeated_times::of(const leaf& use) const {
  timing t;
  t.use = use;
  constexpr double notch = 2.2;
  t.us = quantile(us_, 0.25);
  t.measurements = us_.size();
  t.median_us = median(us_);
  const auto [min, max] = std::minmax_element(us_.begin(), us_.end());
  t.min_us = *min;
  const double scale = 1 / std::max(t.us, 1e-9);
  if (us_.size() == 1) {
    t.iqr = t.spread = noise_;
    return t;
  }
  t.iqr = (quantile(us_, 0.75) - t.us) * scale;
  t.spread = us_.size() < enough_for_quartiles
                 ? (*max - *min) * scale
                 : notch * 2 * (t.median_us - t.us) * scale / std::sqrt(static_cast<double>(us_.size()));
  return t;
}

timing repeated_times::relative_to(const repeated_times& other, double other_us, const leaf& use) const {
  std::vector<double> quotients;
  for (std::size_t i = 0; i < us_.size(); ++i) quotients.push_back(us_[i] / std::max(other.us_[i], 1e-9));
  const double middle = median(quotients);
  timing t;
  t.use = use;
  t.us = t.median_us = other_us * middle;
  t.min_us = other_us * *std::min_element(quotients.begin(), quotients.end());
  t.measurements = us_.size();
  t.iqr = of(use).iqr;
  std::sort(quotients.begin(), quotients.end());
  const std::size_t d = dropped(quotients.size());
  t.spread = quotients[quotients.size() - 1 - d] / std::max(middle, 1e-9) - 1;
  t.below = 1 - quotients[d] / std::max(middle, 1e-9);
  return t;
}

}  // namespace tutti::tuning

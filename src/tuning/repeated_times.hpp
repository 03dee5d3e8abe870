// SPDX-License-Identifier: Apache-2.0
//
// Repeated measurements of one choice, and the time that they show.
#pragma once

#include <cstddef>
#include <vector>

#include "tuning/grow.hpp"
#include "tuning/measure.hpp"

namespace tutti::tuning {

class repeated_times {
 public:
  /// A wrong result has the time infinity.
  void add(const measurement& m);
  [[nodiscard]] std::size_t count() const noexcept { return us_.size(); }
  [[nodiscard]] double first_us() const { return us_.front(); }

  /// Whether there is a measurement, and all results were right.
  [[nodiscard]] bool good() const noexcept;

  /// The lower quartile, because disturbances only lengthen times, and its spread:
  /// - 2.2 IQR / sqrt(n), with twice the distance from the lower quartile to the median as IQR. So
  ///   up to half of the measurements may be disturbed. It shrinks with more measurements, like the
  ///   notch of a box plot (McGill, Tukey, Larsen 1978). Theirs has the factor 1.57, for two
  ///   choices. This one is wider, because the best of many is often lucky.
  /// - If there are too few for quartiles: the range of all.
  /// - If there is one: the interquartile range of its samples.
  /// Requires good().
  [[nodiscard]] timing of(const leaf& use) const;

  /// The same from the quotients of these times and those of `other`, which were measured in turn
  /// and as often. The time of `other` is known to be `other_us`, without a spread. The spread is
  /// that of an exact interval for the median, of a sign test. Requires that both are good(), and
  /// enough_for_test measurements.
  [[nodiscard]] timing relative_to(const repeated_times& other, double other_us, const leaf& use) const;

  /// From this count on the spread follows from the quartiles.
  static constexpr std::size_t enough_for_quartiles = 5;
  static constexpr std::size_t enough_for_test = 11;

 private:
  std::vector<double> us_;
  double noise_ = 0;  // of the last one
};

}  // namespace tutti::tuning

// SPDX-License-Identifier: Apache-2.0
//
// Names of groups that their members create without a message. All members compute the same 128
// bits from the same inputs. Two groups have the same name with probability 2^-128.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::detail {

struct group_name {
  std::uint64_t a = 0, b = 0;

  bool operator==(const group_name&) const = default;

  struct hash {
    std::size_t operator()(const group_name& n) const noexcept { return static_cast<std::size_t>(n.a); }
  };

  /// The name of a group that differs from this one by one number, or by two.
  group_name with(std::uint64_t number) const noexcept { return with(number, number); }
  group_name with(std::uint64_t one, std::uint64_t other) const noexcept {
    const std::uint64_t x = mix(a ^ one * 0x9e3779b97f4a7c15), y = mix(b + other + 0x632be59bd9b4e019);
    return {mix(x + (y << 1 | y >> 63)), mix(y ^ (x << 32 | x >> 32))};
  }

 private:
  // The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
  // generators, 2014).
  static std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }
};

}  // namespace tutti::detail

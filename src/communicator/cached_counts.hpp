// SPDX-License-Identifier: Apache-2.0
//
// The counts and displacements of the last call of a collective, as its caller had them in memory.
// call_cache compares them with those of the next call (tutti/detail/call_key.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "transport/endpoint.hpp"
#include "tutti/call.hpp"
#include "tutti/detail/call_key.hpp"

namespace tutti::detail {

/// The numbers of one direction: of what is sent, or of what is received.
struct cached_side {
  static constexpr std::size_t max_inline = 64;  // bytes that are compared inline

  std::size_t word_bytes = 0;  // bytes in words of 8; 0 if there are more than max_inline
  bool half_word = false;      // 4 bytes more
  std::byte counts[max_inline], displs[max_inline];
  std::vector<std::byte> heap_counts, heap_displs;  // more bytes than max_inline
  std::vector<std::byte> dense;                     // displacements that the caller left out

  /// Stores the numbers as int, or as std::size_t if `wide`. Returns false if one does not fit.
  /// `left_out`: the caller gave no displacements.
  bool store(const counts_view& counts, const counts_view& displs, bool left_out, bool wide);
  /// Compares any number of bytes.
  bool matches(const void* counts, const void* displs) const noexcept;
  /// The bits that differ in the word at byte `at`.
  template <class Word>
  [[gnu::always_inline]] Word difference(const void* c, const void* d, std::size_t at) const noexcept {
    return difference_of<Word>(c, counts, at) | difference_of<Word>(d, displs, at);
  }

 private:
  template <class Word>
  static Word difference_of(const void* a, const void* b, std::size_t at) noexcept {
    Word x, y;
    std::memcpy(&x, static_cast<const std::byte*>(a) + at, sizeof x);
    std::memcpy(&y, static_cast<const std::byte*>(b) + at, sizeof y);
    return x ^ y;
  }
};

struct cached_counts {
  std::size_t input_length = 0, output_length = 0;
  const void *input = nullptr, *output = nullptr;
  ready_native ready;
  cached_side in, out;
  std::vector<std::size_t> dense_in, dense_out;  // displacements for the call that runs

  /// Compares inline a few numbers, which is faster than memcmp(). If both sides have numbers, they
  /// have the same number of bytes.
  template <array_sides Sides>
  [[gnu::always_inline]] bool matches_inline(const counted_call& c) const noexcept {
    const auto differs = [&]<class Word>(Word, std::size_t at) -> Word {
      Word w = 0;
      if constexpr (Sides != array_sides::out) w = in.difference<Word>(c.in_counts, c.in_displs, at);
      if constexpr (Sides != array_sides::in) w |= out.difference<Word>(c.out_counts, c.out_displs, at);
      return w;
    };
    const cached_side& side = Sides == array_sides::in ? in : out;
    std::size_t i = 0;
    for (; i < side.word_bytes; i += 8)
      if (differs(std::uint64_t{}, i) != 0) return false;
    return !side.half_word || differs(std::uint32_t{}, i) == 0;
  }
};

}  // namespace tutti::detail

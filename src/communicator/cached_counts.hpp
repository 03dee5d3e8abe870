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

  std::ptrdiff_t word_bytes = 0;  // bytes in words of 8; 0 if there are more than max_inline
  bool half_word = false;         // 4 bytes more
  bool given = false;             // whether the caller has these numbers
  alignas(8) std::byte counts[max_inline], displs[max_inline];
  std::vector<std::byte> heap_counts, heap_displs;  // more bytes than max_inline
  std::vector<std::byte> dense;                     // displacements that the caller left out

  /// Stores the numbers as int, or as std::size_t if `wide`. Returns false if one does not fit.
  /// `left_out`: the caller gave no displacements.
  bool store(const counts_view& counts, const counts_view& displs, bool left_out, bool wide);
  /// Compares any number of bytes.
  bool matches(const void* counts, const void* displs) const noexcept;
  /// Whether the words at byte `at` differ.
  template <class Word>
  [[gnu::always_inline]] bool differs(const void* c, const void* d, std::ptrdiff_t at) const noexcept {
    return word<Word>(c, at) != word<Word>(counts, at) || word<Word>(d, at) != word<Word>(displs, at);
  }

 private:
  template <class Word>
  [[gnu::always_inline]] static Word word(const void* of, std::ptrdiff_t at) noexcept {
    Word one;
    std::memcpy(&one, static_cast<const std::byte*>(of) + at, sizeof one);
    return one;
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
    const auto differs = [&]<class Word>(Word, std::ptrdiff_t at) {
      if constexpr (Sides != array_sides::out)
        if (in.differs<Word>(c.in_counts, c.in_displs, at)) return true;
      if constexpr (Sides != array_sides::in)
        if (out.differs<Word>(c.out_counts, c.out_displs, at)) return true;
      return false;
    };
    const cached_side& side = Sides == array_sides::in ? in : out;
    std::ptrdiff_t i = side.word_bytes;
    if (side.half_word && differs(std::uint32_t{}, i)) return false;
    while ((i -= 8) >= 0)
      if (differs(std::uint64_t{}, i)) return false;
    return true;
  }
};

}  // namespace tutti::detail

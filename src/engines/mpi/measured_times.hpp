// SPDX-License-Identifier: Apache-2.0
//
// How long calls take by address and in pieces, as this member has measured them. The kernel copies
// from huge pages three times as fast as from small ones, and not equally fast on all machines. So
// no fixed length separates the two ways. Members exchange what they have measured at the
// start of a long call (negotiated_calls.hpp), and all choose alike.
//
// A program often makes the same call with the same buffers. Times are kept for a call with its
// buffers, and for all calls of the same collective with lengths between two powers of 2. The first
// few calls with other buffers use the latter. Each way is measured three times, because the first
// call may touch new pages, and another one may be interrupted. From time to time the slower way is
// measured again.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tutti/call.hpp"

namespace tutti::mpi {

/// Microseconds, which are more than 0, or one of the constants.
struct call_times {
  static constexpr float measure_now = 0;  ///< the member needs a measurement
  static constexpr float unknown = -1;
  float by_address = unknown, in_pieces = unknown;
};

/// The choice for a call, from the times of all members: by address if the slowest member is faster
/// that way. A measurement that any member needs comes first. `otherwise`: the choice if no member
/// knows the time of one of the ways.
inline bool is_faster_by_address(std::span<const call_times> of, bool otherwise) noexcept {
  call_times slowest;
  for (const call_times& t : of) {
    slowest.by_address = std::max(slowest.by_address, t.by_address);
    slowest.in_pieces = std::max(slowest.in_pieces, t.in_pieces);
  }
  const auto needs_measurement = [&](float call_times::*way) {
    return std::any_of(of.begin(), of.end(),
                       [&](const call_times& t) { return t.*way == call_times::measure_now; });
  };
  if (needs_measurement(&call_times::by_address)) return true;
  if (needs_measurement(&call_times::in_pieces)) return false;
  if (slowest.by_address == call_times::unknown || slowest.in_pieces == call_times::unknown) return otherwise;
  return slowest.by_address < slowest.in_pieces;
}

class measured_times {
 public:
  static constexpr unsigned samples_of_a_way = 3, calls_before_own_times = 4;
  /// The three calls in the slower way cost little in so many.
  static constexpr unsigned calls_before_new_measurement = 256;

  /// What this member knows of a call. `bytes`: of the operand or of a block; in an allgatherv, of
  /// all blocks. `may_measure`: record() will follow the call.
  call_times of(const call& c, std::size_t bytes, bool may_measure) noexcept {
    entry& own = entry_of(with_buffers_, c, bytes, true);
    const entry& all = entry_of(of_kind_, c, bytes, false);
    call_times found;
    found.by_address = own.time(address, all, may_measure);
    found.in_pieces = own.time(pieces, all, may_measure);
    return found;
  }
  void record(const call& c, std::size_t bytes, bool by_address, float microseconds) noexcept {
    const way made = by_address ? address : pieces;
    entry_of(with_buffers_, c, bytes, true).record(made, microseconds);
    entry_of(of_kind_, c, bytes, false).record(made, microseconds);
  }

 private:
  enum way : std::uint8_t { address, pieces };
  struct entry {
    std::uint64_t key = 0;
    std::array<float, 2> fastest{};
    std::array<std::uint8_t, 2> samples{};
    std::uint16_t calls = 0;

    bool is_known(way w) const noexcept { return samples[w] >= samples_of_a_way; }
    float time(way w, const entry& all, bool may_measure) const noexcept {
      if (is_known(w)) return fastest[w];
      if (calls < calls_before_own_times && all.is_known(w)) return all.fastest[w];
      return may_measure ? call_times::measure_now : call_times::unknown;
    }
    // A slower call raises the time by at most 1/32, because it may have been interrupted.
    void record(way w, float t) noexcept {
      const float old = samples[w] == 0 ? t : fastest[w];
      fastest[w] = t <= old ? t : is_known(w) ? old + std::min(t - old, old / 4) / 8 : old;
      samples[w] = static_cast<std::uint8_t>(std::min(samples[w] + 1u, samples_of_a_way));
      if (++calls < calls_before_new_measurement) return;
      samples[1 - w] = 0;
      calls = calls_before_own_times;
    }
  };
  static constexpr int table_bits = 6;
  using table = std::array<entry, std::size_t{1} << table_bits>;

  // Multiplicative hashing with 2^64 divided by the golden ratio (Knuth, TAOCP 3, 6.4).
  static constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  static constexpr int page_bits = 12;

  // A call whose hash has the same first bits replaces an entry. All buffers that begin in one page
  // have the same hash.
  static entry& entry_of(table& in, const call& c, std::size_t bytes, bool with_buffers) noexcept {
    std::uint64_t key =
        static_cast<std::uint64_t>(c.what) << 8 | static_cast<std::uint64_t>(std::bit_width(bytes));
    if (with_buffers)
      for (const void* buffer : {c.input, static_cast<const void*>(c.output)})
        key = (key ^ reinterpret_cast<std::uintptr_t>(buffer) >> page_bits) * golden_ratio;
    key |= 1;  // no key is 0
    entry& found = in[(key * golden_ratio) >> (64 - table_bits)];
    if (found.key != key) {
      found = {};
      found.key = key;
    }
    return found;
  }

  table with_buffers_, of_kind_;
};

}  // namespace tutti::mpi

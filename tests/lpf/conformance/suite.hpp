// SPDX-License-Identifier: Apache-2.0
//
// Shared code of the programs of this folder: cases that run on all processes, each in its own
// section, and checks. A failed check prints the process, the engine and the difference. It fails
// the program on any process, without the library's help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "lpf/core.h"

namespace suite {

using bytes = std::vector<unsigned char>;

/// One process in one case.
struct process {
  lpf_t ctx;
  unsigned pid, p;
  const char* test;

  void fail(const std::string& what) const;
  void check(bool holds, const std::string& what) const {
    if (!holds) fail(what);
  }
  /// Checks that a call has returned the expected value.
  void returns(lpf_err_t got, lpf_err_t wanted, const std::string& call) const;
  /// The same for success; on failure the case ends on this process.
  void needs(lpf_err_t got, const std::string& call) const;
  void equal(const unsigned char* got, const unsigned char* wanted, std::size_t n,
             const std::string& what) const;
  void sync() const { needs(lpf_sync(ctx, LPF_SYNC_DEFAULT), "lpf_sync"); }
  /// Resizes the memory register and the message queue, and syncs.
  void resize(std::size_t slots, std::size_t messages) const;
};

/// Thrown to end a case on one process. The reason has been printed.
struct case_failed {};

struct entry {
  const char* name;
  void (*run)(const process&);
  unsigned max_processes = 1u << 30;
  bool fails = false;  ///< the section is expected to fail
  unsigned min_processes = 1;
};

/// Each program defines its cases.
extern const std::span<const entry> tests;

/// The value of LPF_TEST_THIN, or 1. Only one of so many cases runs. It is larger on engines whose
/// supersteps take milliseconds.
unsigned thinning();
/// Returns whether case i runs.
inline bool is_selected(std::size_t i) { return i % thinning() == i / thinning() % thinning(); }

/// Returns whether checked mode is on. It also counts messages at their target. So a queue that a
/// process fills completely with the messages that it sends overflows.
bool in_checked_mode();

/// A random sequence that is the same on all machines (SplitMix64, Steele, Lea, Flood 2014).
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 .. n - 1
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

/// The byte at a position of a text, which every process can compute.
inline unsigned char byte_of_text(std::uint64_t text, std::size_t at) {
  std::uint64_t z = (text + 1) * 0x9e3779b97f4a7c15u + at * 0xbf58476d1ce4e5b9u;
  z ^= z >> 29;
  return static_cast<unsigned char>((z * 0x94d049bb133111ebu) >> 56);
}
inline void write_text(unsigned char* to, std::uint64_t text, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = byte_of_text(text, i);
}

/// Memory between canaries.
class guarded {
 public:
  guarded() : guarded(0) {}
  explicit guarded(std::size_t n, unsigned char fill = 0xcd)
      : size_(n), all_(n + 2 * canary, std::uint8_t{0xa5}) {
    std::memset(data(), fill, n);
  }
  unsigned char* data() { return all_.data() + canary; }
  std::size_t size() const { return size_; }
  /// Returns whether the canaries around the memory are unchanged.
  bool intact() const {
    for (std::size_t i = 0; i < canary; ++i)
      if (all_[i] != 0xa5 || all_[canary + size_ + i] != 0xa5) return false;
    return true;
  }

 private:
  static constexpr std::size_t canary = 64;
  std::size_t size_;
  bytes all_;
};

}  // namespace suite

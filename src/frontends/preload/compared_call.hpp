// SPDX-License-Identifier: Apache-2.0
//
// A collective call as checked mode sees it: what this rank tells the others of it, what they have told, and
// what differs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/preload/arguments.hpp"
#include "frontends/preload/communicator_table.hpp"
#include "frontends/preload/datatypes.hpp"
#include "tutti/detail/abi.hpp"

namespace tutti::preload {

/// An argument that this rank's call does not have.
inline constexpr std::uint64_t not_given = ~std::uint64_t{0};

/// What one rank tells another.
struct published_call {
  char call[40];  // "MPI_Iallreduce"
  char op[24];
  std::int32_t root;  // -1: it has none
  std::uint32_t in_place, kind;
  std::uint64_t gives, takes;  // bytes of a block
  std::uint64_t counts;        // a hash of what all ranks have alike
  std::uint64_t to_you;        // bytes that the other one is sent

  std::string text() const;
};

struct compared_call {
  compared_call(std::shared_ptr<known_communicator> m, std::string_view name);

  /// What is not significant on this rank is not looked at: it may be anything.
  void describe(const arguments& a, datatypes& types);
  /// All ranks are told the same but for what each is sent.
  void spread();
  /// Throws mismatch_error where the ranks have told different calls.
  void judge() const;
  /// "MPI_COMM_WORLD", in a report.
  std::string where() const;

  std::shared_ptr<known_communicator> of;
  std::size_t size;
  std::vector<published_call> mine, all;
  std::vector<std::uint64_t> to, expects;  // bytes sent to and expected from each
  bool pairwise = false;
  const char* object = nullptr;  // "a window"; null: a communicator
  detail::pending_call run;

 private:
  void describe_vectors(const arguments& a, datatypes& types);
  int other() const noexcept;
};

}  // namespace tutti::preload

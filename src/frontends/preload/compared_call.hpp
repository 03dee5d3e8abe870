// SPDX-License-Identifier: Apache-2.0
//
// A collective call in checked mode: what this rank sends to the others about it, what they have
// sent, and the differences.
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

/// The value of an argument that this rank's call does not have.
inline constexpr std::uint64_t not_given = ~std::uint64_t{0};

/// The data that one rank sends to another.
struct published_call {
  char call[40];  // "MPI_Iallreduce"
  char op[24];
  std::int32_t root;  // -1: none
  std::uint32_t in_place, kind;
  std::uint64_t gives, takes;  // bytes of a block
  std::uint64_t counts;        // a hash of the counts that are the same on all ranks
  std::uint64_t to_you;        // bytes sent to the receiving rank

  std::string text() const;
};

struct compared_call {
  compared_call(std::shared_ptr<known_communicator> m, std::string_view name);

  /// Reads no argument that is insignificant on this rank, because it may be invalid.
  void describe(const arguments& a, datatypes& types);
  /// Copies the data for all ranks. They differ only in the bytes that each is sent.
  void spread();
  /// Throws mismatch_error if the ranks make different calls.
  void judge() const;
  /// The communicator in a report, as "MPI_COMM_WORLD".
  std::string where() const;

  std::shared_ptr<known_communicator> of;
  std::size_t size;
  std::vector<published_call> mine, all;
  std::vector<std::uint64_t> to, expects;  // bytes sent to and expected from each rank
  bool pairwise = false;
  const char* object = nullptr;  // "a window"; null: a communicator
  detail::pending_call run;

 private:
  void describe_vectors(const arguments& a, datatypes& types);
  int other() const noexcept;
};

}  // namespace tutti::preload

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
  std::uint64_t send_bytes, recv_bytes;  // bytes of a block
  std::uint64_t counts;                  // a hash of the counts that are the same on all ranks
  std::uint64_t bytes_to_receiver;       // bytes sent to the receiving rank

  std::string text() const;
};

struct compared_call {
  compared_call(std::shared_ptr<communicator_info> m, std::string_view name);

  /// Reads no argument that is insignificant on this rank, because it may be invalid.
  void describe(const arguments& a, datatypes& types);
  /// Copies the data for all ranks. They differ only in the bytes that each is sent.
  void fill_messages();
  /// Throws mismatch_error if the ranks make different calls.
  void throw_on_mismatch() const;
  /// The communicator in a report, as "MPI_COMM_WORLD".
  std::string describe_communicator() const;

  std::shared_ptr<communicator_info> communicator;
  std::size_t size;
  std::vector<published_call> sent, received;
  std::vector<std::uint64_t> sent_bytes, expected_bytes;  // to and from each rank
  bool pairwise = false;
  const char* object = nullptr;  // "a window"; null: a communicator
  detail::pending_call run;

 private:
  void describe_vectors(const arguments& a, datatypes& types);
  int first_mismatch() const noexcept;
};

}  // namespace tutti::preload

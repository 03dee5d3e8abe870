// SPDX-License-Identifier: Apache-2.0
//
// Turns an alltoallw whose blocks have gaps into one of packed bytes. The blocks are packed before
// the call and unpacked after it. A side without gaps is used where it is.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/layout.hpp"

namespace tutti::detail {

class packed_blocks {
 public:
  /// The buffers and layouts of `c` must live as long as this; counts and displacements need not.
  explicit packed_blocks(const call& c);

  /// The call to execute: of bytes, without layouts.
  const call& made() const noexcept { return made_; }
  void pack() const noexcept;
  void unpack() const noexcept;

 private:
  struct side {
    const layout* types = nullptr;
    std::vector<std::size_t> items, displs;         // of the caller
    std::vector<std::size_t> bytes, packed_displs;  // of the call that runs
    std::unique_ptr<std::byte[]> packed;            // null: the caller's own memory
  };
  static void open(side& s, const layout* types, counts_view& counts, counts_view& displs);

  side in_, out_;
  const std::byte* input_;
  std::byte* output_;
  call made_;
};

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// An alltoallw whose blocks have gaps, as one of dense bytes: blocks are packed before the data move and
// unpacked after. A side without gaps is used as it stands.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/layout.hpp"

namespace tutti::detail {

class dense_blocks {
 public:
  /// `c` and what it refers to must stay; counts and displacements may go.
  explicit dense_blocks(const call& c);

  /// The call to carry out: of bytes, without layouts.
  const call& made() const noexcept { return made_; }
  void pack() const noexcept;
  void unpack() const noexcept;

 private:
  struct side {
    const layout* types = nullptr;
    std::vector<std::size_t> items, displs;        // as the caller gave them
    std::vector<std::size_t> bytes, dense_displs;  // as they are carried out
    std::unique_ptr<std::byte[]> dense;            // null: the caller's own memory
  };
  static void open(side& s, const layout* types, counts_view& counts, counts_view& displs);

  side in_, out_;
  const std::byte* input_;
  std::byte* output_;
  call made_;
};

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Buffers that hold items of a layout, without their C++ types: what stands between the caller's memory and
// a frame, which knows dense elements only (typed.hpp). Items that lie side by side are used where they
// stand; others are packed into memory of the call's own before the data move, and unpacked after.
#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include "tutti/core/layout.hpp"
#include "tutti/core/port.hpp"
#include "tutti/face/inference.hpp"

namespace tutti::detail {

/// The two sides of a call, of which either may have a layout. In place there is one, `in`.
///
/// What is wrong with what is sent is kept until complain(), and the frame is shown something that it
/// refuses: so the other ranks are told in the exchange that they wait in.
class staging {
 public:
  /// Some of the caller's items: `count` of them from number `at` on.
  struct block {
    std::size_t at, count;
  };

  class side {
   public:
    side() noexcept = default;
    side(const side&) = delete;
    side& operator=(const side&) = delete;
    ~side();

    /// As the frame sees it: elements.
    void* data() const noexcept { return dense_ ? memory_ : items_; }
    std::size_t size() const noexcept { return size_; }
    void resize(std::size_t elements);

    std::size_t per_item() const noexcept { return per_; }  ///< elements in an item; 1 without a layout
    bool dense() const noexcept { return dense_; }          ///< has memory of its own

   private:
    friend class staging;
    void pack(const std::vector<block>& blocks) const noexcept;
    void unpack() const noexcept;

    parameter buffer_ = parameter::unnamed, type_ = parameter::unnamed;
    const layout* item_ = nullptr;
    std::byte* items_ = nullptr;
    std::size_t holds_ = 0;  // bytes of the caller's
    std::ptrdiff_t lowest_ = 0, highest_ = 0;
    std::size_t per_ = 1, unit_ = 1, align_ = 1;
    bool dense_ = false;
    std::byte* memory_ = nullptr;
    std::size_t room_ = 0, size_ = 0;    // elements, of memory_ and as the frame sees it
    std::vector<block> read_, written_;  // what is packed, and what is unpacked
  };

  staging() noexcept = default;

  /// A side has a layout. The layout and the items must stay.
  static void open(side& s, parameter buffer, parameter type, const layout& item, const void* items,
                   std::size_t bytes);
  /// How long the elements of this call are: `size` bytes, or one byte where an item is not a whole number of
  /// those; where `whole`, that is a fault. `align`: what elements of `size` bytes need.
  void settle(caller, std::size_t size, std::size_t align, bool whole);
  /// Elements are bytes.
  bool in_bytes() const noexcept { return in_bytes_; }

  /// What is sent: so many elements (negative: the frame refuses them), told by parameter `name`.
  void send_run(caller, parameter name, long long elements, std::size_t blocks);
  /// Blocks of items; fills what the frame is given in place of the lists. Null: no displacements.
  void send_blocks(const call_site&, parameter counts_name, const counts_view& counts, parameter displs_name,
                   const counts_view* displs, std::vector<std::size_t>& scaled,
                   std::vector<std::size_t>& scaled_displs);
  /// Rank 0 of an exscan keeps what stands where it receives, until something is known that is better.
  void keep_received() noexcept { keeps_ = true; }

  /// What is received into a side, in elements. Throws where it is not whole items, or beyond the buffer.
  void receive_run(caller, side&, std::size_t elements);
  /// Of a run received into a side so much came, in whole items: not more than there was room for.
  static void arrived(side&, std::size_t bytes) noexcept;
  /// receive_run() of blocks. Returns their displacements in elements.
  counts_view receive_blocks(const call_site&, side&, const counts_view& elements, const counts_view* displs);

  /// Numbers of items as the frame is to see them: of elements. A negative one stays itself.
  long long scaled(caller, parameter name, long long number, const side&);
  void scale(const call_site&, parameter name, const counts_view& numbers, const side&,
             std::vector<std::size_t>& to);
  /// Numbers of elements as the caller is to see them. Throws where these are not whole items.
  std::size_t items(caller, parameter name, std::size_t elements, const side&) const;

  /// Throws the fault that was kept, if there is one.
  void complain() const;
  const std::exception_ptr& fault() const noexcept { return fault_; }
  /// Nothing of the caller's is written, nor read where what is sent is at fault.
  void leave_alone() noexcept;

  void pack() const noexcept;    ///< before each run
  void unpack() const noexcept;  ///< after it
  /// The call under way, or prepared, which is packed when it starts and unpacked when it is complete. The
  /// staging must stay until it is dismissed.
  pending_call watch(pending_call inner, bool is_message, bool started);

  side in, out;

 private:
  template <class Check>
  void keep(Check&& check);
  static void check_reach(caller, parameter name, const side&, const block&);

  std::size_t unit_ = 1;
  bool in_bytes_ = false, keeps_ = false;
  std::vector<std::size_t> displs_;
  std::exception_ptr fault_;
};

}  // namespace tutti::detail

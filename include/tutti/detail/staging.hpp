// SPDX-License-Identifier: Apache-2.0
//
// Buffers that hold items of a layout, without their C++ types. An item is one instance of the
// layout, as of a datatype of MPI. A frame (layout_call.hpp) knows only packed elements, which have
// one size and no gaps. This file connects the two. Contiguous items that are aligned as elements
// are used in place. Others are packed into memory of the call before the data moves, and unpacked
// afterwards.
#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include "tutti/detail/abi.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/inference.hpp"
#include "tutti/layout.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The two sides of a call, which are its send buffer and its receive buffer. Each may have a
/// layout. An in-place call has one side, `in`.
///
/// An error in the send data is stored until rethrow_fault(), and the frame gets arguments that it
/// rejects. Thus the other ranks learn of it in the exchange that they wait in.
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

    /// The frame's view of the buffer: elements.
    void* data() const noexcept { return packs_ ? memory_ : items_; }
    std::size_t size() const noexcept { return size_; }
    void resize(std::size_t elements);

    /// Elements per item; 1: no layout.
    std::size_t per_item() const noexcept { return elements_per_item_; }
    bool is_packed() const noexcept { return packs_; }  ///< into memory of its own

   private:
    friend class staging;
    void pack(const std::vector<block>& blocks) const noexcept;
    void unpack() const noexcept;

    parameter buffer_ = parameter::unnamed, type_ = parameter::unnamed;
    const layout* item_ = nullptr;
    std::byte* items_ = nullptr;
    std::size_t item_bytes_ = 0;  // bytes of the caller's buffer
    std::ptrdiff_t lowest_ = 0, highest_ = 0;
    std::size_t elements_per_item_ = 1, element_bytes_ = 1, align_ = 1;
    bool packs_ = false;
    std::byte* memory_ = nullptr;
    std::size_t capacity_ = 0, size_ = 0;  // elements, of memory_ and for the frame
    std::vector<block> read_, written_;    // what is packed, and what is unpacked
  };

  staging() noexcept = default;

  /// Sets the layout of a side. The layout and the items must outlive it.
  static void open(side& s, parameter buffer, parameter type, const layout& item, const void* items,
                   std::size_t bytes);
  /// Sets the element size of this call: `size` bytes, or one byte if an item is not a whole number
  /// of those. With `whole_items` the latter is an error. `align` is the alignment of elements of
  /// `size` bytes.
  void set_element_size(caller, std::size_t size, std::size_t align, bool whole_items);
  /// Whether elements are bytes.
  bool elements_are_bytes() const noexcept { return elements_are_bytes_; }

  /// Sets the send length in elements (negative: the frame rejects it), given by parameter `name`.
  void set_send_length(caller, parameter name, long long elements, std::size_t blocks);
  /// Sets blocks of items, and fills the lists for the frame. Null: no displacements.
  void set_send_blocks(const collective_caller&, parameter counts_name, const counts_view& counts,
                       parameter displs_name, const counts_view* displs, std::vector<std::size_t>& scaled,
                       std::vector<std::size_t>& scaled_displs);
  /// Rank 0 of an exscan keeps the contents of its receive buffer until a better value is known.
  void preserve_received() noexcept { preserves_received_ = true; }

  /// Sets the received length of a side, in elements. Throws if it is not whole items, or exceeds
  /// the buffer.
  void set_receive_length(caller, side&, std::size_t elements);
  /// Sets the length of the data that arrived, in whole items. It is at most the given capacity.
  static void arrived(side&, std::size_t bytes) noexcept;
  /// Sets the lengths of received blocks with counts. Returns their displacements in elements.
  counts_view set_receive_blocks(const collective_caller&, side&, const counts_view& elements,
                                 const counts_view* displs);

  /// Converts numbers of items to numbers of elements for the frame. A negative one is unchanged.
  long long scaled(caller, parameter name, long long number, const side&);
  void scale(const collective_caller&, parameter name, const counts_view& numbers, const side&,
             std::vector<std::size_t>& to);
  /// Converts numbers of elements to numbers of items for the caller. Throws if these are not whole
  /// items.
  std::size_t items(caller, parameter name, std::size_t elements, const side&) const;

  /// Throws the stored error, if there is one.
  void rethrow_fault() const;
  const std::exception_ptr& fault() const noexcept { return fault_; }
  /// Prevents writes to the caller's memory, and reads if the send data has an error.
  void disable_copies() noexcept;

  void pack() const noexcept;    ///< before each run
  void unpack() const noexcept;  ///< after it
  /// Wraps the call that is under way or prepared: packs when it starts and unpacks when it is
  /// complete. The staging must live until the call is dismissed.
  pending_call wrap(pending_call inner, bool started);

  side in, out;

 private:
  template <class Validate>
  void record_fault(Validate&& validate);
  static void validate_reach(caller, parameter name, const side&, const block&);

  std::size_t element_bytes_ = 1;
  bool elements_are_bytes_ = false, preserves_received_ = false;
  std::vector<std::size_t> displs_;
  std::exception_ptr fault_;
};

}  // namespace tutti::detail
TUTTI_API_END

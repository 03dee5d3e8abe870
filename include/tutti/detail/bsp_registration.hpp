// SPDX-License-Identifier: Apache-2.0
//
// The slots of a bulk-synchronous program: memory that a process registers for its own collectives,
// or for the puts and gets of all processes (tutti/bsp.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "tutti/detail/bsp_abi.hpp"
#include "tutti/detail/bsp_memory.hpp"
#include "tutti/detail/bsp_section.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti::bsp {

class context;

/// Registered memory of this process: a contiguous container of T. A registration can be moved but
/// not copied. The memory must not move while the registration exists.
///
/// The destructor ends the registration at once. A slot that a put or get of this superstep uses
/// must therefore live until after the sync. Destruction of a global slot is collective, like its
/// creation: all processes create and destroy their global slots in the same order. Destructors do
/// this if all processes execute the same scopes.
template <class T, bool Global>
class registration {
 public:
  using value_type = T;  ///< the element type

  /// Registers nothing.
  registration() noexcept = default;
  registration(registration&& other) noexcept
      : section_(std::move(other.section_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        number_(std::exchange(other.number_, no_slot)) {}
  /// Ends the registration that this object held before.
  registration& operator=(registration&& other) noexcept {
    if (this != &other) {
      deregister();
      section_ = std::move(other.section_);
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      number_ = std::exchange(other.number_, no_slot);
    }
    return *this;
  }
  ~registration() { deregister(); }

  /// Ends the registration before the destructor does. O(1), no message.
  void deregister() noexcept {
    if (number_ != no_slot) section_->remove(number_);
    section_.reset();
    data_ = nullptr;
    size_ = 0;
    number_ = no_slot;
  }

  /// The memory of this process.
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }  ///< number of elements
  T* begin() const noexcept { return data_; }          ///< the first element
  T* end() const noexcept { return data_ + size_; }    ///< one past the last element
  T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// The slot number, for reports. A global slot has the same number on all processes.
  slot number() const noexcept { return number_; }

 private:
  friend class context;
  registration(std::shared_ptr<detail::bsp_section> section, const detail::bsp_memory& area)
      : section_(std::move(section)),
        data_(static_cast<T*>(area.data)),
        size_(area.count),
        number_(section_->add(Global, area)) {}

  std::shared_ptr<detail::bsp_section> section_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  slot number_ = no_slot;
};

/// Memory that other processes write to and read from.
template <class T>
using global_slot = registration<T, true>;
/// Memory that only this process uses.
template <class T>
using local_slot = registration<T, false>;

}  // namespace tutti::bsp
TUTTI_API_END

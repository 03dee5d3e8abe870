// SPDX-License-Identifier: Apache-2.0
//
// The type-erased state of a bsp::context: its process, and everything that must live until the
// next sync. That is values that were put, callables that combine, and slots of memory that a
// collective uses once. Slots and subsets also own it, so that they may outlive the context.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

#include "tutti/communicator.hpp"
#include "tutti/detail/bsp_abi.hpp"
#include "tutti/detail/bsp_memory.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/ops.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// A set of processes, and the caller's rank in it.
struct bsp_set {
  bsp::process_set_id number = 0;
  int pid = 0, nprocs = 1;
};

class bsp_section {
 public:
  /// Collective. Uses this communicator, not a duplicate.
  explicit bsp_section(const communicator& all);
  ~bsp_section();
  bsp_section(const bsp_section&) = delete;

  bsp::process& process() const noexcept { return *process_; }
  const bsp_set& all_processes() const noexcept { return all_processes_; }
  /// Waits until the other processes leave, too.
  void leave() noexcept;

  bsp::slot add(bool global, const bsp_memory& area);
  /// Does nothing if the process has failed, or if another thread calls than the one that runs it.
  void remove(bsp::slot s) noexcept;
  bsp_set make_set(int lo, int hi, int stride);
  /// Takes effect at the next sync, since calls of the set may not be complete. Does nothing if
  /// another thread calls than the one that runs the process.
  void end_set(bsp::process_set_id m);

  /// Copies a value and keeps the copy until the sync. Throws as validate_thread() does.
  const void* keep_until_sync(const char* operation, const void* value, std::size_t bytes,
                              std::size_t alignment);
  /// Keeps the object until the sync.
  template <class Held>
  Held& keep_until_sync(Held&& held) {
    auto object = std::make_unique<stored<Held>>(static_cast<Held&&>(held));
    Held& result = object->held;
    stored_.push_back(std::move(object));
    return result;
  }

  void put(const bsp_memory& src, int dst_pid, bsp::slot dst_slot, std::size_t dst_offset);
  void get(int src_pid, bsp::slot src_slot, std::size_t src_offset, const bsp_memory& dst);
  void sync();
  /// Throws usage_error if another thread calls than the one that runs the process. put() and get()
  /// do it themselves.
  void validate_thread(const char* operation) const { bsp::abi::validate_thread(*process_, operation); }
  /// The source location of the program, for reports.
  void note(const std::source_location& at) const noexcept { set_call_site(detail::impl_of(all_), at); }

  void broadcast(const bsp_set&, const bsp_memory& data, int root);
  void gather(const bsp_set&, const bsp_memory& src, const bsp_memory& dst, int root);
  void scatter(const bsp_set&, const bsp_memory& src, const bsp_memory& dst, int root);
  void allgather(const bsp_set&, const bsp_memory& src, const bsp_memory& dst);
  void alltoall(const bsp_set&, const bsp_memory& src, const bsp_memory& dst);
  /// `root` below 0: on all members. `single_element`: as in bsp_abi.hpp.
  void combine(const bsp_set&, const bsp_memory& data, const element& type, const operation& by, int root,
               bool single_element);

 private:
  struct stored_object {
    virtual ~stored_object() = default;
  };
  template <class Held>
  struct stored final : stored_object {
    explicit stored(Held&& one) : held(static_cast<Held&&>(one)) {}
    Held held;
  };

  bsp::slot slot_of(const bsp_memory& memory);
  void validate_blocks(const char* operation, const char* parameter, const bsp_set& s,
                       const bsp_memory& blocks, std::size_t of);
  void renew() noexcept;

  communicator all_;
  bsp::process* process_;
  bsp_set all_processes_;
  std::vector<bsp::slot> temporary_slots_;  // registered only for this superstep
  std::vector<bsp::process_set_id> ended_;
  std::vector<std::unique_ptr<stored_object>> stored_;
  alignas(std::max_align_t) std::byte few_values_[1024];
  std::pmr::monotonic_buffer_resource values_{few_values_, sizeof few_values_};
};

/// A callable without state need not be kept.
template <class Held>
inline Held stateless{};

/// Converts a commutative callable, which is kept until the sync, to the library's form.
template <class T, class Function>
operation operation_until_sync(bsp_section& section, Function&& f) {
  using function = std::decay_t<Function>;
  using held = callable<function, ops::commutative_t>;
  if constexpr (std::is_empty_v<function> && std::is_default_constructible_v<function>)
    return operation_for<T>(stateless<held>);
  else
    return operation_for<T>(section.keep_until_sync(held{static_cast<Function&&>(f)}));
}

}  // namespace tutti::detail
TUTTI_API_END

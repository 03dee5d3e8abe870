// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <string>

#include "tutti/bsp.hpp"

namespace tutti::detail {
namespace {

constexpr bsp::abi::limits no_limits{std::numeric_limits<std::size_t>::max(),
                                     std::numeric_limits<std::size_t>::max(),
                                     std::numeric_limits<std::size_t>::max()};

// An offset that overflows lies beyond every slot.
std::size_t bytes_of(std::size_t elements, std::size_t element) {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(elements, element, &bytes) ? std::numeric_limits<std::size_t>::max() : bytes;
}

}  // namespace

// The first sync makes the set of all processes usable.
bsp_section::bsp_section(const communicator& all)
    : all_(all), process_(bsp::abi::open(detail::impl_of(all_), true)) {
  try {
    all_processes_ = make_set(0, all_.size(), 1);
    bsp::abi::sync(*process_);
  } catch (...) {
    bsp::abi::close(process_);
    throw;
  }
}

bsp_section::~bsp_section() { bsp::abi::close(process_); }

void bsp_section::leave() noexcept { bsp::abi::leave(*process_); }

bsp::slot bsp_section::add(bool global, const bsp_memory& area) {
  bsp::slot made = bsp::no_slot;
  bsp::abi::register_memory(*process_, global, area.data, area.bytes(), made);
  return made;
}

void bsp_section::remove(bsp::slot s) noexcept {
  if (bsp::abi::may_call_here(*process_) && !bsp::abi::failed(*process_)) bsp::abi::deregister(*process_, s);
}

bsp_set bsp_section::make_set(int lo, int hi, int stride) {
  const int p = all_.size(), me = all_.rank();
  const auto reject = [&](const char* parameter, const std::string& problem, const char* remedy) {
    bsp::abi::reject(*process_, "members", parameter, problem, remedy);
  };
  if (stride < 1) reject("stride", "is " + std::to_string(stride), "pass 1 or more");
  if (hi > p)
    reject("hi", "is " + std::to_string(hi) + ", but there are " + std::to_string(p) + " processes",
           "pass an exclusive upper bound of at most nprocs");
  if (lo < 0 || me < lo || me >= hi || (me - lo) % stride != 0)
    reject("lo",
           "process " + std::to_string(me) + " is not among " + std::to_string(lo) + " to " +
               std::to_string(hi - 1) + " in steps of " + std::to_string(stride),
           "call it only on the members");
  bsp_set made{0, (me - lo) / stride, (hi - lo + stride - 1) / stride};
  bsp::abi::make_process_set(*process_, lo, hi - 1, stride, no_limits, made.number);
  return made;
}

void bsp_section::end_set(bsp::process_set_id m) {
  if (bsp::abi::may_call_here(*process_)) ended_.push_back(m);
}

const void* bsp_section::keep_until_sync(const char* operation, const void* value, std::size_t bytes,
                                         std::size_t alignment) {
  validate_thread(operation);
  return std::memcpy(values_.allocate(bytes, alignment), value, bytes);
}

void bsp_section::put(const bsp_memory& src, int dst_pid, bsp::slot dst_slot, std::size_t dst_offset) {
  if (dst_slot == bsp::no_slot)
    bsp::abi::reject(*process_, "put", "dst_slot", "is empty: moved from, or deregistered",
                     "pass one that registered() returned");
  bsp::abi::put(*process_, src.data, dst_pid, dst_slot, bytes_of(dst_offset, src.element), src.bytes());
}

void bsp_section::get(int src_pid, bsp::slot src_slot, std::size_t src_offset, const bsp_memory& dst) {
  if (src_slot == bsp::no_slot)
    bsp::abi::reject(*process_, "get", "src_slot", "is empty: moved from, or deregistered",
                     "pass one that registered() returned");
  bsp::abi::get(*process_, src_pid, src_slot, bytes_of(src_offset, dst.element), dst.data, dst.bytes());
}

void bsp_section::renew() noexcept {
  stored_.clear();
  values_.release();
  if (!bsp::abi::failed(*process_)) {
    // The last one first, so that later ones get the same slots again.
    for (; !temporary_slots_.empty(); temporary_slots_.pop_back())
      bsp::abi::deregister(*process_, temporary_slots_.back());
    for (const bsp::process_set_id m : ended_) bsp::abi::free_process_set(*process_, m);
  }
  temporary_slots_.clear();
  ended_.clear();
}

void bsp_section::sync() {
  try {
    bsp::abi::sync(*process_);
  } catch (error& e) {
    e.locate(place_of(detail::impl_of(all_)));
    if (bsp::abi::may_call_here(*process_)) renew();
    throw;
  } catch (...) {
    renew();
    throw;
  }
  renew();
}

bsp::slot bsp_section::slot_of(const bsp_memory& memory) {
  if (memory.registered != bsp::no_slot || memory.count == 0) return memory.registered;
  const bsp::slot made = add(false, memory);
  temporary_slots_.push_back(made);
  return made;
}

void bsp_section::validate_blocks(const char* operation, const char* parameter, const bsp_set& s,
                                  const bsp_memory& blocks, std::size_t of) {
  const auto n = static_cast<std::size_t>(s.nprocs);
  if (blocks.count % n == 0 && blocks.count / n == of) return;
  bsp::abi::reject(*process_, operation, parameter,
                   "has " + std::to_string(blocks.count) + " elements, which are not " + std::to_string(n) +
                       " blocks of " + std::to_string(of),
                   "pass one block for each process");
}

void bsp_section::broadcast(const bsp_set& s, const bsp_memory& data, int root) {
  const bsp::slot where = slot_of(data);
  bsp::abi::broadcast(*process_, s.number, where, where, data.bytes(), root);
}

void bsp_section::gather(const bsp_set& s, const bsp_memory& src, const bsp_memory& dst, int root) {
  const bool at_root = s.pid == root;
  if (at_root) validate_blocks("gather", "dst", s, dst, src.count);
  bsp::abi::gather(*process_, s.number, slot_of(src), at_root ? slot_of(dst) : bsp::no_slot, src.bytes(),
                   root, false);
}

void bsp_section::scatter(const bsp_set& s, const bsp_memory& src, const bsp_memory& dst, int root) {
  const bool at_root = s.pid == root;
  if (at_root) validate_blocks("scatter", "src", s, src, dst.count);
  bsp::abi::scatter(*process_, s.number, at_root ? slot_of(src) : bsp::no_slot, slot_of(dst), dst.bytes(),
                    root, false);
}

void bsp_section::allgather(const bsp_set& s, const bsp_memory& src, const bsp_memory& dst) {
  validate_blocks("allgather", "dst", s, dst, src.count);
  bsp::abi::allgather(*process_, s.number, slot_of(src), slot_of(dst), src.bytes(), false);
}

void bsp_section::alltoall(const bsp_set& s, const bsp_memory& src, const bsp_memory& dst) {
  validate_blocks("alltoall", "src", s, src, src.count / static_cast<std::size_t>(s.nprocs));
  validate_blocks("alltoall", "dst", s, dst, src.count / static_cast<std::size_t>(s.nprocs));
  if (src.count > 0 && src.data == dst.data)
    bsp::abi::reject(*process_, "alltoall", "dst", "is the same as src", "pass different memory");
  bsp::abi::alltoall(*process_, s.number, slot_of(src), slot_of(dst),
                     src.bytes() / static_cast<std::size_t>(s.nprocs), false);
}

void bsp_section::combine(const bsp_set& s, const bsp_memory& data, const element& type, const operation& by,
                          int root, bool whole) {
  bsp::abi::reduce(*process_, s.number, data.data, slot_of(data), data.count, type, by, root, whole);
}

}  // namespace tutti::detail

namespace tutti::bsp {

context::~context() {
  if (std::uncaught_exceptions() == exceptions_at_construction_) section_->leave();
}

}  // namespace tutti::bsp

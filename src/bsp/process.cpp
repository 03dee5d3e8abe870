// SPDX-License-Identifier: Apache-2.0
#include "bsp/process.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "tutti/core/error.hpp"

namespace tutti::bsp {

process::process(detail::core& all, bool unbounded)
    : all_(all),
      pid_(all.rank()),
      nprocs_(all.size()),
      unbounded_(unbounded),
      boxes_(std::make_shared<outboxes>()),
      exchange_(make_exchange(all, memory_, boxes_)),
      calls_(all) {
  measure();
}

void process::refuse(const char* operation, const char* parameter, const std::string& problem,
                     const char* remedy) {
  std::string where;
  if (site_.file != nullptr) where = std::string(" (") + site_.file + ":" + std::to_string(site_.line) + ")";
  try {
    all_.refuse(operation, parameter, problem + where, remedy);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

void process::throw_failure(const char*) { std::rethrow_exception(failure_); }

bool process::resize_register(std::size_t entries) {
  refuse_failed("resize_memory_register");
  try {
    memory_.resize(entries);
    return true;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return false;
}

bool process::resize_queue(std::size_t messages) {
  refuse_failed("resize_message_queue");
  try {
    (*boxes_)[0].reserve(messages);
    (*boxes_)[1].reserve(messages);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool process::add(bool global, void* base, std::size_t bytes, slot& made) {
  const char* const operation = global ? "register_global" : "register_local";
  refuse_failed(operation);
  if (base == nullptr && bytes > 0)
    refuse(operation, "pointer", "is null, with a size of " + std::to_string(bytes),
           "pass memory of that size");
  if (unbounded_ && memory_.full()) memory_.grow();
  return memory_.add(global, base, bytes, superstep_, made);
}

void process::remove(slot s) {
  refuse_failed("deregister");
  if (memory_.find(s) == nullptr)
    refuse("deregister", "memslot", "there is no slot " + std::to_string(s),
           "deregister what was registered, once");
  memory_.remove(s);
}

std::byte* process::near_place(const char* operation, const char* parameter, slot s, std::size_t offset,
                               std::size_t bytes) {
  const area* const a = memory_.find(s);
  if (a == nullptr) [[unlikely]]
    refuse(operation, parameter, "there is no slot " + std::to_string(s),
           "register memory, and pass its slot");
  if (bytes > a->size || offset > a->size - bytes) [[unlikely]]
    refuse(operation, parameter,
           std::to_string(bytes) + " bytes at " + std::to_string(offset) + " are not within its " +
               std::to_string(a->size),
           "register as much, or pass fewer bytes");
  return a->base + offset;
}

message& process::next_message() {
  if (box().full()) box().grow();
  return box().add();
}

bool process::put(slot from, std::size_t from_offset, int to, slot into, std::size_t offset,
                  std::size_t bytes) {
  refuse_failed("put");
  return put(near_place("put", "src_slot", from, from_offset, bytes), to, into, offset, bytes);
}

bool process::put(const void* data, int to, slot into, std::size_t offset, std::size_t bytes) {
  refuse_failed("put");
  if (static_cast<unsigned>(to) >= static_cast<unsigned>(nprocs_)) [[unlikely]]
    refuse("put", "dst_pid", "is " + std::to_string(to) + " of " + std::to_string(nprocs_) + " processes",
           "pass 0 to nprocs - 1");
  if (!memory_register::is_global(into)) [[unlikely]]
    refuse("put", "dst_slot", "is a local slot", "register the memory globally, on all processes");
  if (box().full() && !unbounded_) return false;
  message& m = next_message();
  m.reads = static_cast<const std::byte*>(data);
  m.bytes = bytes;
  m.far_slot = into;
  m.far_offset = offset;
  m.peer = to;
  m.come_from(pid_, direction::put);
  return true;
}

bool process::get(int from, slot source, std::size_t source_offset, slot into, std::size_t offset,
                  std::size_t bytes) {
  refuse_failed("get");
  return get(from, source, source_offset, near_place("get", "dst_slot", into, offset, bytes), bytes);
}

bool process::get(int from, slot source, std::size_t source_offset, void* into, std::size_t bytes) {
  refuse_failed("get");
  if (static_cast<unsigned>(from) >= static_cast<unsigned>(nprocs_)) [[unlikely]]
    refuse("get", "src_pid", "is " + std::to_string(from) + " of " + std::to_string(nprocs_) + " processes",
           "pass 0 to nprocs - 1");
  if (!memory_register::is_global(source)) [[unlikely]]
    refuse("get", "src_slot", "is a local slot", "register the memory globally, on all processes");
  if (box().full() && !unbounded_) return false;
  message& m = next_message();
  m.writes = static_cast<std::byte*>(into);
  m.bytes = bytes;
  m.far_slot = source;
  m.far_offset = source_offset;
  m.peer = from;
  m.come_from(pid_, direction::get);
  return true;
}

std::uint64_t process::meet(std::uint64_t mine) {
  std::uint64_t all = mine;
  call c;
  c.what = collective::allreduce;
  c.type = element_of<std::uint64_t>();
  c.count = 1;
  c.in_place = true;
  c.output = &all;
  c.op.combine = [](const void* left, const void* right, void* result, std::size_t n, void*) {
    for (std::size_t i = 0; i < n; ++i)
      static_cast<std::uint64_t*>(result)[i] =
          static_cast<const std::uint64_t*>(left)[i] | static_cast<const std::uint64_t*>(right)[i];
  };
  c.op.which = builtin_op::bit_or;
  c.op.commutative = true;
  all_.run_blocking(c);
  return all;
}

// Some have failed, or have come to the end of the section while others sync. All know it, so all find out
// who.
void process::fail_with_others(std::uint64_t mine, std::uint64_t all) {
  const std::uint64_t why = (all & notices::failed) != 0 ? notices::failed : notices::leaving;
  int who = (mine & why) != 0 ? pid_ : -1;
  call c;
  c.what = collective::allreduce;
  c.type = element_of<int>();
  c.count = 1;
  c.in_place = true;
  c.output = &who;
  c.op.combine = [](const void* left, const void* right, void* result, std::size_t n, void*) {
    for (std::size_t i = 0; i < n; ++i)
      static_cast<int*>(result)[i] =
          std::max(static_cast<const int*>(left)[i], static_cast<const int*>(right)[i]);
  };
  c.op.which = builtin_op::max;
  c.op.commutative = true;
  all_.run_blocking(c);
  told_ = true;
  if (failure_ == nullptr)
    failure_ = std::make_exception_ptr(
        peer_error("sync", pid_, "",
                   "process " + std::to_string(who) +
                       (why == notices::failed ? " has failed" : " has left the section, and does not sync"),
                   why == notices::failed ? "see what it says" : "let all processes sync equally often"));
  std::rethrow_exception(failure_);
}

void process::sync() {
  if (told_) throw_failure("sync");
  try {
    sync_at_once();
  } catch (...) {
    calls_.forget();
    if (failure_ == nullptr) failure_ = std::current_exception();
    throw;
  }
}

void process::sync_at_once() {
  std::uint64_t mine = notices::syncing;
  if (failure_ != nullptr) [[unlikely]] {
    mine |= notices::failed;
  } else {
    mine |= exchange_->hand_over(box(), superstep_);
    if (calls_.size() > 1) mine |= notices::many_calls;
  }
  const std::uint64_t all = meet(mine);
  if ((all & (notices::failed | notices::leaving)) != 0) [[unlikely]]
    fail_with_others(mine, all);
  if (!calls_.empty() || (all & notices::many_calls) != 0)
    calls_.carry_out((all & notices::many_calls) != 0);
  else
    calls_.forget();  // calls of no bytes, and of one process, were counted
  exchange_->take(box(), superstep_, all);
  memory_.at_sync();
  ++superstep_;
  box().renew();
}

bool process::leave() noexcept {
  if (told_) return false;
  try {
    const std::uint64_t mine = notices::leaving | (failure_ != nullptr ? notices::failed : 0);
    const std::uint64_t all = meet(mine);
    if ((all & notices::syncing) != 0) fail_with_others(mine, all);
  } catch (...) {
    // Whoever has come to its end has nothing to fail by any more.
  }
  return failure_ == nullptr;
}

}  // namespace tutti::bsp

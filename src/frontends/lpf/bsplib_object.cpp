// SPDX-License-Identifier: Apache-2.0
//
// Constructs BSPlib objects and schedules operations.
#include "frontends/lpf/bsplib_object.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "frontends/bsp/bsp_process.hpp"
#include "frontends/lpf/root.hpp"
#include "frontends/lpf/section.hpp"

using tutti::lpf::padded;
using tutti::lpf::require_success;

namespace tutti::lpf {

using namespace tutti::detail;

void require_success(lpf_err_t code) {
  if (code == LPF_ERR_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != LPF_SUCCESS) throw context_failed();
}

table_offsets::table_offsets(std::size_t processes)
    : sent_descriptors(processes * sizeof(batch_descriptor)),
      summaries(sent_descriptors + processes * sizeof(batch_descriptor)),
      summary(summaries + processes * sizeof(lpf::summary)),
      more_gets(summary + sizeof(lpf::summary)),
      one(more_gets + sizeof(std::size_t)),
      bytes(one + sizeof(std::size_t)) {}

}  // namespace tutti::lpf

namespace {

// The entries of the register besides registrations and direct transfers. They are the table, puts,
// gets, sent messages and received messages, and two for the sizes of registrations.
constexpr std::size_t registers_of_object = 7;

std::size_t doubled(std::size_t current, std::size_t needed) {
  return std::max(needed, std::min<std::size_t>(2 * current, PTRDIFF_MAX));
}

// Allocates memory, so that one more element can be added without an exception.
template <class T>
void reserve_one(std::vector<T>& list) {
  if (list.size() == list.capacity()) list.reserve(std::max<std::size_t>(16, 2 * list.size()));
}

}  // namespace

bsplib_object::sent_only_scope::sent_only_scope(lpf_t ctx) : ctx_(ctx) {
  auto* const c = tutti::lpf::context_of(ctx, "bsplib_create");
  if (c == nullptr) throw tutti::lpf::context_failed();
  tutti::bsp::abi::count_sent_only(*c->process);
}

// The context may have ended before the object.
bsplib_object::sent_only_scope::~sent_only_scope() {
  auto* c = tutti::lpf::live_context(ctx_);
  if (ctx_ == LPF_ROOT && tutti::lpf::running_section_count() == 0)
    c = tutti::lpf::root_context("bsplib_destroy");
  if (c != nullptr) c->process->count_all();
}

bsplib_object::bsplib_object(lpf_t context, lpf_pid_t self, lpf_pid_t processes, bool safe_mode,
                             std::size_t max_direct)
    : ctx(context),
      pid(self),
      nprocs(processes),
      safe(safe_mode),
      sent_only_(context),
      max_direct_(max_direct),
      offsets_(processes),
      sent_messages_(
          reinterpret_cast<batch_descriptor*>(table_.add(offsets_.bytes) + offsets_.sent_descriptors),
          processes) {
  std::memset(table_.data(), 0, table_.size());
  *in_table<std::size_t>(offsets_.one) = 1;
  need_registers(0, 16);
  need_messages(16, 16);
  sync_context();
  require_success(lpf_register_global(ctx, table_.data(), table_.size(), &table_slot_));
  sync_context();
}

void bsplib_object::end() {
  for (const lpf_memslot_t slot : registered.slots()) require_success(lpf_deregister(ctx, slot));
  require_success(lpf_deregister(ctx, table_slot_));
}

void bsplib_object::need_registers(std::size_t direct, std::size_t registrations) {
  const std::size_t needed = registers_of_object + direct + registrations;
  if (needed <= registers_) return;
  const std::size_t more = doubled(registers_, needed);
  require_success(lpf_resize_memory_register(ctx, more));
  registers_ = more;
}

// In the first lpf_sync a process puts to each process a descriptor, a summary, and the flag of
// more gets. In the second one it gets messages and sizes from each process.
void bsplib_object::need_messages(std::size_t first, std::size_t second) {
  const std::size_t needed = std::max(3 * std::size_t{nprocs} + first, 2 * std::size_t{nprocs} + second);
  if (needed <= messages_) return;
  const std::size_t more = doubled(messages_, needed);
  require_success(lpf_resize_message_queue(ctx, more));
  messages_ = more;
}

void bsplib_object::push(const void* address, std::size_t size) {
  need_registers(direct_.size(), registered.size() + 1);
  if (safe) {
    const std::size_t pushes = registered.pushes() + 1;
    if (sizes_.capacity() < pushes) sizes_.reserve(2 * pushes);
    if (all_sizes_.capacity() < pushes * nprocs) all_sizes_.reserve(2 * pushes * nprocs);
  }
  registered.push(address, size, safe ? nprocs : 0);
}

void bsplib_object::put(lpf_pid_t to, const void* from, lpf_memslot_t slot, std::size_t offset,
                        std::size_t bytes) {
  need_messages(0, puts_.size() + direct_.size() + 1);
  reserve_one(puts_);
  const std::size_t at = put_bytes_.size();
  std::memcpy(put_bytes_.add(bytes), from, bytes);
  puts_.push_back({to, true, slot, offset, bytes, nullptr, at});
}

void bsplib_object::get(lpf_pid_t from, lpf_memslot_t slot, std::size_t offset, void* into,
                        std::size_t bytes) {
  need_messages(gets_.size() + 1, 0);
  reserve_one(gets_);
  const std::size_t at = get_bytes_.size();
  get_bytes_.add(bytes);
  gets_.push_back({from, false, slot, offset, bytes, static_cast<std::byte*>(into), at});
}

bool bsplib_object::direct(const transfer& t) {
  if (direct_.size() >= max_direct_) return false;
  need_messages(0, puts_.size() + direct_.size() + 1);
  need_registers(direct_.size() + 1, registered.size());
  direct_.push_back(t);
  return true;
}

void bsplib_object::send(lpf_pid_t to, const void* tag, const void* payload, std::size_t bytes,
                         bool deferred) {
  if (bytes > PTRDIFF_MAX / 2 || tag_bytes > PTRDIFF_MAX / 2 - 64) throw std::bad_alloc();
  const tutti::lpf::message_format format{tag_bytes};
  const std::size_t all = format.bytes(bytes);
  if (deferred) reserve_one(deferred_);
  sent_messages_.reserve_one();
  // If the messages are not in batches, the sync copies them there.
  sent_in_batches_.reserve(sent_.size() + all);
  const std::size_t at = sent_.size();
  std::byte* const message = sent_.add(all);
  tutti::lpf::write_header(message, bytes);
  if (tag_bytes > 0) std::memcpy(message + format.tag_begin(), tag, tag_bytes);
  if (deferred)
    deferred_.push_back({at, payload, bytes});
  else if (bytes > 0)
    std::memcpy(message + format.payload_begin(), payload, bytes);
  sent_messages_.add(to, all);
}

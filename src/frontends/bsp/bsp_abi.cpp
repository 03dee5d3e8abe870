// SPDX-License-Identifier: Apache-2.0
//
// Implements the functions of tutti/detail/bsp_abi.hpp.
#include "frontends/bsp/bsp_process.hpp"

namespace tutti::bsp::abi {

process* open(detail::communicator_impl& all, bool unbounded) {
  detail::validate_entry(all, "bsp");
  return new process(all, unbounded);
}
bool leave(process& p) noexcept { return p.leave(); }
bool reported_by_another(const process& p) noexcept { return p.reported_by_another(); }
void close(process* p) noexcept { delete p; }
void begin_nested(process& p, const char* call) { p.begin_nested(call); }
void end_nested(process& p) noexcept { p.end_nested(); }

int pid(const process& p) noexcept { return p.pid(); }
int nprocs(const process& p) noexcept { return p.nprocs(); }
const char* engine_of(const process& p) noexcept { return p.engine(); }
void validate_collectives_init(process& p, unsigned s, unsigned n, unsigned hi) {
  p.validate_collectives_init(s, n, hi);
}
bool failed(const process& p) noexcept { return p.failed(); }
void validate_thread(const process& p, const char* operation) { p.validate_thread(operation); }
bool may_call_here(const process& p) noexcept { return p.may_call_here(); }
void reject(process& p, const char* operation, const char* parameter, std::string_view problem,
            const char* remedy) {
  p.reject_for_frontend(operation, parameter, problem, remedy);
}
const machine_costs& measured(const process& p) noexcept { return p.measured(); }

bool resize_memory_register(process& p, std::size_t entries) { return p.resize_memory_register(entries); }
void count_sent_only(process& p) noexcept { p.count_sent_only(); }
bool resize_queue(process& p, std::size_t messages) { return p.resize_queue(messages); }
bool register_memory(process& p, bool global, void* base, std::size_t bytes, slot& result) {
  return p.register_memory(global, base, bytes, result);
}
void deregister(process& p, slot s) { p.deregister(s); }

bool put(process& p, slot from, std::size_t from_offset, int to, slot into, std::size_t offset,
         std::size_t bytes) {
  return p.put(from, from_offset, to, into, offset, bytes);
}
bool get(process& p, int from, slot source, std::size_t source_offset, slot into, std::size_t offset,
         std::size_t bytes) {
  return p.get(from, source, source_offset, into, offset, bytes);
}
bool put(process& p, const void* data, int to, slot into, std::size_t offset, std::size_t bytes) {
  return p.put(data, to, into, offset, bytes);
}
bool get(process& p, int from, slot source, std::size_t source_offset, void* into, std::size_t bytes) {
  return p.get(from, source, source_offset, into, bytes);
}
void sync(process& p) { p.sync(); }
void set_call_site(process& p, call_site where) noexcept { p.set_call_site(where); }

bool make_process_set(process& p, int first, int last, int stride, const limits& capacity,
                      process_set_id& result) {
  return p.make_process_set(first, last, stride, capacity, result);
}
void free_process_set(process& p, process_set_id m) { p.free_process_set(m); }

bool broadcast(process& p, process_set_id m, slot from, slot into, std::size_t bytes, int root) {
  return p.rooted(collective::bcast, m, from, into, bytes, root, true);
}
bool gather(process& p, process_set_id m, slot from, slot into, std::size_t bytes, int root,
            bool skip_own_block) {
  return p.rooted(collective::gather, m, from, into, bytes, root, skip_own_block);
}
bool scatter(process& p, process_set_id m, slot from, slot into, std::size_t bytes, int root,
             bool skip_own_block) {
  return p.rooted(collective::scatter, m, from, into, bytes, root, skip_own_block);
}
bool allgather(process& p, process_set_id m, slot from, slot into, std::size_t bytes, bool skip_own_block) {
  return p.unrooted(collective::allgather, m, from, into, bytes, skip_own_block);
}
bool alltoall(process& p, process_set_id m, slot from, slot into, std::size_t bytes, bool skip_own_block) {
  return p.unrooted(collective::alltoall, m, from, into, bytes, skip_own_block);
}
bool reduce(process& p, process_set_id m, void* data, slot where, std::size_t count, std::size_t size,
            combiner by, int root, bool single_element) {
  return p.reduce(m, data, where, count, {.type = {.size = size}, .combiner = by}, root, single_element);
}
bool reduce(process& p, process_set_id m, void* data, slot where, std::size_t count, const element& type,
            const operation& by, int root, bool single_element) {
  return p.reduce(m, data, where, count, {.type = type, .op = by}, root, single_element);
}

}  // namespace tutti::bsp::abi

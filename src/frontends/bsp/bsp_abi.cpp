// SPDX-License-Identifier: Apache-2.0
//
// Implements the functions of tutti/detail/bsp_abi.hpp.
#include "frontends/bsp/bsp_process.hpp"

namespace tutti::bsp::abi {

process* open(detail::communicator_impl& all, bool unbounded) { return new process(all, unbounded); }
bool leave(process& p) noexcept { return p.leave(); }
bool another_reports(const process& p) noexcept { return p.another_reports(); }
void close(process* p) noexcept { delete p; }
void begin_nested(process& p, const char* call) { p.begin_nested(call); }
void end_nested(process& p) noexcept { p.end_nested(); }

int pid(const process& p) noexcept { return p.pid(); }
int nprocs(const process& p) noexcept { return p.nprocs(); }
const char* engine_of(const process& p) noexcept { return p.engine(); }
void check_process(process& p, unsigned s, unsigned n, unsigned hi) { p.check_process(s, n, hi); }
bool failed(const process& p) noexcept { return p.failed(); }
void refuse(process& p, const char* operation, const char* parameter, std::string_view problem,
            const char* remedy) {
  p.refuse_from_outside(operation, parameter, problem, remedy);
}
const figures& measured(const process& p) noexcept { return p.measured(); }

bool resize_register(process& p, std::size_t entries) { return p.resize_register(entries); }
void count_sent_only(process& p) noexcept { p.count_sent_only(); }
bool resize_queue(process& p, std::size_t messages) { return p.resize_queue(messages); }
bool add(process& p, bool global, void* base, std::size_t bytes, slot& made) {
  return p.add(global, base, bytes, made);
}
void remove(process& p, slot s) { p.remove(s); }

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
void report_site(process& p, call_site where) noexcept { p.report_site(where); }

bool make_members(process& p, int first, int last, int stride, const limits& most, members& made) {
  return p.make_members(first, last, stride, most, made);
}
void end_members(process& p, members m) { p.end_members(m); }

bool broadcast(process& p, members m, slot from, slot into, std::size_t bytes, int root) {
  return p.rooted(collective::bcast, m, from, into, bytes, root, true);
}
bool gather(process& p, members m, slot from, slot into, std::size_t bytes, int root, bool without_own) {
  return p.rooted(collective::gather, m, from, into, bytes, root, without_own);
}
bool scatter(process& p, members m, slot from, slot into, std::size_t bytes, int root, bool without_own) {
  return p.rooted(collective::scatter, m, from, into, bytes, root, without_own);
}
bool allgather(process& p, members m, slot from, slot into, std::size_t bytes, bool without_own) {
  return p.unrooted(collective::allgather, m, from, into, bytes, without_own);
}
bool alltoall(process& p, members m, slot from, slot into, std::size_t bytes, bool without_own) {
  return p.unrooted(collective::alltoall, m, from, into, bytes, without_own);
}
bool combine(process& p, members m, void* data, slot where, std::size_t count, std::size_t size, combiner by,
             int root, bool whole) {
  return p.combine(m, data, where, count, {.type = {.size = size}, .by = by}, root, whole);
}
bool combine(process& p, members m, void* data, slot where, std::size_t count, const element& type,
             const operation& by, int root, bool whole) {
  return p.combine(m, data, where, count, {.type = type, .op = by}, root, whole);
}

}  // namespace tutti::bsp::abi

// SPDX-License-Identifier: Apache-2.0
//
// Tests mistakes: each wrong argument is a permanent error on the process that passes it. A sync of
// the other processes fails, no process blocks, and the next section works. The same holds for a
// section that some processes leave.
#include <limits>

#include "lpf/collectives.h"
#include "suite.hpp"

namespace {

using suite::guarded;
using suite::process;

constexpr std::size_t max_size = std::numeric_limits<std::size_t>::max();
constexpr std::size_t area = 64;

// The objects that the mistakes use, made by all processes of a section.
struct tools {
  const process& me;
  guarded memory{area}, more{area};
  lpf_memslot_t global = LPF_INVALID_MEMSLOT, other = LPF_INVALID_MEMSLOT, local = LPF_INVALID_MEMSLOT,
                removed = LPF_INVALID_MEMSLOT, removed_local = LPF_INVALID_MEMSLOT;
  lpf_coll_t coll = LPF_INVALID_COLL, ended = LPF_INVALID_COLL;

  explicit tools(const process& p) : me(p) {
    me.resize(10, 4 * me.p + 8);
    me.needs(lpf_register_global(me.ctx, memory.data(), area, &global), "lpf_register_global");
    me.needs(lpf_register_global(me.ctx, more.data(), area, &other), "lpf_register_global");
    me.needs(lpf_register_global(me.ctx, memory.data(), area, &removed), "lpf_register_global");
    me.needs(lpf_register_local(me.ctx, memory.data(), area, &local), "lpf_register_local");
    me.needs(lpf_register_local(me.ctx, memory.data(), area, &removed_local), "lpf_register_local");
    me.needs(lpf_collectives_init(me.ctx, me.pid, me.p, 4, 32, area, &coll), "lpf_collectives_init");
    me.needs(lpf_collectives_init(me.ctx, me.pid, me.p, 4, 32, area, &ended), "lpf_collectives_init");
    me.sync();
    me.needs(lpf_deregister(me.ctx, removed), "lpf_deregister");
    me.needs(lpf_deregister(me.ctx, removed_local), "lpf_deregister");
    me.needs(lpf_collectives_destroy(ended), "lpf_collectives_destroy");
    me.sync();
  }
  lpf_err_t put(lpf_memslot_t from, std::size_t at, unsigned to, lpf_memslot_t into, std::size_t offset,
                std::size_t n) {
    return lpf_put(me.ctx, from, at, to, into, offset, n, LPF_MSG_DEFAULT);
  }
  lpf_err_t get(unsigned from, lpf_memslot_t source, std::size_t at, lpf_memslot_t into, std::size_t offset,
                std::size_t n) {
    return lpf_get(me.ctx, from, source, at, into, offset, n, LPF_MSG_DEFAULT);
  }
  unsigned next() const { return (me.pid + 1) % me.p; }
  lpf_err_t init(unsigned s, unsigned p, unsigned lo, unsigned hi, unsigned str, std::size_t calls = 1) {
    lpf_coll_t c = LPF_INVALID_COLL;
    return lpf_collectives_init_strided(me.ctx, s, p, lo, hi, str, calls, 8, 8, &c);
  }
};

void ignore(std::size_t, const void*, void*) {}

// Either the call itself detects the mistake, or the next sync of some process at the latest.
enum class detection { immediate, at_sync };

struct mistake {
  const char* name;
  detection when;
  lpf_err_t (*act)(tools&);
  unsigned min_processes = 1;
};

constexpr mistake all_mistakes[] = {
    {"put from a slot that does not exist", detection::immediate,
     [](tools& t) { return t.put(4711, 0, t.next(), t.global, 0, 8); }},
    {"put from LPF_INVALID_MEMSLOT", detection::immediate,
     [](tools& t) { return t.put(LPF_INVALID_MEMSLOT, 0, t.next(), t.global, 0, 8); }},
    {"put from a slot that was deregistered", detection::immediate,
     [](tools& t) { return t.put(t.removed, 0, t.next(), t.global, 0, 8); }},
    {"put from a local slot that was deregistered", detection::immediate,
     [](tools& t) { return t.put(t.removed_local, 0, t.next(), t.global, 0, 8); }},
    {"put from beyond the end of the local slot", detection::immediate,
     [](tools& t) { return t.put(t.global, area - 7, t.next(), t.other, 0, 8); }},
    {"put of more bytes than the local slot has", detection::immediate,
     [](tools& t) { return t.put(t.local, 0, t.next(), t.other, 0, area + 1); }},
    {"put from offset SIZE_MAX", detection::immediate,
     [](tools& t) { return t.put(t.global, max_size, t.next(), t.other, 0, 1); }},
    {"put from an offset that wraps", detection::immediate,
     [](tools& t) { return t.put(t.global, max_size - 3, t.next(), t.other, 0, 8); }},
    {"put of SIZE_MAX bytes", detection::immediate,
     [](tools& t) { return t.put(t.global, 8, t.next(), t.other, 0, max_size); }},
    {"put to process p", detection::immediate,
     [](tools& t) { return t.put(t.global, 0, t.me.p, t.other, 0, 8); }},
    {"put to process UINT_MAX", detection::immediate,
     [](tools& t) { return t.put(t.global, 0, ~0u, t.other, 0, 8); }},
    {"put into a local slot", detection::immediate,
     [](tools& t) { return t.put(t.global, 0, t.next(), t.local, 0, 8); }},
    {"put into LPF_INVALID_MEMSLOT", detection::immediate,
     [](tools& t) { return t.put(t.global, 0, t.next(), LPF_INVALID_MEMSLOT, 0, 8); }},
    {"put into a slot that does not exist", detection::at_sync,
     [](tools& t) { return t.put(t.global, 0, t.next(), 4710, 0, 8); }},
    {"put into a slot that was deregistered", detection::at_sync,
     [](tools& t) { return t.put(t.global, 0, t.next(), t.removed, 0, 8); }},
    {"put beyond the end of the remote slot", detection::at_sync,
     [](tools& t) { return t.put(t.global, 0, t.next(), t.other, area - 7, 8); }},
    {"put to offset SIZE_MAX", detection::at_sync,
     [](tools& t) { return t.put(t.global, 0, t.next(), t.other, max_size, 1); }},
    {"put to an offset that wraps", detection::at_sync,
     [](tools& t) { return t.put(t.global, 0, t.next(), t.other, max_size - 3, 8); }},
    {"put beyond 4 GiB", detection::at_sync,
     [](tools& t) { return t.put(t.global, 0, t.next(), t.other, std::size_t{1} << 32, 8); }},
    {"put into a slot beyond 2^32", detection::at_sync,
     [](tools& t) { return t.put(t.global, 0, t.next(), t.other + (std::size_t{1} << 32), 0, 8); }},
    {"put beyond the end of the local slot of the target", detection::at_sync,
     [](tools& t) { return t.put(t.global, 0, t.me.pid, t.other, area, 1); }},
    {"get from process p", detection::immediate,
     [](tools& t) { return t.get(t.me.p, t.other, 0, t.global, 0, 8); }},
    {"get from process UINT_MAX", detection::immediate,
     [](tools& t) { return t.get(~0u, t.other, 0, t.global, 0, 8); }},
    {"get of a local slot", detection::immediate,
     [](tools& t) { return t.get(t.next(), t.local, 0, t.other, 0, 8); }},
    {"get into a slot that was deregistered", detection::immediate,
     [](tools& t) { return t.get(t.next(), t.other, 0, t.removed, 0, 8); }},
    {"get into LPF_INVALID_MEMSLOT", detection::immediate,
     [](tools& t) { return t.get(t.next(), t.other, 0, LPF_INVALID_MEMSLOT, 0, 8); }},
    {"get beyond the end of the local slot", detection::immediate,
     [](tools& t) { return t.get(t.next(), t.other, 0, t.global, 1, area); }},
    {"get to an offset that wraps", detection::immediate,
     [](tools& t) { return t.get(t.next(), t.other, 0, t.local, max_size - 1, 8); }},
    {"get of LPF_INVALID_MEMSLOT", detection::at_sync,
     [](tools& t) { return t.get(t.next(), LPF_INVALID_MEMSLOT, 0, t.global, 0, 8); }},
    {"get of a slot that does not exist", detection::at_sync,
     [](tools& t) { return t.get(t.next(), 4710, 0, t.global, 0, 8); }},
    {"get beyond the end of the remote slot", detection::at_sync,
     [](tools& t) { return t.get(t.next(), t.other, area - 31, t.global, 0, 32); }},
    {"get from an offset that wraps", detection::at_sync,
     [](tools& t) { return t.get(t.next(), t.other, max_size - 7, t.global, 0, 16); }},
    {"deregister an unknown slot", detection::immediate,
     [](tools& t) { return lpf_deregister(t.me.ctx, 4711); }},
    {"deregister LPF_INVALID_MEMSLOT", detection::immediate,
     [](tools& t) { return lpf_deregister(t.me.ctx, LPF_INVALID_MEMSLOT); }},
    {"deregister twice", detection::immediate, [](tools& t) { return lpf_deregister(t.me.ctx, t.removed); }},
    {"deregister a local slot twice", detection::immediate,
     [](tools& t) { return lpf_deregister(t.me.ctx, t.removed_local); }},
    {"register null that is not empty", detection::immediate,
     [](tools& t) { return lpf_register_local(t.me.ctx, nullptr, 1, &t.removed); }},
    {"register null globally that is not empty", detection::immediate,
     [](tools& t) { return lpf_register_global(t.me.ctx, nullptr, 8, &t.removed); }},
    {"register_local without a pointer to the slot", detection::immediate,
     [](tools& t) { return lpf_register_local(t.me.ctx, t.memory.data(), 8, nullptr); }},
    {"register_global without a pointer to the slot", detection::immediate,
     [](tools& t) { return lpf_register_global(t.me.ctx, t.memory.data(), 8, nullptr); }},
    {"probe into nothing", detection::immediate, [](tools& t) { return lpf_probe(t.me.ctx, nullptr); }},
    {"init without an object", detection::immediate,
     [](tools& t) { return lpf_collectives_init(t.me.ctx, t.me.pid, t.me.p, 1, 8, 8, nullptr); }},
    {"init of another process", detection::immediate,
     [](tools& t) { return t.init(t.me.pid + 1, t.me.p, 0, t.me.p, 1); }},
    {"init of too many processes", detection::immediate,
     [](tools& t) { return t.init(t.me.pid, t.me.p + 1, 0, t.me.p, 1); }},
    {"init of no processes", detection::immediate, [](tools& t) { return t.init(t.me.pid, 0, 0, 0, 1); }},
    {"init up to beyond the last", detection::immediate,
     [](tools& t) { return t.init(t.me.pid, t.me.p, 0, t.me.p + 1, 1); }},
    {"init with hi UINT_MAX", detection::immediate,
     [](tools& t) { return t.init(t.me.pid, t.me.p, 0, ~0u, 1); }},
    {"init from lo above hi", detection::immediate,
     [](tools& t) { return t.init(t.me.pid, t.me.p, t.me.p, 0, 1); }},
    {"init with lo UINT_MAX", detection::immediate,
     [](tools& t) { return t.init(t.me.pid, t.me.p, ~0u, t.me.p, 1); }},
    {"init of no member", detection::immediate,
     [](tools& t) { return t.init(t.me.pid, t.me.p, t.me.pid, t.me.pid, 1); }},
    {"init with stride 0", detection::immediate,
     [](tools& t) { return t.init(t.me.pid, t.me.p, 0, t.me.p, 0); }},
    {"init for no calls", detection::immediate,
     [](tools& t) { return t.init(t.me.pid, t.me.p, 0, t.me.p, 1, 0); }},
    {"broadcast by a destroyed object", detection::immediate,
     [](tools& t) { return lpf_broadcast(t.ended, t.global, t.other, 8, 0); }},
    {"allreduce by a destroyed object", detection::immediate,
     [](tools& t) { return lpf_allreduce(t.ended, t.memory.data(), t.global, 8, ignore); }},
    {"destroy twice", detection::immediate, [](tools& t) { return lpf_collectives_destroy(t.ended); }},
    {"broadcast from root p", detection::immediate,
     [](tools& t) { return lpf_broadcast(t.coll, t.global, t.other, 8, t.me.p); }},
    {"gather to root UINT_MAX", detection::immediate,
     [](tools& t) { return lpf_gather(t.coll, t.global, t.other, 1, ~0u); }},
    {"scatter from root p", detection::immediate,
     [](tools& t) { return lpf_scatter(t.coll, t.global, t.other, 1, t.me.p); }},
    {"reduce to root p", detection::immediate,
     [](tools& t) { return lpf_reduce(t.coll, t.memory.data(), t.global, 8, ignore, t.me.p); }},
    {"combine to root UINT_MAX", detection::immediate,
     [](tools& t) { return lpf_combine(t.coll, t.memory.data(), t.global, 1, 8, ignore, ~0u); }},
    {"broadcast of no slot", detection::immediate,
     [](tools& t) { return lpf_broadcast(t.coll, LPF_INVALID_MEMSLOT, t.other, 8, t.me.pid); }},
    {"broadcast into no slot", detection::immediate,
     [](tools& t) { return lpf_broadcast(t.coll, t.global, t.removed, 8, t.next()); }, 2},
    {"allgather of no slot", detection::immediate,
     [](tools& t) { return lpf_allgather(t.coll, t.removed, t.other, 0 + 1, true); }},
    {"alltoall into itself", detection::immediate,
     [](tools& t) { return lpf_alltoall(t.coll, t.global, t.global, 1); }, 2},
    {"allgather into itself", detection::immediate,
     [](tools& t) { return lpf_allgather(t.coll, t.global, t.global, 1, false); }, 2},
    {"reduce of another address", detection::immediate,
     [](tools& t) { return lpf_reduce(t.coll, t.more.data(), t.global, 8, ignore, 0); }},
    {"allcombine of another address", detection::immediate,
     [](tools& t) { return lpf_allcombine(t.coll, t.memory.data() + 1, t.global, 8, 1, ignore); }},
    {"allcombine of a slot that was deregistered", detection::immediate,
     [](tools& t) { return lpf_allcombine(t.coll, t.memory.data(), t.removed, 8, 1, ignore); }},
    {"reduce by null", detection::immediate,
     [](tools& t) { return lpf_reduce(t.coll, t.memory.data(), t.global, 8, nullptr, 0); }},
    {"allcombine by null", detection::immediate,
     [](tools& t) { return lpf_allcombine(t.coll, t.memory.data(), t.global, 8, 1, nullptr); }},
};

// Checks that all functions fail on the failed context.
void check_failed(const process& me, tools& t) {
  lpf_memslot_t s;
  lpf_coll_t c;
  me.returns(t.put(t.global, 0, me.pid, t.other, 0, 0), LPF_ERR_FATAL, "put after a failure");
  me.returns(t.get(me.pid, t.global, 0, t.other, 0, 0), LPF_ERR_FATAL, "get after a failure");
  me.returns(lpf_register_local(me.ctx, &s, sizeof s, &s), LPF_ERR_FATAL, "register_local after a failure");
  me.returns(lpf_register_global(me.ctx, &s, sizeof s, &s), LPF_ERR_FATAL, "register_global after a failure");
  me.returns(lpf_deregister(me.ctx, t.global), LPF_ERR_FATAL, "deregister after a failure");
  me.returns(lpf_resize_memory_register(me.ctx, 2), LPF_ERR_FATAL, "resize_memory_register after a failure");
  me.returns(lpf_resize_message_queue(me.ctx, 2), LPF_ERR_FATAL, "resize_message_queue after a failure");
  me.returns(lpf_collectives_init(me.ctx, me.pid, me.p, 1, 1, 1, &c), LPF_ERR_FATAL,
             "collectives_init after a failure");
  me.returns(lpf_broadcast(t.coll, t.global, t.other, 0, 0), LPF_ERR_FATAL, "broadcast after a failure");
}

void check_memory(const process& me, tools& t) {
  const suite::bytes wanted(area, 0xcd);
  me.equal(t.memory.data(), wanted.data(), area, "memory");
  me.equal(t.more.data(), wanted.data(), area, "memory");
  me.check(t.memory.intact() && t.more.intact(), "a canary");
}

// Valid calls, so that operations are in progress when a process fails. They do not change memory.
void schedule_operations(const process& me, tools& t) {
  me.needs(t.put(t.global, 0, t.next(), t.other, 32, 8), "lpf_put");
  me.needs(t.get(t.next(), t.global, 8, t.other, 40, 8), "lpf_get");
  me.needs(lpf_broadcast(t.coll, t.global, t.other, 8, 0), "lpf_broadcast");
}

// The processes that have operations in their queues when the mistake happens.
enum class pending { none, all_others, all };

// Process `faulty_pid` makes the mistake. Then it syncs, or returns at once.
void run_mistake(const process& me, const mistake& how, unsigned faulty_pid, bool syncs, pending with) {
  tools t(me);
  if (with == pending::all) schedule_operations(me, t);
  if (with == pending::all_others && me.pid != faulty_pid)
    me.needs(t.get(t.next(), t.global, 8, t.other, 40, 8), "lpf_get");
  lpf_err_t end = LPF_SUCCESS;
  if (me.pid == faulty_pid) {
    end = how.act(t);
    if (how.when == detection::immediate || end != LPF_SUCCESS) {
      me.returns(end, LPF_ERR_FATAL, how.name);
      check_failed(me, t);
    }
    // If the library reports no error here, no other process can see the mistake.
    if (!syncs && end != LPF_SUCCESS) return;
  }
  for (int k = 0; k < 2 && end == LPF_SUCCESS; ++k) end = lpf_sync(me.ctx, LPF_SYNC_DEFAULT);
  me.returns(end, LPF_ERR_FATAL, std::string("lpf_sync after: ") + how.name);
  for (int k = 0; k < 3; ++k)
    me.returns(lpf_sync(me.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL, "lpf_sync after a failure");
  check_failed(me, t);
  check_memory(me, t);
}

struct mistake_case {
  const process* outer;
  const mistake* how;
  unsigned faulty_pid;
  bool syncs;
  pending with;
};

void in_a_section(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  const mistake_case& m = *static_cast<const mistake_case*>(args.input);
  const process me{ctx, pid, nprocs, m.how->name};
  try {
    run_mistake(me, *m.how, m.faulty_pid, m.syncs, m.with);
  } catch (const suite::case_failed&) {
  }
}

void every_mistake(const process& me) {
  unsigned turn = 0;
  for (const mistake& how : all_mistakes)
    for (const pending with : {pending::none, pending::all_others, pending::all}) {
      ++turn;
      if (me.p < how.min_processes || !suite::is_selected(turn) || (me.p > 16 && turn % 4 != 0)) continue;
      const mistake_case m{&me, &how, turn % 2 == 0 ? me.p - 1 : turn % me.p, turn % 5 != 0, with};
      lpf_args_t args = LPF_NO_ARGS;
      args.input = &m;
      args.input_size = sizeof m;
      me.returns(lpf_rehook(me.ctx, in_a_section, args), LPF_ERR_FATAL,
                 std::string("lpf_rehook of: ") + how.name);
      me.sync();
    }
}

// Invalid contexts give errors, and nothing else fails.
void no_context(const process& me) {
  tools t(me);
  for (const lpf_t none : {LPF_NONE, LPF_ROOT}) {
    lpf_memslot_t s = 17;
    lpf_coll_t c = LPF_INVALID_COLL;
    me.returns(lpf_register_global(none, &s, sizeof s, &s), LPF_ERR_FATAL, "register_global in no context");
    me.returns(lpf_register_local(none, &s, sizeof s, &s), LPF_ERR_FATAL, "register_local in no context");
    me.returns(lpf_deregister(none, t.global), LPF_ERR_FATAL, "deregister in no context");
    me.returns(lpf_put(none, t.global, 0, 0, t.other, 0, 8, LPF_MSG_DEFAULT), LPF_ERR_FATAL,
               "put in no context");
    me.returns(lpf_get(none, 0, t.global, 0, t.other, 0, 8, LPF_MSG_DEFAULT), LPF_ERR_FATAL,
               "get in no context");
    me.returns(lpf_sync(none, LPF_SYNC_DEFAULT), LPF_ERR_FATAL, "sync in no context");
    me.returns(lpf_resize_memory_register(none, 1), LPF_ERR_FATAL, "resize_memory_register in no context");
    me.returns(lpf_resize_message_queue(none, 1), LPF_ERR_FATAL, "resize_message_queue in no context");
    me.returns(lpf_collectives_init(none, 0, 1, 1, 1, 1, &c), LPF_ERR_FATAL,
               "collectives_init in no context");
    me.returns(lpf_rehook(
                   none, [](lpf_t, lpf_pid_t, lpf_pid_t, lpf_args_t) {}, LPF_NO_ARGS),
               LPF_ERR_FATAL, "rehook of no context");
  }
  lpf_machine_t machine = LPF_INVALID_MACHINE;
  me.returns(lpf_probe(LPF_NONE, &machine), LPF_ERR_FATAL, "probe in no context");
  me.returns(lpf_hook(
                 LPF_INIT_NONE, [](lpf_t, lpf_pid_t, lpf_pid_t, lpf_args_t) {}, LPF_NO_ARGS),
             LPF_ERR_FATAL, "hook of nothing");
  static const lpf_coll_t zero{};
  for (const lpf_coll_t none : {LPF_INVALID_COLL, zero}) {
    me.returns(lpf_broadcast(none, t.global, t.other, 8, 0), LPF_ERR_FATAL, "broadcast by no object");
    me.returns(lpf_gather(none, t.global, t.other, 8, 0), LPF_ERR_FATAL, "gather by no object");
    me.returns(lpf_scatter(none, t.global, t.other, 8, 0), LPF_ERR_FATAL, "scatter by no object");
    me.returns(lpf_allgather(none, t.global, t.other, 8, true), LPF_ERR_FATAL, "allgather by no object");
    me.returns(lpf_alltoall(none, t.global, t.other, 8), LPF_ERR_FATAL, "alltoall by no object");
    me.returns(lpf_reduce(none, t.memory.data(), t.global, 8, ignore, 0), LPF_ERR_FATAL,
               "reduce by no object");
    me.returns(lpf_allreduce(none, t.memory.data(), t.global, 8, ignore), LPF_ERR_FATAL,
               "allreduce by no object");
    me.returns(lpf_combine(none, t.memory.data(), t.global, 1, 8, ignore, 0), LPF_ERR_FATAL,
               "combine by no object");
    me.returns(lpf_allcombine(none, t.memory.data(), t.global, 1, 8, ignore), LPF_ERR_FATAL,
               "allcombine by no object");
    me.returns(lpf_collectives_destroy(none), LPF_ERR_FATAL, "destroy of no object");
    me.check(lpf_collectives_get_context(none) == LPF_NONE, "the context of no object");
  }
  t.memory.data()[0] = static_cast<unsigned char>(me.pid);
  me.needs(t.put(t.global, 0, t.next(), t.other, 0, 1), "put after calls in no context");
  me.sync();
  me.check(t.more.data()[0] == static_cast<unsigned char>((me.pid + me.p - 1) % me.p),
           "a put after calls in no context");
}

// Some processes leave, with or without scheduled work. The syncs of the others then fail.
template <unsigned Which>
void some_leave(const process& me) {
  tools t(me);
  const bool leaves = Which == 0   ? me.pid == 0
                      : Which == 1 ? me.pid == me.p - 1
                      : Which == 2 ? me.pid % 2 == 1
                                   : me.pid != me.p / 2;
  me.needs(t.put(t.global, 0, t.next(), t.other, 0, 8), "lpf_put");
  if (Which % 2 == 0) me.sync();
  if (leaves) return;
  if (Which == 1) me.needs(lpf_broadcast(t.coll, t.global, t.other, 8, 0), "lpf_broadcast");
  for (int k = 0; k < 3; ++k)
    me.returns(lpf_sync(me.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL, "lpf_sync when others have left");
  check_failed(me, t);
}

// All processes leave at once, with scheduled work. This is no failure.
void all_leave(const process& me) {
  tools t(me);
  me.needs(t.put(t.global, 0, t.next(), t.other, 0, 8), "lpf_put");
  me.needs(t.get(t.next(), t.global, 0, t.other, 8, 8), "lpf_get");
}

// Several processes fail at once, each in its own way.
void all_fail(const process& me) {
  tools t(me);
  me.returns(all_mistakes[me.pid % 13].act(t), LPF_ERR_FATAL, all_mistakes[me.pid % 13].name);
  if (me.pid % 3 != 1) me.returns(lpf_sync(me.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL, "lpf_sync");
}

constexpr suite::entry every[] = {
    {"no_context", no_context},
    {"every_mistake", every_mistake},
    {"first_leaves", some_leave<0>, 1u << 30, true, 2},
    {"last_leaves", some_leave<1>, 1u << 30, true, 2},
    {"odd_leave", some_leave<2>, 1u << 30, true, 2},
    {"all_but_one_leave", some_leave<3>, 1u << 30, true, 2},
    {"all_leave", all_leave},
    {"all_fail", all_fail, 1u << 30, true},
};

}  // namespace

const std::span<const suite::entry> suite::tests(every);

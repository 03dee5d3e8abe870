// SPDX-License-Identifier: Apache-2.0
//
// The collectives of a process. Each is validated and translated into a call of tutti. Blocks that
// LPF's specification leaves untouched are in place or excluded.
#include <limits>
#include <string>
#include <utility>

#include "frontends/bsp/bsp_process.hpp"

namespace tutti::bsp {
namespace {

const char* name(collective what) noexcept {
  return what == collective::bcast ? "broadcast" : name_of(what).data();
}

}  // namespace

void process::validate_collectives_init(unsigned s, unsigned p, unsigned hi) {
  begin_call("collectives_init");
  if (s != static_cast<unsigned>(pid_))
    reject("collectives_init", "s", "is " + std::to_string(s) + " on process " + std::to_string(pid_),
           "pass the number of the process");
  if (p > static_cast<unsigned>(nprocs_) || s >= p)
    reject("collectives_init", "p",
           "is " + std::to_string(p) + " on process " + std::to_string(s) + " of " + std::to_string(nprocs_),
           "pass at most the number of processes, and call it only on processes 0 to p - 1");
  if (hi > p)
    reject("collectives_init", "hi",
           "is " + std::to_string(hi) + ", but there are " + std::to_string(p) + " processes",
           "pass an exclusive upper bound of at most p");
}

bool process::make_process_set(int first, int last, int stride, const abi::limits& capacity,
                               process_set_id& made) {
  begin_call("collectives_init");
  if (capacity.calls == 0)
    reject("collectives_init", "max_calls", "is 0", "allow at least one collective per superstep");
  if (stride < 1 || first < 0 || last < first || last >= nprocs_ || pid_ < first || pid_ > last ||
      (pid_ - first) % stride != 0)
    reject("collectives_init", "s",
           "process " + std::to_string(pid_) + " is not among " + std::to_string(first) + " to " +
               std::to_string(last) + " in steps of " + std::to_string(stride),
           "call it only on the members, of which there must be at least one");
  if (!unbounded_ && capacity.calls > std::numeric_limits<std::size_t>::max() / 65536)
    return false;  // no machine has that memory
  if (unbounded_ && memory_.full()) memory_.grow();
  if (!memory_.acquire_entry()) return false;
  const int end = first + (last - first) / stride * stride;
  made = calls_.make_set(first, end, stride, capacity, superstep_).id;
  if (check_ != nullptr) check_->add_set(made, first, end, stride);
  return true;
}

void process::free_process_set(process_set_id m) {
  if (set_of("collectives_destroy", m).calls > 0)
    reject("collectives_destroy", "coll", "has collectives that are not complete",
           "call it after the next sync");
  calls_.free_set(m);
  memory_.release_entry();
}

member_set& process::set_of(const char* operation, process_set_id m) {
  begin_call(operation);
  member_set* const s = calls_.find(m);
  if (s == nullptr)
    reject(operation, "coll", "is not, or is no longer, a collectives object of this context",
           "create one with lpf_collectives_init()");
  made_calls_ = true;
  return *s;
}

bool process::has_capacity(const char* operation, member_set& s, std::size_t count, std::size_t bytes,
                           bool element) {
  if (check_ != nullptr && s.created_in == superstep_ && !unbounded_) [[unlikely]]
    reject(operation, "coll", "was made in this superstep", "sync before you use it");
  const std::size_t max_bytes = element ? s.capacity.element_bytes : s.capacity.bytes;
  return s.calls < s.capacity.calls && (bytes == 0 || count <= max_bytes / bytes);
}

void process::validate_root(const char* operation, const member_set& s, int root) {
  if (static_cast<unsigned>(root) >= static_cast<unsigned>(s.size()))
    reject(operation, "root",
           "is " + std::to_string(root) + ", but there are " + std::to_string(s.size()) + " members",
           "pass 0 to P - 1, the index of a member");
}

std::byte* process::collective_buffer(const char* operation, const char* parameter, slot s, std::size_t bytes,
                                      bool accessed) {
  if (!accessed || bytes == 0) return nullptr;
  if (check_ != nullptr) check_registered_earlier(operation, parameter, s);
  return local_address(operation, parameter, s, 0, bytes);
}

// Adds a call of all processes to the digest in the sync summary. Calls that differ would wait for
// ever, or receive the data of other calls. The digest does not depend on the order of the objects.
void process::add_to_digest(const member_set& s, collective what, std::size_t count, std::size_t size,
                            int root) {
  if (s.comm != &all_) return;
  std::uint64_t h = s.ordinal;
  for (const std::uint64_t word :
       {std::uint64_t{s.calls}, static_cast<std::uint64_t>(what), std::uint64_t{count}, std::uint64_t{size},
        static_cast<std::uint64_t>(root)})
    h = (h ^ word) * 0x9e3779b97f4a7c15 ^ h >> 29;
  digest_ += static_cast<std::uint32_t>(h >> 32);
}

// Records, in checked mode, a call of the set. record_accesses() records its accesses to this
// process's memory.
void process::record_call(const char* operation, const member_set& s, std::size_t count, std::size_t size,
                          int root) {
  check_->add_collective(site_, {operation, s.id, count, size, root});
}

void process::record_accesses(const void* first, std::size_t blocks, std::size_t bytes, int without,
                              bool writes) {
  for (std::size_t i = 0; i < blocks; ++i) {
    if (static_cast<int>(i) == without || first == nullptr) continue;
    const std::byte* const at = static_cast<const std::byte*>(first) + i * bytes;
    writes ? check_->add_write(at, bytes) : check_->add_read(at, bytes);
  }
}

bool process::rooted(collective what, process_set_id m, slot from, slot into, std::size_t bytes, int root,
                     bool skip_own_block) {
  member_set& s = set_of(name(what), m);
  validate_root(name(what), s, root);
  if (!has_capacity(name(what), s, 1, bytes, false)) return false;
  const bool at_root = s.rank() == root;
  const auto blocks = static_cast<std::size_t>(s.size());
  const bool gathers = what == collective::gather;
  call c;
  c.what = what;
  c.root = root;
  c.count = bytes;
  add_to_digest(s, what, 1, bytes, root);
  // At its root a gather receives all blocks, and a scatter sends them. A broadcast has one block.
  const std::size_t of_root = what == collective::bcast ? bytes : bytes * blocks;
  if (bytes > 0 && of_root / bytes != (what == collective::bcast ? 1 : blocks))
    reject(name(what), "size", "overflows", "pass fewer bytes");
  // Whether the root copies its own block between its buffers.
  const bool copies = at_root && !skip_own_block;
  std::byte* const src =
      collective_buffer(name(what), "src", from, gathers ? bytes : of_root, gathers != at_root || copies);
  std::byte* const dst =
      collective_buffer(name(what), "dst", into, gathers ? of_root : bytes, gathers == at_root || copies);
  c.input = src;
  c.output = dst;
  if (check_ != nullptr) [[unlikely]] {
    const bool all_blocks = at_root && what != collective::bcast;
    const int without = copies ? -1 : root;
    record_call(name(what), s, 1, bytes, root);
    record_accesses(src, all_blocks && !gathers ? blocks : 1, bytes, all_blocks && !gathers ? without : -1,
                    false);
    record_accesses(dst, all_blocks && gathers ? blocks : 1, bytes, all_blocks && gathers ? without : -1,
                    true);
  }
  const std::size_t root_offset = static_cast<std::size_t>(root) * bytes;
  if (what == collective::bcast)
    c.input = c.output = at_root ? src : dst;
  else if (at_root)
    c.in_place = !copies || (gathers ? src == dst + root_offset : dst == src + root_offset);
  if (bytes > 0 && (s.size() > 1 || (copies && !c.in_place)))
    calls_.enqueue(s, c, {}, 0);
  else
    ++s.calls;
  return true;
}

bool process::unrooted(collective what, process_set_id m, slot from, slot into, std::size_t bytes,
                       bool skip_own_block) {
  member_set& s = set_of(name(what), m);
  if (!has_capacity(name(what), s, 1, bytes, false)) return false;
  const auto blocks = static_cast<std::size_t>(s.size());
  const std::size_t all = bytes * blocks;
  if (bytes > 0 && all / bytes != blocks) reject(name(what), "size", "overflows", "pass fewer bytes");
  const bool transposes = what == collective::alltoall;
  if (from == into && from != no_slot && bytes > 0 && s.size() > 1)
    reject(name(what), "dst", "is the same as src", "pass different memory");
  call c;
  c.what = what;
  c.input = collective_buffer(name(what), "src", from, transposes ? all : bytes, true);
  c.output = collective_buffer(name(what), "dst", into, all, true);
  c.count = bytes;
  add_to_digest(s, what, skip_own_block ? 2 : 1, bytes, -1);
  if (check_ != nullptr) [[unlikely]] {
    const int without = skip_own_block ? s.rank() : -1;
    record_call(name(what), s, 1, bytes, -1);
    record_accesses(c.input, transposes ? blocks : 1, bytes, transposes ? without : -1, false);
    record_accesses(c.output, blocks, bytes, without, true);
  }
  if (bytes == 0 || (skip_own_block && s.size() == 1)) {
    ++s.calls;
    return true;
  }
  if (skip_own_block) {
    // Expressed with a length for each block. The local block has length 0, so it is not
    // accessed.
    c.what = collective::alltoallv;
    // 1: the sent blocks differ (alltoall); 0: they do not (allgather).
    c.count = transposes ? 1 : 0;
    calls_.enqueue(s, c, {}, bytes);
    return true;
  }
  calls_.enqueue(s, c, {}, 0);
  if (transposes) return true;
  // This process is in place, but others may not be. An allgather is in place on all or on none.
  if (c.input == static_cast<std::byte*>(c.output) + static_cast<std::size_t>(s.rank()) * bytes)
    calls_.reserve_input_copy(bytes);
  return true;
}

bool process::reduce(process_set_id m, void* data, slot where, std::size_t count,
                     const reduction_operator& how, int root, bool single_element) {
  const char* const operation = single_element ? (root < 0 ? "allreduce" : "reduce")
                                : root < 0     ? "allcombine"
                                               : "combine";
  const std::size_t size = how.type.size;
  member_set& s = set_of(operation, m);
  if (root >= 0) validate_root(operation, s, root);
  if (!has_capacity(operation, s, count, size, single_element)) return false;
  if (how.combiner == nullptr && how.op.combine == nullptr)
    reject(operation, single_element ? "reducer" : "combiner", "is null", "pass a function");
  add_to_digest(s, root < 0 ? collective::allreduce : collective::reduce, count, size, root);
  if (count == 0 || size == 0) {
    if (check_ != nullptr) record_call(operation, s, count, size, root);
    ++s.calls;
    return true;
  }
  const area* const a = memory_.find(where);
  if (a == nullptr || a->base != data || a->size < count * size)
    reject(operation, single_element ? "element_slot" : "slot",
           "does not cover " + std::to_string(count * size) + " bytes from the given address",
           "register the memory, and pass its slot and its address");
  if (check_ != nullptr) [[unlikely]] {
    check_registered_earlier(operation, single_element ? "element_slot" : "slot", where);
    record_call(operation, s, count, size, root);
    check_->add_read(data, count * size);
    // After a reduction of arrays, the contents of the other members' arrays are undefined.
    if (!single_element || root < 0 || s.rank() == root) check_->add_write(data, count * size);
  }
  piggybacked_reduction r{how, count, data, root, s.id, s.calls + 1};
  r.how.name = operation;
  r.how.site = site_;
  r.how.thrown = &thrown_;
  if (how.may_throw() && s.size() > 1) may_throw_ = true;
  if (!try_piggyback(s, r)) schedule_reduction(s, r);
  return true;
}

// The first small reduction over all processes is piggybacked on the sync summary. The ids of the
// sets determine which one is the first, because all processes agree on their order.
bool process::try_piggyback(member_set& s, piggybacked_reduction one) {
  if (!summary_has_payload_ || nprocs_ == 1 || s.comm != &all_) return false;
  if (one.bytes() > sync_summary::payload_bytes) return false;
  if (piggybacked_reduction_.count != 0 && piggybacked_reduction_.set <= s.id) return false;
  std::swap(piggybacked_reduction_, one);
  ++s.calls;
  if (one.count != 0) {
    member_set& other = *calls_.find(one.set);
    --other.calls;  // schedule_reduction() counts it again
    schedule_reduction(other, one);
  }
  return true;
}

void process::schedule_reduction(member_set& s, const piggybacked_reduction& r) {
  const auto& [how, count, data, root, set, position] = r;
  call c;
  c.what = root < 0 ? collective::allreduce : collective::reduce;
  c.type = how.type;
  c.count = count;
  c.root = root < 0 ? 0 : root;
  c.in_place = root < 0 || s.rank() == root;
  if (c.in_place)
    c.output = data;
  else
    c.input = data;
  if (s.size() > 1)
    calls_.enqueue(s, c, how, 0, position);
  else
    ++s.calls;
}

}  // namespace tutti::bsp

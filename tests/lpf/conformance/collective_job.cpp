// SPDX-License-Identifier: Apache-2.0
#include "collective_job.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace suite {
namespace {

// Combiners have no argument that could refer to a process, so these are global.
std::atomic<std::size_t> max_elements = 0;
std::atomic<int> errors = 0;
std::atomic<const char*> diagnostic = nullptr;

void diagnose(const char* what) {
  diagnostic = what;
  ++errors;
}

struct counted_sum {
  std::uint64_t mark, sum, count;
};
constexpr std::uint64_t valid_mark = 0x1f2e3d4c5b6a7988;
static_assert(sizeof(counted_sum) == 24);

void add_counted_sums(const counted_sum* from, counted_sum* into, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (from[i].mark != valid_mark || into[i].mark != valid_mark)
      return diagnose("a combiner is called with an invalid element");
    into[i].sum += from[i].sum;
    into[i].count += from[i].count;
  }
}

template <std::size_t Size>
void add(std::size_t n, const void* from, void* into) {
  if (n == 0) return diagnose("a combiner is called with n = 0");
  if (n > max_elements) return diagnose("a combiner is called with more elements than the call has");
  const auto address = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(into);
  if (Size % 8 == 0 && address % 8 != 0) return diagnose("a combiner is called with unaligned elements");
  if constexpr (Size == sizeof(counted_sum)) {
    add_counted_sums(static_cast<const counted_sum*>(from), static_cast<counted_sum*>(into), n);
  } else {
    const auto* const f = static_cast<const unsigned char*>(from);
    auto* const t = static_cast<unsigned char*>(into);
    for (std::size_t i = 0; i < n * Size; ++i) t[i] = static_cast<unsigned char>(t[i] + f[i]);
  }
}

lpf_combiner_t adder(std::size_t size) {
  return size == 3         ? add<3>
         : size == 8       ? add<8>
         : size == 24      ? add<24>
         : size == 1000    ? add<1000>
         : size == 1 << 20 ? add<1 << 20>
                           : add<1>;
}

const char* name(kind k) {
  constexpr const char* names[] = {"broadcast", "gather",    "scatter", "allgather", "alltoall",
                                   "reduce",    "allreduce", "combine", "allcombine"};
  return names[static_cast<int>(k)];
}

std::uint64_t weight(std::uint64_t text, std::size_t i) { return byte_of_text(text, i) + 1; }

// The contribution of member k to a combination.
void write_operand(unsigned char* to, std::uint64_t text, std::size_t num, std::size_t size) {
  if (size != sizeof(counted_sum)) return write_text(to, text, num * size);
  for (std::size_t i = 0; i < num; ++i) {
    const counted_sum v{valid_mark, weight(text, i), 1};
    std::memcpy(to + i * size, &v, sizeof v);
  }
}

}  // namespace

void combine_at_most(std::size_t n) { max_elements = n; }

std::string text_of(const shape& s) {
  std::string t = name(s.what);
  t += " of " + (combines(s.what) ? std::to_string(s.num) + " x " : "") + std::to_string(s.size);
  if (is_rooted(s.what)) t += ", root " + std::to_string(s.root);
  if (s.in_place) t += ", in place";
  if (s.exclude) t += ", without the own block";
  t += s.unused == unused_area::full    ? ""
       : s.unused == unused_area::empty ? ", untouched areas empty"
                                        : ", untouched slots invalid";
  if (s.local) t += ", local slots";
  return t;
}

job::job(const process& me, const team& by, const shape& s, std::uint64_t text)
    : me_(me),
      team_(by),
      shape_(s),
      text_(text * 1000),
      src_slot_(LPF_INVALID_MEMSLOT),
      dst_slot_(LPF_INVALID_MEMSLOT) {
  if (s.what == kind::reduce || s.what == kind::allreduce) shape_.num = 1;
  if (team_.member()) fill_buffers();
  src_after_ = src_before_ = bytes(src_.data(), src_.data() + src_.size());
  dst_after_ = dst_before_ = bytes(dst_.data(), dst_.data() + dst_.size());
  if (team_.member()) expect();
}

void job::fill_buffers() {
  const std::size_t n = shape_.size, all = n * team_.size;
  const std::uint64_t local_text = text_ + team_.rank;
  switch (shape_.what) {
    case kind::broadcast:
      src_ = guarded(n);
      dst_ = guarded(n);
      write_text(src_.data(), local_text, n);
      break;
    case kind::gather:
    case kind::allgather:
      src_ = guarded(n);
      dst_ = guarded(all);
      write_text(src_.data(), local_text, n);
      break;
    case kind::scatter:
      src_ = guarded(all);
      dst_ = guarded(n);
      write_text(src_.data(), local_text, all);
      break;
    case kind::alltoall:
      src_ = guarded(all);
      dst_ = guarded(all);
      write_text(src_.data(), local_text, all);
      break;
    default:
      src_ = guarded(shape_.num * n);
      write_operand(src_.data(), local_text, shape_.num, n);
  }
}

void job::register_area(guarded& area, bool accessed, bool may_be_local, lpf_memslot_t& slot,
                        std::size_t offset, std::size_t size) {
  const bool empty = !team_.member() || (!accessed && shape_.unused != unused_area::full) || size == 0;
  void* const at = empty ? nullptr : area.data() + offset;
  if (may_be_local && shape_.local)
    me_.needs(lpf_register_local(me_.ctx, at, empty ? 0 : size, &slot), "lpf_register_local");
  else
    me_.needs(lpf_register_global(me_.ctx, at, empty ? 0 : size, &slot), "lpf_register_global");
}

void job::register_slots() {
  const kind k = shape_.what;
  const bool root = at_root(), rooted = is_rooted(k);
  const std::size_t local_offset = team_.member() ? team_.rank * shape_.size : 0, n = shape_.size;
  const bool even = team_.rank % 2 == 0;
  const bool from_src =
      k == kind::gather ? !root : !rooted || root;  // whether src is used, except by reductions
  const bool into_dst = k == kind::gather ? root : !rooted || !root;
  if (combines(k)) {
    register_area(src_, true, false, src_slot_, 0, src_.size());
  } else if (shape_.in_place && k == kind::broadcast) {
    register_area(src_, true, false, src_slot_, 0, src_.size());
    dst_slot_ = src_slot_;
  } else if (shape_.in_place && ((k == kind::gather && root) || (k == kind::allgather && even)) &&
             team_.member()) {
    register_area(dst_, true, true, src_slot_, local_offset, n);
    register_area(dst_, true, false, dst_slot_, 0, dst_.size());
  } else if (shape_.in_place && k == kind::scatter && root && team_.member()) {
    register_area(src_, true, false, src_slot_, 0, src_.size());
    register_area(src_, true, true, dst_slot_, local_offset, n);
  } else {
    const bool local_src = k == kind::gather || k == kind::allgather,
               local_dst = k == kind::broadcast || k == kind::scatter;
    register_area(src_, from_src, local_src, src_slot_, 0, src_.size());
    register_area(dst_, into_dst, local_dst, dst_slot_, 0, dst_.size());
  }
  src_registered_ = true;
  dst_registered_ = !combines(k) && dst_slot_ != src_slot_;
}

void job::deregister_slots() {
  me_.needs(lpf_deregister(me_.ctx, src_slot_), "lpf_deregister");
  if (dst_registered_) me_.needs(lpf_deregister(me_.ctx, dst_slot_), "lpf_deregister");
}

lpf_err_t job::call() const {
  const shape& s = shape_;
  const lpf_coll_t c = team_.coll;
  const bool root = at_root();
  const auto slot_or_invalid = [&](bool accessed, lpf_memslot_t slot) {
    return !accessed && s.unused == unused_area::invalid && !s.in_place ? LPF_INVALID_MEMSLOT : slot;
  };
  void* const data = const_cast<guarded&>(src_).data();
  switch (s.what) {
    case kind::broadcast:
      return lpf_broadcast(c, slot_or_invalid(root, src_slot_), slot_or_invalid(!root, dst_slot_), s.size,
                           s.root);
    case kind::gather:
      return lpf_gather(c, slot_or_invalid(!root, src_slot_), slot_or_invalid(root, dst_slot_), s.size,
                        s.root);
    case kind::scatter:
      return lpf_scatter(c, slot_or_invalid(root, src_slot_), slot_or_invalid(!root, dst_slot_), s.size,
                         s.root);
    case kind::allgather:
      return lpf_allgather(c, src_slot_, dst_slot_, s.size, s.exclude || s.in_place);
    case kind::alltoall:
      return lpf_alltoall(c, src_slot_, dst_slot_, s.size);
    case kind::reduce:
      return lpf_reduce(c, data, src_slot_, s.size, adder(s.size), s.root);
    case kind::allreduce:
      return lpf_allreduce(c, data, src_slot_, s.size, adder(s.size));
    case kind::combine:
      return lpf_combine(c, data, src_slot_, s.num, s.size, adder(s.size), s.root);
    default:
      return lpf_allcombine(c, data, src_slot_, s.num, s.size, adder(s.size));
  }
}

void job::expect() {
  // In place, the buffer begins with the contents of the separate area.
  const std::size_t n = shape_.size, local_offset = team_.rank * n;
  if (shape_.in_place && ((shape_.what == kind::gather && at_root()) ||
                          (shape_.what == kind::allgather && team_.rank % 2 == 0))) {
    write_text(dst_.data() + local_offset, text_ + team_.rank, n);
    std::copy_n(dst_.data(), dst_.size(), dst_before_.data());
    dst_after_ = dst_before_;
  }
  combines(shape_.what) ? expect_combined() : expect_blocks();
}

void job::expect_blocks() {
  const std::size_t n = shape_.size;
  const unsigned me = team_.rank, root = shape_.root;
  const auto block = [&](bytes& into, std::size_t at, unsigned by, std::size_t from) {
    for (std::size_t i = 0; i < n; ++i) into[at + i] = byte_of_text(text_ + by, from + i);
  };
  switch (shape_.what) {
    case kind::broadcast:
      if (me != root) block(shape_.in_place ? src_after_ : dst_after_, 0, root, 0);
      break;
    case kind::scatter:
      if (me != root) block(dst_after_, 0, root, me * n);
      break;
    case kind::gather:
      for (unsigned k = 0; me == root && k < team_.size; ++k)
        if (k != root) block(dst_after_, k * n, k, 0);
      break;
    case kind::allgather:
      for (unsigned k = 0; k < team_.size; ++k)
        if (k != me || !(shape_.exclude || shape_.in_place)) block(dst_after_, k * n, k, 0);
      break;
    default:
      for (unsigned k = 0; k < team_.size; ++k)
        if (k != me) block(dst_after_, k * n, k, me * n);
  }
}

void job::expect_combined() {
  if (!at_root()) {
    undefined_ = shape_.what == kind::combine;
    return;
  }
  const std::size_t n = shape_.size;
  bytes other(src_after_.size());
  for (unsigned k = 0; k < team_.size; ++k) {
    if (k == team_.rank) continue;
    write_operand(other.data(), text_ + k, shape_.num, n);
    if (n == sizeof(counted_sum)) {
      for (std::size_t i = 0; i < shape_.num; ++i) {
        counted_sum a, b;
        std::memcpy(&a, src_after_.data() + i * n, n);
        std::memcpy(&b, other.data() + i * n, n);
        a.sum += b.sum;
        a.count += b.count;
        std::memcpy(src_after_.data() + i * n, &a, n);
      }
    } else {
      for (std::size_t i = 0; i < other.size(); ++i)
        src_after_[i] = static_cast<unsigned char>(src_after_[i] + other[i]);
    }
  }
}

void job::verify(bool happened) {
  const std::string what =
      text_of(shape_) + (happened ? "" : ", which was refused") +
      (team_.member() ? ", member " + std::to_string(team_.rank) + " of " + std::to_string(team_.size)
                      : ", no member");
  const bytes& src = happened ? src_after_ : src_before_;
  const bytes& dst = happened ? dst_after_ : dst_before_;
  if (!undefined_ || !happened)
    me_.equal(src_.data(), src.data(), src.size(), what + (combines(shape_.what) ? "" : ": src"));
  me_.equal(dst_.data(), dst.data(), dst.size(), what + ": dst");
  me_.check(src_.intact() && dst_.intact(), what + " writes beyond an area");
  if (errors > 0) {
    me_.fail(what + ": " + diagnostic.load());
    errors = 0;
  }
}

void one_by_one(const process& me, const team& by, const std::vector<shape>& all) {
  constexpr std::size_t at_once = 16;
  for (std::size_t begin = 0; begin < all.size(); begin += at_once) {
    std::vector<std::unique_ptr<job>> jobs;
    const std::size_t end = std::min(all.size(), begin + at_once);
    for (std::size_t i = begin; i < end; ++i) jobs.push_back(std::make_unique<job>(me, by, all[i], i));
    for (auto& j : jobs) j->register_slots();
    me.sync();
    for (std::size_t i = begin; i < end; ++i) {
      combine_at_most(all[i].num);
      jobs[i - begin]->begin();
      me.sync();
      jobs[i - begin]->verify();
      if (combines(all[i].what)) me.sync();  // the number of elements is set for all processes
    }
    for (auto& j : jobs) j->deregister_slots();
  }
}

void all_at_once(const process& me, const team& by, const std::vector<shape>& all) {
  std::vector<std::unique_ptr<job>> jobs;
  std::size_t max_num = 0;
  for (const shape& s : all) {
    jobs.push_back(std::make_unique<job>(me, by, s, jobs.size()));
    max_num = std::max(max_num, s.num);
  }
  for (auto& j : jobs) j->register_slots();
  me.sync();
  combine_at_most(max_num);
  for (auto& j : jobs) j->begin();
  me.sync();
  for (auto& j : jobs) j->verify();
  for (auto& j : jobs) j->deregister_slots();
  me.sync();
}

team make_team(const process& me, std::size_t calls, std::size_t element, std::size_t max_bytes) {
  team t{LPF_INVALID_COLL, me.p, me.pid};
  me.needs(lpf_collectives_init(me.ctx, me.pid, me.p, calls, element, max_bytes, &t.coll),
           "lpf_collectives_init");
  return t;
}

team make_team(const process& me, unsigned lo, unsigned hi, unsigned str, std::size_t calls,
               std::size_t element, std::size_t max_bytes) {
  team t{LPF_INVALID_COLL, (hi - lo - 1) / str + 1, ~0u};
  if (me.pid < lo || me.pid >= hi || (me.pid - lo) % str != 0) return t;
  t.rank = (me.pid - lo) / str;
  me.needs(
      lpf_collectives_init_strided(me.ctx, me.pid, me.p, lo, hi, str, calls, element, max_bytes, &t.coll),
      "lpf_collectives_init_strided");
  return t;
}

void end_team(const process& me, const team& by) {
  if (by.member()) me.needs(lpf_collectives_destroy(by.coll), "lpf_collectives_destroy");
}

}  // namespace suite

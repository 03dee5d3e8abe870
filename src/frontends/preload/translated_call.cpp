// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/translated_call.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::preload {
namespace {

std::size_t number(int n) { return static_cast<std::size_t>(n); }

// Whether blocks overlap that do not ascend. MPI forbids it, but the MPIs accept it.
bool overlap(const std::vector<std::size_t>& counts, const std::vector<std::size_t>& displs) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return displs[a] < displs[b]; });
  std::size_t end = 0;
  for (const std::size_t i : order) {
    if (counts[i] == 0) continue;
    if (displs[i] < end) return true;
    end = displs[i] + counts[i];
  }
  return false;
}

}  // namespace

bool translated_call::translate(const arguments& a, int rank, int size) {
  rank_ = rank;
  size_ = size;
  in_.clear();
  out_.clear();
  combined_ = nullptr;
  combines_ = nullptr;
  apart_ = false;
  call_ = {};
  call_.what = a.what;
  call_.root = a.root;
  if (is_rooted(a.what) && (a.root < 0 || a.root >= size)) return false;
  if (a.out == MPI_IN_PLACE && !(a.what == collective::scatter || a.what == collective::scatterv))
    return false;
  bool known = true;
  switch (a.what) {
    case collective::barrier:
      break;
    case collective::bcast:
    case collective::allgather:
    case collective::alltoall:
      known = translate_moving(a);
      break;
    case collective::gather:
    case collective::scatter:
      known = translate_rooted(a);
      break;
    case collective::gatherv:
    case collective::scatterv:
    case collective::allgatherv:
    case collective::alltoallv:
    case collective::alltoallw:
      known = translate_vector(a);
      break;
    default:
      known = translate_combining(a);
  }
  return known && set_apart();
}

// Handles one buffer that is passed for both sides. MPICH rejects it. Open MPI computes the result
// that distinct buffers would give.
bool translated_call::set_apart() {
  const bool same = !call_.in_place && call_.input != nullptr && call_.input == call_.output &&
                    call_.what != collective::bcast;
  if (!same) return true;
#ifdef MPICH_VERSION
  return false;
#else
  if (call_.what == collective::reduce || is_vector_form(call_.what)) return false;
  const bool by_rank = call_.what == collective::alltoall || call_.what == collective::scatter ||
                       call_.what == collective::reduce_scatter_block;
  const std::size_t bytes = call_.count * call_.type.size * (by_rank ? number(size_) : 1);
  const auto* from = static_cast<const std::byte*>(call_.input);
  in_.beside.assign(from, from + bytes);
  call_.input = in_.beside.data();
  return apart_ = true;
#endif
}

const datatype* translated_call::usable(int count, MPI_Datatype type) {
  if (count < 0) return nullptr;
  const datatype& t = types_.of(type);
  constexpr std::size_t max_packed = 0x7fffffff;  // of one item, counted by an int of MPI
  return t.usable && (t.dense || t.size <= max_packed) ? &t : nullptr;
}

// --- Contiguous items.

void translated_call::stage(side& s, void* at, std::size_t items, const datatype& type, bool elements) {
  const std::size_t bytes = items * (elements ? static_cast<std::size_t>(type.extent) : type.size);
  s.parts.push_back({at, items, &type, 0, elements});
  s.beside.assign(bytes + 1, std::byte{});  // never null, even for no bytes
}

bool translated_call::give(const void* at, std::size_t items, const datatype& type) {
  if (type.dense) {
    call_.input = at;
    return at != nullptr || items * type.size == 0;
  }
  stage(in_, const_cast<void*>(at), items, type, false);
  fill(in_);
  call_.input = in_.beside.data();
  return true;
}

bool translated_call::take(void* at, std::size_t items, const datatype& type, bool filled) {
  if (type.dense) {
    call_.output = at;
    return at != nullptr || items * type.size == 0;
  }
  stage(out_, at, items, type, false);
  if (filled) fill(out_);
  call_.output = out_.beside.data();
  return true;
}

void translated_call::fill(side& s) {
  for (const part& p : s.parts) {
    if (!p.elements) {
      types_.pack(p.at, p.items, *p.type, s.beside.data() + p.place);
      continue;
    }
    packed_.resize(p.items * p.type->size);
    types_.pack(p.at, p.items, *p.type, packed_.data());
    types_.unpack(packed_.data(), p.items, *p.type, s.beside.data() + p.place - p.type->true_lower);
  }
}

void translated_call::finish() {
  for (const part& p : out_.parts) {
    if (!p.elements) {
      types_.unpack(out_.beside.data() + p.place, p.items, *p.type, p.at);
      continue;
    }
    packed_.resize(p.items * p.type->size);
    types_.pack(out_.beside.data() + p.place - p.type->true_lower, p.items, *p.type, packed_.data());
    types_.unpack(packed_.data(), p.items, *p.type, p.at);
  }
}

bool translated_call::translate_moving(const arguments& a) {
  const datatype* out = usable(a.out_count, a.out_type);
  if (out == nullptr) return false;
  const std::size_t items = number(a.out_count);
  call_.count = items * out->size;
  if (a.what == collective::bcast) {
    const bool sends = rank_ == a.root;
    if (!(sends ? give(a.out, items, *out) : take(a.out, items, *out, false))) return false;
    (sends ? call_.output : const_cast<void*&>(call_.input)) =
        const_cast<void*>(sends ? call_.input : call_.output);
    return true;
  }
  call_.in_place = a.in_place();
  if (!take(a.out, items * number(size_), *out, call_.in_place)) return false;
  if (call_.in_place) {
    call_.input = call_.output;
    return true;
  }
  const datatype* in = usable(a.in_count, a.in_type);
  if (in == nullptr || number(a.in_count) * in->size != call_.count) return false;
  return give(a.in, number(a.in_count) * (a.what == collective::alltoall ? number(size_) : 1), *in);
}

// The arguments of the root's side are significant at the root only.
bool translated_call::translate_rooted(const arguments& a) {
  const bool root = rank_ == a.root, gathers = a.what == collective::gather;
  const auto all = [&](int n) { return number(n) * number(size_); };
  const datatype *in = nullptr, *out = nullptr;
  if (gathers) {
    call_.in_place = a.in_place();
    if (call_.in_place && !root) return false;
    if (root && (out = usable(a.out_count, a.out_type)) == nullptr) return false;
    if (!call_.in_place && (in = usable(a.in_count, a.in_type)) == nullptr) return false;
    call_.count = root ? number(a.out_count) * out->size : number(a.in_count) * in->size;
    if (in != nullptr && number(a.in_count) * in->size != call_.count) return false;
    return (in == nullptr || give(a.in, number(a.in_count), *in)) &&
           (out == nullptr || take(a.out, all(a.out_count), *out, call_.in_place));
  }
  call_.in_place = a.out == MPI_IN_PLACE;
  if (call_.in_place && !root) return false;
  if (root && (a.in_place() || (in = usable(a.in_count, a.in_type)) == nullptr)) return false;
  if (!call_.in_place && (out = usable(a.out_count, a.out_type)) == nullptr) return false;
  call_.count = root ? number(a.in_count) * in->size : number(a.out_count) * out->size;
  if (out != nullptr && number(a.out_count) * out->size != call_.count) return false;
  return (in == nullptr || give(a.in, all(a.in_count), *in)) &&
         (out == nullptr || take(a.out, number(a.out_count), *out, false));
}

// --- Blocks with counts.

void translated_call::stage_blocks(side& s, const block_arrays& b) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < number(size_); ++i) {
    const datatype& t = types_.of(b.types != nullptr ? b.types[i] : b.type);
    const std::ptrdiff_t at = b.types != nullptr ? b.displs[i] : b.displs[i] * t.extent;
    s.displs[i] = place;
    if (s.counts[i] == 0) continue;
    s.parts.push_back({moved(b.at, at), number(b.counts[i]), &t, place, false});
    place += s.counts[i];
  }
  s.beside.assign(place + 1, std::byte{});
}

bool translated_call::blocks(side& s, const block_arrays& b, bool received, bool filled, const void*& at) {
  if (b.counts == nullptr || b.displs == nullptr) return false;
  const std::size_t n = number(size_);
  s.counts.resize(n);
  s.displs.resize(n);
  bool dense = true, ascending = true, any = false;
  std::ptrdiff_t least = 0, end = PTRDIFF_MIN;
  for (std::size_t i = 0; i < n; ++i) {
    if (b.types != nullptr && b.counts[i] == 0) {  // it may have no datatype
      s.counts[i] = s.displs[i] = 0;
      continue;
    }
    const datatype* t = usable(b.counts[i], b.types != nullptr ? b.types[i] : b.type);
    if (t == nullptr) return false;
    s.counts[i] = number(b.counts[i]) * t->size;
    const std::ptrdiff_t place = b.types != nullptr ? b.displs[i] : b.displs[i] * t->extent;
    s.displs[i] = s.counts[i] == 0 ? 0 : static_cast<std::size_t>(place);
    if (s.counts[i] == 0) continue;
    dense = dense && t->dense;
    least = any ? std::min(least, place) : place;
    ascending = ascending && place >= end;
    end = place + static_cast<std::ptrdiff_t>(s.counts[i]);
    any = true;
  }
  if (dense && any && b.at == nullptr && b.types == nullptr) return false;
  if (dense && least < 0)  // tutti's displacements start at the first byte
    for (std::size_t i = 0; i < n; ++i)
      if (s.counts[i] != 0) s.displs[i] -= static_cast<std::size_t>(least);
  if (dense && (!received || ascending || !overlap(s.counts, s.displs))) {
    at = moved(b.at, std::min<std::ptrdiff_t>(least, 0));
    return true;
  }
  stage_blocks(s, b);
  if (filled) fill(s);
  at = s.beside.data();
  return true;
}

bool translated_call::translate_vector(const arguments& a) {
  const bool root = rank_ == a.root,
             exchanges = a.what == collective::alltoallv || a.what == collective::alltoallw;
  const bool gives_many = exchanges || (a.what == collective::scatterv && root);
  const bool takes_many = a.what != collective::scatterv && (a.what != collective::gatherv || root);
  call_.in_place = a.what == collective::scatterv ? a.out == MPI_IN_PLACE : a.in_place();
  if (call_.in_place && is_rooted(a.what) && !root) return false;
  if (a.what == collective::scatterv && a.in_place() && root) return false;
  if (takes_many) {
    const void* at = nullptr;
    if (!blocks(out_, {a.out, a.out_counts, a.out_displs, a.out_type, a.out_types}, true, call_.in_place, at))
      return false;
    call_.output = const_cast<void*>(at);
    call_.out_counts = {out_.counts.data(), out_.counts.size()};
    call_.out_displs = {out_.displs.data(), out_.displs.size()};
  }
  if (gives_many && !(exchanges && call_.in_place)) {
    if (a.what == collective::alltoallw && a.in_types == nullptr) return false;
    if (!blocks(in_, {a.in, a.in_counts, a.in_displs, a.in_type, a.in_types}, false, true, call_.input))
      return false;
    call_.in_counts = {in_.counts.data(), in_.counts.size()};
    call_.in_displs = {in_.displs.data(), in_.displs.size()};
  }
  if (exchanges) {
    if (call_.in_place) call_.input = call_.output;
    // The block that this rank sends to itself.
    return call_.in_place || in_.counts[number(rank_)] == out_.counts[number(rank_)];
  }
  // This rank's own block: what it sends, or receives from the root.
  if (a.what == collective::scatterv) {
    if (root) call_.count = in_.counts[number(rank_)];
    if (call_.in_place) return true;
    const datatype* t = usable(a.out_count, a.out_type);
    if (t == nullptr) return false;
    const std::size_t bytes = number(a.out_count) * t->size;
    if (root && bytes != call_.count) return false;
    call_.count = bytes;
    return take(a.out, number(a.out_count), *t, false);
  }
  if (takes_many) call_.count = out_.counts[number(rank_)];
  if (call_.in_place) return true;
  const datatype* t = usable(a.in_count, a.in_type);
  if (t == nullptr) return false;
  const std::size_t bytes = number(a.in_count) * t->size;
  if (takes_many && bytes != call_.count) return false;
  call_.count = bytes;
  return give(a.in, number(a.in_count), *t);
}

// --- Objects that the program may free meanwhile.

void translated_call::hold() {
  for (const part& p : out_.parts) types_.hold(*p.type);
  if (combined_ != nullptr) types_.hold(*combined_);
  if (combines_ != nullptr) ops_.hold(*combines_);
}

void translated_call::let_go() {
  for (const part& p : out_.parts) types_.let_go(*p.type);
  if (combined_ != nullptr) types_.let_go(*combined_);
  if (combines_ != nullptr) ops_.let_go(*combines_);
}

}  // namespace tutti::preload

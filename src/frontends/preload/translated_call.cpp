// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/translated_call.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tutti::preload {
namespace {

std::size_t to_size(int n) { return static_cast<std::size_t>(n); }

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
  combined_type_ = nullptr;
  combining_op_ = nullptr;
  operand_copied_ = false;
  call_ = {};
  call_.what = a.what;
  call_.root = a.root;
  if (is_rooted(a.what) && (a.root < 0 || a.root >= size)) return false;
  if (a.out == MPI_IN_PLACE && !(a.what == collective::scatter || a.what == collective::scatterv))
    return false;
  bool supported = true;
  switch (a.what) {
    case collective::barrier:
      break;
    case collective::bcast:
    case collective::allgather:
    case collective::alltoall:
      supported = translate_moving(a);
      break;
    case collective::gather:
    case collective::scatter:
      supported = translate_rooted(a);
      break;
    case collective::gatherv:
    case collective::scatterv:
    case collective::allgatherv:
    case collective::alltoallv:
    case collective::alltoallw:
      supported = translate_vector(a);
      break;
    default:
      supported = translate_combining(a);
  }
  return supported && separate_buffers(a);
}

// Handles one buffer that is passed for both sides. Open MPI computes the result that distinct
// buffers would give. MPICH rejects it, unless blocks are apart or empty.
bool translated_call::separate_buffers(const arguments& a) {
  // Blocks with gaps are packed already, into other buffers.
  const bool sends_blocks = call_.in_counts.given();
  const bool same = sends_blocks ? a.in != nullptr && a.in == a.out && in_.parts.empty() && out_.parts.empty()
                                 : call_.input != nullptr && call_.input == call_.output;
  if (!same || call_.in_place || call_.what == collective::bcast) return true;
  // A rank that forwarded its call would miss the others, which use the memory of the node.
  // alltoallw and reduce_scatter are not served there.
  if (call_.what == collective::alltoallw || call_.what == collective::reduce_scatter) return false;
#ifdef MPICH_VERSION
  const bool gathers_or_scatters = call_.what == collective::gatherv || call_.what == collective::scatterv;
  if (gathers_or_scatters ? call_.count != 0 : call_.what != collective::alltoallv) return false;
#endif
  const bool per_rank = call_.what == collective::alltoall || call_.what == collective::scatter ||
                        call_.what == collective::reduce_scatter_block;
  if (sends_blocks) {  // there may be anything between them
    stage_blocks(in_, {a.in, a.in_counts, a.in_displs, a.in_type, a.in_types});
    fill(in_);
  } else {
    const std::size_t bytes = call_.count * call_.type.size * (per_rank ? to_size(size_) : 1);
    const auto* from = static_cast<const std::byte*>(call_.input);
    in_.staging.assign(from, from + bytes);
  }
  call_.input = in_.staging.data();
  return operand_copied_ = true;
}

const datatype* translated_call::usable_type(int count, MPI_Datatype type) {
  if (count < 0) return nullptr;
  const datatype& t = types_.of(type);
  constexpr std::size_t max_packed = 0x7fffffff;  // of one item, counted by an int of MPI
  return t.usable && (t.dense || t.size <= max_packed) ? &t : nullptr;
}

// --- contiguous items

void translated_call::stage(staged_side& s, void* at, std::size_t items, const datatype& type,
                            bool elements) {
  const std::size_t bytes = items * (elements ? static_cast<std::size_t>(type.extent) : type.size);
  s.parts.push_back({at, items, &type, 0, elements});
  s.staging.assign(bytes + 1, std::byte{});  // never null, even for no bytes
}

bool translated_call::set_input(const void* at, std::size_t items, const datatype& type) {
  if (type.dense) {
    call_.input = at;
    return at != nullptr || items * type.size == 0;
  }
  stage(in_, const_cast<void*>(at), items, type, false);
  fill(in_);
  call_.input = in_.staging.data();
  return true;
}

bool translated_call::set_output(void* at, std::size_t items, const datatype& type, bool filled) {
  if (type.dense) {
    call_.output = at;
    return at != nullptr || items * type.size == 0;
  }
  stage(out_, at, items, type, false);
  if (filled) fill(out_);
  call_.output = out_.staging.data();
  return true;
}

void translated_call::fill(staged_side& s) {
  for (const part& p : s.parts) {
    if (!p.elements) {
      types_.pack(p.at, p.items, *p.type, s.staging.data() + p.offset);
      continue;
    }
    // With their gaps, which are too short to be memory that the program does not have.
    // choose_loop() has found that elements do not overlap.
    constexpr std::size_t max_gap = 1024;
    if (static_cast<std::size_t>(p.type->extent) - p.type->size > max_gap) {
      packed_.resize(p.items * p.type->size);
      types_.pack(p.at, p.items, *p.type, packed_.data());
      types_.unpack(packed_.data(), p.items, *p.type, s.staging.data() + p.offset - p.type->true_lower);
    } else if (p.items != 0) {
      std::memcpy(s.staging.data() + p.offset, offset_by(p.at, p.type->true_lower),
                  (p.items - 1) * static_cast<std::size_t>(p.type->extent) + p.type->true_extent);
    }
  }
}

void translated_call::finish() {
  for (const part& p : out_.parts) {
    if (!p.elements) {
      types_.unpack(out_.staging.data() + p.offset, p.items, *p.type, p.at);
      continue;
    }
    packed_.resize(p.items * p.type->size);
    types_.pack(out_.staging.data() + p.offset - p.type->true_lower, p.items, *p.type, packed_.data());
    types_.unpack(packed_.data(), p.items, *p.type, p.at);
  }
}

bool translated_call::translate_moving(const arguments& a) {
  const datatype* out = usable_type(a.out_count, a.out_type);
  if (out == nullptr) return false;
  const std::size_t items = to_size(a.out_count);
  call_.count = items * out->size;
  if (a.what == collective::bcast) {
    const bool sends = rank_ == a.root;
    if (!(sends ? set_input(a.out, items, *out) : set_output(a.out, items, *out, false))) return false;
    (sends ? call_.output : const_cast<void*&>(call_.input)) =
        const_cast<void*>(sends ? call_.input : call_.output);
    return true;
  }
  call_.in_place = a.in_place();
  if (!set_output(a.out, items * to_size(size_), *out, call_.in_place)) return false;
  if (call_.in_place) {
    call_.input = call_.output;
    return true;
  }
  const datatype* in = usable_type(a.in_count, a.in_type);
  if (in == nullptr || to_size(a.in_count) * in->size != call_.count) return false;
  return set_input(a.in, to_size(a.in_count) * (a.what == collective::alltoall ? to_size(size_) : 1), *in);
}

// The arguments of the root's side are significant at the root only.
bool translated_call::translate_rooted(const arguments& a) {
  const bool root = rank_ == a.root, gathers = a.what == collective::gather;
  const auto all = [&](int n) { return to_size(n) * to_size(size_); };
  const datatype *in = nullptr, *out = nullptr;
  if (gathers) {
    call_.in_place = a.in_place();
    if (call_.in_place && !root) return false;
    if (root && (out = usable_type(a.out_count, a.out_type)) == nullptr) return false;
    if (!call_.in_place && (in = usable_type(a.in_count, a.in_type)) == nullptr) return false;
    call_.count = root ? to_size(a.out_count) * out->size : to_size(a.in_count) * in->size;
    if (in != nullptr && to_size(a.in_count) * in->size != call_.count) return false;
    return (in == nullptr || set_input(a.in, to_size(a.in_count), *in)) &&
           (out == nullptr || set_output(a.out, all(a.out_count), *out, call_.in_place));
  }
  call_.in_place = a.out == MPI_IN_PLACE;
  if (call_.in_place && !root) return false;
  if (root && (a.in_place() || (in = usable_type(a.in_count, a.in_type)) == nullptr)) return false;
  if (!call_.in_place && (out = usable_type(a.out_count, a.out_type)) == nullptr) return false;
  call_.count = root ? to_size(a.in_count) * in->size : to_size(a.out_count) * out->size;
  if (out != nullptr && to_size(a.out_count) * out->size != call_.count) return false;
  return (in == nullptr || set_input(a.in, all(a.in_count), *in)) &&
         (out == nullptr || set_output(a.out, to_size(a.out_count), *out, false));
}

// --- blocks with counts

void translated_call::stage_blocks(staged_side& s, const block_arrays& b) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < to_size(size_); ++i) {
    const datatype& t = types_.of(b.types != nullptr ? b.types[i] : b.type);
    const std::ptrdiff_t at = b.types != nullptr ? b.displs[i] : b.displs[i] * t.extent;
    s.displs[i] = offset;
    if (s.counts[i] == 0) continue;
    s.parts.push_back({offset_by(b.at, at), to_size(b.counts[i]), &t, offset, false});
    offset += s.counts[i];
  }
  s.staging.assign(offset + 1, std::byte{});
}

bool translated_call::set_blocks(staged_side& s, const block_arrays& b, bool received, bool filled,
                                 const void*& at) {
  if (b.counts == nullptr || b.displs == nullptr) return false;
  const std::size_t n = to_size(size_);
  s.counts.resize(n);
  s.displs.resize(n);
  bool dense = true, ascending = true, any = false;
  std::ptrdiff_t min_offset = 0, end = PTRDIFF_MIN;
  for (std::size_t i = 0; i < n; ++i) {
    if (b.types != nullptr && b.counts[i] == 0) {  // it may have no datatype
      s.counts[i] = s.displs[i] = 0;
      continue;
    }
    const datatype* t = usable_type(b.counts[i], b.types != nullptr ? b.types[i] : b.type);
    if (t == nullptr) return false;
    s.counts[i] = to_size(b.counts[i]) * t->size;
    const std::ptrdiff_t offset = b.types != nullptr ? b.displs[i] : b.displs[i] * t->extent;
    s.displs[i] = s.counts[i] == 0 ? 0 : static_cast<std::size_t>(offset);
    if (s.counts[i] == 0) continue;
    dense = dense && t->dense;
    min_offset = any ? std::min(min_offset, offset) : offset;
    ascending = ascending && offset >= end;
    end = offset + static_cast<std::ptrdiff_t>(s.counts[i]);
    any = true;
  }
  if (dense && any && b.at == nullptr && b.types == nullptr) return false;
  if (dense && min_offset < 0)  // tutti's displacements start at the first byte
    for (std::size_t i = 0; i < n; ++i)
      if (s.counts[i] != 0) s.displs[i] -= static_cast<std::size_t>(min_offset);
  if (dense && (!received || ascending || !overlap(s.counts, s.displs))) {
    at = offset_by(b.at, std::min<std::ptrdiff_t>(min_offset, 0));
    return true;
  }
  stage_blocks(s, b);
  if (filled) fill(s);
  at = s.staging.data();
  return true;
}

bool translated_call::translate_vector(const arguments& a) {
  const bool root = rank_ == a.root,
             is_alltoall = a.what == collective::alltoallv || a.what == collective::alltoallw;
  const bool sends_blocks = is_alltoall || (a.what == collective::scatterv && root);
  const bool receives_blocks = a.what != collective::scatterv && (a.what != collective::gatherv || root);
  call_.in_place = a.what == collective::scatterv ? a.out == MPI_IN_PLACE : a.in_place();
  if (call_.in_place && is_rooted(a.what) && !root) return false;
  if (a.what == collective::scatterv && a.in_place() && root) return false;
  if (receives_blocks) {
    const void* at = nullptr;
    if (!set_blocks(out_, {a.out, a.out_counts, a.out_displs, a.out_type, a.out_types}, true, call_.in_place,
                    at))
      return false;
    call_.output = const_cast<void*>(at);
    call_.out_counts = {out_.counts.data(), out_.counts.size()};
    call_.out_displs = {out_.displs.data(), out_.displs.size()};
  }
  if (sends_blocks && !(is_alltoall && call_.in_place)) {
    if (a.what == collective::alltoallw && a.in_types == nullptr) return false;
    if (!set_blocks(in_, {a.in, a.in_counts, a.in_displs, a.in_type, a.in_types}, false, true, call_.input))
      return false;
    call_.in_counts = {in_.counts.data(), in_.counts.size()};
    call_.in_displs = {in_.displs.data(), in_.displs.size()};
  }
  if (is_alltoall) {
    if (call_.in_place) call_.input = call_.output;
    return call_.in_place || fit_own_block(in_.counts[to_size(rank_)]);
  }
  // This rank's own block: what it sends, or receives from the root.
  if (a.what == collective::scatterv) {
    if (root) call_.count = in_.counts[to_size(rank_)];
    if (call_.in_place) return true;
    const datatype* t = usable_type(a.out_count, a.out_type);
    if (t == nullptr) return false;
    const std::size_t bytes = to_size(a.out_count) * t->size;
    if (root && bytes < call_.count) return false;
    if (!root) call_.count = bytes;
    return set_output(a.out, to_size(a.out_count), *t, bytes > call_.count);
  }
  if (receives_blocks) call_.count = out_.counts[to_size(rank_)];
  if (call_.in_place) return true;
  const datatype* t = usable_type(a.in_count, a.in_type);
  if (t == nullptr) return false;
  const std::size_t bytes = to_size(a.in_count) * t->size;
  if (receives_blocks && !fit_own_block(bytes)) return false;
  call_.count = bytes;
  return set_input(a.in, to_size(a.in_count), *t);
}

// The block that this rank sends to itself may be shorter than it expects, though MPI forbids that,
// as in a scatterv. The MPIs copy what there is, and a rank that forwarded its call would miss the
// others. In an allgatherv the others expect the longer block too. Open MPI rejects such an
// alltoallv.
bool translated_call::fit_own_block(std::size_t bytes) {
  std::size_t& expected = out_.counts[to_size(rank_)];
#ifdef OPEN_MPI
  const bool may_be_shorter = call_.what == collective::gatherv;
#else
  const bool may_be_shorter = call_.what != collective::allgatherv;
#endif
  if (bytes > expected || (bytes < expected && !may_be_shorter)) return false;
  if (bytes < expected && !out_.parts.empty()) fill(out_);  // finish() unpacks the whole block
  expected = bytes;
  return true;
}

// --- objects that the program may free meanwhile

void translated_call::retain() {
  for (const part& p : out_.parts) types_.retain(*p.type);
  if (combined_type_ != nullptr) types_.retain(*combined_type_);
  if (combining_op_ != nullptr) ops_.retain(*combining_op_);
}

void translated_call::release() {
  for (const part& p : out_.parts) types_.release(*p.type);
  if (combined_type_ != nullptr) types_.release(*combined_type_);
  if (combining_op_ != nullptr) ops_.release(*combining_op_);
}

}  // namespace tutti::preload

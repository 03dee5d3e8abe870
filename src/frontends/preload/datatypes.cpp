// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/datatypes.hpp"

#include <algorithm>
#include <utility>

#include "engines/mpi/type_contents.hpp"
#include "frontends/preload/imports.hpp"

namespace tutti::preload {
namespace {

struct predefined_kind {
  MPI_Datatype type;
  element_kind kind;
};

// The datatypes to which tutti's own loops can apply operators. Fortran's types are listed if MPI
// has no C name for the same type.
std::vector<predefined_kind> arithmetic_kinds() {
  constexpr auto integer_kind = [](std::size_t bytes, bool is_signed) {
    switch (bytes) {
      case 1:
        return is_signed ? element_kind::i8 : element_kind::u8;
      case 2:
        return is_signed ? element_kind::i16 : element_kind::u16;
      case 4:
        return is_signed ? element_kind::i32 : element_kind::u32;
      default:
        return is_signed ? element_kind::i64 : element_kind::u64;
    }
  };
  constexpr auto i = [=](std::size_t bytes) { return integer_kind(bytes, true); };
  constexpr auto u = [=](std::size_t bytes) { return integer_kind(bytes, false); };
  return {{MPI_SIGNED_CHAR, i(1)},
          {MPI_SHORT, i(sizeof(short))},
          {MPI_INT, i(sizeof(int))},
          {MPI_LONG, i(sizeof(long))},
          {MPI_LONG_LONG, i(sizeof(long long))},
          {MPI_UNSIGNED_CHAR, u(1)},
          {MPI_UNSIGNED_SHORT, u(sizeof(short))},
          {MPI_UNSIGNED, u(sizeof(int))},
          {MPI_UNSIGNED_LONG, u(sizeof(long))},
          {MPI_UNSIGNED_LONG_LONG, u(sizeof(long long))},
          {MPI_INT8_T, i(1)},
          {MPI_INT16_T, i(2)},
          {MPI_INT32_T, i(4)},
          {MPI_INT64_T, i(8)},
          {MPI_UINT8_T, u(1)},
          {MPI_UINT16_T, u(2)},
          {MPI_UINT32_T, u(4)},
          {MPI_UINT64_T, u(8)},
          {MPI_AINT, i(sizeof(MPI_Aint))},
          {MPI_OFFSET, i(sizeof(MPI_Offset))},
          {MPI_COUNT, i(sizeof(MPI_Count))},
          {MPI_FLOAT, element_kind::f32},
          {MPI_DOUBLE, element_kind::f64},
          {MPI_LONG_DOUBLE, element_kind::f80},
          {MPI_C_BOOL, element_kind::boolean},
          {MPI_INTEGER, element_kind::i32},
          {MPI_REAL, element_kind::f32},
          {MPI_DOUBLE_PRECISION, element_kind::f64},
          {MPI_INTEGER1, element_kind::i8},
          {MPI_INTEGER2, element_kind::i16},
          {MPI_INTEGER4, element_kind::i32},
          {MPI_INTEGER8, element_kind::i64},
          {MPI_REAL4, element_kind::f32},
          {MPI_REAL8, element_kind::f64}};
}

std::size_t size_of(element_kind kind) {
  constexpr std::size_t sizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, sizeof(long double), 1};
  return sizes[static_cast<std::size_t>(kind)];
}

struct type_extents {
  std::size_t size = 0, true_extent = 0;
  MPI_Aint lower = 0, extent = 0, true_lower = 0;

  explicit type_extents(MPI_Datatype type) {
    MPI_Count bytes = 0;
    MPI_Aint reach = 0;
    mpi::check_type_query(MPI_Type_size_x(type, &bytes), "MPI_Type_size_x");
    mpi::check_type_query(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
    mpi::check_type_query(MPI_Type_get_true_extent(type, &true_lower, &reach), "MPI_Type_get_true_extent");
    size = bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
    true_extent = reach < 0 ? 0 : static_cast<std::size_t>(reach);
  }
  bool compact() const {
    return lower == 0 && true_lower == 0 && static_cast<std::size_t>(extent) == size && true_extent == size;
  }
};

// Tests whether blocks of parts are in order and without gaps. Block i has `lengths[i]` parts at
// `places[i]`.
class block_sequence {
 public:
  bool append(MPI_Aint place, int length, std::size_t size) {
    if (length == 0 || size == 0) return true;
    const bool fits = place == end_;
    end_ = place + static_cast<MPI_Aint>(static_cast<std::size_t>(length) * size);
    return fits;
  }

 private:
  MPI_Aint end_ = 0;
};

// Whether the bytes of an item are in the order of memory. Requires that its extent has no gaps. If
// the answer is not obvious it is false, and items are packed.
bool ordered(MPI_Datatype type, const mpi::type_envelope& envelope) {
  if (envelope.predefined()) return true;
  const mpi::type_contents c(type, envelope, {real<MPI_Type_get_contents>, real<MPI_Type_free>});
  if (!std::all_of(c.types.begin(), c.types.end(), [](MPI_Datatype part) {
        return type_extents(part).compact() && ordered(part, mpi::type_envelope(part));
      }))
    return false;
  const auto n = c.ints.empty() ? 0 : static_cast<std::size_t>(c.ints[0]);
  const auto part = [&](std::size_t i) { return type_extents(c.types[i]).size; };
  block_sequence blocks;
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_CONTIGUOUS:
      return true;
    case MPI_COMBINER_VECTOR:
      return n <= 1 || c.ints[2] == c.ints[1];
    case MPI_COMBINER_HVECTOR:
      return n <= 1 || c.addresses[0] == static_cast<MPI_Aint>(part(0)) * c.ints[1];
    case MPI_COMBINER_INDEXED:
      for (std::size_t i = 0; i < n; ++i)
        if (!blocks.append(c.ints[1 + n + i] * static_cast<MPI_Aint>(part(0)), c.ints[1 + i], part(0)))
          return false;
      return true;
    case MPI_COMBINER_HINDEXED:
      for (std::size_t i = 0; i < n; ++i)
        if (!blocks.append(c.addresses[i], c.ints[1 + i], part(0))) return false;
      return true;
    case MPI_COMBINER_STRUCT:
      for (std::size_t i = 0; i < n; ++i)
        if (!blocks.append(c.addresses[i], c.ints[1 + i], part(i))) return false;
      return true;
    default:
      return false;
  }
}

// Splits the items into chunks that MPI's int counts can hold.
template <class Step>
void for_each_chunk(std::size_t items, const datatype& type, Step step) {
  constexpr std::size_t max_count = std::size_t{1} << 30;
  const std::size_t chunk =
      std::max<std::size_t>(1, std::min(max_count, max_count / std::max<std::size_t>(1, type.size)));
  for (std::size_t done = 0; done < items; done += chunk)
    step(static_cast<int>(std::min(chunk, items - done)), static_cast<std::ptrdiff_t>(done) * type.extent,
         done * type.size);
}

}  // namespace

datatypes::datatypes(MPI_Comm self_comm, bool multithreaded)
    : self_comm_(self_comm), multithreaded_(multithreaded), mutex_(multithreaded) {
  for (auto& slot : used_) slot.store(MPI_DATATYPE_NULL, std::memory_order_relaxed);
}

datatypes::~datatypes() {
  for (MPI_Datatype one = vectors_.give_up(); one != MPI_DATATYPE_NULL; one = vectors_.give_up())
    real<MPI_Type_free>(&one);
}

void datatypes::add_vector(MPI_Datatype handle, const vector_arguments& made) {
  if (multithreaded_) return;
  if (made.item != vector_item_) {
    if (!mpi::type_envelope(made.item).predefined()) return;
    const datatype& t = of(made.item);
    vector_item_ = made.item;
    vector_item_bytes_ = t.dense ? static_cast<std::uint32_t>(t.size) : 0;
  }
  vectors_.add(handle, made, vector_item_bytes_);
}

// Fortran's functions for names and attributes need not call those of C, which this library
// replaces. So a program that has them frees its datatypes as others do. A library that is loaded
// after the first datatype was freed is not seen.
bool datatypes::keeps_vectors() {
  if (!keeps_vectors_) keeps_vectors_ = !is_imported("mpi_type_set_") && !is_imported("pmpi_type_set_");
  return *keeps_vectors_;
}

MPI_Datatype datatypes::begin_free(MPI_Datatype handle) {
  const bool needed = defer_free(handle);
  if (multithreaded_) return needed ? MPI_DATATYPE_NULL : handle;
  if (!needed && keeps_vectors()) return vectors_.keep(handle);
  vectors_.forget(handle);
  return needed ? MPI_DATATYPE_NULL : handle;
}

// MPICH packs nothing at MPI_BOTTOM, so such items are sent to this process itself.
int datatypes::send_to_self(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                            MPI_Datatype in_type) {
  const int tag = static_cast<int>(self_sends_.fetch_add(1, std::memory_order_relaxed) % 32768);
  return real<MPI_Sendrecv>(out, out_count, out_type, 0, tag, in, in_count, in_type, 0, tag, self_comm_,
                            MPI_STATUS_IGNORE);
}

void datatypes::pack(const void* from, std::size_t items, const datatype& type, std::byte* to) {
  if (type.size == 0) return;
  for_each_chunk(items, type, [&](int n, std::ptrdiff_t at, std::size_t packed) {
    int position = 0;
    void* const start = offset_by(from, at);
    const auto bytes = static_cast<int>(static_cast<std::size_t>(n) * type.size);
    mpi::check_type_query(start == MPI_BOTTOM
                              ? send_to_self(start, n, type.handle, to + packed, bytes, MPI_PACKED)
                              : PMPI_Pack(start, n, type.handle, to + packed, bytes, &position, self_comm_),
                          "MPI_Pack");
  });
}

void datatypes::unpack(const std::byte* from, std::size_t items, const datatype& type, void* to) {
  if (type.size == 0) return;
  for_each_chunk(items, type, [&](int n, std::ptrdiff_t at, std::size_t packed) {
    int position = 0;
    void* const start = offset_by(to, at);
    const auto bytes = static_cast<int>(static_cast<std::size_t>(n) * type.size);
    mpi::check_type_query(
        start == MPI_BOTTOM ? send_to_self(from + packed, bytes, MPI_PACKED, start, n, type.handle)
                            : PMPI_Unpack(from + packed, bytes, &position, start, n, type.handle, self_comm_),
        "MPI_Unpack");
  });
}

bool datatypes::pack(const void* from, int items, MPI_Datatype type, std::byte* to, std::size_t bytes) const {
  if (const made_vector* const vector = vectors_.find(type)) {
    vector->pack(from, static_cast<std::size_t>(items), to);
    return true;
  }
  int position = 0;
  return PMPI_Pack(from, items, type, to, static_cast<int>(bytes), &position, self_comm_) == MPI_SUCCESS;
}

void datatypes::unpack(const std::byte* from, std::size_t bytes, void* to, int items,
                       MPI_Datatype type) const {
  if (const made_vector* const vector = vectors_.find(type))
    return vector->unpack(from, static_cast<std::size_t>(items), to);
  int position = 0;
  mpi::check_type_query(PMPI_Unpack(from, static_cast<int>(bytes), &position, to, items, type, self_comm_),
                        "MPI_Unpack");
}

// A send to MPI_PROC_NULL tests it. No function returns whether a datatype is committed.
bool datatypes::is_accepted(MPI_Datatype handle) const {
  static const char item = 0;  // never read
  return handle != MPI_DATATYPE_NULL &&
         real<MPI_Send>(&item, 1, handle, MPI_PROC_NULL, 0, self_comm_) == MPI_SUCCESS;
}

// Null if the datatype was used before, or if both places hold others that the program has not
// freed. Then it is inspected: others that it displaced would displace it again.
std::atomic<MPI_Datatype>* datatypes::free_slot_of(MPI_Datatype handle) noexcept {
  std::atomic<MPI_Datatype>* free = nullptr;
  for (auto* const slot : used_slots_of(handle)) {
    const MPI_Datatype held = slot->load(std::memory_order_relaxed);
    if (held == handle) return nullptr;
    if (held == MPI_DATATYPE_NULL && free == nullptr) free = slot;
  }
  return free;
}

std::size_t datatypes::short_at_first_use(MPI_Datatype handle, int items, std::size_t max_bytes) {
  std::atomic<MPI_Datatype>* const slot = free_slot_of(handle);
  if (slot == nullptr) return 0;
  std::size_t item_bytes = 0;
  if (const made_vector* const vector = vectors_.find(handle)) {
    item_bytes = vector->size();
  } else {
    int size = 0;
    if (!is_accepted(handle) || PMPI_Type_size(handle, &size) != MPI_SUCCESS || size <= 0) return 0;
    item_bytes = static_cast<std::size_t>(size);
  }
  const std::size_t bytes = item_bytes * static_cast<std::size_t>(items);
  if (bytes > max_bytes) return 0;
  slot->store(handle, std::memory_order_relaxed);
  return bytes;
}

datatype datatypes::inspect(MPI_Datatype handle) const {
  datatype t;
  t.handle = handle;
  if (!is_accepted(handle)) return t;
  const type_extents m(handle);
  t.size = m.size;
  t.extent = m.extent;
  t.true_lower = m.true_lower;
  t.true_extent = m.true_extent;
  const mpi::type_envelope envelope(handle);
  t.named = envelope.predefined();
  t.dense = m.compact() && ordered(handle, envelope);
  // The gaps of MPI's pair types are those of a C struct.
  t.combinable = m.extent > 0 && m.lower == 0 && m.true_lower == 0 &&
                 (t.named || t.size == static_cast<std::size_t>(m.extent));
  t.usable = true;
  if (t.named && t.dense)
    for (const predefined_kind& k : arithmetic_kinds())
      if (k.type == handle && size_of(k.kind) == t.size) t.kind = k.kind;
  return t;
}

const datatype& datatypes::of(MPI_Datatype handle) {
  {
    const auto held = mutex_.lock();
    const auto at = entries_.find(handle);
    if (at != entries_.end()) return at->second;
  }
  datatype made = inspect(handle);
  static const datatype unusable;
  if (!made.usable) return unusable;  // it may be committed later
  for (const auto* slot : used_slots_of(handle))
    made.used_before = made.used_before || slot->load(std::memory_order_relaxed) == handle;
  return insert(made);
}

// Returns the entry of another thread, if it was faster.
datatype& datatypes::insert(const datatype& made) {
  const auto held = mutex_.lock();
  if (spare_.empty()) {
    const auto [at, added] = entries_.try_emplace(made.handle, made);
    if (added && !made.named) derived_.fetch_add(1, std::memory_order_relaxed);
    return at->second;
  }
  spare_.key() = made.handle;
  spare_.mapped() = made;
  auto result = entries_.insert(std::move(spare_));
  spare_ = std::move(result.node);
  if (result.inserted && !made.named) derived_.fetch_add(1, std::memory_order_relaxed);
  return result.position->second;
}

bool datatypes::use_again(MPI_Datatype handle) {
  const auto held = mutex_.lock();
  const auto at = entries_.find(handle);
  if (at == entries_.end()) return false;  // another thread has freed it
  return at->second.named || std::exchange(at->second.used_before, true);
}

void datatypes::note_decision(MPI_Datatype handle) {
  const auto held = mutex_.lock();
  if (const auto at = entries_.find(handle); at != entries_.end()) at->second.has_decisions = true;
}

// Returns true if a call still needs the datatype.
bool datatypes::defer_free(MPI_Datatype handle) {
  for (auto* const slot : used_slots_of(handle))
    if (slot->load(std::memory_order_relaxed) == handle)
      slot->store(MPI_DATATYPE_NULL, std::memory_order_relaxed);
  if (derived_.load(std::memory_order_relaxed) == 0) return false;
  const auto held = mutex_.lock();
  const auto at = entries_.find(handle);
  if (at == entries_.end() || at->second.named) return false;
  if (at->second.has_decisions) invalidate();
  if (at->second.users != 0) {
    at->second.freed = true;
    return true;
  }
  erase_derived(at);
  return false;
}

void datatypes::retain(const datatype& type) {
  const auto held = mutex_.lock();
  ++entries_.at(type.handle).users;
}

void datatypes::release(const datatype& type) {
  MPI_Datatype last = type.handle;
  {
    const auto held = mutex_.lock();
    const auto at = entries_.find(type.handle);
    if (--at->second.users != 0 || !at->second.freed) return;
    erase_derived(at);
  }
  real<MPI_Type_free>(&last);
}

}  // namespace tutti::preload

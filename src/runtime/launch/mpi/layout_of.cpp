// SPDX-License-Identifier: Apache-2.0
//
// Implements layout_of(): decodes an MPI datatype down to the named types, into pieces of bytes.
// MPI returns the extents of all derived types, so bounds and padding are MPI's.
#include <cstddef>
#include <string>
#include <vector>

#include "engines/mpi/type_contents.hpp"
#include "tutti/error.hpp"
#include "tutti/mpi.hpp"

namespace tutti {
namespace {

[[noreturn]] void throw_type_error(const std::string& problem, const char* remedy) {
  throw usage_error("layout_of", -1, "type", problem, remedy);
}

using mpi::check_type_query;
using contents = mpi::type_contents;
using offset = std::ptrdiff_t;

struct extent_of {
  MPI_Aint lower = 0, extent = 0;
  explicit extent_of(MPI_Datatype type) {
    check_type_query(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
    if (extent < 0) throw_type_error("has a negative extent, " + std::to_string(extent), "resize it");
  }
  std::size_t bytes() const { return static_cast<std::size_t>(extent); }
};

layout item_of(MPI_Datatype type);

class pieces {
 public:
  void add(offset at, int count, const layout& item) {
    if (item.is_contiguous()) {
      all_.push_back({at, static_cast<std::size_t>(count) * item.size()});
      return;
    }
    for (int i = 0; i < count; ++i)
      for (const layout::piece& p : item.pieces())
        all_.push_back({at + i * static_cast<offset>(item.extent()) + p.offset, p.bytes});
  }
  layout made(std::size_t extent) const { return layout::indexed(all_, extent); }

 private:
  std::vector<layout::piece> all_;
};

// --- named types

// The pair types of MPI_MINLOC and MPI_MAXLOC may have a gap; other named types have none.
template <class First>
layout pair_of() {
  struct both {
    First value;
    int index;
  };
  return layout::structure(
      {{offsetof(both, value), layout::of<First>()}, {offsetof(both, index), layout::of<int>()}},
      sizeof(both));
}

layout named(MPI_Datatype type) {
  const extent_of e(type);
  int size = 0;
  check_type_query(MPI_Type_size(type, &size), "MPI_Type_size");
  if (static_cast<std::size_t>(size) == e.bytes() && e.lower == 0) return layout::contiguous(e.bytes());
  if (type == MPI_DOUBLE_INT) return pair_of<double>();
  if (type == MPI_LONG_INT) return pair_of<long>();
  if (type == MPI_SHORT_INT) return pair_of<short>();
  if (type == MPI_LONG_DOUBLE_INT) return pair_of<long double>();
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Type_get_name(type, name, &length);
  throw_type_error("is " + std::string(name) + ", whose layout is unknown",
                   "build a datatype of types with a known layout");
}

// --- arrays

// Numbers the elements of an array by their indices. The last index varies fastest.
struct grid {
  std::vector<int> sizes;  // of the whole array, slowest first
  offset number(const std::vector<int>& index) const {
    offset n = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) n = n * sizes[d] + index[d];
    return n;
  }
};

// Selects every combination of the indices in `indices`, in the order of memory.
layout select_elements(const grid& array, const std::vector<std::vector<int>>& indices, const layout& item,
                       std::size_t extent) {
  pieces made;
  std::vector<std::size_t> at(indices.size(), 0);
  std::vector<int> index(indices.size());
  for (const auto& dimension : indices)
    if (dimension.empty()) return made.made(extent);
  for (;;) {
    for (std::size_t d = 0; d < at.size(); ++d) index[d] = indices[d][at[d]];
    made.add(array.number(index) * static_cast<offset>(item.extent()), 1, item);
    std::size_t d = at.size();
    while (d > 0 && ++at[d - 1] == indices[d - 1].size()) at[--d] = 0;
    if (d == 0) return made.made(extent);
  }
}

// In Fortran's order the first index varies fastest.
template <class T>
void in_order_of_memory(std::vector<T>& dimensions, int order) {
  if (order == MPI_ORDER_FORTRAN) std::vector<T>(dimensions.rbegin(), dimensions.rend()).swap(dimensions);
}

layout subarray(const contents& c, std::size_t extent) {
  const auto n = static_cast<std::size_t>(c.ints[0]);
  const int *sizes = &c.ints[1], *some = sizes + n, *starts = some + n, order = starts[n];
  grid array{{sizes, sizes + n}};
  std::vector<std::vector<int>> indices(n);
  for (std::size_t d = 0; d < n; ++d)
    for (int i = 0; i < some[d]; ++i) indices[d].push_back(starts[d] + i);
  in_order_of_memory(array.sizes, order);
  in_order_of_memory(indices, order);
  return select_elements(array, indices, item_of(c.types[0]), extent);
}

// The indices of one dimension that process `mine` of `processes` owns.
std::vector<int> distributed(int size, int how, int argument, int processes, int mine) {
  std::vector<int> owned;
  int block = argument;
  if (how == MPI_DISTRIBUTE_NONE)
    block = size;
  else if (argument == MPI_DISTRIBUTE_DFLT_DARG)
    block = how == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  for (int begin = mine * block; block > 0 && begin < size; begin += processes * block) {
    for (int i = begin; i < begin + block && i < size; ++i) owned.push_back(i);
    if (how != MPI_DISTRIBUTE_CYCLIC) break;
  }
  return owned;
}

layout darray(const contents& c, std::size_t extent) {
  const auto n = static_cast<std::size_t>(c.ints[2]);
  const int *sizes = &c.ints[3], *how = sizes + n, *arguments = how + n, *processes = arguments + n;
  const int order = processes[n];
  grid array{{sizes, sizes + n}};
  std::vector<std::vector<int>> indices(n);
  // Process ids vary fastest in the last dimension, whatever the order of the array.
  int rest = c.ints[1];
  for (std::size_t d = n; d-- > 0;) {
    const int mine = rest % processes[d];
    rest /= processes[d];
    indices[d] = how[d] == MPI_DISTRIBUTE_NONE
                     ? distributed(sizes[d], how[d], 0, 1, 0)
                     : distributed(sizes[d], how[d], arguments[d], processes[d], mine);
  }
  in_order_of_memory(array.sizes, order);
  in_order_of_memory(indices, order);
  return select_elements(array, indices, item_of(c.types[0]), extent);
}

// --- the constructors

layout vectors(const contents& c, std::size_t extent) {
  const layout item = item_of(c.types[0]);
  const offset stride = c.combiner == MPI_COMBINER_HVECTOR ? static_cast<offset>(c.addresses[0])
                                                           : c.ints[2] * static_cast<offset>(item.extent());
  pieces made;
  for (int i = 0; i < c.ints[0]; ++i) made.add(i * stride, c.ints[1], item);
  return made.made(extent);
}

layout blocks(const contents& c, bool in_bytes, bool equal, std::size_t extent) {
  const layout item = item_of(c.types[0]);
  const auto n = static_cast<std::size_t>(c.ints[0]);
  const int *lengths = &c.ints[1], *offsets = equal ? lengths + 1 : lengths + n;
  pieces made;
  for (std::size_t i = 0; i < n; ++i)
    made.add(in_bytes ? static_cast<offset>(c.addresses[i]) : offsets[i] * static_cast<offset>(item.extent()),
             equal ? lengths[0] : lengths[i], item);
  return made.made(extent);
}

layout structure(const contents& c, std::size_t extent) {
  pieces made;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.ints[0]); ++i)
    made.add(static_cast<offset>(c.addresses[i]), c.ints[1 + i], item_of(c.types[i]));
  return made.made(extent);
}

layout item_of(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) throw_type_error("is MPI_DATATYPE_NULL", "pass a datatype");
  const contents c(type);
  if (c.predefined()) return named(type);
  const std::size_t extent = extent_of(type).bytes();
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return item_of(c.types[0]).resized(extent);
    case MPI_COMBINER_CONTIGUOUS:
      return layout::contiguous(static_cast<std::size_t>(c.ints[0]), item_of(c.types[0])).resized(extent);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return vectors(c, extent);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
      return blocks(c, c.combiner == MPI_COMBINER_HINDEXED, false, extent);
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks(c, c.combiner == MPI_COMBINER_HINDEXED_BLOCK, true, extent);
    case MPI_COMBINER_STRUCT:
      return structure(c, extent);
    case MPI_COMBINER_SUBARRAY:
      return subarray(c, extent);
    case MPI_COMBINER_DARRAY:
      return darray(c, extent);
    default:
      throw_type_error("was made by an unknown constructor, combiner " + std::to_string(c.combiner),
                       "build it with the constructors of MPI-3.1");
  }
}

}  // namespace

layout layout_of(MPI_Datatype type) { return item_of(type); }

}  // namespace tutti

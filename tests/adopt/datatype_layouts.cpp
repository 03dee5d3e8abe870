// SPDX-License-Identifier: Apache-2.0
//
// Tests layout_of(): a layout packs and unpacks the same bytes as MPI_Pack and MPI_Unpack for its
// datatype. Uses random datatypes of all constructors, each built from earlier ones, also in
// collectives.
#include <algorithm>
#include <random>

#include "runtime/launch/modules.hpp"
#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/mpi.hpp"

using namespace tutti;
using tests::check;

namespace {

/// A datatype that is freed unless it is predefined.
struct datatype {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool derived = true;
  std::string made;

  datatype(MPI_Datatype named, const char* name) : type(named), derived(false), made(name) {}
  explicit datatype(std::string how) : made(std::move(how)) {}
  datatype(datatype&& other) noexcept
      : type(std::exchange(other.type, MPI_DATATYPE_NULL)), derived(other.derived), made(other.made) {}
  datatype& operator=(datatype&&) = delete;
  ~datatype() {
    if (derived && type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  }
};

class maker {
 public:
  explicit maker(std::uint64_t seed) : draw_(seed) {}

  datatype any(int depth) {
    if (depth == 0) return named();
    const datatype old = any(depth - 1);
    datatype made{std::string()};
    const int n = number(0, 4);
    const int *list = some(0, 3), *places = some(-5, 9);
    switch (number(0, 11)) {
      case 0:
        made.made = "dup";
        MPI_Type_dup(old.type, &made.type);
        break;
      case 1:
        made.made = "contiguous";
        MPI_Type_contiguous(n, old.type, &made.type);
        break;
      case 2:
        made.made = "vector";
        MPI_Type_vector(list[0], list[1], number(-4, 4), old.type, &made.type);
        break;
      case 3:
        made.made = "hvector";
        MPI_Type_create_hvector(list[0], list[1], number(-90, 90), old.type, &made.type);
        break;
      case 4:
        made.made = "indexed";
        MPI_Type_indexed(n, list, places, old.type, &made.type);
        break;
      case 5:
        made.made = "hindexed";
        MPI_Type_create_hindexed(n, list, far(), old.type, &made.type);
        break;
      case 6:
        made.made = "indexed_block";
        MPI_Type_create_indexed_block(n, list[0], places, old.type, &made.type);
        break;
      case 7:
        made.made = "hindexed_block";
        MPI_Type_create_hindexed_block(n, list[0], far(), old.type, &made.type);
        break;
      case 8: {
        const datatype second = any(depth - 1), third = named();
        const MPI_Datatype types[] = {old.type, second.type, third.type};
        made.made = "struct of " + second.made + ", " + third.made + ",";
        MPI_Type_create_struct(1 + n % 3, list, far(), types, &made.type);
        break;
      }
      case 9:
        made.made = "subarray";
        subarray(old, made);
        break;
      case 10:
        made.made = "darray";
        darray(old, made);
        break;
      default:
        made.made = "resized";
        MPI_Type_create_resized(old.type, 10 * places[0], number(0, 120), &made.type);
    }
    // An MPI may reject a datatype; Open MPI rejects some arrays. Such datatypes are replaced.
    if (made.type == MPI_DATATYPE_NULL) MPI_Type_contiguous(1, old.type, &made.type);
    made.made += " of " + old.made;
    return made;
  }

 private:
  int number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(draw_); }
  const int* some(int from, int to) {
    auto& list = ints_[next_++ % 4];
    for (int& one : list) one = number(from, to);
    return list;
  }
  const MPI_Aint* far() {
    for (MPI_Aint& one : far_) one = number(-60, 200);
    return far_;
  }
  datatype named() {
    switch (number(0, 7)) {
      case 0:
        return {MPI_CHAR, "char"};
      case 1:
        return {MPI_SHORT, "short"};
      case 2:
        return {MPI_INT, "int"};
      case 3:
        return {MPI_DOUBLE, "double"};
      case 4:
        return {MPI_DOUBLE_INT, "double_int"};
      case 5:
        return {MPI_SHORT_INT, "short_int"};
      case 6:
        return {MPI_LONG_DOUBLE_INT, "long_double_int"};
      default:
        return {MPI_LONG_INT, "long_int"};
    }
  }
  void subarray(const datatype& old, datatype& made) {
    const int n = number(1, 3);
    int sizes[3], parts[3], starts[3];
    for (int d = 0; d < n; ++d) {
      sizes[d] = number(1, 4);
      parts[d] = number(1, sizes[d]);
      starts[d] = number(0, sizes[d] - parts[d]);
    }
    MPI_Type_create_subarray(n, sizes, parts, starts, order(), old.type, &made.type);
  }
  void darray(const datatype& old, datatype& made) {
    const int n = number(1, 3);
    int sizes[3], how[3], arguments[3], processes[3], all = 1;
    for (int d = 0; d < n; ++d) {
      sizes[d] = number(1, 7);
      processes[d] = number(1, 3);
      how[d] = number(0, 1) == 0 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
      arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
      if (number(0, 1) == 0)
        arguments[d] =
            how[d] == MPI_DISTRIBUTE_BLOCK ? (sizes[d] + processes[d] - 1) / processes[d] : number(1, 3);
      if (number(0, 4) == 0)
        how[d] = MPI_DISTRIBUTE_NONE, processes[d] = 1, arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
      all *= processes[d];
    }
    const int rank = number(0, all - 1), by = order();
    MPI_Type_create_darray(all, rank, n, sizes, how, arguments, processes, by, old.type, &made.type);
  }
  int order() { return number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

  std::mt19937_64 draw_;
  int ints_[4][4];
  MPI_Aint far_[4];
  std::size_t next_ = 0;
};

using bytes = std::vector<unsigned char>;

// Returns whether two pieces share a byte. Such a datatype cannot be received into.
bool overlaps(const layout& item, std::size_t items, std::size_t before, std::size_t all) {
  std::vector<int> times(all, 0);
  for (std::size_t i = 0; i < items; ++i)
    for (const layout::piece& p : item.pieces())
      for (std::size_t b = 0; b < p.bytes; ++b)
        if (++times[before + i * item.extent() + static_cast<std::size_t>(p.offset) + b] > 1) return true;
  return false;
}

// Returns whether the datatype could be compared.
bool same_bytes(const datatype& one) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(one.type, &lower, &extent);
  if (extent < 0) {
    check.throws<usage_error>([&] { (void)layout_of(one.type); }, {"layout_of", "negative extent"});
    return false;
  }
  MPI_Type_get_true_extent(one.type, &true_lower, &true_extent);
  const layout item = layout_of(one.type);  // not committed
  MPI_Datatype committed = one.type;
  if (one.derived) MPI_Type_commit(&committed);
  int size = 0;
  MPI_Type_size(one.type, &size);
  const int items = 3;
  check.equal(item.size(), static_cast<std::size_t>(size));
  check.equal(item.extent(), static_cast<std::size_t>(extent));
  if (size == 0) return false;

  // MPICH's true bounds omit some blocks, or include empty ones. So allocates enough for both.
  const MPI_Aint lowest = std::min<MPI_Aint>({0, true_lower, item.lowest()});
  const MPI_Aint highest = std::max<MPI_Aint>({0, true_lower + true_extent, item.highest()});
  const auto before = static_cast<std::size_t>(-lowest);
  const auto all = before + static_cast<std::size_t>(2 * extent + highest) + 1;
  if (overlaps(item, items, before, all)) return false;
  // Open MPI treats a datatype as contiguous if its size equals its extent, even if its bytes are
  // in another order.
  if (item.size() == item.extent() && !item.is_contiguous()) return false;
  bytes memory(all);
  for (std::size_t i = 0; i < all; ++i) memory[i] = static_cast<unsigned char>(i * 7 + i / 256 + 1);
  bytes by_mpi(static_cast<std::size_t>(items * size)), by_layout = by_mpi;
  int at = 0;
  MPI_Pack(memory.data() + before, items, one.type, by_mpi.data(), items * size, &at, MPI_COMM_SELF);
  check.equal(at, items * size);
  item.pack(memory.data() + before, items, by_layout.data());
  check.that(by_mpi == by_layout, "packed differently");

  bytes one_way(all, 0), other_way(all, 0);
  at = 0;
  MPI_Unpack(by_mpi.data(), items * size, &at, one_way.data() + before, items, one.type, MPI_COMM_SELF);
  item.unpack(by_mpi.data(), items, other_way.data() + before);
  check.that(one_way == other_way, "unpacked differently");
  return true;
}

void random_datatypes(std::uint64_t seed) {
  int compared = 0;
  for (std::uint64_t i = 0; i < 600; ++i) {
    const datatype one = maker(seed + i).any(static_cast<int>((seed + i) % 4));
    try {
      compared += same_bytes(one);
    } catch (const std::exception& e) {
      throw std::runtime_error(one.made + " (seed " + std::to_string(seed + i) + "): " + e.what());
    }
  }
  check.that(compared > 200, "too few datatypes drawn are worth comparing");
}

void in_calls(communicator& world) {
  const int me = world.rank(), p = world.size();
  MPI_Datatype column, spaced;
  MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &spaced);
  double matrix[12];
  for (int i = 0; i < 12; ++i) matrix[i] = 100.0 * me + i;
  std::vector<double> all(static_cast<std::size_t>(12 * p));
  // Three columns of each rank, received as rows.
  world.allgather(send_buf(matrix), send_type(spaced), send_count(3), recv_buf(all), recv_type(MPI_DOUBLE));
  for (int r = 0; r < p; ++r)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 4; ++i)
        check.equal(all[static_cast<std::size_t>(12 * r + 4 * c + i)], 100.0 * r + 3 * i + c);
  auto request = world.ibcast(send_recv_buf(matrix), send_recv_type(column), send_recv_count(1), root(p - 1));
  MPI_Type_free(&column);  // the layout does not need it
  MPI_Type_free(&spaced);
  request.wait();
  for (int i = 0; i < 12; ++i) check.equal(matrix[i], 100.0 * (i % 3 == 0 ? p - 1 : me) + i);
  check.throws<usage_error>([] { (void)layout_of(MPI_DATATYPE_NULL); }, {"layout_of", "MPI_DATATYPE_NULL"});
  check.that(layout_of(MPI_INT) == type_of<int>());
}

}  // namespace

int main(int argc, char** argv) {
  const tests::program_start start(argc, argv);
  tests::failure_site at{0, tutti::detail::find_launcher().ranks, tutti::detail::find_launcher().module};
  int status = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &at.rank);
  try {
    auto world = tutti::adopt(MPI_COMM_WORLD);
    in_calls(world);
    random_datatypes(tests::selected_seed().value_or(1000 * static_cast<std::uint64_t>(world.rank() + 1)));
  } catch (const std::exception& e) {
    tests::print_failure(start, at, e);
    status = 1;
  }
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return status;
}

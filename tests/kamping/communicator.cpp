// SPDX-License-Identifier: Apache-2.0
//
// Tests the communicator itself: ranks, defaults, splits, comparison, groups, ownership, and
// destruction after MPI's end.
#include <numeric>

#include "user.hpp"

using namespace kamping;
using tests::check;

struct record {
  int key;
  double value;
};
// A type that the program describes itself.
template <>
struct kamping::mpi_type_traits<record> : kamping::struct_type<record> {};

namespace {

void ranks(const Communicator<>& comm) {
  int rank = -1, size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check.equal(comm.rank_signed(), rank);
  check.equal(comm.size_signed(), size);
  check.that(comm.rank() == world_rank() && comm.size() == world_size());
  static_assert(std::is_same_v<decltype(comm.rank()), std::size_t>);
  check.equal(comm.rank_shifted_cyclic(-1), static_cast<std::size_t>((rank + size - 1) % size));
  check.equal(comm.rank_shifted_cyclic(2 * size + 1), static_cast<std::size_t>((rank + 1) % size));
  check.equal(comm.rank_shifted_checked(-rank), std::size_t{0});
  check.throws<MpiErrorException>([&] { (void)comm.rank_shifted_checked(size); }, {"rank_shifted_checked"});
  check.that(comm.is_valid_rank(0) && !comm.is_valid_rank(-1) && !comm.is_valid_rank(comm.size()));
  check.that(mpi_env.initialized() && !mpi_env.finalized());
  const double begin = mpi_env.wtime();
  check.that(mpi_env.wtime() >= begin && mpi_env.wtick() > 0);
  check.that(mpi_env.tag_upper_bound() >= 32767 && mpi_env.is_valid_tag(0) && !mpi_env.is_valid_tag(-1));
  check.that(comm.is_same_on_all_ranks(size));
  check.equal(comm.is_same_on_all_ranks(rank), size == 1);
  check.equal(comm.num_numa_nodes(), std::size_t{1});
  check.that(!comm.processor_name().empty());
}

void defaults(const Communicator<>& world) {
  Communicator comm = world;
  check.that(comm.root() == 0 && comm.default_tag() == 0);
  comm.root(comm.size() - 1);
  comm.default_tag(9);
  check.that(comm.is_root() == (comm.rank() + 1 == comm.size()) && comm.is_root(comm.rank()));
  check.equal(comm.gather(send_buf(1)).size(), comm.is_root() ? comm.size() : 0);
  comm.bsend(send_buf(1), destination(comm.rank()));
  auto [got, how] = comm.recv<int>(source(comm.rank()), status_out());
  check.equal(how.tag(), 9);
  check.that(world.root() == 0 && world.default_tag() == 0);  // each object has its own
  check.throws<MpiErrorException>([&] { comm.root(comm.size()); }, {"root"});
}

void parts(const Communicator<>& comm) {
  const int color = comm.rank_signed() % 2;
  const Communicator half = comm.split(color, -comm.rank_signed());
  int sum = 0, native_sum = 0;
  for (int r = color; r < comm.size_signed(); r += 2) sum += r;
  check.equal(half.allreduce_single(send_buf(comm.rank_signed()), op(ops::plus<>{})), sum);
  const int mine = comm.rank_signed();
  MPI_Allreduce(&mine, &native_sum, 1, MPI_INT, MPI_SUM, half.mpi_communicator());
  check.equal(native_sum, sum);
  check.equal(half.convert_rank_to_communicator(half.rank(), comm), mine);
  check.equal(half.convert_rank_from_communicator(comm.rank(), comm), half.rank_signed());
  check.that(half.compare(half) == CommunicatorComparisonResult::identical);
  if (comm.size() > 1) check.that(half.compare(comm) == CommunicatorComparisonResult::unequal);

  const Communicator nobody = comm.split(MPI_UNDEFINED);
  check.that(nobody.mpi_communicator() == MPI_COMM_NULL && nobody.size() == 0);
  check.throws<MpiErrorException>([&] { nobody.barrier(); }, {"MPI_COMM_NULL"});
  check.equal(comm.split_to_shared_memory().size(), comm.size());

  std::vector<std::size_t> group;
  for (std::size_t r = comm.rank() % 2; r < comm.size(); r += 2) group.push_back(r);
  const auto again = comm.create_subcommunicators(group);
  check.equal(again.size(), group.size());
  check.equal(again.allreduce_single(send_buf(mine), op(ops::plus<>{})), sum);
  const RankRanges ranges(std::vector<RankRange>{{color, comm.size_signed() - 1, 2}});
  check.that(ranges.contains(mine));
  const auto by_ranges = comm.create_subcommunicators(ranges);
  check.that(by_ranges.compare(again) == CommunicatorComparisonResult::congruent);

  const Group all(comm), part(half);
  check.that(all.is_identical(Group::world()) && Group::empty().size() == 0);
  check.equal(all.set_difference(part).size(), comm.size() - half.size());
  check.that(all.set_intersection(part).has_same_ranks(part) && all.set_union(part).is_identical(all));
}

void ownership(const Communicator<>& comm) {
  MPI_Comm raw = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &raw);
  {
    Communicator first(raw), same(raw);  // the second construction is local
    if (first.rank() == 0) {
      const Communicator alone(raw);  // so one rank may do it alone
      check.equal(alone.size(), comm.size());
    }
    check.equal(same.allreduce_single(send_buf(1), op(ops::plus<>{})), comm.size_signed());
    Communicator copy = first;
    first.swap(copy);
    check.that(first.compare(copy) == CommunicatorComparisonResult::identical);
  }
  MPI_Comm_free(&raw);
  MPI_Comm_dup(MPI_COMM_WORLD, &raw);
  {
    Communicator owner(raw, true);
    const Communicator<std::vector, plugin::SortPlugin> other(owner);
    check.equal(other.allgather(send_buf(1)).size(), comm.size());
    raw = owner.disown_mpi_communicator();
  }
  MPI_Comm_free(&raw);
}

void types() {
  check.that(mpi_datatype<int>() == MPI_INT && mpi_datatype<double>() == MPI_DOUBLE);
  int bytes = 0;
  MPI_Type_size(mpi_datatype<record>(), &bytes);
  check.equal(bytes, static_cast<int>(sizeof(record)));
  MPI_Type_size(mpi_datatype<std::array<short, 5>>(), &bytes);
  check.equal(bytes, 10);
  check.that(mpi_datatype<record>() == mpi_datatype<record>());
  static_assert(is_builtin_type_v<float> && !is_builtin_type_v<record>);
  std::vector<kabool> flags = {true, false};
  Communicator comm;
  const auto all = comm.allgather(send_buf(flags));
  check.that(all.size() == 2 * comm.size() && all[0] && !all.back());
  int numbers[] = {1, 2, 3};
  Span view(numbers, std::size_t{2});
  check.equal(comm.allgather(send_buf(view)).size(), 2 * comm.size());
  static_assert(assert::light < assert::heavy);
  static_assert(asserting_cast<int>(std::size_t{7}) == 7 && in_range<short>(-3) && !in_range<unsigned>(-3));
  check.throws<std::range_error>([] { (void)throwing_cast<signed char>(200); }, {"range"});
  check.throws<std::range_error>([] { (void)throwing_cast<int>(~std::size_t{0}); }, {"range"});
}

// A plugin of the program.
template <class Comm, template <class...> class Container>
class Total : public plugin::PluginBase<Comm, Container, Total> {
 public:
  template <class T>
  T total(const T& mine) const {
    return this->to_communicator().allreduce_single(send_buf(mine), op(ops::plus<>{}));
  }
};

void plugins() {
  const Communicator<std::vector, Total, plugin::SortPlugin> comm(MPI_COMM_WORLD, 0);
  check.equal(comm.total(2), 2 * comm.size_signed());
  check.equal(comm.split(0).total(1), comm.size_signed());  // a split has the plugins too
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<Communicator<>> outlives;
  const int status = tests::as_user(argc, argv, [&] {
    Communicator comm;
    ranks(comm);
    defaults(comm);
    parts(comm);
    ownership(comm);
    types();
    plugins();
    outlives = comm.split(0);
    check.equal(outlives->allgather(send_buf(1)).size(), comm.size());
  });
  return status;
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests the features that the examples and tests of KaMPIng 0.2.1 use, in their notation. Each
// result is compared with that of plain MPI calls.
//
// Longer than a file should be: a list of cases.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <unordered_map>

#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

// --- plugin::SampleSort

struct pair_of_numbers {
  int a, b;
  bool operator<(const pair_of_numbers& other) const { return a != other.a ? a < other.a : b < other.b; }
  bool operator==(const pair_of_numbers&) const = default;
};

std::vector<std::int64_t> random_numbers(std::size_t n, int seed) {
  std::mt19937 generator(static_cast<unsigned>(seed));
  std::uniform_int_distribution<std::int64_t> some(0, 10000);
  std::vector<std::int64_t> v(n);
  for (auto& x : v) x = some(generator);
  return v;
}

template <class T>
std::vector<T> everybodys(const std::vector<T>& mine) {
  int p = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const int bytes = static_cast<int>(mine.size() * sizeof(T));
  std::vector<int> counts(static_cast<std::size_t>(p)), displs(counts.size());
  MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), 0);
  std::vector<T> all(static_cast<std::size_t>(displs.back() + counts.back()) / sizeof(T));
  MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), displs.data(), MPI_BYTE,
                 MPI_COMM_WORLD);
  return all;
}

void sample_sort() {
  Communicator<std::vector, plugin::SampleSort> comm;
  const auto data = random_numbers(500 + 30 * comm.rank(), 42 + comm.rank_signed());
  auto expected = everybodys(data);
  {
    auto local_data = data;
    comm.sort(local_data);
    std::sort(expected.begin(), expected.end());
    check.equal(everybodys(local_data), expected);
  }
  {
    auto local_data = data;
    comm.sort(local_data, std::greater<std::int64_t>{});
    std::reverse(expected.begin(), expected.end());
    check.equal(everybodys(local_data), expected);
  }
  {
    std::vector<std::int64_t> out;
    comm.sort(data.begin(), data.end(), std::back_inserter(out));
    std::sort(expected.begin(), expected.end());
    check.equal(everybodys(out), expected);
  }
  std::vector<pair_of_numbers> pairs;
  for (const auto x : data) pairs.push_back({static_cast<int>(x % 10), static_cast<int>(x)});
  auto all = everybodys(pairs);
  std::sort(all.begin(), all.end());
  comm.sort(pairs);
  check.that(everybodys(pairs) == all);
}

// --- with_flattened, flatten

void flattened(const Communicator<>& comm) {
  const int p = comm.size_signed(), me = comm.rank_signed();
  std::vector<std::vector<int>> nested_send_buf(comm.size());
  std::vector<int> expected;
  for (int i = 0; i < p; ++i) {
    nested_send_buf[static_cast<std::size_t>(i)] = std::vector<int>(static_cast<std::size_t>(i + 1), me);
    expected.insert(expected.end(), static_cast<std::size_t>(me + 1), i);
  }
  check.equal(with_flattened(nested_send_buf).call([&](auto... flattened) {
    return comm.alltoallv(std::move(flattened)...);
  }),
              expected);
  check.equal(with_flattened(nested_send_buf, comm.size()).call([&](auto... flattened) {
    return comm.alltoallv(std::move(flattened)...);
  }),
              expected);
  auto [received, counts] = kamping::flatten(nested_send_buf).call([&](auto... flattened) {
    return comm.alltoallv(std::move(flattened)..., recv_counts_out());
  });
  check.equal(received, expected);
  check.equal(counts, std::vector<int>(comm.size(), me + 1));
  auto [data, send_counts_of, displs] = kamping::flatten(nested_send_buf);
  check.equal(comm.alltoallv(send_buf(data), send_counts(send_counts_of), send_displs(displs)), expected);
  std::unordered_map<int, std::vector<int>> sparse;
  sparse[(me + 1) % p] = {me};
  check.equal(with_flattened(sparse, comm.size()).call([&](auto... flattened) {
    return comm.alltoallv(std::move(flattened)...);
  }),
              std::vector<int>{(me + p - 1) % p});
}

// --- containers

template <class T>
struct own_container : std::vector<T> {
  using std::vector<T>::vector;
};

void containers(const Communicator<>& comm) {
  const int p = comm.size_signed(), me = comm.rank_signed();
  const std::vector<int> input(comm.rank() + 1, me);
  const auto expected = everybodys(input);
  auto [buffer, counts, displs] = comm.allgatherv(send_buf(input), recv_buf(alloc_new_using<own_container>),
                                                  recv_counts_out(alloc_new_using<own_container>),
                                                  recv_displs_out(alloc_new<own_container<int>>));
  static_assert(std::is_same_v<decltype(buffer), own_container<int>>);
  static_assert(std::is_same_v<decltype(counts), own_container<int>>);
  static_assert(std::is_same_v<decltype(displs), own_container<int>>);
  check.that(std::equal(buffer.begin(), buffer.end(), expected.begin(), expected.end()));
  check.equal(counts[comm.size() - 1], p);
  check.equal(displs[comm.size() - 1], p * (p - 1) / 2);
  auto gathered = comm.gather(send_buf(me), recv_buf<resize_to_fit>(alloc_new_using<own_container>));
  static_assert(std::is_same_v<decltype(gathered), own_container<int>>);
  check.equal(gathered.size(), comm.is_root() ? comm.size() : 0);
  auto of_default = comm.allgather(send_buf(me), recv_buf(alloc_container_of<int>));
  check.equal(of_default.size(), comm.size());
  comm.bsend(send_buf(input), destination(comm.rank_shifted_cyclic(1)));
  auto got = comm.recv<int>(recv_buf(alloc_new_using<own_container>));
  static_assert(std::is_same_v<decltype(got), own_container<int>>);
  check.equal(got.size(), comm.rank_shifted_cyclic(-1) + 1);
}

// --- Span{it, it}

void spans(const Communicator<>& comm) {
  const int p = comm.size_signed(), me = comm.rank_signed();
  std::vector<int> values(10);
  std::iota(values.begin(), values.end(), me);
  Span part{values.begin() + 2, values.begin() + 5};
  static_assert(std::is_same_v<decltype(part), Span<int>>);
  const Span all_of_it{values.cbegin(), values.cend()};
  static_assert(std::is_same_v<decltype(all_of_it), const Span<const int>>);
  static_assert(std::is_same_v<decltype(all_of_it)::value_type, int>);
  check.that(part.size() == 3 && part[0] == me + 2 && all_of_it.size() == 10 && part.data() == &values[2]);
  const Span none{values.end(), values.end()};
  const Span of_pointers{values.data(), values.data() + 4};
  static_assert(std::is_same_v<decltype(of_pointers), const Span<int>>);
  check.that(none.empty() && of_pointers.size() == 4);
  const auto spans = comm.allgather(send_buf(part));
  for (int r = 0; r < p; ++r) check.equal(spans[static_cast<std::size_t>(3 * r + 2)], r + 4);
  comm.allreduce(send_recv_buf(part), op(ops::max<>{}));
  check.equal(values, [&] {
    std::vector<int> v(10);
    std::iota(v.begin(), v.end(), me);
    for (int i = 2; i < 5; ++i) v[static_cast<std::size_t>(i)] = i + p - 1;
    return v;
  }());
}

void in_place(const Communicator<>& comm) {
  const int me = comm.rank_signed();
  std::vector<int> mine = {me, 2 * me, 1}, expected(3);
  MPI_Allreduce(mine.data(), expected.data(), 3, MPI_INT, MPI_SUM, comm.mpi_communicator());
  check.equal(comm.allreduce_inplace(send_recv_buf(std::vector<int>(mine)), op(ops::plus<>{})), expected);
  comm.allreduce_inplace(send_recv_buf(mine), op(ops::plus<>{}));
  check.equal(mine, expected);
  std::vector<int> scanned = {me}, sum(1);
  MPI_Scan(scanned.data(), sum.data(), 1, MPI_INT, MPI_SUM, comm.mpi_communicator());
  comm.scan_inplace(send_recv_buf(scanned), op(ops::plus<>{}));
  check.equal(scanned, sum);
  std::vector<int> blocks(comm.size(), -1), all(comm.size());
  blocks[comm.rank()] = me;
  MPI_Allgather(&me, 1, MPI_INT, all.data(), 1, MPI_INT, comm.mpi_communicator());
  comm.allgather_inplace(send_recv_buf(blocks));
  check.equal(blocks, all);
  comm.alltoall_inplace(send_recv_buf(blocks));
  check.equal(blocks, std::vector<int>(comm.size(), me));
  std::vector<int> before = {1};
  comm.exscan_inplace(send_recv_buf(before), op(ops::plus<>{}));
  check.equal(before[0], me);
}

// --- the grid

void grid_of_ranks() {
  Communicator<std::vector, plugin::GridCommunicator> comm;
  plugin::grid::GridCommunicator<std::vector> grid_comm = comm.make_grid_communicator();
  plugin::grid::GridCommunicator of_another{Communicator<>()};
  std::vector<double> input;
  std::vector<int> counts;
  for (int to = 0; to < comm.size_signed(); ++to) {
    counts.push_back((to + comm.rank_signed()) % 3);
    input.insert(input.end(), static_cast<std::size_t>(counts.back()), comm.rank_signed() + 0.01 * to);
  }
  std::vector<double> expected;
  for (int from = 0; from < comm.size_signed(); ++from)
    expected.insert(expected.end(), static_cast<std::size_t>((from + comm.rank_signed()) % 3),
                    from + 0.01 * comm.rank_signed());
  check.equal(grid_comm.alltoallv(send_buf(input), send_counts(counts)), expected);
  auto [received, received_counts] =
      of_another.alltoallv(send_buf(input), send_counts(counts), recv_counts_out());
  check.equal(received, expected);
  check.equal(received_counts[0], comm.rank_signed() % 3);
  using plugin::grid::MessageEnvelopeLevel;
  check.equal(grid_comm.alltoallv_with_envelope<MessageEnvelopeLevel::no_envelope>(send_buf(input),
                                                                                   send_counts(counts)),
              expected);
  const auto messages = grid_comm.alltoallv_with_envelope<MessageEnvelopeLevel::source_and_destination>(
      send_buf(input), send_counts(counts));
  check.equal(messages.size(), expected.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    check.equal(messages[i].get_payload(), expected[i]);
    check.equal(messages[i].get_source(), static_cast<std::size_t>(expected[i] + 0.001));
    check.equal(messages[i].get_destination_signed(), comm.rank_signed());
  }
}

void rank_ranges(const Communicator<>& comm) {
  int ranges[2][3] = {{0, comm.size_signed() - 1, 2}, {1, comm.size_signed() - 1, 2}};
  const std::size_t mine = comm.rank() % 2;
  RankRanges own(&ranges[mine], 1);
  check.that(own.size() == 1 && own.contains(comm.rank_signed()));
  const RankRanges both(ranges, comm.size() > 1 ? 2 : 1);
  check.that(both.contains(comm.rank_signed()));
  const auto part = comm.create_subcommunicators(own);
  MPI_Group world = MPI_GROUP_NULL, expected = MPI_GROUP_NULL, made = MPI_GROUP_NULL;
  MPI_Comm_group(comm.mpi_communicator(), &world);
  MPI_Group_range_incl(world, 1, own.get(), &expected);
  MPI_Comm_group(part.mpi_communicator(), &made);
  int result = MPI_UNEQUAL;
  MPI_Group_compare(expected, made, &result);
  check.equal(result, MPI_IDENT);
  MPI_Group_free(&world);
  MPI_Group_free(&expected);
  MPI_Group_free(&made);
}

void extracted(const Communicator<>& comm) {
  const std::size_t right = comm.rank_shifted_cyclic(1), left = comm.rank_shifted_cyclic(-1);
  const std::vector<int> values(1000, comm.rank_signed());
  const std::vector<int> expected(1000, static_cast<int>(left));
  std::vector<Request> requests;
  std::vector<int> got(1000);
  requests.push_back(comm.irecv(recv_buf(got), recv_count(1000), source(left)).extract());
  requests.push_back(comm.isend(send_buf(values), destination(right)).extract());
  Request also = comm.issend(send_buf(values), destination(right), tag(1)).extract();
  auto [request_of_recv, result] = comm.irecv<int>(source(left), tag(1)).extract();
  requests::wait_all(requests);
  check.equal(got, expected);
  request_of_recv.wait();
  also.wait();
  check.that(also.is_null());
  check.equal(std::vector<int>(result), expected);
  auto [request_of_send, sent] =
      comm.isend(send_buf_out(std::vector<int>(values)), destination(comm.rank())).extract();
  check.equal(comm.recv<int>(source(comm.rank())), values);
  check.that(request_of_send.test());
  check.equal(sent.extract(), values);
  auto [request_of_sum, sum] = comm.iallreduce(send_buf(values), op(ops::plus<>{})).extract();
  request_of_sum.wait();
  check.equal(sum.extract_recv_buf().back(), comm.size_signed() * (comm.size_signed() - 1) / 2);
}

// --- bools

void bools(const Communicator<>& comm) {
  const bool mine = comm.rank() % 2 == 1;
  std::vector<char> expected(comm.size());
  const char as_char = mine ? 1 : 0;
  MPI_Allgather(&as_char, 1, MPI_CHAR, expected.data(), 1, MPI_CHAR, comm.mpi_communicator());
  const auto is_expected = [&](const auto& got) {
    return std::equal(got.begin(), got.end(), expected.begin(), expected.end(),
                      [](bool a, char b) { return a == (b == 1); });
  };
  auto all = comm.allgather(send_buf(mine));
  static_assert(std::is_same_v<decltype(all), std::vector<kabool>>);
  check.that(is_expected(all));
  std::vector<kabool> into;
  comm.allgather(send_buf(mine), recv_buf<resize_to_fit>(into));
  check.that(is_expected(into));
  const bool several[] = {mine, true};
  comm.allgather(send_buf(several), send_count(1), recv_buf<resize_to_fit>(into));
  check.that(is_expected(into));
  check.that(is_expected(comm.allgather(send_buf({mine}))));
  check.that(is_expected(comm.allgatherv(send_buf(std::array<bool, 1>{mine}))));
  check.that(is_expected(comm.allgather(send_buf(kabool(mine)))));
  check.that(is_expected(comm.allgather(send_buf(mine), recv_buf(alloc_container_of<bool>))));
  auto at_root = comm.gather(send_buf(mine));
  static_assert(std::is_same_v<decltype(at_root), std::vector<kabool>>);
  check.that(comm.is_root() ? is_expected(at_root) : at_root.empty());
  const int any = comm.size() > 1 ? 1 : 0;
  auto either = comm.allreduce(send_buf(mine), op(ops::logical_or<>{}));
  static_assert(std::is_same_v<decltype(either), std::vector<kabool>>);
  check.equal(int(either[0]), any);
  check.equal(int(comm.allreduce_single(send_buf(mine), op(ops::logical_or<>{}))), any);
  std::vector<kabool> before = comm.exscan(send_buf(mine), op(ops::logical_or<>{}));
  check.equal(int(before[0]), comm.rank() > 1 ? 1 : 0);
  before = comm.exscan(send_buf(kabool(true)), op(ops::bit_and<>{}));
  check.equal(int(before[0]), 1);
  check.equal(int(comm.scan(send_buf(kabool(mine)), op(ops::logical_or<>{}))[0]), comm.rank() > 0 ? 1 : 0);
  auto later = comm.iallreduce(send_buf(mine), op(ops::logical_or<>{}));
  check.equal(int(later.wait()[0]), any);
  comm.bsend(send_buf(several), destination(comm.rank()));
  std::vector<kabool> message = comm.recv<bool>(source(comm.rank()));
  check.that(message.size() == 2 && message[0] == mine && message[1]);
  bool flag = comm.is_root();
  comm.bcast(send_recv_buf(flag));
  check.that(flag);
  std::vector<kabool> flags(2, comm.is_root());
  comm.bcast(send_recv_buf(flags));
  check.that(flags[0] && flags[1]);
}

// --- reductions over datatypes with gaps

// Items of |int|gap|int|: adds the first ints and takes the maximum of the second ones.
void combine_items(void* in, void* inout, int* length, MPI_Datatype* type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  const auto step = static_cast<std::size_t>(extent) / sizeof(int);
  auto* const a = static_cast<int*>(in);
  auto* const b = static_cast<int*>(inout);
  for (int i = 0; i < *length; ++i) {
    const std::size_t at = step * static_cast<std::size_t>(i);
    b[at] += a[at];
    b[at + 2] = std::max(a[at + 2], b[at + 2]);
  }
}
// Items of |gap|int|gap| with a non-commutative operator: the digits of a, then those of b.
void append_items(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) {
    int& left = static_cast<int*>(in)[3 * i + 1];
    int& right = static_cast<int*>(inout)[3 * i + 1];
    int shift = 1;
    while (shift <= right) shift *= 10;
    right += left * shift;
  }
}

void items(const Communicator<>& comm) {
  MPI_Comm native = comm.mpi_communicator();
  const int me = comm.rank_signed(), p = comm.size_signed();
  MPI_Datatype two, padded, one, middle;
  MPI_Type_vector(2, 1, 2, MPI_INT, &two);
  MPI_Type_create_resized(two, 0, 4 * sizeof(int), &padded);
  MPI_Type_commit(&padded);
  const int length = 1, at = 1;
  MPI_Type_indexed(1, &length, &at, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, 3 * sizeof(int), &middle);
  MPI_Type_commit(&middle);
  MPI_Op sum_and_max, append;
  MPI_Op_create(&combine_items, 1, &sum_and_max);
  MPI_Op_create(&append_items, 0, &append);

  const std::vector<int> input = {me, -1, 10 * me, -1, 1, -1, -me, -1};
  std::vector<int> expected(8, 77), got(8, 77);
  MPI_Allreduce(input.data(), expected.data(), 2, padded, sum_and_max, native);
  comm.allreduce(send_buf(input), recv_buf(got), send_recv_type(padded), send_recv_count(2),
                 op(sum_and_max, ops::commutative));
  check.equal(got, expected);
  check.equal(got, std::vector<int>{p * (p - 1) / 2, 77, 10 * (p - 1), 77, p, 77, 0, 77});
  got = input;
  comm.allreduce(send_recv_buf(got), send_recv_type(padded), send_recv_count(2),
                 op(sum_and_max, ops::commutative));
  expected = input;
  MPI_Allreduce(MPI_IN_PLACE, expected.data(), 2, padded, sum_and_max, native);
  check.equal(got, expected);

  const std::vector<int> digits = {-1, me + 1, -1, -1, 9 - me, -1};
  const auto scan = [&](auto&& by_mpi, auto&& by_kamping) {
    std::vector<int> a(6, 5), b(6, 5);
    by_mpi(a.data());
    by_kamping(b);
    check.equal(b, a);
  };
  scan([&](int* to) { MPI_Allreduce(digits.data(), to, 2, middle, append, native); },
       [&](auto& to) {
         comm.allreduce(send_buf(digits), recv_buf(to), send_recv_type(middle), send_recv_count(2),
                        op(append));
       });
  scan([&](int* to) { MPI_Scan(digits.data(), to, 2, middle, append, native); },
       [&](auto& to) {
         comm.scan(send_buf(digits), recv_buf(to), send_recv_type(middle), send_recv_count(2),
                   op(append, ops::non_commutative));
       });
  scan(
      [&](int* to) {
        int* const mine = me == p - 1 ? to : nullptr;
        MPI_Reduce(digits.data(), mine, 2, middle, append, p - 1, native);
      },
      [&](auto& to) {
        comm.reduce(send_buf(digits), recv_buf(to), send_recv_type(middle), send_recv_count(2), op(append),
                    root(p - 1));
      });
  std::vector<int> a(6, 5), b(6, 5);
  MPI_Exscan(digits.data(), a.data(), 2, middle, append, native);
  comm.exscan(send_buf(digits), recv_buf(b), send_recv_type(middle), send_recv_count(2), op(append));
  if (me == 0)
    check.equal(b, std::vector<int>(6, 5));
  else
    check.equal(b, a);
  const std::vector<int> made =
      comm.allreduce(send_buf(digits), send_recv_type(middle), send_recv_count(2), op(append));
  check.that(made.size() >= 5);
  // Operators on elements, over the same items.
  std::vector<int> sums(6, 5);
  comm.allreduce(send_buf(digits), recv_buf(sums), send_recv_type(middle), send_recv_count(2),
                 op(ops::plus<>{}));
  check.equal(sums, std::vector<int>{5, p * (p + 1) / 2, 5, 5, 9 * p - p * (p - 1) / 2, 5});
  // All ranks reject it before anything is sent.
  check.throws<MpiErrorException>(
      [&] {
        comm.allreduce(send_buf(digits), recv_buf(b), send_recv_type(middle), send_recv_count(3), op(append));
      },
      {"allreduce", "send_recv_count"});
  check.throws<MpiErrorException>(
      [&] {
        std::vector<int> little(2);
        comm.scan(send_buf(digits), recv_buf(little), send_recv_type(middle), send_recv_count(2), op(append));
      },
      {"scan", "recv_buf"});
  check.throws<MpiErrorException>(
      [&] {
        comm.iallreduce(send_buf(digits), recv_buf(b), send_recv_type(middle), send_recv_count(2), op(append))
            .wait();
      },
      {"iallreduce", "send_recv_type"});
  for (MPI_Datatype* each : {&two, &padded, &one, &middle}) MPI_Type_free(each);
  MPI_Op_free(&sum_and_max);
  MPI_Op_free(&append);
}

// --- further cases of the same kind

void others(const Communicator<>& comm) {
  const Communicator<own_container> other;
  auto all = other.gatherv(send_buf(comm.rank_signed()), recv_buf(alloc_container_of<int>));
  static_assert(std::is_same_v<decltype(all), own_container<int>>);
  check.equal(all.size(), comm.is_root() ? comm.size() : 0);

  std::vector<int> mine, input(comm.size(), 4);
  if (comm.is_root())
    comm.scatterv(send_buf(input), recv_buf<resize_to_fit>(mine),
                  send_counts(std::vector<int>(comm.size(), 1)));
  else
    comm.scatterv(send_buf(ignore<int>), recv_buf<resize_to_fit>(mine));
  check.equal(mine, std::vector<int>{4});

  auto coming = comm.irecv<int>(source(comm.rank()), tag(3));
  check.that(!coming.test(status_out()));
  comm.bsend(send_buf(input), destination(comm.rank()), tag(3));
  auto done = coming.test(status_out());
  while (!done) done = coming.test(status_out());
  check.equal(done->first, input);
  check.equal(done->second.source(), comm.rank());

  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &three);
  const ScopedDatatype type(three);
  std::vector<int> numbers(3, comm.rank_signed());
  comm.bcast(send_recv_buf(numbers), send_recv_type(type.data_type()), send_recv_count(1));
  check.equal(numbers, std::vector<int>(3));
  static_assert(has_static_type_v<double> && builtin_type<int>::category == TypeCategory::integer);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Communicator comm;
    sample_sort();
    flattened(comm);
    containers(comm);
    spans(comm);
    in_place(comm);
    grid_of_ranks();
    rank_ranges(comm);
    extracted(comm);
    bools(comm);
    items(comm);
    others(comm);
  });
}

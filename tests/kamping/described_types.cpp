// SPDX-License-Identifier: Apache-2.0
//
// Tests KaMPIng's descriptions of types: serialized objects under KaMPIng's names, and explicit
// datatypes of calls.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tutti/serialization.hpp"
#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

void with_objects(const Communicator<>& comm) {
  const std::size_t p = comm.size(), right = (comm.rank() + 1) % p, left = (comm.rank() + p - 1) % p;
  using names = std::map<std::size_t, std::string>;
  const auto of = [](std::size_t rank) { return names{{rank, "rank " + std::to_string(rank)}}; };
  const names mine = of(comm.rank());
  auto sent = comm.isend(send_buf(kamping::as_serialized(mine)), destination(right));
  check.that(comm.recv(recv_buf(kamping::as_deserializable<names>()), source(left)) == of(left));
  sent.wait();
  names everywhere = comm.is_root() ? of(7) : names();
  comm.bcast(send_recv_buf(as_serialized(everywhere)));
  check.that(everywhere == of(7));
  check.that(comm.allgather(send_buf(as_serialized(mine))).back() == of(p - 1));
}

void datatypes(const Communicator<>& comm) {
  const std::vector<double> v{0.5, 1.5};
  auto result = comm.allgather(send_buf(v), send_type_out(), recv_count_out());
  const MPI_Datatype type = result.extract_send_type();
  check.that(type == MPI_DOUBLE);
  MPI_Datatype received = MPI_DATATYPE_NULL;
  const auto all = comm.allgather(send_buf(v), recv_type_out(received));
  check.equal(all.size(), 2 * comm.size());
  check.that(received == MPI_DOUBLE);
  std::vector<int> w{comm.is_root() ? 3 : 0};
  MPI_Datatype both = MPI_DATATYPE_NULL;
  comm.bcast(send_recv_buf(w), send_recv_type_out(both), send_recv_count(1));
  check.equal(w[0], 3);
  check.that(both == MPI_INT);
}

struct sample {
  double value;
  int id;  // followed by padding
  bool operator==(const sample&) const = default;
};

// A datatype with gaps, and an operator on the elements of the buffer.
void reductions_with_gaps(const Communicator<>& comm) {
  const int lengths[] = {1, 1}, me = comm.rank_signed(), p = comm.size_signed();
  const MPI_Aint at[] = {offsetof(sample, value), offsetof(sample, id)};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype members = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, at, parts, &members);
  MPI_Type_create_resized(members, 0, sizeof(sample), &type);
  MPI_Type_commit(&type);
  const auto add = [](const sample& a, const sample& b) {
    return sample{a.value + b.value, std::max(a.id, b.id)};
  };
  const std::vector<sample> v{{0.5, me}, {1.0 * me, -me}};
  const std::vector<sample> expected{{0.5 * p, p - 1}, {p * (p - 1) / 2.0, 0}};
  std::vector<sample> got(2), in_place = v;
  comm.allreduce(send_buf(v), recv_buf(got), send_recv_type(type), send_recv_count(2),
                 op(add, ops::commutative));
  check.that(got == expected);
  comm.allreduce(send_recv_buf(in_place), send_recv_type(type), send_recv_count(2),
                 op(add, ops::non_commutative));
  check.that(in_place == expected);
  comm.scan(send_buf(v), recv_buf(got), send_recv_type(type), send_recv_count(2), op(add, ops::commutative));
  check.that(got[0] == sample{0.5 * (me + 1), me});
  got.assign(2, {});
  comm.iallreduce(send_buf(v), recv_buf(got), send_recv_type(type), send_recv_count(2),
                  op(add, ops::commutative))
      .wait();
  check.that(got == expected);
  // An item is one and a half of these elements.
  const std::vector<double> doubles(4, 1.0);
  std::vector<double> sums(4);
  check.throws<MpiErrorException>(
      [&] {
        comm.allreduce(send_buf(doubles), recv_buf(sums), send_recv_type(type), send_recv_count(2),
                       op(ops::plus<>{}));
      },
      {"allreduce", "send_recv_type", "not a whole number of elements", "layout of whole elements"});
  MPI_Type_free(&members);
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Communicator comm;
    with_objects(comm);
    comm.barrier();
    datatypes(comm);
    comm.barrier();
    reductions_with_gaps(comm);
  });
}

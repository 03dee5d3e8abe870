// SPDX-License-Identifier: Apache-2.0
//
// Tests KaMPIng's descriptions of types: serialized objects under KaMPIng's names, and explicit
// datatypes of calls.
#include <map>
#include <string>

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

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Communicator comm;
    with_objects(comm);
    comm.barrier();
    datatypes(comm);
  });
}

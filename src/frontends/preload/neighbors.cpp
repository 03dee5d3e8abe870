// SPDX-License-Identifier: Apache-2.0
//
// MPI runs all neighborhood collectives. Tutti's pending calls progress during the blocking ones,
// or are completed before. Checked mode compares all of them.
#include "frontends/preload/entry.hpp"

namespace {

using namespace tutti::preload;

}  // namespace

extern "C" {

int MPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (const auto code = compare_call(comm, "MPI_Neighbor_allgather")) return *code;
  return forward_to_mpi(comm, [=] {
    return real<MPI_Neighbor_allgather>(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int MPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                            MPI_Comm comm) {
  if (const auto code = compare_call(comm, "MPI_Neighbor_allgatherv")) return *code;
  return forward_to_mpi(comm, [=] {
    return real<MPI_Neighbor_allgatherv>(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                         comm);
  });
}

int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (const auto code = compare_call(comm, "MPI_Neighbor_alltoall")) return *code;
  return forward_to_mpi(comm, [=] {
    return real<MPI_Neighbor_alltoall>(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int MPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                           MPI_Datatype recvtype, MPI_Comm comm) {
  if (const auto code = compare_call(comm, "MPI_Neighbor_alltoallv")) return *code;
  return forward_to_mpi(comm, [=] {
    return real<MPI_Neighbor_alltoallv>(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                        recvtype, comm);
  });
}

int MPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  if (const auto code = compare_call(comm, "MPI_Neighbor_alltoallw")) return *code;
  return forward_to_mpi(comm, [=] {
    return real<MPI_Neighbor_alltoallw>(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                        recvtypes, comm);
  });
}

int MPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  if (const auto code = compare_nonblocking_call(comm, "MPI_Ineighbor_allgather")) return *code;
  return real<MPI_Ineighbor_allgather>(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                       request);
}

int MPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request) {
  if (const auto code = compare_nonblocking_call(comm, "MPI_Ineighbor_allgatherv")) return *code;
  return real<MPI_Ineighbor_allgatherv>(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                        comm, request);
}

int MPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  if (const auto code = compare_nonblocking_call(comm, "MPI_Ineighbor_alltoall")) return *code;
  return real<MPI_Ineighbor_alltoall>(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                      request);
}

int MPI_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  if (const auto code = compare_nonblocking_call(comm, "MPI_Ineighbor_alltoallv")) return *code;
  return real<MPI_Ineighbor_alltoallv>(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                       recvtype, comm, request);
}

int MPI_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Request* request) {
  if (const auto code = compare_nonblocking_call(comm, "MPI_Ineighbor_alltoallw")) return *code;
  return real<MPI_Ineighbor_alltoallw>(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                       recvtypes, comm, request);
}
}

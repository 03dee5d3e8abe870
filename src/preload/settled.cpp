// SPDX-License-Identifier: Apache-2.0
//
// What else of MPI blocks: making windows, opening files, neighbour collectives. They are MPI's own; but what
// tutti has under way is settled before. Longer than a screen: one after another.
#include "preload/entry.hpp"

namespace {

using namespace tutti::preload;

}  // namespace

extern "C" {

int MPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  settle(comm);
  return own<MPI_Win_create>(base, size, disp_unit, info, comm, win);
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                     MPI_Win* win) {
  settle(comm);
  return own<MPI_Win_allocate>(size, disp_unit, info, comm, baseptr, win);
}

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                            MPI_Win* win) {
  settle(comm);
  return own<MPI_Win_allocate_shared>(size, disp_unit, info, comm, baseptr, win);
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  settle(comm);
  return own<MPI_Win_create_dynamic>(info, comm, win);
}

int MPI_Win_fence(int assert, MPI_Win win) {
  settle(MPI_COMM_NULL);
  return own<MPI_Win_fence>(assert, win);
}

int MPI_Win_free(MPI_Win* win) {
  settle(MPI_COMM_NULL);
  return own<MPI_Win_free>(win);
}

int MPI_Win_wait(MPI_Win win) {
  settle(MPI_COMM_NULL);
  return own<MPI_Win_wait>(win);
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  settle(MPI_COMM_NULL);
  return own<MPI_Win_start>(group, assert, win);
}

int MPI_Win_complete(MPI_Win win) {
  settle(MPI_COMM_NULL);
  return own<MPI_Win_complete>(win);
}

int MPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  settle(comm);
  return own<MPI_Neighbor_allgather>(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                            MPI_Comm comm) {
  settle(comm);
  return own<MPI_Neighbor_allgatherv>(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                      comm);
}

int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  settle(comm);
  return own<MPI_Neighbor_alltoall>(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                           MPI_Datatype recvtype, MPI_Comm comm) {
  settle(comm);
  return own<MPI_Neighbor_alltoallv>(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                     recvtype, comm);
}

int MPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  settle(comm);
  return own<MPI_Neighbor_alltoallw>(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                     recvtypes, comm);
}

int MPI_File_close(MPI_File* file) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_close>(file);
}
int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_set_size>(file, size);
}

int MPI_File_preallocate(MPI_File file, MPI_Offset size) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_preallocate>(file, size);
}

int MPI_File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype elements, MPI_Datatype type, const char* how,
                      MPI_Info info) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_set_view>(file, at, elements, type, how, info);
}

int MPI_File_set_atomicity(MPI_File file, int flag) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_set_atomicity>(file, flag);
}

int MPI_File_sync(MPI_File file) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_sync>(file);
}

int MPI_File_read_all(MPI_File file, void* data, int count, MPI_Datatype type, MPI_Status* status) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_read_all>(file, data, count, type, status);
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void* data, int count, MPI_Datatype type,
                         MPI_Status* status) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_read_at_all>(file, at, data, count, type, status);
}

int MPI_File_read_ordered(MPI_File file, void* data, int count, MPI_Datatype type, MPI_Status* status) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_read_ordered>(file, data, count, type, status);
}

int MPI_File_write_all(MPI_File file, const void* data, int count, MPI_Datatype type, MPI_Status* status) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_write_all>(file, data, count, type, status);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* data, int count, MPI_Datatype type,
                          MPI_Status* status) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_write_at_all>(file, at, data, count, type, status);
}

int MPI_File_write_ordered(MPI_File file, const void* data, int count, MPI_Datatype type,
                           MPI_Status* status) {
  settle(MPI_COMM_NULL);
  return own<MPI_File_write_ordered>(file, data, count, type, status);
}

int MPI_Buffer_detach(void* data, int* size) {
  settle(MPI_COMM_NULL);
  return own<MPI_Buffer_detach>(data, size);
}
}

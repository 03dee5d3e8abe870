// SPDX-License-Identifier: Apache-2.0
//
// What else of MPI blocks: making communicators and windows, opening files, neighbour collectives. They are
// MPI's own; but what tutti has under way is settled before. Longer than a screen: one after another.
#include "preload/entry.hpp"

namespace {

using namespace tutti::preload;

}  // namespace

extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Comm_dup>(comm, newcomm);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Comm_dup_with_info>(comm, info, newcomm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Comm_split>(comm, color, key, newcomm);
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Comm_split_type>(comm, split_type, key, info, newcomm);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Comm_create>(comm, group, newcomm);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Comm_create_group>(comm, group, tag, newcomm);
}

int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm* comm_cart) {
  settle(comm_old);
  return own<MPI_Cart_create>(comm_old, ndims, dims, periods, reorder, comm_cart);
}

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Cart_sub>(comm, remain_dims, newcomm);
}

int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
                     MPI_Comm* comm_graph) {
  settle(comm_old);
  return own<MPI_Graph_create>(comm_old, nnodes, indx, edges, reorder, comm_graph);
}

int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm* comm_dist_graph) {
  settle(comm_old);
  return own<MPI_Dist_graph_create>(comm_old, n, sources, degrees, destinations, weights, info, reorder,
                                    comm_dist_graph);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                   const int sourceweights[], int outdegree, const int destinations[],
                                   const int destweights[], MPI_Info info, int reorder,
                                   MPI_Comm* comm_dist_graph) {
  settle(comm_old);
  return own<MPI_Dist_graph_create_adjacent>(comm_old, indegree, sources, sourceweights, outdegree,
                                             destinations, destweights, info, reorder, comm_dist_graph);
}

int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                         int tag, MPI_Comm* newintercomm) {
  settle(local_comm);
  return own<MPI_Intercomm_create>(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
}

int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  settle(intercomm);
  return own<MPI_Intercomm_merge>(intercomm, high, newintracomm);
}

int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm* intercomm, int array_of_errcodes[]) {
  settle(comm);
  return own<MPI_Comm_spawn>(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
}

int MPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Comm_accept>(port_name, info, root, comm, newcomm);
}

int MPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  settle(comm);
  return own<MPI_Comm_connect>(port_name, info, root, comm, newcomm);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  settle(comm != nullptr ? *comm : MPI_COMM_NULL);
  return own<MPI_Comm_disconnect>(comm);
}

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

// SPDX-License-Identifier: Apache-2.0
//
// Redirects the engine's calls to MPI in this library. Every MPI_X in the engine's object files is
// renamed. It becomes PMPI_X, or tutti_internal_MPI_X if this library itself replaces MPI_X
// (cmake/preload.cmake). So no call of tutti is taken for a call of the program.
#include "frontends/preload/real_mpi.hpp"

using tutti::preload::real;

extern "C" {
int tutti_internal_MPI_Allgather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                                 MPI_Comm g);
int tutti_internal_MPI_Allgather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                                 MPI_Comm g) {
  return real<MPI_Allgather>(a, b, c, d, e, f, g);
}
int tutti_internal_MPI_Allgatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                                  MPI_Datatype g, MPI_Comm h);
int tutti_internal_MPI_Allgatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                                  MPI_Datatype g, MPI_Comm h) {
  return real<MPI_Allgatherv>(a, b, c, d, e, f, g, h);
}
int tutti_internal_MPI_Allreduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f);
int tutti_internal_MPI_Allreduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f) {
  return real<MPI_Allreduce>(a, b, c, d, e, f);
}
int tutti_internal_MPI_Alltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                                MPI_Comm g);
int tutti_internal_MPI_Alltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                                MPI_Comm g) {
  return real<MPI_Alltoall>(a, b, c, d, e, f, g);
}
int tutti_internal_MPI_Alltoallv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e,
                                 const int* f, const int* g, MPI_Datatype h, MPI_Comm i);
int tutti_internal_MPI_Alltoallv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e,
                                 const int* f, const int* g, MPI_Datatype h, MPI_Comm i) {
  return real<MPI_Alltoallv>(a, b, c, d, e, f, g, h, i);
}
int tutti_internal_MPI_Barrier(MPI_Comm a);
int tutti_internal_MPI_Barrier(MPI_Comm a) { return real<MPI_Barrier>(a); }
int tutti_internal_MPI_Bcast(void* a, int b, MPI_Datatype c, int d, MPI_Comm e);
int tutti_internal_MPI_Bcast(void* a, int b, MPI_Datatype c, int d, MPI_Comm e) {
  return real<MPI_Bcast>(a, b, c, d, e);
}
int tutti_internal_MPI_Comm_create_group(MPI_Comm a, MPI_Group b, int c, MPI_Comm* d);
int tutti_internal_MPI_Comm_create_group(MPI_Comm a, MPI_Group b, int c, MPI_Comm* d) {
  return real<MPI_Comm_create_group>(a, b, c, d);
}
int tutti_internal_MPI_Comm_dup(MPI_Comm a, MPI_Comm* b);
int tutti_internal_MPI_Comm_dup(MPI_Comm a, MPI_Comm* b) { return real<MPI_Comm_dup>(a, b); }
int tutti_internal_MPI_Comm_free(MPI_Comm* a);
int tutti_internal_MPI_Comm_free(MPI_Comm* a) { return real<MPI_Comm_free>(a); }
int tutti_internal_MPI_Comm_idup(MPI_Comm a, MPI_Comm* b, MPI_Request* c);
int tutti_internal_MPI_Comm_idup(MPI_Comm a, MPI_Comm* b, MPI_Request* c) {
  return real<MPI_Comm_idup>(a, b, c);
}
int tutti_internal_MPI_Comm_split_type(MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* e);
int tutti_internal_MPI_Comm_split_type(MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* e) {
  return real<MPI_Comm_split_type>(a, b, c, d, e);
}
int tutti_internal_MPI_Comm_set_errhandler(MPI_Comm a, MPI_Errhandler b);
int tutti_internal_MPI_Comm_set_errhandler(MPI_Comm a, MPI_Errhandler b) {
  return real<MPI_Comm_set_errhandler>(a, b);
}
int tutti_internal_MPI_Exscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f);
int tutti_internal_MPI_Exscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f) {
  return real<MPI_Exscan>(a, b, c, d, e, f);
}
int tutti_internal_MPI_Gather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                              MPI_Comm h);
int tutti_internal_MPI_Gather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                              MPI_Comm h) {
  return real<MPI_Gather>(a, b, c, d, e, f, g, h);
}
int tutti_internal_MPI_Gatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                               MPI_Datatype g, int h, MPI_Comm i);
int tutti_internal_MPI_Gatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                               MPI_Datatype g, int h, MPI_Comm i) {
  return real<MPI_Gatherv>(a, b, c, d, e, f, g, h, i);
}
int tutti_internal_MPI_Iallgather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                                  MPI_Comm g, MPI_Request* r);
int tutti_internal_MPI_Iallgather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                                  MPI_Comm g, MPI_Request* r) {
  return real<MPI_Iallgather>(a, b, c, d, e, f, g, r);
}
int tutti_internal_MPI_Iallgatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                                   MPI_Datatype g, MPI_Comm h, MPI_Request* r);
int tutti_internal_MPI_Iallgatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                                   MPI_Datatype g, MPI_Comm h, MPI_Request* r) {
  return real<MPI_Iallgatherv>(a, b, c, d, e, f, g, h, r);
}
int tutti_internal_MPI_Iallreduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                                  MPI_Request* r);
int tutti_internal_MPI_Iallreduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                                  MPI_Request* r) {
  return real<MPI_Iallreduce>(a, b, c, d, e, f, r);
}
int tutti_internal_MPI_Ialltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                                 MPI_Comm g, MPI_Request* r);
int tutti_internal_MPI_Ialltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                                 MPI_Comm g, MPI_Request* r) {
  return real<MPI_Ialltoall>(a, b, c, d, e, f, g, r);
}
int tutti_internal_MPI_Ialltoallv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e,
                                  const int* f, const int* g, MPI_Datatype h, MPI_Comm i, MPI_Request* r);
int tutti_internal_MPI_Ialltoallv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e,
                                  const int* f, const int* g, MPI_Datatype h, MPI_Comm i, MPI_Request* r) {
  return real<MPI_Ialltoallv>(a, b, c, d, e, f, g, h, i, r);
}
int tutti_internal_MPI_Ibarrier(MPI_Comm a, MPI_Request* r);
int tutti_internal_MPI_Ibarrier(MPI_Comm a, MPI_Request* r) { return real<MPI_Ibarrier>(a, r); }
int tutti_internal_MPI_Ibcast(void* a, int b, MPI_Datatype c, int d, MPI_Comm e, MPI_Request* r);
int tutti_internal_MPI_Ibcast(void* a, int b, MPI_Datatype c, int d, MPI_Comm e, MPI_Request* r) {
  return real<MPI_Ibcast>(a, b, c, d, e, r);
}
int tutti_internal_MPI_Iexscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                               MPI_Request* r);
int tutti_internal_MPI_Iexscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                               MPI_Request* r) {
  return real<MPI_Iexscan>(a, b, c, d, e, f, r);
}
int tutti_internal_MPI_Igather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                               MPI_Comm h, MPI_Request* r);
int tutti_internal_MPI_Igather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                               MPI_Comm h, MPI_Request* r) {
  return real<MPI_Igather>(a, b, c, d, e, f, g, h, r);
}
int tutti_internal_MPI_Igatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                                MPI_Datatype g, int h, MPI_Comm i, MPI_Request* r);
int tutti_internal_MPI_Igatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                                MPI_Datatype g, int h, MPI_Comm i, MPI_Request* r) {
  return real<MPI_Igatherv>(a, b, c, d, e, f, g, h, i, r);
}
int tutti_internal_MPI_Improbe(int a, int b, MPI_Comm c, int* d, MPI_Message* e, MPI_Status* f);
int tutti_internal_MPI_Improbe(int a, int b, MPI_Comm c, int* d, MPI_Message* e, MPI_Status* f) {
  return real<MPI_Improbe>(a, b, c, d, e, f);
}
int tutti_internal_MPI_Iprobe(int a, int b, MPI_Comm c, int* d, MPI_Status* e);
int tutti_internal_MPI_Iprobe(int a, int b, MPI_Comm c, int* d, MPI_Status* e) {
  return real<MPI_Iprobe>(a, b, c, d, e);
}
int tutti_internal_MPI_Ireduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g,
                               MPI_Request* r);
int tutti_internal_MPI_Ireduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g,
                               MPI_Request* r) {
  return real<MPI_Ireduce>(a, b, c, d, e, f, g, r);
}
int tutti_internal_MPI_Ireduce_scatter_block(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e,
                                             MPI_Comm f, MPI_Request* r);
int tutti_internal_MPI_Ireduce_scatter_block(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e,
                                             MPI_Comm f, MPI_Request* r) {
  return real<MPI_Ireduce_scatter_block>(a, b, c, d, e, f, r);
}
int tutti_internal_MPI_Iscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                             MPI_Request* r);
int tutti_internal_MPI_Iscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                             MPI_Request* r) {
  return real<MPI_Iscan>(a, b, c, d, e, f, r);
}
int tutti_internal_MPI_Iscatter(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                                MPI_Comm h, MPI_Request* r);
int tutti_internal_MPI_Iscatter(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                                MPI_Comm h, MPI_Request* r) {
  return real<MPI_Iscatter>(a, b, c, d, e, f, g, h, r);
}
int tutti_internal_MPI_Iscatterv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, int f,
                                 MPI_Datatype g, int h, MPI_Comm i, MPI_Request* r);
int tutti_internal_MPI_Iscatterv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, int f,
                                 MPI_Datatype g, int h, MPI_Comm i, MPI_Request* r) {
  return real<MPI_Iscatterv>(a, b, c, d, e, f, g, h, i, r);
}
int tutti_internal_MPI_Recv(void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g);
int tutti_internal_MPI_Recv(void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g) {
  return real<MPI_Recv>(a, b, c, d, e, f, g);
}
int tutti_internal_MPI_Reduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g);
int tutti_internal_MPI_Reduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g) {
  return real<MPI_Reduce>(a, b, c, d, e, f, g);
}
int tutti_internal_MPI_Reduce_scatter_block(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e,
                                            MPI_Comm f);
int tutti_internal_MPI_Reduce_scatter_block(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e,
                                            MPI_Comm f) {
  return real<MPI_Reduce_scatter_block>(a, b, c, d, e, f);
}
int tutti_internal_MPI_Scan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f);
int tutti_internal_MPI_Scan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f) {
  return real<MPI_Scan>(a, b, c, d, e, f);
}
int tutti_internal_MPI_Scatter(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                               MPI_Comm h);
int tutti_internal_MPI_Scatter(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                               MPI_Comm h) {
  return real<MPI_Scatter>(a, b, c, d, e, f, g, h);
}
int tutti_internal_MPI_Scatterv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, int f,
                                MPI_Datatype g, int h, MPI_Comm i);
int tutti_internal_MPI_Scatterv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, int f,
                                MPI_Datatype g, int h, MPI_Comm i) {
  return real<MPI_Scatterv>(a, b, c, d, e, f, g, h, i);
}
int tutti_internal_MPI_Send(const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f);
int tutti_internal_MPI_Send(const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f) {
  return real<MPI_Send>(a, b, c, d, e, f);
}
int tutti_internal_MPI_Test(MPI_Request* a, int* b, MPI_Status* c);
int tutti_internal_MPI_Test(MPI_Request* a, int* b, MPI_Status* c) { return real<MPI_Test>(a, b, c); }
int tutti_internal_MPI_Testall(int a, MPI_Request* b, int* c, MPI_Status* d);
int tutti_internal_MPI_Testall(int a, MPI_Request* b, int* c, MPI_Status* d) {
  return real<MPI_Testall>(a, b, c, d);
}
int tutti_internal_MPI_Type_commit(MPI_Datatype* a);
int tutti_internal_MPI_Type_commit(MPI_Datatype* a) { return real<MPI_Type_commit>(a); }
int tutti_internal_MPI_Type_get_contents(MPI_Datatype a, int b, int c, int d, int* e, MPI_Aint* f,
                                         MPI_Datatype* g);
int tutti_internal_MPI_Type_get_contents(MPI_Datatype a, int b, int c, int d, int* e, MPI_Aint* f,
                                         MPI_Datatype* g) {
  return real<MPI_Type_get_contents>(a, b, c, d, e, f, g);
}
int tutti_internal_MPI_Type_free(MPI_Datatype* a);
int tutti_internal_MPI_Type_free(MPI_Datatype* a) { return real<MPI_Type_free>(a); }
int tutti_internal_MPI_Wait(MPI_Request* a, MPI_Status* b);
int tutti_internal_MPI_Wait(MPI_Request* a, MPI_Status* b) { return real<MPI_Wait>(a, b); }
}

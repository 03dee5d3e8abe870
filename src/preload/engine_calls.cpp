// SPDX-License-Identifier: Apache-2.0
//
// What the engine's calls to MPI become in this library: its object files are linked with every MPI_X of
// theirs renamed to PMPI_X, and those that this library puts itself before to tutti_own_MPI_X
// (cmake/preload.cmake), so that no call of tutti's own is taken for one of the program's.
#include "preload/own.hpp"

using tutti::preload::own;

extern "C" {
int tutti_own_MPI_Allgather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g);
int tutti_own_MPI_Allgather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f,
                            MPI_Comm g) {
  return own<MPI_Allgather>(a, b, c, d, e, f, g);
}
int tutti_own_MPI_Allgatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                             MPI_Datatype g, MPI_Comm h);
int tutti_own_MPI_Allgatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                             MPI_Datatype g, MPI_Comm h) {
  return own<MPI_Allgatherv>(a, b, c, d, e, f, g, h);
}
int tutti_own_MPI_Allreduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f);
int tutti_own_MPI_Allreduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f) {
  return own<MPI_Allreduce>(a, b, c, d, e, f);
}
int tutti_own_MPI_Alltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g);
int tutti_own_MPI_Alltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g) {
  return own<MPI_Alltoall>(a, b, c, d, e, f, g);
}
int tutti_own_MPI_Alltoallv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, const int* f,
                            const int* g, MPI_Datatype h, MPI_Comm i);
int tutti_own_MPI_Alltoallv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, const int* f,
                            const int* g, MPI_Datatype h, MPI_Comm i) {
  return own<MPI_Alltoallv>(a, b, c, d, e, f, g, h, i);
}
int tutti_own_MPI_Barrier(MPI_Comm a);
int tutti_own_MPI_Barrier(MPI_Comm a) { return own<MPI_Barrier>(a); }
int tutti_own_MPI_Bcast(void* a, int b, MPI_Datatype c, int d, MPI_Comm e);
int tutti_own_MPI_Bcast(void* a, int b, MPI_Datatype c, int d, MPI_Comm e) {
  return own<MPI_Bcast>(a, b, c, d, e);
}
int tutti_own_MPI_Comm_create_group(MPI_Comm a, MPI_Group b, int c, MPI_Comm* d);
int tutti_own_MPI_Comm_create_group(MPI_Comm a, MPI_Group b, int c, MPI_Comm* d) {
  return own<MPI_Comm_create_group>(a, b, c, d);
}
int tutti_own_MPI_Comm_dup(MPI_Comm a, MPI_Comm* b);
int tutti_own_MPI_Comm_dup(MPI_Comm a, MPI_Comm* b) { return own<MPI_Comm_dup>(a, b); }
int tutti_own_MPI_Comm_free(MPI_Comm* a);
int tutti_own_MPI_Comm_free(MPI_Comm* a) { return own<MPI_Comm_free>(a); }
int tutti_own_MPI_Comm_idup(MPI_Comm a, MPI_Comm* b, MPI_Request* c);
int tutti_own_MPI_Comm_idup(MPI_Comm a, MPI_Comm* b, MPI_Request* c) { return own<MPI_Comm_idup>(a, b, c); }
int tutti_own_MPI_Comm_split_type(MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* e);
int tutti_own_MPI_Comm_split_type(MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* e) {
  return own<MPI_Comm_split_type>(a, b, c, d, e);
}
int tutti_own_MPI_Comm_set_errhandler(MPI_Comm a, MPI_Errhandler b);
int tutti_own_MPI_Comm_set_errhandler(MPI_Comm a, MPI_Errhandler b) {
  return own<MPI_Comm_set_errhandler>(a, b);
}
int tutti_own_MPI_Exscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f);
int tutti_own_MPI_Exscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f) {
  return own<MPI_Exscan>(a, b, c, d, e, f);
}
int tutti_own_MPI_Gather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                         MPI_Comm h);
int tutti_own_MPI_Gather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                         MPI_Comm h) {
  return own<MPI_Gather>(a, b, c, d, e, f, g, h);
}
int tutti_own_MPI_Gatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                          MPI_Datatype g, int h, MPI_Comm i);
int tutti_own_MPI_Gatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                          MPI_Datatype g, int h, MPI_Comm i) {
  return own<MPI_Gatherv>(a, b, c, d, e, f, g, h, i);
}
int tutti_own_MPI_Iallgather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g,
                             MPI_Request* r);
int tutti_own_MPI_Iallgather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g,
                             MPI_Request* r) {
  return own<MPI_Iallgather>(a, b, c, d, e, f, g, r);
}
int tutti_own_MPI_Iallgatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                              MPI_Datatype g, MPI_Comm h, MPI_Request* r);
int tutti_own_MPI_Iallgatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                              MPI_Datatype g, MPI_Comm h, MPI_Request* r) {
  return own<MPI_Iallgatherv>(a, b, c, d, e, f, g, h, r);
}
int tutti_own_MPI_Iallreduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                             MPI_Request* r);
int tutti_own_MPI_Iallreduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                             MPI_Request* r) {
  return own<MPI_Iallreduce>(a, b, c, d, e, f, r);
}
int tutti_own_MPI_Ialltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g,
                            MPI_Request* r);
int tutti_own_MPI_Ialltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g,
                            MPI_Request* r) {
  return own<MPI_Ialltoall>(a, b, c, d, e, f, g, r);
}
int tutti_own_MPI_Ialltoallv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, const int* f,
                             const int* g, MPI_Datatype h, MPI_Comm i, MPI_Request* r);
int tutti_own_MPI_Ialltoallv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, const int* f,
                             const int* g, MPI_Datatype h, MPI_Comm i, MPI_Request* r) {
  return own<MPI_Ialltoallv>(a, b, c, d, e, f, g, h, i, r);
}
int tutti_own_MPI_Ibarrier(MPI_Comm a, MPI_Request* r);
int tutti_own_MPI_Ibarrier(MPI_Comm a, MPI_Request* r) { return own<MPI_Ibarrier>(a, r); }
int tutti_own_MPI_Ibcast(void* a, int b, MPI_Datatype c, int d, MPI_Comm e, MPI_Request* r);
int tutti_own_MPI_Ibcast(void* a, int b, MPI_Datatype c, int d, MPI_Comm e, MPI_Request* r) {
  return own<MPI_Ibcast>(a, b, c, d, e, r);
}
int tutti_own_MPI_Iexscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                          MPI_Request* r);
int tutti_own_MPI_Iexscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                          MPI_Request* r) {
  return own<MPI_Iexscan>(a, b, c, d, e, f, r);
}
int tutti_own_MPI_Igather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                          MPI_Comm h, MPI_Request* r);
int tutti_own_MPI_Igather(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                          MPI_Comm h, MPI_Request* r) {
  return own<MPI_Igather>(a, b, c, d, e, f, g, h, r);
}
int tutti_own_MPI_Igatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                           MPI_Datatype g, int h, MPI_Comm i, MPI_Request* r);
int tutti_own_MPI_Igatherv(const void* a, int b, MPI_Datatype c, void* d, const int* e, const int* f,
                           MPI_Datatype g, int h, MPI_Comm i, MPI_Request* r) {
  return own<MPI_Igatherv>(a, b, c, d, e, f, g, h, i, r);
}
int tutti_own_MPI_Improbe(int a, int b, MPI_Comm c, int* d, MPI_Message* e, MPI_Status* f);
int tutti_own_MPI_Improbe(int a, int b, MPI_Comm c, int* d, MPI_Message* e, MPI_Status* f) {
  return own<MPI_Improbe>(a, b, c, d, e, f);
}
int tutti_own_MPI_Iprobe(int a, int b, MPI_Comm c, int* d, MPI_Status* e);
int tutti_own_MPI_Iprobe(int a, int b, MPI_Comm c, int* d, MPI_Status* e) {
  return own<MPI_Iprobe>(a, b, c, d, e);
}
int tutti_own_MPI_Ireduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g,
                          MPI_Request* r);
int tutti_own_MPI_Ireduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g,
                          MPI_Request* r) {
  return own<MPI_Ireduce>(a, b, c, d, e, f, g, r);
}
int tutti_own_MPI_Ireduce_scatter_block(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                                        MPI_Request* r);
int tutti_own_MPI_Ireduce_scatter_block(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                                        MPI_Request* r) {
  return own<MPI_Ireduce_scatter_block>(a, b, c, d, e, f, r);
}
int tutti_own_MPI_Iscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f, MPI_Request* r);
int tutti_own_MPI_Iscan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f, MPI_Request* r) {
  return own<MPI_Iscan>(a, b, c, d, e, f, r);
}
int tutti_own_MPI_Iscatter(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                           MPI_Comm h, MPI_Request* r);
int tutti_own_MPI_Iscatter(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                           MPI_Comm h, MPI_Request* r) {
  return own<MPI_Iscatter>(a, b, c, d, e, f, g, h, r);
}
int tutti_own_MPI_Iscatterv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, int f,
                            MPI_Datatype g, int h, MPI_Comm i, MPI_Request* r);
int tutti_own_MPI_Iscatterv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, int f,
                            MPI_Datatype g, int h, MPI_Comm i, MPI_Request* r) {
  return own<MPI_Iscatterv>(a, b, c, d, e, f, g, h, i, r);
}
int tutti_own_MPI_Recv(void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g);
int tutti_own_MPI_Recv(void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g) {
  return own<MPI_Recv>(a, b, c, d, e, f, g);
}
int tutti_own_MPI_Reduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g);
int tutti_own_MPI_Reduce(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g) {
  return own<MPI_Reduce>(a, b, c, d, e, f, g);
}
int tutti_own_MPI_Reduce_scatter_block(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f);
int tutti_own_MPI_Reduce_scatter_block(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f) {
  return own<MPI_Reduce_scatter_block>(a, b, c, d, e, f);
}
int tutti_own_MPI_Scan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f);
int tutti_own_MPI_Scan(const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f) {
  return own<MPI_Scan>(a, b, c, d, e, f);
}
int tutti_own_MPI_Scatter(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                          MPI_Comm h);
int tutti_own_MPI_Scatter(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g,
                          MPI_Comm h) {
  return own<MPI_Scatter>(a, b, c, d, e, f, g, h);
}
int tutti_own_MPI_Scatterv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, int f,
                           MPI_Datatype g, int h, MPI_Comm i);
int tutti_own_MPI_Scatterv(const void* a, const int* b, const int* c, MPI_Datatype d, void* e, int f,
                           MPI_Datatype g, int h, MPI_Comm i) {
  return own<MPI_Scatterv>(a, b, c, d, e, f, g, h, i);
}
int tutti_own_MPI_Send(const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f);
int tutti_own_MPI_Send(const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f) {
  return own<MPI_Send>(a, b, c, d, e, f);
}
int tutti_own_MPI_Test(MPI_Request* a, int* b, MPI_Status* c);
int tutti_own_MPI_Test(MPI_Request* a, int* b, MPI_Status* c) { return own<MPI_Test>(a, b, c); }
int tutti_own_MPI_Testall(int a, MPI_Request* b, int* c, MPI_Status* d);
int tutti_own_MPI_Testall(int a, MPI_Request* b, int* c, MPI_Status* d) {
  return own<MPI_Testall>(a, b, c, d);
}
int tutti_own_MPI_Type_free(MPI_Datatype* a);
int tutti_own_MPI_Type_free(MPI_Datatype* a) { return own<MPI_Type_free>(a); }
int tutti_own_MPI_Wait(MPI_Request* a, MPI_Status* b);
int tutti_own_MPI_Wait(MPI_Request* a, MPI_Status* b) { return own<MPI_Wait>(a, b); }
}

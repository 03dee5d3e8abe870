// SPDX-License-Identifier: Apache-2.0
//
// The functions that create and free communicators. MPI does the work, and each new communicator
// gets its name (communicator_names.hpp). A communicator that may have processes of other jobs gets
// no name, and all its collectives are forwarded to MPI.
#include "frontends/preload/entry.hpp"

namespace {

using namespace tutti;
using namespace tutti::preload;

void set_name(process* p, int code, const MPI_Comm* made, const std::optional<group_name>& name) {
  if (p == nullptr || code != MPI_SUCCESS || made == nullptr || *made == MPI_COMM_NULL) return;
  if (name)
    p->names.set(*made, *name);
  else
    p->names.remove(*made);
}

// For communicators that all ranks of `parent` create together. `create` calls MPI's function with
// its arguments.
template <class Create>
int create_collectively(MPI_Comm parent, MPI_Comm* made, Create create) {
  process* const p = current();
  const auto name = p != nullptr ? p->names.next_name(parent) : std::nullopt;
  const int code = forward_to_mpi(parent, create);
  set_name(p, code, made, name);
  return code;
}

// The same for a nonblocking call.
template <class Create>
int create_nonblocking(MPI_Comm parent, MPI_Comm* made, Create create) {
  process* const p = current();
  const auto name = p != nullptr ? p->names.next_name(parent) : std::nullopt;
  const int code = create();
  set_name(p, code, made, name);
  return code;
}

}  // namespace

extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  if (const auto code = compare_call(comm, "MPI_Comm_dup")) return *code;
  return create_collectively(comm, newcomm, [=] { return real<MPI_Comm_dup>(comm, newcomm); });
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  if (const auto code = compare_call(comm, "MPI_Comm_dup_with_info")) return *code;
  return create_collectively(comm, newcomm,
                             [=] { return real<MPI_Comm_dup_with_info>(comm, info, newcomm); });
}

// The handle is known at once. The program uses it when the request is complete.
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  if (const auto code = compare_nonblocking_call(comm, "MPI_Comm_idup")) return *code;
  return create_nonblocking(comm, newcomm, [=] { return real<MPI_Comm_idup>(comm, newcomm, request); });
}

// A function of MPI 4. The declaration serves older MPIs, whose programs do not call it.
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request);
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  if (real<MPI_Comm_idup_with_info> == nullptr) return MPI_ERR_OTHER;
  if (const auto code = compare_nonblocking_call(comm, "MPI_Comm_idup_with_info")) return *code;
  return create_nonblocking(comm, newcomm,
                            [=] { return real<MPI_Comm_idup_with_info>(comm, info, newcomm, request); });
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  if (const auto code = compare_call(comm, "MPI_Comm_split")) return *code;
  return create_collectively(comm, newcomm, [=] { return real<MPI_Comm_split>(comm, color, key, newcomm); });
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  if (const auto code = compare_call(comm, "MPI_Comm_split_type")) return *code;
  return create_collectively(comm, newcomm,
                             [=] { return real<MPI_Comm_split_type>(comm, split_type, key, info, newcomm); });
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  if (const auto code = compare_call(comm, "MPI_Comm_create")) return *code;
  return create_collectively(comm, newcomm, [=] { return real<MPI_Comm_create>(comm, group, newcomm); });
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  process* const p = current();
  const auto name = p != nullptr ? p->names.next_name(comm, group, tag) : std::nullopt;
  // Not all ranks of `comm` call it.
  const int code =
      forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_Comm_create_group>(comm, group, tag, newcomm); });
  set_name(p, code, newcomm, name);
  return code;
}

// Two functions of MPI 4, as above. The members of a group need not share a communicator.
int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                               MPI_Comm* newcomm);
int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                               MPI_Comm* newcomm) {
  if (real<MPI_Comm_create_from_group> == nullptr) return MPI_ERR_OTHER;
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_Comm_create_from_group>(group, tag, info, handler, newcomm); });
}

int MPI_Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote, int remote_leader,
                                     const char* tag, MPI_Info info, MPI_Errhandler handler,
                                     MPI_Comm* newintercomm);
int MPI_Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote, int remote_leader,
                                     const char* tag, MPI_Info info, MPI_Errhandler handler,
                                     MPI_Comm* newintercomm) {
  if (real<MPI_Intercomm_create_from_groups> == nullptr) return MPI_ERR_OTHER;
  return forward_to_mpi(MPI_COMM_NULL, [=] {
    return real<MPI_Intercomm_create_from_groups>(local, local_leader, remote, remote_leader, tag, info,
                                                  handler, newintercomm);
  });
}

int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm* comm_cart) {
  if (const auto code = compare_call(comm_old, "MPI_Cart_create")) return *code;
  return create_collectively(comm_old, comm_cart, [=] {
    return real<MPI_Cart_create>(comm_old, ndims, dims, periods, reorder, comm_cart);
  });
}

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  if (const auto code = compare_call(comm, "MPI_Cart_sub")) return *code;
  return create_collectively(comm, newcomm, [=] { return real<MPI_Cart_sub>(comm, remain_dims, newcomm); });
}

int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
                     MPI_Comm* comm_graph) {
  if (const auto code = compare_call(comm_old, "MPI_Graph_create")) return *code;
  return create_collectively(comm_old, comm_graph, [=] {
    return real<MPI_Graph_create>(comm_old, nnodes, indx, edges, reorder, comm_graph);
  });
}

int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm* comm_dist_graph) {
  if (const auto code = compare_call(comm_old, "MPI_Dist_graph_create")) return *code;
  return create_collectively(comm_old, comm_dist_graph, [=] {
    return real<MPI_Dist_graph_create>(comm_old, n, sources, degrees, destinations, weights, info, reorder,
                                       comm_dist_graph);
  });
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                   const int sourceweights[], int outdegree, const int destinations[],
                                   const int destweights[], MPI_Info info, int reorder,
                                   MPI_Comm* comm_dist_graph) {
  if (const auto code = compare_call(comm_old, "MPI_Dist_graph_create_adjacent")) return *code;
  return create_collectively(comm_old, comm_dist_graph, [=] {
    return real<MPI_Dist_graph_create_adjacent>(comm_old, indegree, sources, sourceweights, outdegree,
                                                destinations, destweights, info, reorder, comm_dist_graph);
  });
}

int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                         int tag, MPI_Comm* newintercomm) {
  if (const auto code = compare_call(local_comm, "MPI_Intercomm_create")) return *code;
  const int code = forward_to_mpi(local_comm, [=] {
    return real<MPI_Intercomm_create>(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
  });
  set_name(current(), code, newintercomm, {});
  return code;
}

// The two groups share no name, so they agree on one here. The program cannot use the merged
// communicator before this call returns. If it has processes of other jobs, all its processes
// detect that.
int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  if (const auto code = compare_call(intercomm, "MPI_Intercomm_merge")) return *code;
  const int code =
      forward_to_mpi(intercomm, [=] { return real<MPI_Intercomm_merge>(intercomm, high, newintracomm); });
  process* const p = current();
  std::optional<group_name> name;
  if (p != nullptr && code == MPI_SUCCESS && newintracomm != nullptr && is_within_world(*newintracomm)) {
    group_name agreed = p->names.unique(p->ep->rank());
    const int bcast_code = forward_to_mpi(
        *newintracomm, [&] { return real<MPI_Bcast>(&agreed, sizeof agreed, MPI_BYTE, 0, *newintracomm); });
    if (bcast_code == MPI_SUCCESS) name = agreed;
  }
  set_name(p, code, newintracomm, name);
  return code;
}

int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm* intercomm, int array_of_errcodes[]) {
  if (const auto code = compare_call(comm, "MPI_Comm_spawn")) return *code;
  drain_pending(comm);
  return forward_to_mpi(comm, [=] {
    return real<MPI_Comm_spawn>(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
  });
}

int MPI_Comm_spawn_multiple(int count, char* commands[], char** argvs[], const int maxprocs[],
                            const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm* intercomm,
                            int array_of_errcodes[]) {
  if (const auto code = compare_call(comm, "MPI_Comm_spawn_multiple")) return *code;
  drain_pending(comm);
  return forward_to_mpi(comm, [=] {
    return real<MPI_Comm_spawn_multiple>(count, commands, argvs, maxprocs, infos, root, comm, intercomm,
                                         array_of_errcodes);
  });
}

int MPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  if (const auto code = compare_call(comm, "MPI_Comm_accept")) return *code;
  drain_pending(comm);
  return forward_to_mpi(comm, [=] { return real<MPI_Comm_accept>(port_name, info, root, comm, newcomm); });
}

int MPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  if (const auto code = compare_call(comm, "MPI_Comm_connect")) return *code;
  drain_pending(comm);
  return forward_to_mpi(comm, [=] { return real<MPI_Comm_connect>(port_name, info, root, comm, newcomm); });
}

int MPI_Comm_join(int fd, MPI_Comm* intercomm) {
  drain_pending(MPI_COMM_NULL);
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_Comm_join>(fd, intercomm); });
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  const MPI_Comm which = comm != nullptr ? *comm : MPI_COMM_NULL;
  if (const auto code = compare_call(which, "MPI_Comm_disconnect")) return *code;
  process* const p = current();
  if (p != nullptr && comm != nullptr) p->names.remove(which);
  return forward_to_mpi(which, [=] { return real<MPI_Comm_disconnect>(comm); });
}

int MPI_Comm_free(MPI_Comm* comm) {
  process* const p = current();
  if (p != nullptr && comm != nullptr) p->names.remove(*comm);
  return real<MPI_Comm_free>(comm);
}
}

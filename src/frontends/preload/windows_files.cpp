// SPDX-License-Identifier: Apache-2.0
//
// Other blocking functions of MPI: windows and files. MPI runs them. Tutti's pending calls progress
// during them, or are completed before. Checked mode compares the calls that all members of a
// window or file make.
#include <type_traits>

#include "frontends/preload/entry.hpp"

namespace {

using namespace tutti::preload;

// Checked mode gets the members of a window or file from the communicator of which it was made.
template <class Handle>
int register_object(MPI_Comm comm, int code, const Handle* handle) {
  process* const p = current();
  if (p != nullptr && p->comparison && code == MPI_SUCCESS && handle != nullptr)
    p->comparison->register_object(handle_id(*handle), comm,
                                   std::is_same_v<Handle, MPI_File> ? "a file" : "a window");
  return code;
}

// Called before a call that all members make.
template <class Handle>
std::optional<int> compare_object_call(Handle handle, const char* call) {
  process* const p = current();
  if (p != nullptr && p->comparison) [[unlikely]]
    return p->comparison->compare_object_call(handle_id(handle), call);
  return {};
}

// Called before the last such call on it.
template <class Handle>
std::optional<int> compare_last_call(const Handle* handle, const char* call) {
  if (handle == nullptr) return {};
  const std::optional<int> code = compare_object_call(*handle, call);
  process* const p = current();
  if (p != nullptr && p->comparison) p->comparison->unregister_object(handle_id(*handle));
  return code;
}

}  // namespace

extern "C" {

int MPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  if (const auto code = compare_call(comm, "MPI_Win_create")) return *code;
  return register_object(
      comm,
      forward_to_mpi(comm, [=] { return real<MPI_Win_create>(base, size, disp_unit, info, comm, win); }),
      win);
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                     MPI_Win* win) {
  if (const auto code = compare_call(comm, "MPI_Win_allocate")) return *code;
  return register_object(
      comm,
      forward_to_mpi(comm, [=] { return real<MPI_Win_allocate>(size, disp_unit, info, comm, baseptr, win); }),
      win);
}

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                            MPI_Win* win) {
  if (const auto code = compare_call(comm, "MPI_Win_allocate_shared")) return *code;
  return register_object(
      comm,
      forward_to_mpi(
          comm, [=] { return real<MPI_Win_allocate_shared>(size, disp_unit, info, comm, baseptr, win); }),
      win);
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  if (const auto code = compare_call(comm, "MPI_Win_create_dynamic")) return *code;
  return register_object(
      comm, forward_to_mpi(comm, [=] { return real<MPI_Win_create_dynamic>(info, comm, win); }), win);
}

int MPI_Win_fence(int assert, MPI_Win win) {
  if (const auto code = compare_object_call(win, "MPI_Win_fence")) return *code;
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_Win_fence>(assert, win); });
}

int MPI_Win_free(MPI_Win* win) {
  if (const auto code = compare_last_call(win, "MPI_Win_free")) return *code;
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_Win_free>(win); });
}

int MPI_Win_wait(MPI_Win win) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_Win_wait>(win); });
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_Win_start>(group, assert, win); });
}

int MPI_Win_complete(MPI_Win win) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_Win_complete>(win); });
}

int MPI_Win_lock(int type, int rank, int assert, MPI_Win win) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_lock>(type, rank, assert, win); }, false);
}

int MPI_Win_lock_all(int assert, MPI_Win win) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_lock_all>(assert, win); }, false);
}

int MPI_Win_unlock(int rank, MPI_Win win) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_unlock>(rank, win); }, false);
}

int MPI_Win_unlock_all(MPI_Win win) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_unlock_all>(win); }, false);
}

int MPI_Win_flush(int rank, MPI_Win win) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_flush>(rank, win); }, false);
}

int MPI_Win_flush_all(MPI_Win win) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_flush_all>(win); }, false);
}

int MPI_Win_flush_local(int rank, MPI_Win win) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_flush_local>(rank, win); }, false);
}

int MPI_Win_flush_local_all(MPI_Win win) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_flush_local_all>(win); }, false);
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
  return forward_to_mpi(
      MPI_COMM_NULL, [=] { return real<MPI_Win_set_info>(win, info); }, false);
}

int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  if (const auto code = compare_call(comm, "MPI_File_open")) return *code;
  return register_object(
      comm, forward_to_mpi(comm, [=] { return real<MPI_File_open>(comm, name, mode, info, file); }), file);
}

int MPI_File_close(MPI_File* file) {
  if (const auto code = compare_last_call(file, "MPI_File_close")) return *code;
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_close>(file); });
}

int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  if (const auto code = compare_object_call(file, "MPI_File_set_size")) return *code;
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_set_size>(file, size); });
}

int MPI_File_preallocate(MPI_File file, MPI_Offset size) {
  if (const auto code = compare_object_call(file, "MPI_File_preallocate")) return *code;
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_preallocate>(file, size); });
}

int MPI_File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype elements, MPI_Datatype type, const char* how,
                      MPI_Info info) {
  if (const auto code = compare_object_call(file, "MPI_File_set_view")) return *code;
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_set_view>(file, at, elements, type, how, info); });
}

int MPI_File_set_atomicity(MPI_File file, int flag) {
  if (const auto code = compare_object_call(file, "MPI_File_set_atomicity")) return *code;
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_set_atomicity>(file, flag); });
}

int MPI_File_sync(MPI_File file) {
  if (const auto code = compare_object_call(file, "MPI_File_sync")) return *code;
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_sync>(file); });
}

int MPI_File_read_all(MPI_File file, void* data, int count, MPI_Datatype type, MPI_Status* status) {
  if (const auto code = compare_object_call(file, "MPI_File_read_all")) return *code;
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_read_all>(file, data, count, type, status); });
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void* data, int count, MPI_Datatype type,
                         MPI_Status* status) {
  if (const auto code = compare_object_call(file, "MPI_File_read_at_all")) return *code;
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_read_at_all>(file, at, data, count, type, status); });
}

int MPI_File_read_ordered(MPI_File file, void* data, int count, MPI_Datatype type, MPI_Status* status) {
  if (const auto code = compare_object_call(file, "MPI_File_read_ordered")) return *code;
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_read_ordered>(file, data, count, type, status); });
}

int MPI_File_write_all(MPI_File file, const void* data, int count, MPI_Datatype type, MPI_Status* status) {
  if (const auto code = compare_object_call(file, "MPI_File_write_all")) return *code;
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_write_all>(file, data, count, type, status); });
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* data, int count, MPI_Datatype type,
                          MPI_Status* status) {
  if (const auto code = compare_object_call(file, "MPI_File_write_at_all")) return *code;
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_write_at_all>(file, at, data, count, type, status); });
}

int MPI_File_write_ordered(MPI_File file, const void* data, int count, MPI_Datatype type,
                           MPI_Status* status) {
  if (const auto code = compare_object_call(file, "MPI_File_write_ordered")) return *code;
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_write_ordered>(file, data, count, type, status); });
}

int MPI_File_set_info(MPI_File file, MPI_Info info) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_set_info>(file, info); });
}

int MPI_File_seek_shared(MPI_File file, MPI_Offset at, int whence) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_seek_shared>(file, at, whence); });
}

// Each half may block.
int MPI_File_read_all_begin(MPI_File file, void* data, int count, MPI_Datatype type) {
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_read_all_begin>(file, data, count, type); });
}

int MPI_File_read_all_end(MPI_File file, void* data, MPI_Status* status) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_read_all_end>(file, data, status); });
}

int MPI_File_read_at_all_begin(MPI_File file, MPI_Offset at, void* data, int count, MPI_Datatype type) {
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_read_at_all_begin>(file, at, data, count, type); });
}

int MPI_File_read_at_all_end(MPI_File file, void* data, MPI_Status* status) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_read_at_all_end>(file, data, status); });
}

int MPI_File_read_ordered_begin(MPI_File file, void* data, int count, MPI_Datatype type) {
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_read_ordered_begin>(file, data, count, type); });
}

int MPI_File_read_ordered_end(MPI_File file, void* data, MPI_Status* status) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_read_ordered_end>(file, data, status); });
}

int MPI_File_write_all_begin(MPI_File file, const void* data, int count, MPI_Datatype type) {
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_write_all_begin>(file, data, count, type); });
}

int MPI_File_write_all_end(MPI_File file, const void* data, MPI_Status* status) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_write_all_end>(file, data, status); });
}

int MPI_File_write_at_all_begin(MPI_File file, MPI_Offset at, const void* data, int count,
                                MPI_Datatype type) {
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_write_at_all_begin>(file, at, data, count, type); });
}

int MPI_File_write_at_all_end(MPI_File file, const void* data, MPI_Status* status) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_write_at_all_end>(file, data, status); });
}

int MPI_File_write_ordered_begin(MPI_File file, const void* data, int count, MPI_Datatype type) {
  return forward_to_mpi(MPI_COMM_NULL,
                        [=] { return real<MPI_File_write_ordered_begin>(file, data, count, type); });
}

int MPI_File_write_ordered_end(MPI_File file, const void* data, MPI_Status* status) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_File_write_ordered_end>(file, data, status); });
}

int MPI_Buffer_detach(void* data, int* size) {
  return forward_to_mpi(MPI_COMM_NULL, [=] { return real<MPI_Buffer_detach>(data, size); });
}
}

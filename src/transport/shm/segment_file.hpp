// SPDX-License-Identifier: Apache-2.0
//
// The file descriptors behind a segment. A memfd has no name. A file in /dev/shm has one until all
// ranks have opened it, and its creator holds a lock on it until then. The kernel releases the lock
// if the creator dies, so a file without a lock is a leftover. The next leader of the same user
// removes it. This rule also holds between PID namespaces, where pids and start times do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::shm {

/// "memfd_create: Function not implemented"
std::string failed_call(const std::string& what, int code);

/// The functions that return text return the reason of a failure. An empty text is success.
/// Sets two random words, which distinguish this memory from every other one.
std::string draw_nonce(std::uint64_t (&nonce)[2]);
/// Sets `file` to a new memfd of this size, which nobody can shrink or grow. /proc/PID/maps lists
/// it as "/memfd:NAME".
std::string create_memfd(const char* name, std::size_t bytes, int& file);
/// Sets `file` to a new file of this size in /dev/shm, which is locked, and `name` to its name.
std::string create_named_file(std::size_t bytes, std::uint64_t nonce, int& file, std::string& name);
void remove_named_file(const std::string& name) noexcept;
/// Removes the files in /dev/shm that dead processes of this user have left.
void remove_leftover_files() noexcept;

/// Opens memfd number `number` of the process `pid`. Returns an error if
/// it is not a memfd of this size, or can be resized.
std::string open_memfd(int pid, int number, std::size_t bytes, int& file);
/// Opens a file in /dev/shm. Returns an error if it does not have this size.
std::string open_named_file(const std::string& name, std::size_t bytes, int& file);

/// Allocates a part of the file for good, on the caller's NUMA node.
std::string allocate(int file, std::size_t offset, std::size_t bytes);

}  // namespace tutti::shm

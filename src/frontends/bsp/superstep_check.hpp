// SPDX-License-Identifier: Apache-2.0
//
// Checked mode (TUTTI_CHECK=1). In each sync all processes exchange the operations of their
// superstep. They detect a read of memory that another operation writes, and a use of a slot before
// the sync that enables it. They also detect a collective that differs among its members. Each
// error is reported with the calls of both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "frontends/bsp/memory_register.hpp"
#include "frontends/bsp/outbox.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/bsp_abi.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::bsp {

class superstep_check {
 public:
  superstep_check(detail::communicator_impl& all, const memory_register& memory);

  /// A put or a get, whose local side is set.
  TUTTI_API void add_message(const call_site& where, const message& m);

  /// A global registration or deregistration. All processes must make the same ones, in the same
  /// order; sizes may differ.
  void add_registration(const call_site& where, slot s, std::size_t bytes);
  void add_deregistration(const call_site& where, slot s);

  void add_set(process_set_id id, int first, int last, int stride);
  struct collective_call {
    const char* name;
    process_set_id set;
    std::size_t count, size;
    int root;
  };
  /// Adds a call. add_read() and add_write() then add its accesses to this process's memory.
  void add_collective(const call_site& where, const collective_call& what);
  void add_read(const void* at, std::size_t bytes) { add_access(at, bytes, false); }
  void add_write(const void* at, std::size_t bytes) { add_access(at, bytes, true); }

  /// Collective. Throws the same mismatch_error on all processes if their operations conflict.
  /// `reported_superstep`: the superstep number for the text of the error. `queue_capacity`: of
  /// this process's message queue.
  void compare(std::uint64_t superstep, std::uint64_t reported_superstep, std::size_t queue_capacity);

 private:
  enum class record_kind : std::uint8_t {
    local_read,
    local_write,
    remote_read,
    remote_write,
    collective,
    registration,
    deregistration
  };
  struct record {
    char name[20], file[76];
    int line, process, owner;   // owner: the process whose memory it is
    std::uint32_t call_number;  // sequence number of the call on its process
    record_kind kind;
    std::uint64_t at, offset, bytes;  // at: an address of the local memory, or a slot
    int first, last, stride, root;    // these and the following: of collectives
    std::uint64_t ordinal, index, count, size;

    bool is_write() const noexcept {
      return kind == record_kind::local_write || kind == record_kind::remote_write;
    }
    bool is_message() const noexcept {
      return kind == record_kind::remote_read || kind == record_kind::remote_write;
    }
    bool is_registration() const noexcept {
      return kind == record_kind::registration || kind == record_kind::deregistration;
    }
    bool same_call(const record& other) const noexcept {
      return process == other.process && call_number == other.call_number;
    }
    std::string text() const;
  };
  struct interval {
    std::uint64_t begin, end;
    const record* access;
  };

  record& add_record(const char* name, const call_site& where, record_kind kind, int owner);
  void add_access(const void* at, std::size_t bytes, bool writes);
  std::vector<record> gather_records();
  std::string overflow_here(const std::vector<record>& all, std::size_t queue_capacity) const;
  std::string registrations_differ(const std::vector<record>& all) const;
  std::string conflict_here(const std::vector<record>& all, std::uint64_t superstep) const;
  static std::string difference(std::vector<record>& all);
  std::string first_diagnostic(const std::string& diagnostic);

  detail::communicator_impl& all_;
  const memory_register& memory_;
  int me_;
  std::uint32_t calls_ = 0;
  std::vector<record> records_;
  struct shape {
    int first, last, stride;
    std::uint64_t ordinal;
  };
  std::map<std::tuple<int, int, int>, std::uint64_t> shapes_;  // number of sets of this shape
  std::map<process_set_id, shape> sets_;
  std::map<process_set_id, std::uint64_t> indices_;  // number of calls in this superstep
};

}  // namespace tutti::bsp

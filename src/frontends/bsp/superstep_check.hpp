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

namespace tutti::bsp {

class superstep_check {
 public:
  superstep_check(detail::communicator_impl& all, const memory_register& memory);

  /// A put or a get, with its local side set.
  void schedules(const call_site& where, const message& m);

  /// A global registration or deregistration. All processes must make the same ones, in the same
  /// order; sizes may differ.
  void registers(const call_site& where, slot s, std::size_t bytes);
  void deregisters(const call_site& where, slot s);

  void made(members number, int first, int last, int stride);
  struct collective_call {
    const char* name;
    members set;
    std::size_t count, size;
    int root;
  };
  /// Begins a call. reads() and writes() then record its accesses to this process's memory.
  void makes(const call_site& where, const collective_call& what);
  void reads(const void* at, std::size_t bytes) { touches(at, bytes, false); }
  void writes(const void* at, std::size_t bytes) { touches(at, bytes, true); }

  /// Collective. Throws mismatch_error, the same on all processes, which reports the superstep
  /// number `told`. `room`: the capacity of this process's message queue.
  void compare(std::uint64_t superstep, std::uint64_t told, std::size_t room);

 private:
  enum class kind : std::uint8_t {
    near_read,
    near_write,
    far_read,
    far_write,
    collective,
    registration,
    deregistration
  };
  struct record {
    char name[20], file[76];
    int line, process, owner;  // owner: the process whose memory it is
    std::uint32_t number;      // sequence number of the call on its process
    kind is;
    std::uint64_t at, offset, bytes;  // at: an address of the own memory, or a slot
    int first, last, stride, root;    // these and the following: of collectives
    std::uint64_t ordinal, index, count, size;

    bool writes() const noexcept { return is == kind::near_write || is == kind::far_write; }
    bool is_message() const noexcept { return is == kind::far_read || is == kind::far_write; }
    bool registers() const noexcept { return is == kind::registration || is == kind::deregistration; }
    bool same_call(const record& other) const noexcept {
      return process == other.process && number == other.number;
    }
    std::string told() const;
  };
  struct interval {
    std::uint64_t begin, end;
    const record* of;
  };

  record& note(const char* name, const call_site& where, kind is, int owner);
  void touches(const void* at, std::size_t bytes, bool writes);
  std::vector<record> of_all();
  std::string overflow_here(const std::vector<record>& all, std::size_t room) const;
  std::string registrations_differ(const std::vector<record>& all) const;
  std::string conflict_here(const std::vector<record>& all, std::uint64_t superstep) const;
  static std::string difference(std::vector<record>& all);
  std::string first_of(const std::string& diagnostic);

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
  std::map<members, shape> sets_;
  std::map<members, std::uint64_t> indices_;  // number of calls in this superstep
};

}  // namespace tutti::bsp

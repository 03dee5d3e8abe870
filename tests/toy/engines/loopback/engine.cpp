// SPDX-License-Identifier: Apache-2.0
//
// A minimal engine: one rank, which communicates with itself. This folder contains only what the
// steps of CONTRIBUTING.md require, and the tests show that this suffices.
#include <cstring>
#include <map>
#include <new>

#include "engines/engine_table.hpp"
#include "engines/node_topology.hpp"
#include "transport/message_endpoint.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

class loopback_endpoint final : public message_endpoint {
 public:
  std::string_view engine() const noexcept override { return "loopback"; }
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 1; }
  const hierarchy& topology() const noexcept override { return topology_; }
  std::unique_ptr<context> open(const group& members, std::uint64_t id, context* parent) override;
  std::unique_ptr<context> open_locally(const group& members, const group_name&) override {
    return open(members, 0, nullptr);  // with one rank there is nobody to confuse with
  }
  /// No other rank could send what this rank waits for.
  void pause(const shm::wait_site& site) override {
    throw deadlock_error(site.operation, 0, "", shm::describe(site), "let the rank send it before it waits");
  }

 private:
  hierarchy topology_ = topology_of_process(1);
};

// Messages match by the call that they belong to, and within a call in their order.
class loopback_context final : public context {
 public:
  using context::context;

  void isend(int, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) override {
    begin({run, true, const_cast<void*>(data), bytes}, t);
  }
  void irecv(int, std::uint32_t run, void* data, std::size_t bytes, transfer& t) override {
    begin({run, false, data, bytes}, t);
  }
  bool done(transfer& t, const shm::wait_site&) override {
    const auto own = under_way_.find(*std::launder(reinterpret_cast<ticket*>(t.state)));
    const bool over = own->second.over;
    if (over) under_way_.erase(own);
    return over;
  }

 private:
  using ticket = std::uint64_t;
  struct message {
    std::uint32_t run;
    bool sends;
    void* data;
    std::size_t bytes;
    bool over = false;
  };

  void begin(message own, transfer& t) {
    for (auto& [number, other] : under_way_) {
      if (other.over || other.run != own.run || other.sends == own.sends) continue;
      const message &from = own.sends ? own : other, &to = own.sends ? other : own;
      if (from.bytes > to.bytes)
        throw truncation_error("loopback", 0, "count",
                               "the message is longer than the rank expects of itself", "");
      if (from.bytes > 0) std::memcpy(to.data, from.data, from.bytes);
      own.over = other.over = true;
      break;
    }
    under_way_.emplace(next_, own);
    new (t.state) ticket(next_++);
  }

  std::map<ticket, message> under_way_;
  ticket next_ = 0;
};

std::unique_ptr<context> loopback_endpoint::open(const group& members, std::uint64_t id, context*) {
  return std::make_unique<loopback_context>(*this, members, id);
}

outcome run(const launch&, const rank_program& program) {
  loopback_endpoint ep;
  try {
    program(ep);
  } catch (...) {
    return failure_of(0);
  }
  return {};
}

}  // namespace

extern const engine_entry engine_loopback;
constinit const engine_entry engine_loopback = {
    .name = "loopback",
    .meaning = "one rank, which talks to itself",
    .run = run,
    .max_ranks = 1,
    .limit = "its rank talks to itself; choose another engine for more",
};

}  // namespace tutti::detail

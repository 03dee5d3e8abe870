// SPDX-License-Identifier: Apache-2.0
//
// An engine that moves nothing, for tests of the parts of a communicator without ranks: one rank of
// a job of any size. It records what it is asked for. fake_control answers the library's own
// collectives in place of the other ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "communicator/communicator_state.hpp"
#include "communicator/control_calls.hpp"
#include "transport/endpoint.hpp"

namespace tests {

/// The offer and the counters that all contexts of an engine share.
struct fake_record {
  tutti::detail::native_offer offer = tutti::detail::native_offer::none;
  bool has_ready = false;     // make_ready() returns functions
  bool ready_throws = false;  // they throw
  int native = 0, ready = 0, ready_counted = 0, pauses = 0, abandoned = 0, opened = 0;
};

class fake_context final : public tutti::detail::context {
 public:
  fake_context(tutti::detail::endpoint& ep, const tutti::detail::group& members, std::uint64_t id,
               fake_record& of)
      : context(ep, members, id), of_(of) {}

  void isend(int, std::uint32_t, const void*, std::size_t, tutti::detail::transfer&) override {}
  void irecv(int, std::uint32_t, void*, std::size_t, tutti::detail::transfer&) override {}
  bool done(tutti::detail::transfer&, const tutti::shm::wait_site&) override { return true; }
  tutti::detail::native_offer offers(const tutti::detail::agreed_signature&) const noexcept override {
    return of_.offer;
  }
  void native(const tutti::call&, const tutti::shm::wait_site&) override { ++of_.native; }
  void native_begin(const tutti::call&, tutti::detail::native_state&) override { ++of_.native; }
  bool native_progress(tutti::detail::native_state&, bool, const tutti::shm::wait_site&) override {
    return true;
  }
  tutti::detail::ready_native make_ready(const tutti::call&) override {
    tutti::detail::ready_native made;
    if (!of_.has_ready) return made;
    made.max_count = 100;
    made.run = [](const void*, void*, std::size_t, const tutti::detail::ready_native& r) {
      ++record_of(r).ready;
      return run_ready(r);
    };
    made.run_counted = [](const void*, void*, const tutti::detail::counted_call&,
                          const tutti::detail::ready_native& r) {
      ++record_of(r).ready_counted;
      return run_ready(r);
    };
    record_of(made, &of_);
    return made;
  }

 private:
  static bool run_ready(const tutti::detail::ready_native& r) {
    if (!record_of(r).ready_throws) return true;
    try {
      throw tutti::engine_error("allreduce", 0, "", "the engine has failed", "");
    } catch (...) {
      r.fail();
      throw;
    }
  }
  static fake_record& record_of(const tutti::detail::ready_native& r) {
    fake_record* of = nullptr;
    std::memcpy(&of, r.state, sizeof of);
    return *of;
  }
  static void record_of(tutti::detail::ready_native& r, fake_record* of) {
    std::memcpy(r.state, &of, sizeof of);
  }

  fake_record& of_;
};

class fake_endpoint final : public tutti::detail::endpoint {
 public:
  fake_endpoint(int rank, int size) : rank_(rank), size_(size), topology_(size) {}

  std::string_view engine() const noexcept override { return "fake"; }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  const tutti::detail::hierarchy& topology() const noexcept override { return topology_; }
  tutti::shm::node* node() noexcept override { return nullptr; }
  std::unique_ptr<tutti::detail::context> open(const tutti::detail::group& members, std::uint64_t id,
                                               tutti::detail::context*) override {
    ++record.opened;
    return std::make_unique<fake_context>(*this, members, id, record);
  }
  std::unique_ptr<tutti::detail::context> open_locally(const tutti::detail::group& members,
                                                       const tutti::detail::group_name&) override {
    return open(members, 1, nullptr);
  }
  void abandon(std::exception_ptr) noexcept override { ++record.abandoned; }
  void wait(const std::atomic<std::uint32_t>&, std::uint32_t, bool, const tutti::shm::wait_site&) override {}
  void pause(const tutti::shm::wait_site&) override { ++record.pauses; }
  tutti::shm::wakeup_flag& wakeup() noexcept override { return wakeup_; }

  fake_record record;

 private:
  int rank_, size_;
  tutti::detail::hierarchy topology_;
  tutti::shm::wakeup_flag wakeup_;
};

/// Makes the state that the communicators of a rank share, on a thread that runs no rank.
inline std::shared_ptr<tutti::detail::rank_state> fake_rank(fake_endpoint& ep) {
  auto shared = std::make_shared<tutti::detail::rank_state>();
  shared->ep = &ep;
  shared->by = std::make_shared<const tutti::detail::selection>();
  return shared;
}

/// Hands each call to `answer`, which fills in what the other ranks would have sent.
class fake_control final : public tutti::detail::control_calls {
 public:
  void run_control(const tutti::call& c) override {
    made.push_back(c.what);
    if (reply) reply(c);
  }
  /// Every rank sends what this one sends.
  static void repeat_local(const tutti::call& c, int ranks) {
    for (int r = 0; r < ranks; ++r)
      std::memcpy(static_cast<std::byte*>(c.output) + static_cast<std::size_t>(r) * c.type.size, c.input,
                  c.type.size);
  }

  std::vector<tutti::collective> made;
  std::function<void(const tutti::call&)> reply;
};

}  // namespace tests

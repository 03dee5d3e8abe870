// SPDX-License-Identifier: Apache-2.0
//
// The part that threads and fibers share: ranks on one shared-memory node, and native collectives
// by direct memory access.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "engines/embedded/job.hpp"
#include "transport/endpoint.hpp"

namespace tutti {

/// The endpoint of a rank in this process. The engines derive from it and implement the waits.
class embedded_endpoint : public endpoint {
 public:
  embedded_endpoint(job& j, shm::node& n, int rank) : job_(j), node_(n), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return node_.size(); }
  const hierarchy& layout() const noexcept override { return job_.layout(); }
  std::span<const engine_condition> conditions() const noexcept override { return job_.conditions(); }
  shm::node* node() noexcept override { return &node_; }
  std::unique_ptr<context> open(const group& members, std::uint64_t id, context* parent) override;
  std::unique_ptr<context> open_locally(const group& members, const group_name& name) override;
  void abandon(std::exception_ptr what) noexcept override;
  void begin_reading(const shm::wait_site& site) override {
    if (!job_.begin_reading(rank_)) [[unlikely]]
      job_.throw_failure(rank_, serves_others(), site);
  }
  void end_reading() noexcept override { job_.end_reading(rank_); }
  void read_place(const std::source_location* place) noexcept override {
    endpoint::read_place(place);
    job_.record(rank_).place.store(place, std::memory_order_release);
  }

 protected:
  job& job_;
  shm::node& node_;
  int rank_;

  /// Reports to the deadlock monitor that this rank waits. `site` must stay valid until unnote().
  void note(rank_record::state state, const std::atomic<std::uint32_t>* word, std::uint32_t value,
            const shm::wait_site& site) noexcept {
    rank_record& r = job_.record(rank_);
    r.site.store(&site, std::memory_order_relaxed);
    r.word.store(word, std::memory_order_relaxed);
    r.value.store(value, std::memory_order_relaxed);
    r.now.store(state, std::memory_order_release);
    noted_ = state;
  }
  // Reports that the wait has ended. Blocks while the monitor holds this rank.
  void unnote() noexcept {
    if (noted_ == rank_record::running) return;
    rank_record& r = job_.record(rank_);
    r.version.store(r.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    r.now.store(rank_record::running, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    while (r.held.load(std::memory_order_acquire) != 0) {
    }
    noted_ = rank_record::running;
  }
  /// Reports one more poll of everything without success. The first one begins the wait for the
  /// monitor.
  void note_pause(const shm::wait_site& site) noexcept {
    if (noted_ != rank_record::pausing) {
      pause_site_ = site;
      note(rank_record::pausing, nullptr, 0, pause_site_);
    }
    std::atomic<std::uint64_t>& sweeps = job_.record(rank_).sweeps;
    sweeps.store(sweeps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Ends the note when the wait ends, also by an exception.
  struct noted {
    embedded_endpoint& who;
    ~noted() { who.unnote(); }
  };

 private:
  rank_record::state noted_ = rank_record::running;
  shm::wait_site pause_site_;
};

class embedded_context final : public context {
 public:
  embedded_context(endpoint& ep, const group& members, std::uint64_t id, const group_name& name = {});
  ~embedded_context();

  std::unique_ptr<p2p_transport> open_p2p() override;
  void isend(int, std::uint32_t, const void*, std::size_t, transfer&) override;
  void irecv(int, std::uint32_t, void*, std::size_t, transfer&) override;
  bool done(transfer&, const shm::wait_site&) override;
  void wait_both(transfer*, transfer*, const shm::wait_site&) override;

  native_offer offers(const agreed_signature& s) const noexcept override;
  void native(const call& c, const shm::wait_site& site) override;
  void native_begin(const call& c, native_state& s) override;
  bool native_go_on(native_state& s, bool blocking, const shm::wait_site& site) override;
  std::optional<shm::line_exchange> lines() override;

 private:
  struct under_way {
    shm::direct_collectives::participation participation;
    const call* what;
    std::uint32_t number;
    bool begun;
  };
  shm::direct_collectives& direct_collectives();
  bool may_begin(std::uint32_t number) const noexcept;

  group_name name_;  // of a context that was opened locally
  std::shared_ptr<shm::direct_collectives> direct_collectives_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> unfinished_;  // sequence numbers, ascending
};

}  // namespace tutti

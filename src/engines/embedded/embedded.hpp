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

namespace tutti::detail {

/// The endpoint of a rank in this process. The engines derive from it and implement the waits.
class embedded_endpoint : public endpoint {
 public:
  embedded_endpoint(job& j, shm::node& n, int rank) : job_(j), node_(n), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return node_.size(); }
  const hierarchy& topology() const noexcept override { return job_.topology(); }
  std::span<const engine_condition> conditions() const noexcept override { return job_.conditions(); }
  shm::node* node() noexcept override { return &node_; }
  std::unique_ptr<context> open(const group& members, std::uint64_t id, context* parent) override;
  std::unique_ptr<context> open_locally(const group& members, const group_name& name) override;
  void abandon(std::exception_ptr what) noexcept override;
  void send_rejection(int to, const rejection& what) override { job_.send_rejection(to, what); }
  void receive_rejections(rejection_inbox* into) noexcept override { job_.receive_rejections(rank_, into); }
  void begin_reading(const shm::wait_site& site) override {
    if (!job_.begin_reading(rank_)) [[unlikely]]
      job_.throw_failure(rank_, serves_peers(), site);
  }
  void end_reading() noexcept override { job_.end_reading(rank_); }
  void set_current_call(const detail::current_call* now) noexcept override {
    endpoint::set_current_call(now);
    job_.record(rank_).current_call.store(now, std::memory_order_release);
  }

 protected:
  job& job_;
  shm::node& node_;
  int rank_;

  /// Reports to the deadlock monitor that this rank waits. `site` must stay valid until
  /// report_wait_end().
  void report_wait(rank_record::state state, const std::atomic<std::uint32_t>* word, std::uint32_t value,
                   const shm::wait_site& site) noexcept {
    rank_record& r = job_.record(rank_);
    r.site.store(&site, std::memory_order_relaxed);
    r.word.store(word, std::memory_order_relaxed);
    r.value.store(value, std::memory_order_relaxed);
    r.now.store(state, std::memory_order_release);
    reported_ = state;
  }
  // Reports that the wait has ended. Blocks while the monitor holds this rank.
  void report_wait_end() noexcept {
    if (reported_ == rank_record::running) return;
    rank_record& r = job_.record(rank_);
    r.version.store(r.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    r.now.store(rank_record::running, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    while (r.held.load(std::memory_order_acquire) != 0) {
    }
    reported_ = rank_record::running;
  }
  /// Reports one more poll of everything without success. The first one begins the wait for the
  /// monitor.
  void report_poll(const shm::wait_site& site) noexcept {
    if (reported_ != rank_record::pausing) {
      pause_site_ = site;
      report_wait(rank_record::pausing, nullptr, 0, pause_site_);
    }
    std::atomic<std::uint64_t>& failed_polls = job_.record(rank_).failed_polls;
    failed_polls.store(failed_polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Ends the note when the wait ends, also by an exception.
  struct wait_report {
    embedded_endpoint& ep;
    ~wait_report() { ep.report_wait_end(); }
  };

 private:
  rank_record::state reported_ = rank_record::running;
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
  bool native_progress(native_state& s, bool blocking, const shm::wait_site& site) override;
  std::optional<shm::line_exchange> lines() override;

 private:
  struct native_in_progress {
    shm::direct_collectives::participation participation;
    const call* what;
    std::uint32_t call_id;
    bool started;
  };
  shm::direct_collectives& direct_collectives();
  bool may_begin(std::uint32_t call_id) const noexcept;

  group_name group_name_;  // of a context that was opened locally
  std::shared_ptr<shm::direct_collectives> direct_collectives_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> outstanding_;  // sequence numbers, ascending
};

}  // namespace tutti::detail

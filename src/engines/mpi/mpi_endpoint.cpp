// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/mpi_endpoint.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <stdexcept>

#include "engines/mpi/mpi_context.hpp"
#include "tutti/core/error.hpp"

namespace tutti::mpi {
namespace {

// More ranks on this node than cores that they may use? Launchers may have bound each rank to some of the cores, so the
// sets of all are united.
bool more_ranks_than_cores(MPI_Comm job, int rank) {
  MPI_Comm node;
  check(MPI_Comm_split_type(job, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "run", rank);
  int ranks = 1;
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof mine, &mine);
  check(MPI_Comm_size(node, &ranks), "run", rank);
  check(MPI_Allreduce(&mine, &all, static_cast<int>(sizeof mine), MPI_BYTE, MPI_BOR, node), "run", rank);
  MPI_Comm_free(&node);
  return ranks > std::max(1, CPU_COUNT(&all));
}

}  // namespace

mpi_endpoint::mpi_endpoint(MPI_Comm job, bool check_calls) {
  check(MPI_Comm_dup(job, &job_), "run", -1);
  MPI_Comm_set_errhandler(job_, MPI_ERRORS_RETURN);
  check(MPI_Comm_dup(job_, &control_), "run", -1);
  MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(job_, &rank_), "run", -1);
  check(MPI_Comm_size(job_, &size_), "run", rank_);
  int* limit = nullptr;
  int known = 0;
  check(MPI_Comm_get_attr(job_, MPI_TAG_UB, &limit, &known), "run", rank_);
  if (!known || *limit < 32767) throw engine_error("run", rank_, "", "this MPI does not allow tags up to 32767", "");
  for (tag_mask_ = 32767; tag_mask_ <= (*limit - 1) / 2;) tag_mask_ = 2 * tag_mask_ + 1;
  types_.emplace(rank_);
  watch_.emplace(control_, check_calls);
  crowded_ = more_ranks_than_cores(job_, rank_);
  messages_.reserve(64);
  progress_since_ = looked_ = seconds_now();
}

mpi_endpoint::~mpi_endpoint() {
  int over = 0;
  if (MPI_Finalized(&over) != MPI_SUCCESS || over) return;
  if (!orphans_.empty()) return;  // what is under way may still need them
  for (MPI_Comm& c : retired_) MPI_Comm_free(&c);
  if (control_ != MPI_COMM_NULL) MPI_Comm_free(&control_);
  if (job_ != MPI_COMM_NULL) MPI_Comm_free(&job_);
}

void mpi_endpoint::retire(MPI_Comm comm) noexcept {
  int over = 0;
  if (MPI_Finalized(&over) != MPI_SUCCESS || over) return;
  if (watch_->failed()) retired_.push_back(comm);
  else MPI_Comm_free(&comm);
}

// The job's own communicator is at hand. A child with the same members is a duplicate, so that MPI keeps what it knows
// of the topology; any other is made by its members alone.
std::unique_ptr<context> mpi_endpoint::open(const group& members, std::uint64_t id, context* parent) {
  if (parent == nullptr) {
    if (members.size() != size_)
      throw std::logic_error("a communicator over part of an MPI job is made from one that exists");
    return std::make_unique<mpi_context>(*this, members, id, job_, false);
  }
  auto& from = static_cast<mpi_context&>(*parent);
  const group& old = from.members();
  const auto ok = [&](int code) { check(code, "making a communicator", rank_); };
  bool same = old.size() == members.size();
  for (int r = 0; same && r < members.size(); ++r) same = old.address(r) == members.address(r);
  MPI_Comm made = MPI_COMM_NULL;
  if (same) {
    const fabric::wait_site site{"making a communicator", "", "all members of the old one", -1, -1, id};
    MPI_Request request;
    ok(MPI_Comm_idup(from.comm(), &made, &request));
    native_begun();
    for (int flag = 0;;) {
      ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
      if (flag) break;
      pause(site);
    }
    native_over();
  } else {
    std::vector<int> ranks(static_cast<std::size_t>(members.size()));
    for (int r = 0; r < members.size(); ++r) ranks[static_cast<std::size_t>(r)] = members.address(r);
    MPI_Group all, some;
    ok(MPI_Comm_group(job_, &all));
    ok(MPI_Group_incl(all, members.size(), ranks.data(), &some));
    ok(MPI_Comm_create_group(job_, some, static_cast<int>(id % 32767), &made));
    MPI_Group_free(&some);
    MPI_Group_free(&all);
  }
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return std::make_unique<mpi_context>(*this, members, id, made, true);
}

void mpi_endpoint::wait(const std::atomic<std::uint32_t>&, std::uint32_t, bool, const fabric::wait_site&) {
  throw std::logic_error("ranks of an MPI job share no words of memory");
}

void mpi_endpoint::grow() {
  const auto row = static_cast<std::uint32_t>(messages_.size());
  messages_.push_back({MPI_REQUEST_NULL, none, false, false, -1, 0});
  free_ = row;
}

// With more ranks than cores whoever is waited for needs this core. A rank that has waited for long sleeps.
void mpi_endpoint::pause_crowded(const fabric::wait_site& site) {
  sched_yield();
  const double now = seconds_now();
  if (now - looked_ < 1e-3) return;
  look(site);
  if (now - progress_since_ > 0.1) {
    const timespec little{0, 200'000};
    nanosleep(&little, nullptr);
  }
}

void mpi_endpoint::look(const fabric::wait_site& site) {
  const double now = seconds_now();
  looked_ = now;
  if (progress_ != progress_seen_) {
    progress_seen_ = progress_;
    progress_since_ = now;
  }
  watch_->look();
  if (watch_->checks()) watch_->idle(&site, now - progress_since_, progress_);
  if (watch_->failed()) throw_failure(site);
}

void mpi_endpoint::throw_failure(const fabric::wait_site& site) {
  abandon();
  if (watch_->deadlock()) throw deadlock_error(site.operation, rank_, "", watch_->text(), "");
  throw peer_error(site.operation, rank_, "",
                   "rank " + std::to_string(watch_->failed_rank()) + " failed (" + watch_->text() + ")",
                   "this rank was taken out of its wait");
}

// Receives are cancelled, and what was matched already gets a moment to come in, since the buffers may go as soon as
// the exception is on its way. Sends cannot be cancelled.
void mpi_endpoint::abandon() {
  bool any = false;
  for (message& m : messages_)
    if (m.busy) {
      any = true;
      if (m.receives && m.request != MPI_REQUEST_NULL) MPI_Cancel(&m.request);
    }
  if (!any) return;
  const double deadline = seconds_now() + 0.5;
  for (bool waiting = true; waiting;) {
    waiting = false;
    const bool late = seconds_now() > deadline;
    for (std::uint32_t row = 0; row < messages_.size(); ++row) {
      message& m = messages_[row];
      if (!m.busy) continue;
      int flag = 0;
      if (MPI_Test(&m.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) flag = 1;
      if (!flag && m.receives && !late) {
        waiting = true;
        continue;
      }
      if (!flag) orphans_.push_back(m.request);
      end_message(row);
    }
    if (waiting) sched_yield();
  }
}

void mpi_endpoint::check_length(std::uint32_t row, MPI_Status& status, const fabric::wait_site& site) {
  const message& m = messages_[row];
  int count = 0;
  if (m.bytes <= 0x7fffffff) {
    if (MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && static_cast<std::size_t>(count) == m.bytes) [[likely]]
      return;
  }
  MPI_Count came = count;
  MPI_Get_elements_x(&status, MPI_BYTE, &came);
  if (static_cast<std::size_t>(came) == m.bytes) return;
  const message copy = m;
  end_message(row);
  abandon();
  throw_length(copy, static_cast<long long>(came), site);
}

void mpi_endpoint::throw_transfer_error(std::uint32_t row, int code, const fabric::wait_site& site) {
  const message copy = messages_[row];
  if (messages_[row].request != MPI_REQUEST_NULL) orphans_.push_back(messages_[row].request);
  end_message(row);
  abandon();
  if (is_truncation(code)) throw_length(copy, -1, site);
  throw_mpi_error(code, site.operation, rank_);
}

void mpi_endpoint::throw_length(const message& m, long long came, const fabric::wait_site& site) {
  const std::string text = "rank " + std::to_string(m.peer) + " sent " +
                           (came < 0 ? std::string("more") : std::to_string(came)) + (came < 0 ? " than the " : " bytes where this rank expects ") +
                           std::to_string(m.bytes) + (came < 0 ? " bytes that this rank expects" : "");
  const char* remedy = "call it with the same count and element type on all ranks (TUTTI_CHECK=1 names who differs)";
  if (came < 0) throw truncation_error(site.operation, rank_, "count", text, remedy);
  throw mismatch_error(site.operation, rank_, "count", text, remedy);
}

void mpi_endpoint::throw_abandoned(const fabric::wait_site& site) {
  if (watch_->failed()) throw_failure(site);
  throw engine_error(site.operation, rank_, "", "was given up after an earlier error on this rank", "");
}

}  // namespace tutti::mpi

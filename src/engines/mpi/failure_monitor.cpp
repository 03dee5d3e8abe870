// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/failure_monitor.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/environment_variables.hpp"

namespace tutti::mpi {
namespace {

constexpr double report_every = 1;  // seconds before a stuck rank repeats its report

std::vector<char> packed(const void* head, std::size_t bytes, const std::string& text, std::size_t longest) {
  const std::size_t n = std::min(text.size(), longest);
  std::vector<char> message(bytes + n);
  std::memcpy(message.data(), head, bytes);
  std::memcpy(message.data() + bytes, text.data(), n);
  return message;
}

}  // namespace

double seconds_now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

failure_monitor::failure_monitor(MPI_Comm control, bool check_calls, double timeout)
    : control_(control), check_(check_calls), timeout_(timeout) {
  check(MPI_Comm_rank(control_, &rank_), "run", -1);
  check(MPI_Comm_size(control_, &size_), "run", rank_);
  if (rank_ == 0 && check_) reports_.resize(static_cast<std::size_t>(size_));
}

void failure_monitor::send_failure(int failed_rank, failure_kind kind, const std::string& text) {
  const head h{failed_rank, static_cast<std::int32_t>(kind), 0};
  outgoing& out = outgoing_.emplace_back();
  out.bytes =
      packed(&h, sizeof h, text, kind == failure_kind::deadlock ? max_deadlock_text : max_failure_text);
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    out.requests.push_back(MPI_REQUEST_NULL);
    const int n = static_cast<int>(out.bytes.size());
    if (MPI_Isend(out.bytes.data(), n, MPI_BYTE, r, failure_tag, control_, &out.requests.back()) !=
        MPI_SUCCESS)
      out.requests.pop_back();  // that rank does not receive it; the job is aborted later
  }
}

void failure_monitor::fail(const std::string& text) {
  if (failed()) return;
  failed_rank_ = rank_;
  text_ = text.substr(0, max_failure_text);
  send_failure(rank_, failure_kind::error, text_);
}

void failure_monitor::send_rejection(int to, const rejection& what, send_mode mode) {
  all_sent();  // frees the memory of earlier ones
  const struct {
    head common;
    rejection_head more;
  } h{{what.rank, static_cast<std::int32_t>(what.call), what.context},
      {what.first, what.end, what.to_whole_job ? 1 : 0}};
  outgoing out;
  out.bytes = packed(&h, sizeof h.common + sizeof h.more, what.text, max_failure_text);
  out.requests.push_back(MPI_REQUEST_NULL);
  outgoing& kept = outgoing_.emplace_back(std::move(out));
  const int code = (mode == send_mode::synchronous ? MPI_Issend : MPI_Isend)(
      kept.bytes.data(), static_cast<int>(kept.bytes.size()), MPI_BYTE, to, rejection_tag, control_,
      &kept.requests.back());
  check(code, "run", rank_);
}

bool failure_monitor::all_sent() {
  bool all = true;
  for (auto one = outgoing_.begin(); one != outgoing_.end();) {
    int flag = 0;
    MPI_Testall(static_cast<int>(one->requests.size()), one->requests.data(), &flag, MPI_STATUSES_IGNORE);
    if (flag)
      one = outgoing_.erase(one);
    else
      all = false, ++one;
  }
  if (report_sent_ != MPI_REQUEST_NULL) {
    int flag = 0;
    MPI_Test(&report_sent_, &flag, MPI_STATUS_IGNORE);
    if (!flag) all = false;
  }
  return all;
}

void failure_monitor::poll() {
  for (;;) {
    int flag = 0, bytes = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, control_, &flag, &status), "run", rank_);
    if (!flag) return;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "run", rank_);
    std::vector<char> message(std::max(static_cast<std::size_t>(bytes), sizeof(head)));
    check(MPI_Recv(message.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, control_, &status),
          "run", rank_);
    head h;
    std::memcpy(&h, message.data(), sizeof h);
    handle(h, status.MPI_TAG, std::string(message.begin() + sizeof h, message.end()));
  }
}

void failure_monitor::handle(const head& h, int tag, std::string text) {
  if (tag == rejection_tag) {
    ++rejections_received_;
    rejection_head more{};
    std::memcpy(&more, text.data(), std::min(sizeof more, text.size()));
    text.erase(0, sizeof more);
    if (inbox_ != nullptr)
      inbox_->deliver({h.value, static_cast<std::uint32_t>(h.kind), h.rank, std::move(text), more.first,
                       more.end, more.to_whole_job != 0});
    return;
  }
  if (tag == idle_report_tag) {
    if (collecting_) record(h.rank, static_cast<state>(h.kind), h.value, std::move(text));
    return;
  }
  if (failed()) {
    if (failed_rank_ == rank_ && h.rank < rank_) reported_elsewhere_ = true;
    return;
  }
  failed_rank_ = h.rank;
  deadlock_ = static_cast<failure_kind>(h.kind) == failure_kind::deadlock;
  text_ = std::move(text);
}

// Reports to rank 0 are synchronous sends. So each rank has at most one in progress, however long
// rank 0 computes.
void failure_monitor::report_idle(const shm::wait_site* site, const detail::current_call& call, double idle,
                                  std::uint64_t progress) {
  if (!check_ || failed() || size_ == 1) return;
  if (rank_ == 0 && idle < timeout_) {
    if (collecting_) std::fill(reports_.begin(), reports_.end(), report{});
    collecting_ = false;
  }
  if (idle < timeout_) return;
  if (rank_ == 0) collecting_ = true;
  const double now = seconds_now();
  if (now - last_report_ < report_every) return;
  last_report_ = now;
  const state how = site == nullptr ? state::finished : state::waiting;
  std::string text = site == nullptr ? "has returned from the program" : shm::describe(*site, call);
  if (rank_ == 0) {
    record(0, how, progress, std::move(text));
    detect_deadlock();
    return;
  }
  if (report_sent_ != MPI_REQUEST_NULL) {
    int flag = 0;
    check(MPI_Test(&report_sent_, &flag, MPI_STATUS_IGNORE), "run", rank_);
    if (!flag) return;
  }
  const head h{rank_, static_cast<std::int32_t>(how), progress};
  report_bytes_ = packed(&h, sizeof h, text, max_failure_text);
  check(MPI_Issend(report_bytes_.data(), static_cast<int>(report_bytes_.size()), MPI_BYTE, 0, idle_report_tag,
                   control_, &report_sent_),
        "run", rank_);
}

void failure_monitor::record(int rank, state how, std::uint64_t progress, std::string text) {
  report& r = reports_[static_cast<std::size_t>(rank)];
  const double now = seconds_now();
  if (r.first == 0 || r.progress != progress || r.how != how) r.first = now;
  r.last = now;
  r.progress = progress;
  r.how = how;
  r.text = std::move(text);
}

// All ranks were stuck at one moment if each repeated its report, unchanged, after all had
// reported.
void failure_monitor::detect_deadlock() {
  double latest_first = 0, earliest_last = seconds_now();
  int first_waiting = -1;
  for (int r = size_ - 1; r >= 0; --r) {
    const report& one = reports_[static_cast<std::size_t>(r)];
    if (one.first == 0) return;
    latest_first = std::max(latest_first, one.first);
    earliest_last = std::min(earliest_last, one.last);
    if (one.how == state::waiting) first_waiting = r;
  }
  if (first_waiting < 0 || earliest_last <= latest_first) return;
  std::string text = "deadlock: every rank waits\n";
  constexpr int shown = 48;
  for (int r = 0; r < size_ && r < shown; ++r)
    text += "  rank " + std::to_string(r) + ": " + reports_[static_cast<std::size_t>(r)].text + '\n';
  if (size_ > shown) text += "  ... and " + std::to_string(size_ - shown) + " more\n";
  text +=
      "  remedy: call the same collectives in the same order on all ranks, and match every receive with a "
      "send";
  failed_rank_ = first_waiting;
  deadlock_ = true;
  text_ = text.substr(0, max_deadlock_text);
  send_failure(failed_rank_, failure_kind::deadlock, text_);
}

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// The failures of a superstep: errors of this process, and errors that the combined summary shows.
// This file also decides which process reports an error.
#include <array>
#include <string>
#include <utility>

#include "base/compute/kernels.hpp"
#include "frontends/bsp/bsp_process.hpp"
#include "tutti/error.hpp"

namespace tutti::bsp {

void process::reject(const char* operation, const char* parameter, const std::string& problem,
                     const char* remedy) {
  std::string where;
  if (site_.file != nullptr) where = std::string(" (") + site_.file + ":" + std::to_string(site_.line) + ")";
  try {
    detail::reject(all_, operation, parameter, problem + where, remedy);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

void process::reject_thread(const char* operation) const { validate_thread_(operation); }

void process::throw_failure() { std::rethrow_exception(failure_); }

// The exception of a C++ operator is thrown unchanged. The caller of a C function sees no
// exception, so an error names the call.
void process::throw_stored_exception() {
  thrown_in_call by;
  std::swap(by, thrown_);
  if (!by.in_c) {
    failure_ = by.what;
    throw_failure();
  }
  std::string what = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(by.what);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  site_ = by.site;
  reject(by.operation, by.parameter, "threw: " + what,
         "catch the exception inside it; the results of the superstep are wrong on all processes");
}

// Some processes have failed, or do something else than the others: sync, begin a section within
// this one, or leave. All processes know that, so all call an allreduce that finds out which.
void process::fail_on_all(std::uint32_t mine, std::uint32_t all) {
  const std::uint32_t reason = (all & summaries::failed) != 0    ? summaries::failed
                               : (all & summaries::leaving) != 0 ? summaries::leaving
                                                                 : summaries::nesting;
  // Maxima over all processes: the highest process to which `reason` applies, and the highest to
  // which it does not. Then the lowest of each, as their distances from the end.
  const bool concerned = (mine & reason) != 0;
  const int from_end = nprocs_ - pid_;
  int who[4] = {concerned ? pid_ : -1, concerned ? -1 : pid_, concerned ? from_end : 0,
                concerned ? 0 : from_end};
  call c;
  c.what = collective::allreduce;
  c.type = element_of<int>();
  c.count = 4;
  c.in_place = true;
  c.output = who;
  c.op.combine = compute::kernel(builtin_op::max, element_kind::i32);
  c.op.which = builtin_op::max;
  c.op.commutative = true;
  detail::run_call(all_, c);
  failure_reported_ = rejects_calls_ = true;
  if (failure_ == nullptr) {
    // If some have failed, they report their errors. Otherwise the lowest process that sees the
    // error reports it.
    const bool of_these = reason == summaries::nesting && who[2] != 0;
    reported_by_another_ = reason == summaries::failed || from_end != (of_these ? who[2] : who[3]);
    failure_ = make_peer_failure(mine, all, reason, {who[0], who[1]});
  } else if (reason == summaries::failed && concerned) {
    reported_by_another_ = from_end != who[2];  // the lowest process that has failed reports
  }
  std::rethrow_exception(failure_);
}

std::exception_ptr process::make_peer_failure(std::uint32_t mine, std::uint32_t all, std::uint32_t reason,
                                              const std::array<int, 2>& who) {
  if ((all & (summaries::failed | summaries::leaving | summaries::nesting)) == 0)
    return std::make_exception_ptr(
        mismatch_error("sync", pid_, "coll", "not all processes have scheduled the same collectives",
                       "make the same calls, of the same sizes, on all members of a collectives object"));
  const bool nesting = (mine & summaries::nesting) != 0;
  const std::string one = "process " + std::to_string(who[0]), other = "process " + std::to_string(who[1]);
  const std::string call = std::string("lpf_") + nesting_call_;
  const char* const operation = nesting ? nesting_call_ : "sync";
  if (reason == summaries::failed)
    return std::make_exception_ptr(peer_error(operation, pid_, "", one + " has failed", "see its error"));
  peers_left_ = reason == summaries::leaving;
  if (peers_left_)
    return std::make_exception_ptr(
        peer_error(operation, pid_, "",
                   one + " has left the section and does not " + (nesting ? "call " + call : "sync"),
                   nesting ? "make this call on all processes" : "sync equally often on all processes"));
  return std::make_exception_ptr(
      mismatch_error(operation, pid_, "",
                     nesting ? other + " does not call " + call + ": it syncs"
                             : one + " does not sync: it calls lpf_rehook or lpf_hook",
                     "sync and begin inner sections in the same order on all processes of the section"));
}

void process::throw_rejected_call(const char* operation) {
  if (failure_reported_) throw_failure();
  reject(operation, "ctx", "belongs to an outer section while an inner section runs (lpf_rehook)",
         "use the context of the inner section");
}

}  // namespace tutti::bsp

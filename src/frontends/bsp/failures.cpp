// SPDX-License-Identifier: Apache-2.0
//
// How a superstep fails: by an error of this process, or by what all processes learn about the
// others. Also decides which process reports the error.
#include <array>
#include <string>
#include <utility>

#include "base/compute/kernels.hpp"
#include "frontends/bsp/bsp_process.hpp"
#include "tutti/error.hpp"

namespace tutti::bsp {

void process::refuse(const char* operation, const char* parameter, const std::string& problem,
                     const char* remedy) {
  std::string where;
  if (site_.file != nullptr) where = std::string(" (") + site_.file + ":" + std::to_string(site_.line) + ")";
  try {
    detail::refuse(all_, operation, parameter, problem + where, remedy);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

void process::throw_failure() { std::rethrow_exception(failure_); }

// The exception of a C++ operator is thrown unchanged. The caller of a C function sees no
// exception, so an error names the call.
void process::refuse_thrown() {
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
  refuse(by.operation, by.parameter, "threw: " + what,
         "catch the exception inside it; the results of the superstep are wrong on all processes");
}

// Some processes have failed, or do something else than the others: sync, begin a section within
// this one, or leave. All know that, so all take part in finding out which.
void process::fail_with_others(std::uint32_t mine, std::uint32_t all) {
  const std::uint32_t why = (all & summaries::failed) != 0    ? summaries::failed
                            : (all & summaries::leaving) != 0 ? summaries::leaving
                                                              : summaries::nesting;
  // Maxima over all processes: the highest process to which `why` applies, and the highest to which
  // it does not. Then the lowest of each, as their distances from the end.
  const bool concerned = (mine & why) != 0;
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
  known_digest_ = refuses_calls_ = true;
  if (failure_ == nullptr) {
    // If some have failed, they report their errors. Otherwise the lowest process that sees the
    // error reports it.
    const bool of_these = why == summaries::nesting && who[2] != 0;
    another_reports_ = why == summaries::failed || from_end != (of_these ? who[2] : who[3]);
    failure_ = failure_by_others(mine, all, why, {who[0], who[1]});
  }
  std::rethrow_exception(failure_);
}

std::exception_ptr process::failure_by_others(std::uint32_t mine, std::uint32_t all, std::uint32_t why,
                                              const std::array<int, 2>& who) {
  if ((all & (summaries::failed | summaries::leaving | summaries::nesting)) == 0)
    return std::make_exception_ptr(
        mismatch_error("sync", pid_, "coll", "not all processes have scheduled the same collectives",
                       "make the same calls, of the same sizes, on all members of a collectives object"));
  const bool nests = (mine & summaries::nesting) != 0;
  const std::string one = "process " + std::to_string(who[0]), other = "process " + std::to_string(who[1]);
  const std::string call = std::string("lpf_") + nesting_call_;
  const char* const here = nests ? nesting_call_ : "sync";
  if (why == summaries::failed)
    return std::make_exception_ptr(peer_error(here, pid_, "", one + " has failed", "see its error"));
  left_alone_ = why == summaries::leaving;
  if (left_alone_)
    return std::make_exception_ptr(peer_error(
        here, pid_, "", one + " has left the section and does not " + (nests ? "call " + call : "sync"),
        nests ? "make this call on all processes" : "sync equally often on all processes"));
  return std::make_exception_ptr(
      mismatch_error(here, pid_, "",
                     nests ? other + " does not call " + call + ": it syncs"
                           : one + " does not sync: it calls lpf_rehook or lpf_hook",
                     "sync and begin inner sections in the same order on all processes of the section"));
}

void process::throw_refused_call(const char* operation) {
  if (known_digest_) throw_failure();
  refuse(operation, "ctx", "belongs to an outer section while an inner section runs (lpf_rehook)",
         "use the context of the inner section");
}

}  // namespace tutti::bsp

// SPDX-License-Identifier: Apache-2.0
//
// The functions of requests, statuses and messages that need no types of a call.
#include "tutti/requests.hpp"

#include <string>

#include "communicator/communicator_state.hpp"
#include "communicator/p2p/message_queue.hpp"
#include "communicator/peer_rejections.hpp"
#include "tutti/message.hpp"

namespace tutti {
namespace detail {

bool request_operations::keeps_call() noexcept {
  try {
    throw;
  } catch (const foreign_thread_error&) {
    return true;
  } catch (...) {
    return false;
  }
}

bool request_operations::complete(one& call, const char* operation, const std::source_location& at) {
  if (!call.valid()) return true;
  try {
    return call.validated_pending(operation, at).test_at_entry();
  } catch (const rejection_due&) {
    throw;  // the call is under way
  } catch (const foreign_thread_error&) {
    throw;  // the rank's own thread may still complete it
  } catch (...) {
    call = one();
    throw;
  }
}

status request_operations::finish(one& call) {
  if (!call.valid()) return {};
  const status what(found(*call.pending_));
  call.take();
  return what;
}

void request_operations::wait_to_end(pending& call, std::exception_ptr& first) {
  for (;;) {
    try {
      return call.wait_at_entry();
    } catch (const rejection_due&) {  // is thrown once, and the call is under way
      if (!first) first = std::current_exception();
    }
  }
}

status request_operations::wait(one& call, const char* operation, const std::source_location& at,
                                std::exception_ptr& first) {
  if (!call.valid()) return {};
  try {
    wait_to_end(call.validated_pending(operation, at), first);
    return finish(call);
  } catch (const foreign_thread_error&) {
    if (!first) first = std::current_exception();
    return {};
  } catch (...) {
    call = one();
    if (!first) first = std::current_exception();
    return {};
  }
}

void request_operations::reject_statuses(const char* operation, std::size_t holds, std::size_t needed) {
  throw usage_error(
      operation, -1, "statuses",
      "holds " + std::to_string(holds) + " statuses, but " + std::to_string(needed) + " are needed",
      "make it larger, or let it be resized: statuses<resize_to_fit>(...)");
}

void reject_empty_request(const char* what, const std::source_location& at) {
  throw usage_error(what, -1, "", "this request holds no call: its result was taken, or it was moved from",
                    "wait for a request once", at);
}

void reject_copied_request(const char* what, const std::source_location& at) {
  throw usage_error(what, -1, "",
                    "this request was constructed from another one, which makes it a parameter and no copy",
                    "wait for the other one, or move it", at);
}

void reject_extracted(parameter name) {
  throw usage_error(std::string("extract_") + parameter_name(name), -1, parameter_name(name),
                    "was already extracted from this result", "keep what the first call returned");
}

void reject_empty_parameter() {
  throw usage_error("request", -1, "request", "was not made from an lvalue, so nothing can be stored in it",
                    "pass request(r) with a variable r");
}

}  // namespace detail

void status::reject_count(std::size_t element) const {
  throw usage_error("count", -1, "status",
                    "a message of " + std::to_string(bytes()) +
                        " bytes is not a whole number of elements of " + std::to_string(element),
                    "count elements of the type that was sent, or bytes()");
}

void status::reject_unnamed() {
  throw usage_error("status", -1, "status", "is const or not a variable, so nothing can be written to it",
                    "pass status(s) with a variable s, or status_out()");
}

// --- messages that were found

void message::reject_empty() {
  throw usage_error("message", -1, "", "this message was already received, or was moved from",
                    "receive a message once");
}

namespace {

// Notes whether the container threw, because the message was then discarded.
struct watched_allocation {
  void* (*allocate)(void* state, const detail::envelope& what);
  void* state;
  bool threw = false;

  static void* run(void* self, const detail::envelope& what) {
    auto& w = *static_cast<watched_allocation*>(self);
    try {
      return w.allocate(w.state, what);
    } catch (const error&) {
      throw;
    } catch (...) {
      w.threw = true;
      throw;
    }
  }
};

}  // namespace

detail::envelope message::receive(detail::recv_args in) {
  match_exactly(in);
  watched_allocation watched{in.allocate, in.state};
  if (in.allocate != nullptr) {
    in.allocate = watched_allocation::run;
    in.state = &watched;
  }
  detail::envelope received;
  try {
    received = detail::receive(*where_, in);
  } catch (const truncation_error&) {
    matched_ = nullptr;
    drop();
    throw;
  } catch (const error&) {
    throw;
  } catch (...) {
    if (watched.threw) {
      matched_ = nullptr;
      drop();
    }
    throw;
  }
  matched_ = nullptr;
  drop();
  return received;
}

// The length is known, so a message that does not fit is rejected now, while it is still here.
detail::pending_call message::start_receive(detail::recv_args in) {
  match_exactly(in);
  if (what_.bytes % in.element != 0)
    throw detail::partial_element(in, what_, detail::rank_of(*where_), detail::place_of(*where_));
  const bool too_long = in.capacity != 0 && what_.bytes > in.capacity;  // the request reports it
  if (in.allocate != nullptr && !too_long) {
    try {
      in.into = in.allocate(in.state, what_);
    } catch (const error&) {
      throw;
    } catch (...) {
      receive(in);  // discards the message and throws what the container throws
      throw;
    }
    in.capacity = what_.bytes;
    in.allocate = nullptr;
  }
  detail::pending_call under_way = detail::start_receive(*where_, in);
  matched_ = nullptr;
  drop();
  return under_way;
}

void message::match_exactly(detail::recv_args& in) const noexcept {
  in.source = what_.source;
  in.tag = what_.tag;
  in.matched = matched_;
}

}  // namespace tutti

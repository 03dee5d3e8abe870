// SPDX-License-Identifier: Apache-2.0
#include "communicator/p2p_calls.hpp"

#include <string>
#include <utility>

#include "communicator/communicator_impl.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

// matched_message has no definition: it is an unexpected message under a name that programs may
// have.
shm::unexpected_message& unexpected_message_of(matched_message* one) noexcept {
  return *reinterpret_cast<shm::unexpected_message*>(one);
}
matched_message* matched(shm::unexpected_message* one) noexcept {
  return reinterpret_cast<matched_message*>(one);
}

}  // namespace

// --- what is rejected before anything is sent

void p2p_calls::open_first(const char* operation) {
  state_.validate_usable_at_entry(operation);
  if (ready_ != nullptr) return;  // any thread may call here
  if (!queue_) {
    state_.open();
    std::unique_ptr<p2p_transport> by = state_.engine_context().open_p2p();
    if (!by) by = make_self_transport(state_.engine_context());
    queue_ = std::make_unique<message_queue>(state_.engine_context(), std::move(by));
  }
  ready_ = queue_.get();
  transport_ = &queue_->transport();
  max_tag_ = queue_->max_tag();
  valid_destinations_ =
      state_.knows_all() && !queue_->interleaves() ? static_cast<unsigned>(state_.size()) : 0;
}

void p2p_calls::reject_peer(const char* operation, const char* parameter, int peer) const {
  const bool sends = parameter[0] == 'd';
  if (peer >= 0 && peer < state_.size())
    state_.reject(operation, parameter,
                  "is " + std::to_string(peer) + ", which rank " + std::to_string(state_.rank()) +
                      " does not know: it knows only " +
                      std::string(description_of(state_.members().known_members())),
                  "name one of these, or use split(0) of this communicator, which knows all ranks");
  state_.reject(operation, parameter,
                "is " + std::to_string(peer) + ", but ranks are 0 to " + std::to_string(state_.size() - 1),
                sends ? "name a rank of this communicator, or rank::null for nobody"
                      : "name a rank of this communicator, rank::any or rank::null");
}

void p2p_calls::reject_tag(const char* operation, int tag) const {
  state_.reject(operation, "tag",
                "is " + std::to_string(tag) + ", but tags are 0 to " + std::to_string(queue_->max_tag()),
                "choose one of these");
}

void p2p_calls::validate(const recv_args& r) { validate_source(r.operation, r.source, r.tag); }

// --- waiting

// Waits until `over`. If nothing else is under way on this rank, the engine waits in `alone`. If
// `for_queue`, that may also serve receives of this queue.
template <class Over, class Alone>
void p2p_calls::wait_until(const shm::wait_site& site, bool for_queue, const Over& over, const Alone& alone) {
  message_queue& queue = *queue_;
  const auto& active = state_.this_rank().active;
  std::uint64_t moves = queue.progress_count();
  while (!over()) {
    if (active.empty() || (for_queue && active.size() == 1 && active.front() == &queue)) {
      alone();
    } else {
      state_.this_rank().progress_others(&queue, true);
      queue.process_arrivals();
      if (queue.progress_count() != moves) {
        moves = queue.progress_count();
        state_.ep().progressed();
      }
      if (over()) break;
      state_.ep().pause(site);
    }
  }
  state_.ep().progressed();
}

void p2p_calls::finish(posted_recv& recv) {
  message_queue& queue = *queue_;
  const auto site = queue.site_of(recv.what);
  wait_until(
      site, true, [&] { return recv.over(); },
      [&] {
        queue.wait(site);
        queue.process_arrivals(&recv);
      });
}

void p2p_calls::finish(const send_args& args, transfer& t) {
  message_queue& queue = *queue_;
  const auto site = queue.site_of(args.operation, until_received, args.destination, args.tag);
  bool sent = false;  // sent() may return true only once
  wait_until(
      site, false, [&] { return sent || (sent = queue.transport().sent(t, site)); },
      [&] {
        queue.transport().wait_until_sent(t, site);
        sent = true;
      });
}

// --- blocking

// Most sends end in the transport, so the other steps of a send are functions of their own.
void p2p_calls::send(const send_args& args) {
  if (static_cast<unsigned>(args.destination) >= valid_destinations_ ||
      static_cast<unsigned>(args.tag) > max_tag_ ||
      rank_->running_thread.load(std::memory_order_relaxed) != shm::current_rank) [[unlikely]]
    return validate_and_send(args);
  transfer t;
  // As guarded(), with one register less.
  try {
    if (transport_->post(args, t)) [[likely]]
      return;
  } catch (...) {
    rethrow_as_failure();
  }
  finish_send(args, t);
}

void p2p_calls::rethrow_as_failure() {
  state_.fail_job();
  throw;
}

void p2p_calls::finish_send(const send_args& args, transfer& t) {
  state_.guarded([&] { finish(args, t); });
}

void p2p_calls::validate_and_send(const send_args& args) {
  if (!validate_send(args)) return;
  state_.guarded([&] {
    if (queue_->interleaves()) state_.ep().preempt();
    transfer t;
    if (!queue_->transport().post(args, t)) finish(args, t);
  });
}

envelope p2p_calls::receive(const recv_args& r) {
  if (r.matched == nullptr && !validate_source(r.operation, r.source, r.tag)) {
    if (r.allocate != nullptr) r.allocate(r.state, envelope{});
    return {};
  }
  if (r.matched != nullptr) open(r.operation);
  posted_recv recv;
  recv.what = r;
  struct cancel_at_exit {
    message_queue& queue;
    posted_recv& recv;
    ~cancel_at_exit() { queue.cancel(recv); }
  };
  {
    const cancel_at_exit guard{*queue_, recv};
    state_.guarded([&] {
      if (queue_->interleaves()) state_.ep().preempt();
      queue_->begin(recv);
      if (!recv.over()) finish(recv);
    });
  }
  recv.rethrow_failure();
  return recv.found;
}

bool p2p_calls::find_message(const char* operation, int source, int tag, bool wait, envelope& found) {
  message_queue& queue = *queue_;
  bool is_found = false;
  state_.guarded([&] {
    queue.process_arrivals();
    if ((is_found = queue.find(source, tag, found, operation))) return;
    if (!wait) {  // no wait is reported: the program may probe as long as it likes
      state_.this_rank().progress_others(&queue, true);
      if (state_.ep().size() > 1) state_.ep().pause(queue.site_of(operation, "a message", -1, tag));
      state_.ep().progressed();
      queue.process_arrivals();
      is_found = queue.find(source, tag, found, operation);
      return;
    }
    const auto site = queue.site_of({.operation = operation, .source = source, .tag = tag});
    wait_until(
        site, true, [&] { return is_found = queue.find(source, tag, found, operation); },
        [&] {
          queue.wait(site);
          queue.process_arrivals();
        });
  });
  return is_found;
}

bool p2p_calls::probe(const char* operation, int source, int tag, bool wait, envelope& found) {
  found = {};
  if (!validate_source(operation, source, tag)) return true;
  return find_message(operation, source, tag, wait, found);
}

matched_message* p2p_calls::mprobe(const char* operation, int source, int tag, bool wait, envelope& found) {
  found = {};
  if (!validate_source(operation, source, tag)) return nullptr;
  while (find_message(operation, source, tag, wait, found))
    if (shm::unexpected_message* const one = queue_->extract(found, operation)) return matched(one);
  found = {};
  return nullptr;
}

void p2p_calls::put_back(matched_message* one) noexcept {
  if (state_.usable()) queue_->put_back(unexpected_message_of(one));
}

// --- tutti/detail/p2p_abi.hpp

void send(communicator_impl& c, const send_args& args) { c.p2p().send(args); }
void validate_recv(communicator_impl& c, const recv_args& r) { c.p2p().validate(r); }
envelope receive(communicator_impl& c, const recv_args& r) { return c.p2p().receive(r); }
envelope receive_after_send(communicator_impl& c, const recv_args& r) {
  const deferred_rejections guard(c.state().this_rank().calls_that_defer_rejections);
  return c.p2p().receive(r);
}
envelope found(const pending& p) noexcept {
  const envelope* e = p.found();
  return e != nullptr ? *e : envelope{};
}
bool probe(communicator_impl& c, const char* operation, int source, int tag, bool wait, envelope& e) {
  return c.p2p().probe(operation, source, tag, wait, e);
}
matched_message* mprobe(communicator_impl& c, const char* operation, int source, int tag, bool wait,
                        envelope& e) {
  return c.p2p().mprobe(operation, source, tag, wait, e);
}
void put_back(communicator_impl& c, matched_message* one) noexcept { c.p2p().put_back(one); }

}  // namespace tutti::detail

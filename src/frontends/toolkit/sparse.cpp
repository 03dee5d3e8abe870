// SPDX-License-Identifier: Apache-2.0
#include "tutti/sparse.hpp"

#include <string>

#include "communicator/internal_calls.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::detail {
namespace {

constexpr const char* name = "sparse_alltoallv";

// The tag of the messages of an exchange, or of a step of its barrier. Tags alternate between
// exchanges.
int tag_of(unsigned round, int step = -1) { return 2 * (step + 1) + static_cast<int>(round % 2); }

// A dissemination barrier of messages that is polled. In checked mode a collective would first be
// compared on all ranks, and a rank that waits there receives no messages.
class polled_barrier {
 public:
  polled_barrier(const communicator& ranks, unsigned round) : ranks_(ranks), round_(round) {}

  // Returns true when all ranks have called it.
  bool complete() {
    const int p = ranks_.size(), me = ranks_.rank();
    for (; 1 << step_ < p; ++step_) {
      const int distance = 1 << step_;
      const send_args mine{
          .operation = name, .destination = (me + distance) % p, .tag = tag_of(round_, step_)};
      if (static_cast<int>(sends_.size()) == step_)
        sends_.push_back(start_send(detail::impl_of(ranks_), mine));
      envelope found;
      const int from = (me + p - distance) % p;
      if (!probe(detail::impl_of(ranks_), name, from, mine.tag, false, found)) return false;
      receive(detail::impl_of(ranks_), {.operation = name, .source = from, .tag = mine.tag});
    }
    while (!sends_.empty() && sends_.back()->test()) sends_.pop_back();
    return sends_.empty();
  }

 private:
  const communicator& ranks_;
  unsigned round_;
  int step_ = 0;
  std::vector<pending_call> sends_;
};

struct arrival {
  const sparse_receiver& to;
  static void* allocate(void* state, const envelope& what) {
    const sparse_receiver& to = static_cast<arrival*>(state)->to;
    return to.allocate(to.state, what.source, what.bytes);
  }
};

}  // namespace

void exchange_sparse(const communicator& ranks, unsigned round, const sparse_message* messages, std::size_t n,
                     std::size_t element, const sparse_receiver& to) {
  communicator_impl& where = detail::impl_of(ranks);
  for (std::size_t i = 0; i < n; ++i)
    if (messages[i].destination < 0 || messages[i].destination >= ranks.size())
      reject(where, name, "messages",
             "go to rank " + std::to_string(messages[i].destination) + ", but ranks are 0 to " +
                 std::to_string(ranks.size() - 1),
             "name ranks of the communicator");
  validate_entry(where, name);
  const deferred_rejections steps(count_of_deferrals(where));

  // A rank may begin the next exchange while another one has not seen the end of this one. Two
  // alternating tags are enough, because no rank ends the next exchange before all have left this
  // one.
  const int tag = tag_of(round);
  std::vector<pending_call> sends;
  sends.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    sends.push_back(start_send(where, {.operation = name,
                                       .destination = messages[i].destination,
                                       .tag = tag,
                                       .mode = send_modes::synchronous,
                                       .data = messages[i].data,
                                       .bytes = messages[i].bytes}));
  std::size_t complete_sends = 0;
  polled_barrier barrier(ranks, round);
  do {
    arrival here{to};
    for (envelope found; probe(where, name, rank::any, tag, false, found);) {
      recv_args in{.operation = name, .source = found.source, .tag = tag, .element = element};
      in.allocate = &arrival::allocate;
      in.state = &here;
      receive(where, in);
      const enclosing_call callback(where, nullptr, {});
      to.received(to.state, found.source);
    }
    while (complete_sends < n && sends[complete_sends]->test()) ++complete_sends;
  } while (complete_sends < n || !barrier.complete());
}

}  // namespace tutti::detail

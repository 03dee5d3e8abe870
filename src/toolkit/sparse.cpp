// SPDX-License-Identifier: Apache-2.0
#include "tutti/sparse.hpp"

#include <string>

#include "tutti/core/mail.hpp"

namespace tutti::detail {
namespace {

constexpr const char* name = "sparse_alltoallv";

struct arrival {
  const sparse_receiver& to;
  static void* room(void* state, const envelope& what) {
    const sparse_receiver& to = static_cast<arrival*>(state)->to;
    return to.room(to.state, what.source, what.bytes);
  }
};

}  // namespace

void exchange_sparse(const communicator& ranks, unsigned round, const sparse_message* messages, std::size_t n,
                     std::size_t element, const sparse_receiver& to) {
  core& where = ranks.native();
  for (std::size_t i = 0; i < n; ++i)
    if (messages[i].destination < 0 || messages[i].destination >= ranks.size())
      refuse(where, name, "messages", "there is no rank " + std::to_string(messages[i].destination),
             "ranks are 0 to size - 1");

  // A rank may begin the next exchange while another has not seen the end of this one. Two exchanges on it
  // cannot be, since nobody gets to the end of the next before all have left this one.
  const int tag = static_cast<int>(round % 2);
  std::vector<pending_call> sends;
  sends.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    sends.push_back(start_send(where, {.operation = name,
                                       .destination = messages[i].destination,
                                       .tag = tag,
                                       .mode = send_modes::synchronous,
                                       .data = messages[i].data,
                                       .bytes = messages[i].bytes}));
  std::size_t gone = 0;
  pending_call all_gone;
  do {
    arrival here{to};
    for (envelope came; look(where, name, rank::any, tag, false, came);) {
      reception in{.operation = name, .source = came.source, .tag = tag, .element = element};
      in.room = &arrival::room;
      in.state = &here;
      receive(where, in);
      to.received(to.state, came.source);
    }
    while (gone < n && sends[gone]->test()) ++gone;
    if (gone == n && !all_gone) {
      call barrier;
      barrier.label = name;
      all_gone = start_call(where, barrier);
    }
  } while (!all_gone || !all_gone->test());
}

}  // namespace tutti::detail

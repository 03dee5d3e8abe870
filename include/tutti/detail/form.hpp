// SPDX-License-Identifier: Apache-2.0
//
// The form of a communicator's member function: of a collective, or of a message. Its parameters,
// and its name in reports, follow from it.
#pragma once

#include <cstdint>

#include "tutti/collective.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

enum class mode : std::uint8_t { blocking, nonblocking, persistent };

/// A collective: iallreduce_single is {allreduce, nonblocking, true}.
struct collective_form {
  collective what;
  mode how = mode::blocking;
  bool single = false;
  bool equal_blocks = false;  ///< all blocks of one length: neighbor_allgather
};

enum class message_call : std::uint8_t { send, ssend, bsend, rsend, sendrecv, recv, try_recv, probe, mprobe };

/// A point-to-point call: irecv_single is {recv, nonblocking, true}.
struct message_form {
  message_call what;
  mode how = mode::blocking;
  bool single = false;
  bool matched = false;  ///< a member of a message that mprobe() has found

  constexpr bool sends() const { return what <= message_call::sendrecv; }
  constexpr bool receives() const {
    return what == message_call::recv || what == message_call::try_recv || what == message_call::sendrecv;
  }
};

/// The name that the user wrote.
constexpr const char* api_name(message_form f) {
  constexpr const char* names[][3] = {{"send", "isend", "send_init"},
                                      {"ssend", "issend", "ssend_init"},
                                      {"bsend", "ibsend", "bsend_init"},
                                      {"rsend", "irsend", "rsend_init"},
                                      {"sendrecv", "isendrecv", "sendrecv_init"},
                                      {"recv", "irecv", "recv_init"},
                                      {"try_recv", "", ""},
                                      {"probe", "iprobe", ""},
                                      {"mprobe", "improbe", ""},
                                      {"recv_single", "irecv_single", "recv_single_init"}};
  return names[f.single ? 9 : static_cast<int>(f.what)][static_cast<int>(f.how)];
}

/// Either form, only for reports.
struct call_name {
  constexpr call_name(collective_form f)
      : what(static_cast<std::uint8_t>(f.what)), how(f.how), single(f.single), equal_blocks(f.equal_blocks) {}
  constexpr call_name(message_form f)
      : what(static_cast<std::uint8_t>(f.what)), how(f.how), single(f.single), message(true) {}

  std::uint8_t what;
  mode how;
  bool single, equal_blocks = false, message = false;
};

}  // namespace tutti::detail
TUTTI_API_END

// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/mpi/rendezvous.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <netdb.h>
#include <time.h>

#include "frontends/lpf/mpi/tcp_connection.hpp"
#include "tutti/error.hpp"

namespace tutti::lpf {
namespace {

// The first number that a joining process sends. Connections that send another number are ignored.
constexpr std::uint64_t magic_number = 0x74757474696c7066;

struct joining_process {
  tcp_connection connection;
  lpf_pid_t pid = 0, processes = 0;
  std::string contact;
};

void sleep_between_attempts() {
  const timespec interval{0, 10'000'000};
  nanosleep(&interval, nullptr);
}

using addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

addresses addresses_of(const rendezvous& where, const char* host, int flags) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host, where.port.c_str(), &wanted, &found);
  if (code != 0)
    throw usage_error(where.operation, static_cast<int>(where.pid), code == EAI_SERVICE ? "port" : "server",
                      "is " + (code == EAI_SERVICE ? where.port : where.server) + ": " + gai_strerror(code),
                      "pass the host of process 0, and the number or the service name of a port");
  return {found, &freeaddrinfo};
}

[[noreturn]] void throw_timeout(const rendezvous& where, const std::string& what) {
  throw engine_error(
      where.operation, static_cast<int>(where.pid), "timeout", what,
      "start all processes at the same time, with the same server and port, or pass a longer timeout");
}

// The name of the host may resolve to an address that the host does not have, for example behind a
// gateway. Then this process listens on all addresses of the host.
tcp_connection listen_at(const rendezvous& where) {
  for (;;) {
    for (const bool any : {false, true}) {
      const addresses all = addresses_of(where, any ? nullptr : where.server.c_str(), AI_PASSIVE);
      for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next)
        if (tcp_connection listening = tcp_connection::listen_on(*one)) return listening;
      if (errno == EADDRINUSE) break;
    }
    if (std::chrono::steady_clock::now() > where.until)
      throw_timeout(where, "no process could listen on port " + where.port + ": " + std::strerror(errno));
    sleep_between_attempts();
  }
}

std::optional<joining_process> accept_process(tcp_connection& listening, const rendezvous& where) {
  joining_process one;
  one.connection = listening.accept_next(where.until);
  if (!one.connection) return std::nullopt;
  try {
    // A connection that sends nothing delays the other processes by at most 2 s.
    const auto deadline = std::min(where.until, std::chrono::steady_clock::now() + std::chrono::seconds(2));
    if (one.connection.receive_number(deadline) != magic_number) return std::nullopt;
    one.pid = static_cast<lpf_pid_t>(one.connection.receive_number(deadline));
    one.processes = static_cast<lpf_pid_t>(one.connection.receive_number(deadline));
    one.contact = one.connection.receive_text(deadline);
  } catch (const tcp_error&) {
    return std::nullopt;
  }
  return one;
}

std::string error_of(const joining_process& one, const rendezvous& where, const std::vector<bool>& arrived) {
  if (one.processes != where.processes)
    return "nprocs: process " + std::to_string(one.pid) + " passed " + std::to_string(one.processes) +
           ", but process 0 passed " + std::to_string(where.processes);
  if (one.pid >= where.processes) return "pid: a process passed " + std::to_string(one.pid);
  if (arrived[one.pid]) return "pid: two processes passed " + std::to_string(one.pid);
  return {};
}

// Returns all processes that arrived in time. `error` describes the first error of one of them.
std::vector<joining_process> receive(const rendezvous& where, std::vector<std::string>& contacts,
                                     std::string& error) {
  tcp_connection listening = listen_at(where);
  std::vector<joining_process> joined;
  std::vector<bool> arrived(where.processes, false);
  arrived[0] = true;
  while (joined.size() + 1 < where.processes && std::chrono::steady_clock::now() < where.until) {
    std::optional<joining_process> one = accept_process(listening, where);
    if (!one) continue;
    const std::string problem = error_of(*one, where, arrived);
    if (error.empty()) error = problem;
    if (problem.empty()) {
      arrived[one->pid] = true;
      contacts[one->pid] = one->contact;
    }
    joined.push_back(std::move(*one));
  }
  return joined;
}

// The deadline for processes that have arrived: as long as an attempt may take, even after the
// timeout.
tcp_connection::time extended_deadline(const rendezvous& where) {
  return std::max(where.until, std::chrono::steady_clock::now()) + std::chrono::seconds(10);
}

void send_to_all(std::vector<joining_process>& joined, const std::string& what, const rendezvous& where) {
  for (joining_process& one : joined) try {
      one.connection.send_text(what, extended_deadline(where));
    } catch (const tcp_error&) {  // the final result reports it to the others
    }
}

// Returns whether the attempt succeeded on this process and on all others.
bool attempt_on_all(std::vector<joining_process>& joined, const std::string& reply, const rendezvous& where,
                    const rendezvous_callbacks& callbacks) {
  bool succeeded = callbacks.attempt(reply);
  for (joining_process& one : joined) try {
      succeeded = (one.connection.receive_number(extended_deadline(where)) == 1) && succeeded;
    } catch (const tcp_error&) {
      succeeded = false;
    }
  return succeeded;
}

// The first character of a message marks a reply (A), an error (F) or a timeout (L).
std::string serve_rendezvous(const rendezvous& where, const std::string& contact,
                             const rendezvous_callbacks& callbacks) {
  std::vector<std::string> contacts(where.processes);
  contacts[0] = contact;
  std::string error;
  std::vector<joining_process> joined = receive(where, contacts, error);
  std::string reply;
  if (error.empty() && joined.size() + 1 < where.processes) {
    reply = "L" + std::to_string(joined.size() + 1) + " of " + std::to_string(where.processes) +
            " processes joined";
  } else {
    try {
      reply = error.empty() ? "A" + callbacks.reply(contacts) : "F" + error;
    } catch (const std::exception& e) {
      reply = std::string("F") + e.what();
    }
  }
  send_to_all(joined, reply, where);
  if (!reply.starts_with('A')) return reply;
  const bool succeeded = attempt_on_all(joined, reply.substr(1), where, callbacks);
  send_to_all(joined, succeeded ? "A" : std::string("F") + not_of_one_job, where);
  return succeeded ? reply : std::string("F") + not_of_one_job;
}

std::string exchange_with_host(tcp_connection& host, const rendezvous& where, const std::string& contact,
                               const rendezvous_callbacks& callbacks) {
  host.send_number(magic_number, where.until);
  host.send_number(std::uint64_t{where.pid}, where.until);
  host.send_number(std::uint64_t{where.processes}, where.until);
  host.send_text(contact, where.until);
  std::string reply = host.receive_text(extended_deadline(where));
  if (!reply.starts_with('A')) return reply;
  host.send_number(std::uint64_t{callbacks.attempt(reply.substr(1)) ? 1u : 0u}, extended_deadline(where));
  const std::string verdict = host.receive_text(extended_deadline(where));
  return verdict == "A" ? reply : verdict;
}

std::string join_rendezvous(const rendezvous& where, const std::string& contact,
                            const rendezvous_callbacks& callbacks) {
  for (;;) {
    const addresses all = addresses_of(where, where.server.c_str(), 0);
    for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next) {
      tcp_connection host = tcp_connection::connect_to(*one, where.until);
      if (host) try {
          return exchange_with_host(host, where, contact, callbacks);
        } catch (const tcp_error&) {  // another program, or it has ended
        }
    }
    if (std::chrono::steady_clock::now() > where.until)
      throw_timeout(where, "process 0 was not found at " + where.server + ", port " + where.port);
    sleep_between_attempts();
  }
}

}  // namespace

std::string run_rendezvous(const rendezvous& where, const std::string& contact,
                           const rendezvous_callbacks& callbacks) {
  const std::string reply = where.pid == 0 ? serve_rendezvous(where, contact, callbacks)
                                           : join_rendezvous(where, contact, callbacks);
  if (reply.starts_with('A')) return reply.substr(1);
  if (reply.starts_with('L')) throw_timeout(where, reply.substr(1));
  throw usage_error(
      where.operation, static_cast<int>(where.pid), "", reply.empty() ? reply : reply.substr(1),
      "start all processes with one launcher, with the same nprocs and with different pids below nprocs");
}

}  // namespace tutti::lpf

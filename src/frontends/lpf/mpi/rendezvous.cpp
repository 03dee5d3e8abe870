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
constexpr std::uint64_t greeting = 0x74757474696c7066;

struct joining_process {
  tcp_connection line;
  lpf_pid_t pid = 0, processes = 0;
  std::string contact;
};

void rest() {
  const timespec a_while{0, 10'000'000};
  nanosleep(&a_while, nullptr);
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

[[noreturn]] void too_late(const rendezvous& where, const std::string& what) {
  throw engine_error(
      where.operation, static_cast<int>(where.pid), "timeout", what,
      "start all processes at the same time, with the same server and port, or pass a longer timeout");
}

// The name of the host may lead to an address that it does not own, for example behind a gateway.
// Then it listens at all its addresses.
tcp_connection listen_at(const rendezvous& where) {
  for (;;) {
    for (const bool any : {false, true}) {
      const addresses all = addresses_of(where, any ? nullptr : where.server.c_str(), AI_PASSIVE);
      for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next)
        if (tcp_connection listening = tcp_connection::listening(*one)) return listening;
      if (errno == EADDRINUSE) break;
    }
    if (std::chrono::steady_clock::now() > where.until)
      too_late(where, "no process could listen on port " + where.port + ": " + std::strerror(errno));
    rest();
  }
}

std::optional<joining_process> accept_process(tcp_connection& listening, const rendezvous& where) {
  joining_process one;
  one.line = listening.accepted(where.until);
  if (!one.line) return std::nullopt;
  try {
    // A connection that sends nothing delays the others by at most this time.
    const auto soon = std::min(where.until, std::chrono::steady_clock::now() + std::chrono::seconds(2));
    if (one.line.number(soon) != greeting) return std::nullopt;
    one.pid = static_cast<lpf_pid_t>(one.line.number(soon));
    one.processes = static_cast<lpf_pid_t>(one.line.number(soon));
    one.contact = one.line.text(soon);
  } catch (const tcp_error&) {
    return std::nullopt;
  }
  return one;
}

std::string fault_of(const joining_process& one, const rendezvous& where, const std::vector<bool>& come) {
  if (one.processes != where.processes)
    return "nprocs: process " + std::to_string(one.pid) + " passed " + std::to_string(one.processes) +
           ", but process 0 passed " + std::to_string(where.processes);
  if (one.pid >= where.processes) return "pid: a process passed " + std::to_string(one.pid);
  if (come[one.pid]) return "pid: two processes passed " + std::to_string(one.pid);
  return {};
}

// Returns all processes that arrived in time. `fault` describes the first error of one of them.
std::vector<joining_process> receive(const rendezvous& where, std::vector<std::string>& contacts,
                                     std::string& fault) {
  tcp_connection listening = listen_at(where);
  std::vector<joining_process> joining_processes;
  std::vector<bool> come(where.processes, false);
  come[0] = true;
  while (joining_processes.size() + 1 < where.processes && std::chrono::steady_clock::now() < where.until) {
    std::optional<joining_process> one = accept_process(listening, where);
    if (!one) continue;
    const std::string wrong = fault_of(*one, where, come);
    if (fault.empty()) fault = wrong;
    if (wrong.empty()) {
      come[one->pid] = true;
      contacts[one->pid] = one->contact;
    }
    joining_processes.push_back(std::move(*one));
  }
  return joining_processes;
}

// The deadline for processes that have arrived: as long as an attempt may take, even after the
// timeout.
tcp_connection::time a_while_after(const rendezvous& where) {
  return std::max(where.until, std::chrono::steady_clock::now()) + std::chrono::seconds(10);
}

void tell(std::vector<joining_process>& joining_processes, const std::string& what, const rendezvous& where) {
  for (joining_process& one : joining_processes) try {
      one.line.send_text(what, a_while_after(where));
    } catch (const tcp_error&) {  // gone; the final result reports it to the others
    }
}

// Returns whether the attempt succeeded on this process and on all others.
bool try_with(std::vector<joining_process>& joining_processes, const std::string& answer,
              const rendezvous& where, const talk& about) {
  bool well = about.attempt(answer);
  for (joining_process& one : joining_processes) try {
      well = (one.line.number(a_while_after(where)) == 1) && well;
    } catch (const tcp_error&) {
      well = false;
    }
  return well;
}

// The first letter of a message marks an answer (A), an error (F) or a timeout (L).
std::string serve_rendezvous(const rendezvous& where, const std::string& contact, const talk& about) {
  std::vector<std::string> contacts(where.processes);
  contacts[0] = contact;
  std::string fault;
  std::vector<joining_process> joining_processes = receive(where, contacts, fault);
  std::string answer;
  if (fault.empty() && joining_processes.size() + 1 < where.processes) {
    answer = "L" + std::to_string(joining_processes.size() + 1) + " of " + std::to_string(where.processes) +
             " processes joined";
  } else {
    try {
      answer = fault.empty() ? "A" + about.answer(contacts) : "F" + fault;
    } catch (const std::exception& e) {
      answer = std::string("F") + e.what();
    }
  }
  tell(joining_processes, answer, where);
  if (!answer.starts_with('A')) return answer;
  const bool well = try_with(joining_processes, answer.substr(1), where, about);
  tell(joining_processes, well ? "A" : std::string("F") + not_of_one_job, where);
  return well ? answer : std::string("F") + not_of_one_job;
}

std::string talk_to(tcp_connection& host, const rendezvous& where, const std::string& contact,
                    const talk& about) {
  host.send_text(greeting, where.until);
  host.send_text(std::uint64_t{where.pid}, where.until);
  host.send_text(std::uint64_t{where.processes}, where.until);
  host.send_text(contact, where.until);
  std::string answer = host.text(a_while_after(where));
  if (!answer.starts_with('A')) return answer;
  host.send_text(std::uint64_t{about.attempt(answer.substr(1)) ? 1u : 0u}, a_while_after(where));
  const std::string verdict = host.text(a_while_after(where));
  return verdict == "A" ? answer : verdict;
}

std::string call_on(const rendezvous& where, const std::string& contact, const talk& about) {
  for (;;) {
    const addresses all = addresses_of(where, where.server.c_str(), 0);
    for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next) {
      tcp_connection host = tcp_connection::connected(*one, where.until);
      if (host) try {
          return talk_to(host, where, contact, about);
        } catch (const tcp_error&) {  // another program, or gone
        }
    }
    if (std::chrono::steady_clock::now() > where.until)
      too_late(where, "process 0 was not found at " + where.server + ", port " + where.port);
    rest();
  }
}

}  // namespace

std::string meet_at(const rendezvous& where, const std::string& contact, const talk& about) {
  const std::string answer =
      where.pid == 0 ? serve_rendezvous(where, contact, about) : call_on(where, contact, about);
  if (answer.starts_with('A')) return answer.substr(1);
  if (answer.starts_with('L')) too_late(where, answer.substr(1));
  throw usage_error(
      where.operation, static_cast<int>(where.pid), "", answer.empty() ? answer : answer.substr(1),
      "start all processes with one launcher, with the same nprocs and with different pids below nprocs");
}

}  // namespace tutti::lpf

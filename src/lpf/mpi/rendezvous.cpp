// SPDX-License-Identifier: Apache-2.0
#include "lpf/mpi/rendezvous.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <netdb.h>
#include <time.h>

#include "lpf/mpi/wire.hpp"
#include "tutti/core/error.hpp"

namespace tutti::lpf {
namespace {

// What a guest says first. Who says something else is a stranger, and is not listened to.
constexpr std::uint64_t greeting = 0x74757474696c7066;

struct guest {
  wire line;
  lpf_pid_t pid = 0, processes = 0;
  std::string card;
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
                      "name the host of process 0, and a port by its number or its service");
  return {found, &freeaddrinfo};
}

[[noreturn]] void too_late(const rendezvous& where, const std::string& what) {
  throw engine_error(
      where.operation, static_cast<int>(where.pid), "timeout", what,
      "start all processes at the same time, with the same server and port, or give them longer");
}

// The host may be known by an address that is not its own, as behind a gateway: then any of its own.
wire listen_at(const rendezvous& where) {
  for (;;) {
    for (const bool any : {false, true}) {
      const addresses all = addresses_of(where, any ? nullptr : where.server.c_str(), AI_PASSIVE);
      for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next)
        if (wire listening = wire::listening(*one)) return listening;
      if (errno == EADDRINUSE) break;
    }
    if (std::chrono::steady_clock::now() > where.until)
      too_late(where, "no process could listen at port " + where.port + ": " + std::strerror(errno));
    rest();
  }
}

std::optional<guest> let_in(wire& listening, const rendezvous& where) {
  guest one;
  one.line = listening.accepted(where.until);
  if (!one.line) return std::nullopt;
  try {
    // A stranger who says nothing keeps the others waiting for no more than this.
    const auto soon = std::min(where.until, std::chrono::steady_clock::now() + std::chrono::seconds(2));
    if (one.line.number(soon) != greeting) return std::nullopt;
    one.pid = static_cast<lpf_pid_t>(one.line.number(soon));
    one.processes = static_cast<lpf_pid_t>(one.line.number(soon));
    one.card = one.line.text(soon);
  } catch (const wire_error&) {
    return std::nullopt;
  }
  return one;
}

std::string fault_of(const guest& one, const rendezvous& where, const std::vector<bool>& come) {
  if (one.processes != where.processes)
    return "nprocs: process " + std::to_string(one.pid) + " says " + std::to_string(one.processes) +
           ", process 0 says " + std::to_string(where.processes);
  if (one.pid >= where.processes) return "pid: one is " + std::to_string(one.pid);
  if (come[one.pid]) return "pid: two processes are " + std::to_string(one.pid);
  return {};
}

// All who come, or those who have come in time; `fault` is what is wrong with one.
std::vector<guest> receive(const rendezvous& where, std::vector<std::string>& cards, std::string& fault) {
  wire listening = listen_at(where);
  std::vector<guest> guests;
  std::vector<bool> come(where.processes, false);
  come[0] = true;
  while (guests.size() + 1 < where.processes && std::chrono::steady_clock::now() < where.until) {
    std::optional<guest> one = let_in(listening, where);
    if (!one) continue;
    const std::string wrong = fault_of(*one, where, come);
    if (fault.empty()) fault = wrong;
    if (wrong.empty()) {
      come[one->pid] = true;
      cards[one->pid] = one->card;
    }
    guests.push_back(std::move(*one));
  }
  return guests;
}

// Who has come is waited for as long as an attempt may take, also where the time is over meanwhile.
wire::time a_while_after(const rendezvous& where) {
  return std::max(where.until, std::chrono::steady_clock::now()) + std::chrono::seconds(10);
}

void tell(std::vector<guest>& guests, const std::string& what, const rendezvous& where) {
  for (guest& one : guests) try {
      one.line.say(what, a_while_after(where));
    } catch (const wire_error&) {  // gone; who stays is told so by the verdict
    }
}

// Whether the attempt succeeded here and everywhere.
bool try_with(std::vector<guest>& guests, const std::string& answer, const rendezvous& where,
              const talk& about) {
  bool well = about.attempt(answer);
  for (guest& one : guests) try {
      well = (one.line.number(a_while_after(where)) == 1) && well;
    } catch (const wire_error&) {
      well = false;
    }
  return well;
}

// The first letter of what is said tells an answer (A) from a fault (F) and from lateness (L).
std::string hold_court(const rendezvous& where, const std::string& card, const talk& about) {
  std::vector<std::string> cards(where.processes);
  cards[0] = card;
  std::string fault;
  std::vector<guest> guests = receive(where, cards, fault);
  std::string said;
  if (fault.empty() && guests.size() + 1 < where.processes) {
    said = "L" + std::to_string(guests.size() + 1) + " of " + std::to_string(where.processes) +
           " processes came";
  } else {
    try {
      said = fault.empty() ? "A" + about.answer(cards) : "F" + fault;
    } catch (const std::exception& e) {
      said = std::string("F") + e.what();
    }
  }
  tell(guests, said, where);
  if (!said.starts_with('A')) return said;
  const bool well = try_with(guests, said.substr(1), where, about);
  tell(guests, well ? "A" : std::string("F") + not_of_one_job, where);
  return well ? said : std::string("F") + not_of_one_job;
}

std::string talk_to(wire& host, const rendezvous& where, const std::string& card, const talk& about) {
  host.say(greeting, where.until);
  host.say(std::uint64_t{where.pid}, where.until);
  host.say(std::uint64_t{where.processes}, where.until);
  host.say(card, where.until);
  std::string said = host.text(a_while_after(where));
  if (!said.starts_with('A')) return said;
  host.say(std::uint64_t{about.attempt(said.substr(1)) ? 1u : 0u}, a_while_after(where));
  const std::string verdict = host.text(a_while_after(where));
  return verdict == "A" ? said : verdict;
}

std::string call_on(const rendezvous& where, const std::string& card, const talk& about) {
  for (;;) {
    const addresses all = addresses_of(where, where.server.c_str(), 0);
    for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next) {
      wire host = wire::connected(*one, where.until);
      if (host) try {
          return talk_to(host, where, card, about);
        } catch (const wire_error&) {  // another program, or gone
        }
    }
    if (std::chrono::steady_clock::now() > where.until)
      too_late(where, "process 0 was not found at " + where.server + ", port " + where.port);
    rest();
  }
}

}  // namespace

std::string meet_at(const rendezvous& where, const std::string& card, const talk& about) {
  const std::string said = where.pid == 0 ? hold_court(where, card, about) : call_on(where, card, about);
  if (said.starts_with('A')) return said.substr(1);
  if (said.starts_with('L')) too_late(where, said.substr(1));
  throw usage_error(
      where.operation, static_cast<int>(where.pid), "", said.empty() ? said : said.substr(1),
      "start all processes by one launcher, with the same nprocs and each with another pid below it");
}

}  // namespace tutti::lpf

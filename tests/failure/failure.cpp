// SPDX-License-Identifier: Apache-2.0
//
// Jobs that must fail, each with a message that expect.sh looks for: failure CASE. Runs under every
// launcher.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tutti/bsp.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/tutti.hpp"

int main(int argc, char** argv) {
  using namespace tutti;
  const std::map<std::string, std::function<void(communicator&)>> cases = {
      {"throws",
       [](communicator& world) {
         if (world.rank() == 1) throw std::runtime_error("planted fault");
         std::vector<int> v(10);
         world.allreduce(send_buf(v), op([](int a, int b) { return a + b; }, ops::commutative));
       }},
      {"throws_in_large_allreduces",
       [](communicator& world) {
         std::vector<double> v(1 << 18);
         for (int i = 0; i < 3; ++i) {
           if (world.rank() == 1 && i == 2) throw std::runtime_error("planted fault");
           world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("ring"));
         }
       }},
      {"throws_in_native_barrier",
       [](communicator& world) {
         if (world.rank() == 1) throw std::runtime_error("planted fault");
         world.barrier();
       }},
      {"throws_between_supersteps",
       [](communicator& world) {
         bsp::context processes(world);
         for (int i = 0;; ++i) {
           if (world.rank() == 1 && i == 10) throw std::runtime_error("planted fault");
           processes.sync();
         }
       }},
      {"calls_instead_of_sync",
       [](communicator& world) {
         const std::unique_ptr<bsp::process, decltype(&bsp::abi::close)> mine(
             bsp::abi::open(detail::impl_of(world), true), bsp::abi::close);
         for (int i = 0; i < 10; ++i) bsp::abi::sync(*mine);
         if (world.rank() == 1)
           world.barrier();
         else
           bsp::abi::sync(*mine);
       }},
      {"different_sizes",
       [](communicator& world) {
         std::vector<int> v(world.rank() == 1 ? 20 : 10);
         world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("recursive_doubling"));
       }},
      {"different_calls",  // with TUTTI_CHECK=1
       [](communicator& world) {
         int x = 0;
         if (world.rank() == 1)
           world.barrier();
         else
           world.bcast(send_recv_buf(x));
       }},
      {"root_out_of_range",
       [](communicator& world) {
         int x = 0;
         world.bcast(send_recv_buf(x), root(world.size()));
       }},
      {"invalid_start", [](communicator&) {}},  // the start itself fails
      {"throws_during_receives",
       [](communicator& world) {
         if (world.rank() == 1) throw std::runtime_error("planted fault");
         int x = 0;
         detail::receive(detail::impl_of(world), {.source = rank::any, .into = &x, .capacity = sizeof x});
       }},
      {"throws_during_large_sends",
       [](communicator& world) {
         std::vector<char> out(1 << 20), in(1 << 20);
         detail::send_args l{.destination = 1, .data = out.data(), .bytes = out.size()};
         if (world.rank() == 1) {
           detail::receive(detail::impl_of(world),
                           {.source = rank::any, .into = in.data(), .capacity = in.size()});
           throw std::runtime_error("planted fault");
         }
         for (;;) detail::send(detail::impl_of(world), l);
       }},
      {"throws_with_pending_messages",  // its own messages: the exception destroys their buffers
       [](communicator& world) {
         std::vector<char> out(1 << 20), in(1 << 20);
         const int left = (world.rank() + world.size() - 1) % world.size();
         auto received = detail::start_receive(
             detail::impl_of(world), {.source = left, .tag = 1, .into = in.data(), .capacity = in.size()});
         auto sent =
             detail::start_send(detail::impl_of(world),
                                {.destination = left, .tag = 2, .data = out.data(), .bytes = out.size()});
         if (world.rank() == 1) throw std::runtime_error("planted fault");
         received->wait();
       }},
      {"unmatched_receive",  // with TUTTI_CHECK=1 if only a time limit detects it
       [](communicator& world) {
         int x = 0;
         if (world.rank() == 0)
           detail::send(detail::impl_of(world), {.destination = 1, .tag = 1, .data = &x, .bytes = 4});
         detail::receive(detail::impl_of(world), {.source = 0, .tag = 7, .into = &x, .capacity = sizeof x});
       }},
      {"unmatched_send",
       [](communicator& world) {
         std::vector<char> out(1 << 20);
         detail::send(detail::impl_of(world),
                      {.destination = world.rank(), .tag = 3, .data = out.data(), .bytes = out.size()});
       }},
      {"waits_for_returned_rank",  // with TUTTI_CHECK=1 if only a time limit detects it
       [](communicator& world) {
         std::vector<int> v(10);
         if (world.rank() != 1)
           world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("recursive_doubling"));
       }},
  };
  const auto chosen = argc > 1 ? cases.find(argv[1]) : cases.end();
  if (chosen == cases.end()) {
    std::fprintf(stderr, "failure: no such case\n");
    return 0;  // a case that does not fail must not pass: expect.sh wants a non-zero status
  }
  // Sets TUTTI_ALLREDUCE_ALGORITHM to VALUE on one rank only, if ranks are processes. The other
  // ranks must not wait forever for it.
  if (const char* value = std::getenv("FAILURE_OF_ONE_RANK"))
    for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
      if (const char* own = std::getenv(rank); own != nullptr && *own == '1')
        setenv("TUTTI_ALLREDUCE_ALGORITHM", value, 1);
  return run(argc, argv, chosen->second);
}

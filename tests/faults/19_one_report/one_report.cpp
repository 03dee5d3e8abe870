// SPDX-License-Identifier: Apache-2.0
//
// one_report CASE: jobs that fail, each with one report that names the user's call and its place.
// Lines marked PLACE are those that the report must name.
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <tutti/bsp.hpp>
#include <tutti/tutti.hpp>

int main(int argc, char** argv) {
  using namespace tutti;
  const std::map<std::string, std::function<void(communicator&)>> cases = {
      // With TUTTI_CHECK=1.
      {"exchange",  // bcast begins with an exchange of counts
       [](communicator& world) {
         std::vector<double> v(10);
         if (world.rank() == 1)
           world.barrier();  // PLACE exchange
         else
           world.bcast(send_recv_buf<resize_to_fit>(v));  // PLACE exchange
       }},
      {"counts",
       [](communicator& world) {
         std::vector<double> v(world.rank() == 1 ? 20 : 10);
         world.allreduce(send_recv_buf(v), op(std::plus<>{}));  // PLACE counts
       }},
      {"split",
       [](communicator& world) {
         if (world.rank() == 1)
           world.barrier();  // PLACE split
         else
           world.split(0);  // PLACE split
       }},
      {"deadlock",
       [](communicator& world) {
         if (world.rank() == 1)
           world.recv<int>(source(0));  // PLACE deadlock
         else
           world.barrier();  // PLACE deadlock
       }},
      {"wait",
       [](communicator& world) {
         int x = 0;
         request r;
         world.irecv(recv_buf(x), source((world.rank() + 1) % world.size()), request(r));
         std::vector<request> all;
         all.push_back(std::move(r));
         wait_all(all);  // PLACE wait
       }},
      {"sync",
       [](communicator& world) {
         bsp::context ctx(world);
         if (world.rank() == 1) world.recv<int>(tag(3));  // PLACE sync
         ctx.sync();                                      // PLACE sync
       }},
      // Without checked mode.
      {"root",
       [](communicator& world) {
         int x = 0;
         world.bcast(send_recv_buf(x), root(world.size()));  // PLACE root
       }},
      {"destination",
       [](communicator& world) {
         world.send(send_buf(1), destination(-3));  // PLACE destination
       }},
      {"sizes",
       [](communicator& world) {
         std::vector<int> v(world.rank() == 1 ? 20 : 10);
         world.allreduce(send_recv_buf(v),  // PLACE sizes
                         op(std::plus<>{}), algorithm("recursive_doubling"));
       }},
      {"throws",
       [](communicator& world) {
         if (world.rank() == 1) throw std::runtime_error("planted fault");
         world.barrier();
       }},
      {"lengths",
       [](communicator& world) {
         std::vector<int> send_counts_of_rank(static_cast<std::size_t>(world.size()),
                                              world.rank() == 1 ? 5 : 2),
             recv_counts_of_rank = send_counts_of_rank;
         recv_counts_of_rank.assign(recv_counts_of_rank.size(), 2);
         recv_counts_of_rank[static_cast<std::size_t>(world.rank())] = send_counts_of_rank[0];
         world.alltoallv(send_buf(std::vector<int>(100)),  // PLACE lengths
                         send_counts(send_counts_of_rank), recv_counts(recv_counts_of_rank));
       }},
  };
  const auto found = cases.find(argc > 1 ? argv[1] : "");
  if (found == cases.end()) return 0;  // expect_one_report.sh expects a failure
  return run(argc, argv, [&](communicator& world) { found->second(world); });
}

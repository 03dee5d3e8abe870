// SPDX-License-Identifier: Apache-2.0
//
// toolkit_calls CASE: rank 1 makes another call than the other ranks, which make a call of several
// steps. The report must name that call and its line, not the step. Lines marked PLACE are those
// that the report must name.
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tutti/bsp.hpp>
#include <tutti/grid.hpp>
#include <tutti/group.hpp>
#include <tutti/reproducible.hpp>
#include <tutti/same.hpp>
#include <tutti/sort.hpp>
#include <tutti/sparse.hpp>
#include <tutti/tasks.hpp>
#include <tutti/timer.hpp>
#include <tutti/tutti.hpp>

int main(int argc, char** argv) {
  using namespace tutti;
  using program = std::function<void(communicator&)>;
  const std::map<std::string, program> cases = {
      // Rank 1 makes another collective.
      {"sort",
       [](communicator& world) {
         std::vector<int> v(10, world.rank());
         sort_globally(world, v);  // PLACE sort
       }},
      {"sorted",
       [](communicator& world) {
         const std::vector<int> v(10, world.rank());
         (void)is_globally_sorted(world, v);  // PLACE sorted
       }},
      {"same",
       [](communicator& world) {
         (void)is_same_on_all_ranks(world, world.size());  // PLACE same
       }},
      {"sparse",
       [](communicator& world) {
         const std::vector<std::pair<int, std::vector<int>>> out = {{0, {1}}};
         (void)sparse_alltoallv(world, out);  // PLACE sparse
       }},
      {"timer",
       [](communicator& world) {
         timer clock(world);
         clock.start("all");
         clock.stop();
         (void)clock.aggregate();  // PLACE timer
       }},
      {"reproducible",
       [](communicator& world) {
         const std::vector<double> v(3, 0.1);
         (void)reproducible_allreduce(world, send_buf(v), op(std::plus<>{}));  // PLACE reproducible
       }},
      {"grid",
       [](communicator& world) {
         const grid_communicator grid(world);  // PLACE grid
       }},
      {"context",
       [](communicator& world) {
         bsp::context ctx(world);  // PLACE context
       }},
      {"runtime",
       [](communicator& world) {
         tasks::runtime rt(world);  // PLACE runtime
       }},
      // Rank 1 waits for a message.
      {"chain_split",
       [](communicator& world) {
         (void)chain(world).split(0);  // PLACE chain_split
       }},
      {"logring",
       [](communicator& world) {
         (void)logring(chain(world));  // PLACE logring
       }},
      {"sort_waits",
       [](communicator& world) {
         std::vector<int> v(10, world.rank());
         sort_globally(world, v);  // PLACE sort_waits
       }},
  };
  const std::string name = argc > 1 ? argv[1] : "";
  const auto found = cases.find(name);
  if (found == cases.end()) return 2;
  const bool waits = name == "chain_split" || name == "logring" || name == "sort_waits";
  return tutti::run(argc, argv, [&](communicator& world) {
    if (world.rank() != 1)
      found->second(world);
    else if (waits)
      (void)world.recv<int>(source(0), tag(9));
    else
      (void)world.gather(send_buf(1), root(0));
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// A five-point stencil: each point becomes the mean of itself and its four neighbors, in place,
// with one task per point. Every rank runs the loop of a serial program. A separate function
// defines who owns which point. With another function, the same loop sends other messages.
#include <functional>
#include <map>
#include <numeric>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tutti/tasks.hpp>
#include <tutti/tutti.hpp>

namespace {

using namespace tutti;
using matrix = std::vector<std::vector<unsigned>>;

/// The ranks as a grid that is as square as possible.
struct rank_grid {
  int columns, rows = 1;
  explicit rank_grid(int p) {
    for (int r = 1; r * r <= p; ++r)
      if (p % r == 0) rows = r;
    columns = p / rows;
  }
};

/// Returns which of p ranks owns point (x, y) of n x n points.
using distribution = std::function<int(int x, int y, int n, int p)>;
const std::map<std::string, distribution> distributions = {
    {"block",
     [](int x, int y, int n, int p) {
       const rank_grid g(p);
       return x * g.columns / n + y * g.rows / n * g.columns;
     }},
    {"diagonal", [](int x, int y, int, int p) { return (x + y) % p; }},
    {"cyclic",
     [](int x, int y, int, int p) {
       const rank_grid g(p);
       return x % g.columns + y % g.rows * g.columns;
     }},
};

matrix first_contents(int n) {
  matrix m(n, std::vector<unsigned>(n));
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y) m[x][y] = static_cast<unsigned>(x * 7919 + y * 104729) % 1000;
  return m;
}

void stencil5(unsigned& xy, unsigned west, unsigned east, unsigned north, unsigned south) {
  xy = (xy + west + east + north + south) / 5;
}

/// Returns the bytes that this rank has sent. Afterwards `m` contains the local points.
std::uint64_t iterate(communicator& world, const distribution& owner, matrix& m, int steps) {
  const int n = static_cast<int>(m.size()), p = world.size();
  tasks::runtime rt(world);
  std::vector<std::vector<tasks::handle<unsigned>>> a(n);
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y) {
      const int r = owner(x, y, n, p);
      a[x].push_back(r == rt.rank() ? rt.data(m[x][y], r) : rt.data<unsigned>(r));
    }
  for (int step = 0; step < steps; ++step)
    for (int x = 1; x < n - 1; ++x)
      for (int y = 1; y < n - 1; ++y)
        rt.insert(stencil5, read_write(a[x][y]), read(a[x - 1][y]), read(a[x + 1][y]), read(a[x][y - 1]),
                  read(a[x][y + 1]));
  rt.wait_all();
  const auto sent = rt.statistics().bytes_sent;
  return std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
}

matrix serial(int n, int steps) {
  matrix m = first_contents(n);
  for (int step = 0; step < steps; ++step)
    for (int x = 1; x < n - 1; ++x)
      for (int y = 1; y < n - 1; ++y) stencil5(m[x][y], m[x - 1][y], m[x + 1][y], m[x][y - 1], m[x][y + 1]);
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  int n = 20, steps = 10;
  std::vector<std::string> wanted;
  for (const auto& [name, owner] : distributions) wanted.push_back(name);
  bool json = false;
  CLI::App app("Computes a stencil of five points with one task for each point.");
  app.add_option("--distribution", wanted, "distribution of the points over the ranks; default: all three")
      ->check(CLI::IsMember(wanted));
  app.add_option("--size", n, "number of points in a row")->check(CLI::Range(3, 1000))->capture_default_str();
  app.add_option("--steps", steps, "number of sweeps over the matrix")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--json", json, "print a line of JSON for each distribution");
  CLI11_PARSE(app, argc, argv);
  return tutti::run(argc, argv, [&](communicator& world) {
    const matrix right = serial(n, steps);
    for (const std::string& name : wanted) {
      const distribution& owner = distributions.at(name);
      matrix m = first_contents(n);
      const std::uint64_t mine = iterate(world, owner, m, steps);
      bool same = true;
      for (int x = 0; x < n; ++x)
        for (int y = 0; y < n; ++y)
          same = same && (owner(x, y, n, world.size()) != world.rank() || m[x][y] == right[x][y]);
      if (!world.allreduce_single(send_buf(same), op(std::logical_and<>{})))
        throw std::runtime_error("stencil5: " + name + ": differs from a serial program");
      const auto sent = world.allreduce_single(send_buf(mine), op(std::plus<>{}));
      if (!world.is_root()) continue;
      if (json)
        fmt::print("{}\n", nlohmann::ordered_json{{"distribution", name},
                                                  {"ranks", world.size()},
                                                  {"size", n},
                                                  {"steps", steps},
                                                  {"bytes_sent", sent}}
                               .dump());
      else
        fmt::print("stencil5 on {} ranks, {:<8} {:>9} bytes sent: equal to a serial program\n", world.size(),
                   name + ",", sent);
    }
  });
}

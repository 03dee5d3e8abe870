// SPDX-License-Identifier: Apache-2.0
//
// How a collective is measured. Both sides of `compare` (bench/tutti_side.cpp and bench/mpi/native.cpp)
// include this file, so that they differ in the calls they make and in nothing else: the command line, the
// buffers, what is touched and read, the check of the results, the clock, the statistics and the lines that
// come out are shared.
//
// A side is a world (rank, size, barrier, max) that also turns a collective into a call:
//
//   struct side {
//     int rank();  int size();  void barrier();  double max(double mine);   // the largest on any rank
//     // calls measure(operation) once, on every rank; where there is no such operation, returns false
//     instead template <class Measure> bool with(bench::collective, const bench::buffers&, Measure&&
//     measure); std::string algorithm(bench::collective, const bench::buffers&);      // optional: what was
//     run
//   };
//
//   const auto options = bench::parse(argc, argv, "native collectives");    // before ranks are started
//   const bool good = bench::run(side, "openmpi", options, std::cout);      // on every rank; lines on rank 0
//
// The size of a case, n bytes of doubles: the vector of each rank for bcast, reduce, allreduce, scan and
// exscan; all p blocks together for gather, scatter, allgather, alltoall and reduce_scatter, so that a block
// has n / p bytes, and one element at least. Roots are rank 0.
//
// What is fair: a sender changes its buffer before each operation and a receiver reads its result after it, a
// word in each cache line, or else the lines stay where they are and nothing is moved at all. From 4 KiB on
// that happens outside the timed part, and each operation is timed alone, after a barrier. Below, the clock
// and the skew of the barrier would be what is measured, so a loop of operations is timed; it touches and
// reads one word each time round. The time is that of the slowest rank; several groups of samples are taken
// and the least of their medians counts.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <pthread.h>
#include <sched.h>

#include "tune/measure.hpp"

namespace bench {

using tutti::tune::clock;
using tutti::tune::hooks;
using tutti::tune::keep;
using tutti::tune::measure;
using tutti::tune::measurement;
using tutti::tune::median;
using tutti::tune::mode;
using tutti::tune::quantile;
using tutti::tune::seconds;
using tutti::tune::world;

//--- collectives and their buffers ------------------------------------------------------------------------

enum class collective {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  scan,
  exscan,
  reduce_scatter,
  bcast_barrier,         // bcast, then barrier: what a bcast costs when its root may not run ahead
  reduce_scatter_block,  // measured on demand; compares with reduce_scatter, of which it is the regular form
};

inline constexpr std::array<std::string_view, 13> collective_names{"barrier",
                                                                   "bcast",
                                                                   "reduce",
                                                                   "allreduce",
                                                                   "gather",
                                                                   "scatter",
                                                                   "allgather",
                                                                   "alltoall",
                                                                   "scan",
                                                                   "exscan",
                                                                   "reduce_scatter",
                                                                   "bcast_barrier",
                                                                   "reduce_scatter_block"};

constexpr std::string_view name(collective which) {
  return collective_names[static_cast<std::size_t>(which)];
}

inline std::optional<collective> collective_of(std::string_view wanted) {
  const auto found = std::find(collective_names.begin(), collective_names.end(), wanted);
  if (found == collective_names.end()) return std::nullopt;
  return static_cast<collective>(found - collective_names.begin());
}

inline std::vector<std::string> default_collectives() {
  return {collective_names.begin(), collective_names.end() - 1};
}

// What one rank hands to the operation. bcast works on `in` alone, on every rank; barrier on nothing.
struct buffers {
  std::size_t bytes = 0;  // as asked for
  std::size_t count = 0;  // elements of a vector; of all blocks together where there are blocks
  std::size_t block = 0;  // elements of a block
  double* in = nullptr;
  double* out = nullptr;
};

// The data of one case on one rank: fills, touches, reads and checks the buffers.
class workload {
 public:
  workload(collective which, std::size_t bytes, int rank, int ranks)
      : which_(which), rank_(static_cast<std::size_t>(rank)), ranks_(static_cast<std::size_t>(ranks)) {
    buffers_.bytes = bytes;
    if (which == collective::barrier) {
      buffers_.bytes = 0;
    } else if (blocks()) {
      buffers_.block = std::max<std::size_t>(1, bytes / sizeof(double) / ranks_);
      buffers_.count = buffers_.block * ranks_;
    } else {
      buffers_.count = std::max<std::size_t>(1, bytes / sizeof(double));
    }
  }

  workload(const workload&) = delete;  // spans may refer to dummy_
  workload& operator=(const workload&) = delete;
  ~workload() = default;

  // How many elements the two buffers must hold.
  [[nodiscard]] std::size_t in_elements() const { return std::max(sent(), is_bcast() ? received() : 0); }
  [[nodiscard]] std::size_t out_elements() const { return is_bcast() ? 0 : received(); }

  void place(double* in, double* out) {
    buffers_.in = in;
    buffers_.out = out;
    touched_ = sent() > 0 ? std::span(in, sent()) : std::span(dummy_);
    read_ = received() > 0 ? std::span(is_bcast() ? in : out, received()) : std::span(dummy_);
    touched_mask_ = std::bit_floor(touched_.size()) - 1;
    read_mask_ = std::bit_floor(read_.size()) - 1;
  }

  [[nodiscard]] const buffers& get() const { return buffers_; }

  void touch() {
    for (std::size_t i = 0; i < touched_.size(); i += line) touched_[i] += 1;
  }
  void read() const {
    double sum = 0;
    for (std::size_t i = 0; i < read_.size(); i += line) sum += read_[i];
    keep(sum);
  }
  void touch(std::size_t round) { touched_[round * line & touched_mask_] += 1; }
  void read(std::size_t round) const { keep(read_[round * line & read_mask_]); }

  // A figure for a wrong result is worth nothing: known values go in, every step-th one is checked when it
  // comes out. With step == line this mends what touch() has changed, and looks at those words alone.
  void prepare(std::size_t step) {
    for (std::size_t i = 0; i < received(); i += step) read_[i] = -1;
    for (std::size_t i = 0; i < sent(); i += step) touched_[i] = value(rank_, i);
  }
  [[nodiscard]] bool correct(std::size_t step) const {
    if (which_ == collective::exscan && rank_ == 0) return true;  // what stands there is not defined
    for (std::size_t i = 0; i < received(); i += step) {
      if (read_[i] != expected(i)) return false;
    }
    return true;
  }

  static constexpr std::size_t line = 64 / sizeof(double);

 private:
  // Whole numbers, so that sums are exact in any order; another one for each rank and place.
  static double value(std::size_t rank, std::size_t i) {
    return static_cast<double>((rank + 1) * 16777259 + i);
  }
  static double sum(std::size_t ranks, std::size_t i) {  // of value() over the first ranks
    return static_cast<double>(ranks * (ranks + 1) / 2 * 16777259 + ranks * i);
  }

  [[nodiscard]] double expected(std::size_t i) const {
    const std::size_t block = std::max<std::size_t>(1, buffers_.block);
    switch (which_) {
      case collective::barrier:
        return 0;
      case collective::bcast:
      case collective::bcast_barrier:
        return value(0, i);
      case collective::reduce:
      case collective::allreduce:
        return sum(ranks_, i);
      case collective::scan:
        return sum(rank_ + 1, i);
      case collective::exscan:
        return sum(rank_, i);
      case collective::gather:
      case collective::allgather:
        return value(i / block, i % block);
      case collective::scatter:
        return value(0, rank_ * block + i);
      case collective::alltoall:
        return value(i / block, rank_ * block + i % block);
      case collective::reduce_scatter:
      case collective::reduce_scatter_block:
        return sum(ranks_, rank_ * block + i);
    }
    return 0;
  }

  [[nodiscard]] bool is_bcast() const {
    return which_ == collective::bcast || which_ == collective::bcast_barrier;
  }
  [[nodiscard]] bool blocks() const {
    switch (which_) {
      case collective::gather:
      case collective::scatter:
      case collective::allgather:
      case collective::alltoall:
      case collective::reduce_scatter:
      case collective::reduce_scatter_block:
        return true;
      default:
        return false;
    }
  }
  [[nodiscard]] std::size_t sent() const {  // elements that this rank sends
    switch (which_) {
      case collective::barrier:
        return 0;
      case collective::bcast:
      case collective::bcast_barrier:
      case collective::scatter:
        return rank_ == 0 ? buffers_.count : 0;
      case collective::gather:
      case collective::allgather:
        return buffers_.block;
      default:
        return buffers_.count;
    }
  }
  [[nodiscard]] std::size_t received() const {  // elements that hold a result on this rank
    switch (which_) {
      case collective::barrier:
        return 0;
      case collective::bcast:
      case collective::bcast_barrier:
        return rank_ == 0 ? 0 : buffers_.count;
      case collective::reduce:
      case collective::gather:
        return rank_ == 0 ? buffers_.count : 0;
      case collective::scatter:
      case collective::reduce_scatter:
      case collective::reduce_scatter_block:
        return buffers_.block;
      default:
        return buffers_.count;
    }
  }

  collective which_;
  std::size_t rank_;
  std::size_t ranks_;
  buffers buffers_;
  std::array<double, line> dummy_{};  // touched and read by a rank that sends or receives nothing
  std::span<double> touched_;
  std::span<double> read_;
  std::size_t touched_mask_ = 0;
  std::size_t read_mask_ = 0;
};

//--- a program of either side -----------------------------------------------------------------------------

struct options {
  std::vector<std::size_t> sizes{8, 1024, 32768, 1048576, 16777216};
  std::vector<std::string> collectives = default_collectives();
  double budget_ms = 20;
};

inline constexpr std::size_t largest_size = std::size_t{1} << 33;  // its elements can be counted in an int

inline std::string with_default(const std::string& unit, double value) {
  std::ostringstream text;
  text << unit << " [" << value << "]";
  return text.str();
}

// The options that the sides and the driver share.
inline void add_options(CLI::App& app, options& o) {
  app.add_option("--sizes", o.sizes,
                 "Bytes of the whole vector: 8,1KiB,32KiB,1MiB,16MiB unless said otherwise")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, largest_size))
      ->option_text("BYTES,...");
  std::string known;
  for (const auto collective : collective_names)
    known += (known.empty() ? "" : ", ") + std::string(collective);
  app.add_option("--collectives", o.collectives,
                 "Which to measure: " + known + "; all but the last unless said otherwise")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(collective_names.begin(), collective_names.end())))
      ->option_text("NAME,...");
  app.add_option("--budget-ms", o.budget_ms, "Time for one collective at one size, in milliseconds")
      ->check(CLI::Range(0.1, 1e6))
      ->option_text(with_default("MS", o.budget_ms));
}

// Ends the program where the command line asks for help or is wrong.
inline options parse(int argc, char** argv, const std::string& about) {
  options o;
  CLI::App app(about);
  add_options(app, o);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return o;
}

struct free_memory {
  void operator()(double* memory) const { std::free(memory); }
};

inline std::unique_ptr<double, free_memory> allocate(std::size_t elements) {
  const std::size_t bytes = (std::max<std::size_t>(1, elements) * sizeof(double) + 63) / 64 * 64;
  auto* memory = static_cast<double*>(std::aligned_alloc(64, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(memory, bytes / sizeof(double), 0.0);  // the pages are those of the rank that uses them
  return std::unique_ptr<double, free_memory>(memory);
}

// Measures everything that is asked for. Rank 0 writes one line of JSON for each case; a case that the side
// does not offer has none. The answer, the same on every rank: were all results right?
template <world Side>
bool run(Side& side, std::string_view engine, const options& o, std::ostream& out) {
  const int rank = side.rank();
  const int ranks = side.size();
  std::size_t in_elements = 1;
  std::size_t out_elements = 1;
  for (const auto& wanted : o.collectives) {
    for (const std::size_t bytes : o.sizes) {
      const workload work(*collective_of(wanted), bytes, rank, ranks);
      in_elements = std::max(in_elements, work.in_elements());
      out_elements = std::max(out_elements, work.out_elements());
    }
  }
  const auto in = allocate(in_elements);
  const auto result = allocate(out_elements);

  bool good = true;
  for (const auto& wanted : o.collectives) {
    const collective which = *collective_of(wanted);
    for (const std::size_t bytes : o.sizes) {
      workload work(which, bytes, rank, ranks);
      work.place(in.get(), result.get());
      bool right = true;
      measurement measured;
      const bool offered = side.with(which, work.get(), [&](auto&& operation) {
        const auto check = [&](std::size_t step) {
          work.prepare(step);
          side.barrier();
          operation();
          right = right && side.max(work.correct(step) ? 0.0 : 1.0) == 0.0;
        };
        check(1);
        measured = measure(side, bytes < 4096 || which == collective::barrier ? mode::loop : mode::single,
                           o.budget_ms, operation, work);
        check(workload::line);  // the same once more: what was replayed must be right too
      });
      if (!offered) break;
      good = good && right;
      if (rank == 0) {
        nlohmann::ordered_json record{
            {"engine", engine}, {"ranks", ranks}, {"collective", wanted}, {"bytes", work.get().bytes}};
        if (right) {
          const auto rounded = [](double x) { return std::round(x * 1e4) / 1e4; };
          record["us"] = rounded(measured.us);
          record["noise"] = rounded(measured.noise);
          record["samples"] = measured.samples;
          record["loop"] = measured.loop;
        } else {
          record["error"] = "wrong result";
        }
        if constexpr (requires { record["algorithm"] = side.algorithm(which, work.get()); }) {
          record["algorithm"] = side.algorithm(which, work.get());
        }
        out << record.dump() << std::endl;  // flushed: what was measured before a crash counts
      }
      if (which == collective::barrier) break;  // it has no size
    }
  }
  return good;
}

//--- the machine ------------------------------------------------------------------------------------------

// The cores that this process may use.
inline std::vector<int> usable_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

// Bytes copied (not: read plus written) per second, in GB/s: no collective that moves data can be faster.
struct copy_speeds {
  struct entry {
    std::size_t bytes = 0;  // copied by each core at a time
    std::size_t cores = 0;
    double gb_per_s = 0;  // of all these cores together
  };
  std::vector<entry> entries;
};

inline double copy_speed(std::size_t bytes, std::span<const int> cores, double budget_ms = 30) {
  constexpr int samples = 5;
  const double guessed_s = static_cast<double>(bytes) / 10e9;
  const auto copies = static_cast<std::size_t>(std::max(1.0, budget_ms * 1e-3 / samples / guessed_s));
  std::barrier start(static_cast<std::ptrdiff_t>(cores.size()));
  std::vector<std::array<double, samples>> elapsed(cores.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cores.size(); ++i) {
      threads.emplace_back([&, i] {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cores[i], &set);
        pthread_setaffinity_np(pthread_self(), sizeof set,
                               &set);  // where it is refused, the scheduler decides
        const auto from = allocate(bytes / sizeof(double));
        const auto to = allocate(bytes / sizeof(double));
        std::memcpy(to.get(), from.get(), bytes);
        for (double& mine : elapsed[i]) {
          start.arrive_and_wait();
          const auto begin = clock::now();
          for (std::size_t copy = 0; copy < copies; ++copy) {
            std::memcpy(to.get(), from.get(), bytes);
            keep(to.get());
          }
          mine = seconds(clock::now() - begin).count();
        }
      });
    }
  }
  double best = std::numeric_limits<double>::infinity();
  for (int s = 0; s < samples; ++s) {
    double slowest = 0;
    for (const auto& mine : elapsed) slowest = std::max(slowest, mine[static_cast<std::size_t>(s)]);
    best = std::min(best, slowest);
  }
  return static_cast<double>(bytes * copies * cores.size()) / best * 1e-9;
}

// 1 MiB and 64 MiB, on one core and on all at once.
inline copy_speeds copy_speed() {
  const auto cores = usable_cores();
  copy_speeds speeds;
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{1} << 26}) {
    speeds.entries.push_back({bytes, 1, copy_speed(bytes, std::span(cores).first(1))});
    if (cores.size() > 1) speeds.entries.push_back({bytes, cores.size(), copy_speed(bytes, cores)});
  }
  return speeds;
}

// Nanoseconds in which a cache line goes from the first core to the second and back; 0 with one core. A
// virtual machine may have its cores moved closer together or further apart while it runs. All collectives
// follow that, by a factor of two to four, so figures may be compared only where this one is alike.
inline double round_trip() {
  constexpr int trials = 8;
  constexpr int rounds = 1000;
  struct alignas(128) line {
    std::atomic<int> there{0};
    alignas(128) std::atomic<int> back{0};
  };
  const auto cores = usable_cores();
  if (cores.size() < 2) return 0;
  const auto pin = [](int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  };
  // The first of them only waits for the threads to be there.
  const auto lines = std::make_unique<std::array<line, trials + 1>>();
  double best = std::numeric_limits<double>::infinity();
  {
    std::jthread echo([&] {
      pin(cores[1]);
      for (line& l : *lines) {
        for (int i = 1; i <= rounds; ++i) {
          while (l.there.load(std::memory_order_acquire) != i) {
          }
          l.back.store(i, std::memory_order_release);
        }
      }
    });
    std::jthread call([&] {  // a thread of its own, so that the caller's affinity stays what it is
      pin(cores[0]);
      for (line& l : *lines) {
        const auto start = clock::now();
        for (int i = 1; i <= rounds; ++i) {
          l.there.store(i, std::memory_order_release);
          while (l.back.load(std::memory_order_acquire) != i) {
          }
        }
        best = std::min(best, seconds(clock::now() - start).count() / rounds);
      }
    });
  }
  return best * 1e9;
}

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
//
// How a job begins and ends: ranks that throw, ranks that wait for ever, calls that do not match, options
// that make no sense. Every one must end with one clear error, and none may hang.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

class setting_for_now {
 public:
  setting_for_now(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~setting_for_now() { unsetenv(name_); }

 private:
  const char* name_;
};

run_options on(const char* engine, int ranks, std::uint64_t seed = 0, int workers = 0) {
  run_options o;
  o.engine = engine;
  o.ranks = ranks;
  o.seed = seed;
  o.workers = workers;
  return o;
}

std::string failure_of(const run_options& o, const std::function<void(communicator&)>& program,
                       int* rank = nullptr) {
  try {
    run(o, program);
  } catch (const rank_error& e) {
    if (rank != nullptr) *rank = e.failed_rank();
    return e.what();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct engine_case {
  const char* engine;
  int ranks;
  int workers;
};
class on_each_engine : public testing::TestWithParam<engine_case> {
 protected:
  run_options options() const { return on(GetParam().engine, GetParam().ranks, 0, GetParam().workers); }
};
INSTANTIATE_TEST_SUITE_P(engines, on_each_engine,
                         testing::Values(engine_case{"threads", 2, 0}, engine_case{"threads", 5, 0},
                                         engine_case{"fibers", 2, 2}, engine_case{"fibers", 5, 1},
                                         engine_case{"fibers", 8, 2}),
                         [](const auto& info) {
                           return std::string(info.param.engine) + "_" + std::to_string(info.param.ranks) +
                                  "_on_" + std::to_string(info.param.workers);
                         });

TEST_P(on_each_engine, a_throwing_rank_takes_the_others_out_of_their_waits) {
  std::atomic<int> taken_out{0};
  int rank = -1;
  const std::string text = failure_of(
      options(),
      [&](communicator& world) {
        if (world.rank() == 1) throw std::runtime_error("planted fault");
        try {
          world.barrier();
        } catch (const peer_error& e) {
          if (has(e.what(), "rank 1 failed") && has(e.what(), "planted fault")) ++taken_out;
          throw;
        }
      },
      &rank);
  EXPECT_EQ(rank, 1);
  EXPECT_TRUE(has(text, "planted fault")) << text;
  EXPECT_EQ(taken_out, GetParam().ranks - 1);
}

TEST_P(on_each_engine, an_exception_beside_a_call_under_way_is_the_one_that_is_told) {
  const std::string text = failure_of(options(), [](communicator& world) {
    std::vector<double> large(100000, 1.0);
    if (world.rank() == 1) {
      auto under_way = world.iallreduce(send_buf(large), op(std::plus<>{}), algorithm("ring"));
      throw std::runtime_error("planted fault");  // nobody else ever calls it
    }
    world.duplicate().barrier();
  });
  EXPECT_TRUE(has(text, "planted fault")) << text;
}

TEST_P(on_each_engine, the_exception_of_the_rank_comes_nested) {
  bool nested = false;
  try {
    run(options(), [](communicator& world) {
      if (world.rank() == 0) throw std::out_of_range("mine");
      world.barrier();
    });
  } catch (const rank_error& e) {
    try {
      std::rethrow_if_nested(e);
    } catch (const std::out_of_range&) {
      nested = true;
    }
  }
  EXPECT_TRUE(nested);
}

TEST_P(on_each_engine, a_deadlock_is_reported_with_who_waits_where) {
  const std::string text = failure_of(options(), [](communicator& world) {
    if (world.rank() != 0) world.barrier();  // rank 0 returns
  });
  EXPECT_TRUE(has(text, "deadlock")) << text;
  EXPECT_TRUE(has(text, "rank 0: has returned")) << text;
  EXPECT_TRUE(has(text, "rank 1: in barrier")) << text;
}

TEST_P(on_each_engine, a_deadlock_in_messages_names_the_peer) {
  const std::string text = failure_of(options(), [](communicator& world) {
    std::vector<int> v(4, world.rank());
    // Rank 0 waits for a rank that went elsewhere.
    if (world.rank() == 0) {
      world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("recursive_doubling"));
    } else {
      communicator other = world;
      other.barrier(algorithm("dissemination"));
      other.barrier(algorithm("dissemination"));
    }
  });
  EXPECT_FALSE(text.empty());
}

TEST_P(on_each_engine, a_deadlock_with_nonblocking_calls_is_reported) {
  const std::string text = failure_of(options(), [](communicator& world) {
    std::vector<int> v(4, world.rank());
    if (world.rank() != 0) world.iallreduce(send_buf(v), op(std::plus<>{})).wait();
  });
  EXPECT_TRUE(has(text, "deadlock")) << text;
}

TEST_P(on_each_engine, a_root_out_of_range_is_refused_and_the_communicator_stays_usable) {
  run(options(), [](communicator& world) {
    for (const int bad : {-1, world.size()}) {
      std::vector<int> v{1};
      bool refused = false;
      try {
        world.bcast(send_recv_buf(v), root(bad));
      } catch (const usage_error& e) {
        refused = has(e.what(), "bcast on rank " + std::to_string(world.rank())) && has(e.what(), "root");
      }
      if (!refused) throw std::runtime_error("a root of " + std::to_string(bad) + " was taken");
    }
    const auto all = world.allgather(send_buf(world.rank()));
    if (static_cast<int>(all.size()) != world.size()) throw std::runtime_error("not usable");
  });
}

TEST_P(on_each_engine, a_null_buffer_with_a_count_is_refused) {
  run(options(), [](communicator& world) {
    call c;
    c.what = collective::allreduce;
    c.type = element_of<int>();
    c.count = 3;
    int out[3];
    c.output = out;
    c.op.combine = [](const void*, const void*, void*, std::size_t, void*) {};
    bool refused = false;
    try {
      detail::run_call(world.native(), c);
    } catch (const usage_error& e) {
      refused = has(e.what(), "send_buf") && has(e.what(), "null");
    }
    if (!refused) throw std::runtime_error("null was taken");
  });
}

TEST_P(on_each_engine, a_freed_communicator_is_refused) {
  run(options(), [](communicator& world) {
    communicator copy = world.duplicate();
    copy.barrier();
    copy.free();
    bool refused = false;
    try {
      copy.barrier();
    } catch (const usage_error& e) {
      refused = has(e.what(), "freed");
    }
    if (!refused) throw std::runtime_error("a freed communicator was used");
    world.barrier();
  });
}

TEST_P(on_each_engine, checked_mode_names_who_calls_what) {
  const setting_for_now checked("TUTTI_CHECK", "1");
  const auto expect_report = [&](const std::function<void(communicator&)>& program, const std::string& first,
                                 const std::string& second) {
    const std::string text = failure_of(options(), program);
    EXPECT_TRUE(has(text, first)) << text;
    EXPECT_TRUE(has(text, second)) << text;
  };
  expect_report(
      [](communicator& world) {
        std::vector<int> v(static_cast<std::size_t>(world.rank() == 1 ? 5 : 4));
        world.allreduce(send_buf(v), op(std::plus<>{}));
      },
      "rank 0 calls allreduce of 4", "rank 1 calls allreduce of 5");
  expect_report(
      [](communicator& world) {
        int x = 0;
        if (world.rank() == 1)
          world.barrier();
        else
          world.bcast(send_recv_buf(x));
      },
      "rank 0 calls bcast", "rank 1 calls barrier");
  expect_report(
      [](communicator& world) {
        int x = 0;
        world.bcast(send_recv_buf(x), root(world.rank() == 1 ? 1 : 0));
      },
      "root 0", "root 1");
}

TEST_P(on_each_engine, checked_mode_compares_counts_pair_by_pair) {
  const setting_for_now checked("TUTTI_CHECK", "1");
  const auto expect_report = [&](const std::function<void(communicator&)>& program, const std::string& part) {
    const std::string text = failure_of(options(), program);
    EXPECT_TRUE(has(text, part)) << text;
  };
  expect_report(
      [](communicator& world) {
        std::vector<int> v(world.rank() == 1 ? 11 : 10), counts(static_cast<std::size_t>(world.size()), 10);
        world.gatherv(send_buf(v), recv_counts(counts));
      },
      "rank 1 sends 11 elements to rank 0, which expects 10");
  expect_report(
      [](communicator& world) {
        std::vector<int> counts(static_cast<std::size_t>(world.size()), 10), expected = counts;
        std::vector<int> v(static_cast<std::size_t>(10 * world.size()));
        if (world.rank() == 0) expected[1] = 9;
        world.alltoallv(send_buf(v), send_counts(counts), recv_counts(expected));
      },
      "rank 1 sends 10 elements to rank 0, which expects 9");
  expect_report(
      [](communicator& world) {
        if (world.rank() == 1)
          world.duplicate();
        else
          world.barrier();
      },
      "rank 1 calls duplicate");
  expect_report(
      [](communicator& world) {
        world.allreduce(send_buf(1), op(std::plus<>{}),
                        algorithm(world.rank() == 1 ? "ring" : "recursive_doubling"));
      },
      "rank 1 calls allreduce");
  expect_report(
      [](communicator& world) {
        if (world.rank() == 1)
          world.allreduce(send_buf(1.0f), op(std::plus<>{}));
        else
          world.allreduce(send_buf(1), op(ops::max<>{}));
      },
      "(f32), sum");
}

TEST_P(on_each_engine, native_collectives_see_what_disagrees) {
  const auto text_of = [&](const std::function<void(communicator&)>& program) {
    return failure_of(options(), program);
  };
  const auto size_for = [](communicator& world) {
    return static_cast<std::size_t>(world.rank() == 1 ? 50000 : 40000);
  };
  EXPECT_TRUE(has(text_of([&](communicator& world) {
                    std::vector<int> v(size_for(world));
                    world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("native"));
                  }),
                  "this rank calls allreduce of"));
  EXPECT_TRUE(has(text_of([&](communicator& world) {
                    std::vector<int> v(size_for(world));
                    world.bcast(send_recv_buf(v), send_recv_count(static_cast<int>(v.size())),
                                algorithm("native"));
                  }),
                  "this rank calls bcast of"));
  EXPECT_TRUE(has(text_of([&](communicator& world) {
                    world.allreduce(send_buf(std::vector<int>(world.rank() == 1 ? 3 : 2)), op(std::plus<>{}),
                                    algorithm("native"));
                  }),
                  "this rank calls allreduce of"));
  EXPECT_TRUE(has(text_of([&](communicator& world) {
                    std::vector<int> counts(static_cast<std::size_t>(world.size()), 10), expected = counts;
                    std::vector<int> v(static_cast<std::size_t>(10 * world.size()));
                    if (world.rank() == 0) expected[1] = 9;
                    world.alltoallv(send_buf(v), send_counts(counts), recv_counts(expected),
                                    algorithm("native"));
                  }),
                  "40 bytes are sent where 36 bytes are expected"));
}

TEST_P(on_each_engine, a_plan_of_a_freed_communicator_is_refused) {
  run(options(), [](communicator& world) {
    communicator copy = world.duplicate();
    auto plan = copy.barrier_init();
    copy.free();
    bool refused = false;
    try {
      plan.start();
    } catch (const usage_error& e) {
      refused = has(e.what(), "freed");
    }
    if (!refused) throw std::runtime_error("a plan of a freed communicator was started");
  });
}

TEST_P(on_each_engine, sizes_that_disagree_do_not_hang) {
  for (const char* name : {"recursive_doubling", "ring"}) {
    const std::string text = failure_of(options(), [&](communicator& world) {
      std::vector<int> v(static_cast<std::size_t>(world.rank() == 1 ? 500 : 400));
      world.allreduce(send_buf(v), op(std::plus<>{}), algorithm(name));
    });
    EXPECT_TRUE(has(text, "bytes where this rank expects")) << text;
  }
}

TEST(options_of_run, that_make_no_sense_are_named) {
  EXPECT_TRUE(
      has(failure_of(on("coroutines", 2), [](communicator&) {}), "there is no engine \"coroutines\""));
  EXPECT_TRUE(has(failure_of(on("threads", -3), [](communicator&) {}), "-3"));
  EXPECT_TRUE(has(failure_of(on("fibers", 2000000), [](communicator&) {}), "2000000"));
  for (const char* bad : {"0", "-1", "two", "99999999", "3x", ""}) {
    const setting_for_now ranks("TUTTI_RANKS", bad);
    const std::string text = failure_of(on("threads", 0), [](communicator&) {});
    EXPECT_EQ(text.empty(), *bad == '\0') << bad;
    if (*bad != '\0') {
      EXPECT_TRUE(has(text, "TUTTI_RANKS")) << text;
    }
  }
  const setting_for_now forced("TUTTI_ALLREDUCE_ALGORITHM", "recursive_dubbling");
  EXPECT_TRUE(has(failure_of(on("threads", 1), [](communicator&) {}), "TUTTI_ALLREDUCE_ALGORITHM"));
}

TEST_P(on_each_engine, an_algorithm_named_by_a_variable_or_a_call_is_the_one_that_runs) {
  const setting_for_now forced("TUTTI_ALLREDUCE_ALGORITHM", "recursive_doubling");
  run(options(), [](communicator& world) {
    const auto ran = [&] { return std::string(world.last_algorithm(collective::allreduce)); };
    world.allreduce(send_buf(1), op(std::plus<>{}));
    if (ran() != "allreduce/recursive_doubling") throw std::runtime_error("ran " + ran());
    world.allreduce(send_buf(1), op(std::plus<>{}), algorithm("allreduce/ring"));
    if (ran() != "allreduce/ring") throw std::runtime_error("ran " + ran());
    world.allreduce(send_buf(1), op(std::plus<>{}), algorithm("native"));
    if (ran() != "allreduce/native") throw std::runtime_error("ran " + ran());
    // Restrictions hold for what a call names itself: ring needs a commutative operator, and another is used.
    const auto last = [](int, int b) { return b; };
    const int got =
        world.allreduce_single(send_buf(world.rank()), op(last, ops::non_commutative), algorithm("ring"));
    if (got != world.size() - 1 || ran() == "allreduce/ring") throw std::runtime_error("ran " + ran());
    bool refused = false;
    try {
      world.allreduce(send_buf(1), op(last, ops::non_commutative), algorithm("no_such"));
    } catch (const usage_error& e) {
      refused = has(e.what(), "no_such");
    }
    if (!refused) throw std::runtime_error("no_such was taken");
  });
  const setting_for_now unfit("TUTTI_ALLREDUCE_ALGORITHM",
                              "ring");  // where it does not serve, selection goes on
  const auto unordered = [](communicator& world) {
    const int last = world.allreduce_single(send_buf(world.rank()),
                                            op([](int, int b) { return b; }, ops::non_commutative));
    if (last != world.size() - 1) throw std::runtime_error("wrong order");
  };
  for (const char* policy : {"warn", "silent", "1"}) {
    const setting_for_now fallback("TUTTI_COLL_FALLBACK", policy);
    testing::internal::CaptureStderr();
    run(options(), unordered);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(
        has(said, "TUTTI_ALLREDUCE_ALGORITHM \"ring\" does not serve this call: it demands an operator"),
        *policy != 's')
        << said;
  }
  for (const char* policy : {"error", "0"}) {
    const setting_for_now fallback("TUTTI_COLL_FALLBACK", policy);
    EXPECT_TRUE(has(failure_of(options(), unordered), "TUTTI_ALLREDUCE_ALGORITHM"));
  }
  const setting_for_now fallback("TUTTI_COLL_FALLBACK", "perhaps");
  EXPECT_TRUE(has(failure_of(options(), unordered), "TUTTI_COLL_FALLBACK"));
}

TEST_P(on_each_engine, a_tree_of_the_user_chooses_and_one_at_fault_is_told) {
  const std::string path = testing::TempDir() + "tutti_tree_" + std::to_string(getpid()) + ".json";
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  const setting_for_now file("TUTTI_COLL_SELECTION_JSON_FILE", path.c_str());
  const auto ran = [&](const char* small, const char* large) {
    run(options(), [&](communicator& world) {
      const std::vector<int> few(2, 1), many(1000, 1);
      (void)world.allreduce(send_buf(few), op(std::plus<>{}));
      if (world.last_algorithm(collective::allreduce) != std::string(small))
        throw std::runtime_error("small");
      (void)world.allreduce(send_buf(many), op(std::plus<>{}));
      if (world.last_algorithm(collective::allreduce) != std::string(large))
        throw std::runtime_error("large");
    });
  };
  write(R"({"schema": "tutti/tree/1", "pure": {"allreduce": [
    {"when": {"commutative": true, "inter": false}, "by": "bytes", "steps": [
      {"upto": 64, "use": "rabenseifner"}, {"use": "segmented_ring", "with": {"segment": 64}}]}]}})");
  testing::internal::CaptureStderr();
  ran("allreduce/rabenseifner", "allreduce/segmented_ring");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  // ring needs an operator that commutes, which nothing says here.
  write(R"({"schema": "tutti/tree/1", "pure": {"allreduce": [{"when": {"inter": false}, "use": "ring"}]}})");
  testing::internal::CaptureStderr();
  run(options(), [](communicator& world) { (void)world.allreduce(send_buf(1), op(std::plus<>{})); });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(has(said, path) && has(said, "commutative") && has(said, "the default trees are used")) << said;
  const setting_for_now strict("TUTTI_COLL_STRICT", "1");
  EXPECT_TRUE(has(failure_of(options(), [](communicator&) {}), "TUTTI_COLL_SELECTION_JSON_FILE"));
  std::remove(path.c_str());
  EXPECT_TRUE(has(failure_of(options(), [](communicator&) {}), "cannot be read"));
}

TEST_P(on_each_engine, an_algorithm_that_no_call_used_is_said) {
  const setting_for_now forced("TUTTI_GATHER_ALGORITHM", "knomial:k=3");
  testing::internal::CaptureStderr();
  run(options(), [](communicator& world) { world.barrier(); });
  EXPECT_TRUE(
      has(testing::internal::GetCapturedStderr(), "TUTTI_GATHER_ALGORITHM=knomial:k=3 was never used"));
  testing::internal::CaptureStderr();
  run(options(), [](communicator& world) {
    (void)world.gather(send_buf(1));
    if (std::string(world.last_algorithm(collective::gather)) != "gather/knomial")
      throw std::runtime_error("not used");
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(an_mpi_launcher, whose_module_is_missing_is_an_error) {
  const setting_for_now path("TUTTI_MODULE_PATH", "/nonexistent");
  const setting_for_now launcher("PMIX_RANK", "0");  // a launcher that does not tell which MPI it belongs to
  const setting_for_now wanted("TUTTI_MPI", "no_such_mpi");
  const std::string text = failure_of(on("", 0), [](communicator&) {});
  EXPECT_TRUE(has(text, "no_such_mpi")) << text;
  EXPECT_TRUE(has(text, "is not installed")) << text;
}

TEST(an_mpi_launcher, is_not_answered_with_copies_of_an_embedded_job) {
  const setting_for_now launcher("OMPI_COMM_WORLD_SIZE", "4");
  const setting_for_now engine("TUTTI_ENGINE", "fibers");
  const std::string text = failure_of(on("", 0), [](communicator&) {});
  EXPECT_TRUE(has(text, "OMPI_COMM_WORLD_SIZE")) << text;
}

// A mixture of everything, of which no interleaving may go wrong.
void mixed_workload(communicator& world) {
  const int p = world.size(), r = world.rank();
  communicator second = world.duplicate();
  for (int round = 0; round < 3; ++round) {
    std::vector<long> mine(static_cast<std::size_t>(1 + round * 7), r + round);
    auto sum = world.iallreduce(send_buf(mine), op(std::plus<>{}), algorithm("recursive_doubling"));
    auto all = second.iallgather(send_buf(r));
    std::vector<int> counts(static_cast<std::size_t>(p), 2);
    std::vector<int> words(static_cast<std::size_t>(2 * p), r);
    const auto exchanged = second.alltoallv(send_buf(words), send_counts(counts));
    const int before = world.exscan_single(send_buf(1), op(std::plus<>{}));
    int from_last = r;
    world.bcast(send_recv_buf(from_last), root(p - 1), algorithm("knomial"));
    const auto sums = sum.wait();
    const auto ranks = all.wait();
    world.barrier();
    if (before != r || from_last != p - 1) throw std::runtime_error("wrong exscan or bcast");
    for (const long s : sums)
      if (s != static_cast<long>(p) * (p - 1) / 2 + static_cast<long>(p) * round)
        throw std::runtime_error("wrong sum");
    for (int i = 0; i < p; ++i)
      if (ranks[static_cast<std::size_t>(i)] != i || exchanged[static_cast<std::size_t>(2 * i)] != i)
        throw std::runtime_error("wrong exchange");
  }
}

TEST(deterministic_fibers, pass_a_thousand_interleavings) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const std::string text = failure_of(on("fibers", 2 + static_cast<int>(seed % 6), seed), mixed_workload);
    ASSERT_EQ(text, "") << "seed " << seed;
  }
}

TEST(deterministic_fibers, repeat_an_interleaving) {
  const auto trace_of = [](std::uint64_t seed) {
    std::vector<int> trace;  // one worker: no race
    run(on("fibers", 5, seed), [&](communicator& world) {
      for (int i = 0; i < 20; ++i) {
        trace.push_back(world.rank());
        world.barrier(algorithm("dissemination"));
      }
    });
    return trace;
  };
  EXPECT_EQ(trace_of(7), trace_of(7));
  EXPECT_NE(trace_of(7), trace_of(8));
}

TEST(fibers, keep_their_exceptions_apart_when_switched_inside_a_catch_block) {
  run(on("fibers", 6, 0, 1), [](communicator& world) {
    for (int i = 0; i < 10; ++i) {
      try {
        throw std::runtime_error("of rank " + std::to_string(world.rank()));
      } catch (const std::exception& e) {
        world.barrier();
        if (std::string(e.what()) != "of rank " + std::to_string(world.rank()))
          throw std::logic_error("mixed up");
        try {
          throw;
        } catch (const std::exception& again) {
          if (&again != &e) throw std::logic_error("another exception in flight");
        }
      }
    }
  });
}

TEST(fibers, run_four_thousand_ranks) {
#if defined(__SANITIZE_THREAD__)
  constexpr int ranks = 512;  // the sanitizer keeps some 6 MiB for each fiber
#else
  constexpr int ranks = 4096;
#endif
  run(on("fibers", ranks), [](communicator& world) {
    const long sum = world.allreduce_single(send_buf(static_cast<long>(world.rank())), op(std::plus<>{}));
    if (sum != ranks * (ranks - 1L) / 2) throw std::runtime_error("wrong sum");
    const long again = world.allreduce_single(send_buf(static_cast<long>(world.rank())), op(std::plus<>{}),
                                              algorithm("recursive_doubling"));
    if (again != sum) throw std::runtime_error("wrong sum");
  });
}

}  // namespace

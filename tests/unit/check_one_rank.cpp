// SPDX-License-Identifier: Apache-2.0
//
// Tests the proof of one rank. On few ranks its parts are compared with the run of all ranks
// together: its rounds, its costs, the formulas without tables, and the transfers of peers. Wrong
// schedules of the rank or of a peer must be found.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "proof/prove_rank.hpp"
#include "support/contained_text.hpp"

namespace tutti::proof {
namespace {

using tests::contains;

schedule schedule_of(const pure_algorithm& a, const abstract_call& p, int rank) {
  builder b;
  a.write(shape_of(p, rank), b);
  return b.finish();
}

// Equal if both know it.
bool same(const traced_place& alone, const traced_place& together) {
  return alone.where == together.where &&
         (!alone.known || (alone.first == together.first && alone.count == together.count));
}

void expect_same_rounds(const std::vector<traced_round>& alone, const std::vector<traced_round>& together,
                        const std::string& where) {
  ASSERT_EQ(alone.size(), together.size()) << where;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    ASSERT_EQ(alone[i].steps.size(), together[i].steps.size()) << where << ", round " << i;
    for (std::size_t k = 0; k < alone[i].steps.size(); ++k) {
      const traced_step &a = alone[i].steps[k], &b = together[i].steps[k];
      ASSERT_TRUE(a.kind == b.kind && a.peer == b.peer && a.step == b.step && same(a.source, b.source) &&
                  same(a.other, b.other) && same(a.target, b.target))
          << where << ", round " << i << ", step " << k;
    }
  }
}

// Every call of the proof on few ranks, with the run of all ranks as the oracle.
template <class Body>
void for_each_call(Body&& body) {
  for (const pure_algorithm* a : catalogue())
    for (const int ranks : {1, 2, 5, 8, 13}) {
      std::vector<case_options> cases = claim_cases(*a, ranks);
      for (case_options& w : cases) w.count = 7;
      const case_list drawn = rank_result_cases(*a, ranks, ranks / 2);
      cases.insert(cases.end(), drawn.cases.begin(), drawn.cases.end());
      // every sixth, but all of them over the numbers of ranks
      for (std::size_t i = static_cast<std::size_t>(ranks) % 6; i < cases.size(); i += 6) body(*a, cases[i]);
    }
}

TEST(one_rank, does_what_it_does_among_all) {
  abstract_machine machine;
  std::size_t runs = 0, unknown = 0;
  for_each_call([&](const pure_algorithm& a, const case_options& w) {
    const abstract_call together = make_abstract_call(w);
    const auto schedules = write_all(a.write, together);
    const outcome all = machine.run(together, schedules, {.record = true});
    ASSERT_TRUE(all.ok()) << a.name << ": " << all.faults[0].what;
    for (int r = 0; r < w.ranks; r += std::max(1, w.ranks / 3)) {
      const std::string where = std::string(a.name) + ", " + together.text() + ", rank " + std::to_string(r);
      const abstract_call p = make_abstract_call(w, r);
      std::vector<traced_round> rounds;
      const rank_outcome one = machine.run_rank(p, schedule_of(a, p, r), r, {.record = true},
                                                [&](const traced_round& t) { rounds.push_back(t); });
      ASSERT_TRUE(one.ok()) << where << ": " << one.faults[0].what;
      expect_same_rounds(rounds, all.recorded[static_cast<std::size_t>(r)], where);
      const auto me = static_cast<std::size_t>(r);
      EXPECT_LE(one.measured.rounds, all.measured.rounds) << where;
      EXPECT_EQ(one.measured.memory, all.measured.memory[me]) << where;
      if (one.measured.unknown == 0) {
        EXPECT_EQ(one.measured.sent, all.measured.sent[me]) << where;
        EXPECT_EQ(one.measured.received, all.measured.received[me]) << where;
        EXPECT_LE(one.measured.scratch, all.measured.scratch[me]) << where;
      }
      unknown += one.measured.unknown;
      ++runs;
    }
  });
  EXPECT_GT(runs, 5000u);
  EXPECT_GT(unknown, 0u);
}

TEST(one_rank, has_the_formulas_of_the_call) {
  for_each_call([](const pure_algorithm& a, const case_options& w) {
    const variables with = variables_of(make_abstract_call(w)), without = variables_of(w);
    ASSERT_EQ(with.names(), without.names());
    for (const formula_name& n : formula_names) {
      const double *x = with.find(n.name), *y = without.find(n.name);
      ASSERT_EQ(x == nullptr, y == nullptr) << a.name << ": " << n.name;
      if (x == nullptr) continue;
      EXPECT_EQ(*x, *y) << a.name << ": " << n.name << ", " << make_abstract_call(w).text();
    }
  });
}

TEST(one_rank, lists_the_transfers_of_its_peers) {
  abstract_machine machine;
  std::size_t listed = 0;
  for_each_call([&](const pure_algorithm& a, const case_options& w) {
    const abstract_call p = make_abstract_call(w);
    const outcome all = machine.run(p, write_all(a.write, p), {.record = true});
    peer_schedules peers(a.write, w);
    const int rank = w.ranks / 2;
    for (int peer = 0; peer < w.ranks; ++peer) {
      std::vector<peer_message> expected;
      int round = 0;
      for (const traced_round& r : all.recorded[static_cast<std::size_t>(peer)])
        append_messages(r, round++, expected);
      std::erase_if(expected, [&](const peer_message& m) { return m.peer != rank; });
      const auto found = peers.transfers(peer, rank);
      ASSERT_EQ(found.size(), expected.size()) << a.name << ", " << p.text() << ", rank " << peer;
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_TRUE(found[i].round == expected[i].round && found[i].what == expected[i].what &&
                    found[i].sent == expected[i].sent &&
                    (!found[i].known || found[i].count == expected[i].count))
            << a.name << ", " << p.text() << ", rank " << peer << ", message " << i << ": " << found[i].count
            << " for " << expected[i].count;
      listed += found.size();
    }
  });
  EXPECT_GT(listed, 10000u);
}

// --- faults, on more ranks than can be executed together

pure_algorithm made(collective what, void (*write)(const shape&, builder&), std::string_view rounds,
                    std::string_view bytes) {
  pure_algorithm a;
  a.name = "test/made";
  a.what = what;
  a.rounds = rounds;
  a.bytes = bytes;
  a.scratch = "0";
  a.write = write;
  return a;
}

std::string found(const pure_algorithm& a, int ranks = 65536, int rank = 7) {
  abstract_machine machine;
  const rank_proof all = prove_rank(a, ranks, rank, machine);
  EXPECT_GT(all.calls.tried, 0u);
  return all.findings.empty() ? "" : all.findings[0].what.what;
}

// allgather around the ring, with mistakes
enum class mistake { none, peer, block, twice, overlap, unwritten, far_peer };
template <mistake M>
void ring(const shape& s, builder& b) {
  const int p = s.size, next = (s.rank + 1) % p, prev = (s.rank + p - 1) % p;
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.rank));
  b.loop(p - 1, [&] {
    const index mine = at(s.rank, -1, p), theirs = at(s.rank - 1, -1, p);
    place target = block(buffer::output, theirs);
    if (M == mistake::block && s.rank == 7) target = block(buffer::output, at(p, 0, 0));
    if (M == mistake::overlap) target = block(buffer::output, mine);
    const int to = M == mistake::peer && s.rank == 6 ? (next + 1) % p : M == mistake::far_peer ? p : next;
    b.exchange(to, block(buffer::output, mine), prev, target);
  });
  if (M == mistake::twice && s.rank == 6) {
    b.round();
    b.send(next, block(buffer::output, 0));
  }
  if (M == mistake::unwritten && s.rank == 7) {
    b.round();
    b.scratch(buffer::scratch0, 1);
    b.copy(whole(buffer::scratch0), block(buffer::output, 0));
  }
}

TEST(proof_of_one_rank, finds_each_mistake) {
  const auto with = [](void (*write)(const shape&, builder&)) {
    return found(made(collective::allgather, write, "p - 1", "b * (p - 1)"));
  };
  EXPECT_EQ(with(ring<mistake::none>), "");
  EXPECT_TRUE(contains(with(ring<mistake::peer>), "has no matching step"));
  EXPECT_TRUE(contains(with(ring<mistake::block>), "where it has"));
  EXPECT_TRUE(contains(with(ring<mistake::twice>), "rank 6 sends in its round"));
  EXPECT_TRUE(contains(with(ring<mistake::overlap>), "collide"));
  EXPECT_TRUE(contains(with(ring<mistake::unwritten>), "not yet written"));
  EXPECT_TRUE(contains(with(ring<mistake::far_peer>), "there is no rank 65536"));
}

TEST(proof_of_one_rank, compares_lengths_and_order) {
  // Rank 7 sends two blocks to rank 8, which expects them in the other order.
  const auto write = [](const shape& s, builder& b) {
    if (s.rank == 7) {
      b.send(8, blocks(buffer::input, 0, 1));
      b.send(8, blocks(buffer::input, 0, 0));
    }
    if (s.rank == 8) {
      b.recv(7, blocks(buffer::output, 0, 0));
      b.recv(7, blocks(buffer::output, 0, 1));
    }
  };
  EXPECT_TRUE(contains(found(made(collective::scan, write, "2", "n")), "result is not written"));
  const auto sends_only = [](const shape& s, builder& b) {
    b.copy(whole(buffer::input), whole(buffer::output));
    if (s.rank == 7) {
      b.send(8, whole(buffer::input));
      b.send(8, blocks(buffer::input, 0, 0));
    }
    if (s.rank == 8) {
      b.scratch(buffer::scratch0, 1);
      b.recv(7, blocks(buffer::scratch0, 0, 0));
      b.recv(7, whole(buffer::scratch0));
    }
  };
  pure_algorithm a = made(collective::scan, sends_only, "2", "n");
  a.restrictions = restriction::not_in_place;
  EXPECT_TRUE(contains(found(a), "to rank 8, which expects 0 elements in its round 1"));
}

TEST(proof_of_one_rank, compares_costs_with_the_claims) {
  EXPECT_TRUE(contains(found(made(collective::allgather, ring<mistake::none>, "p - 2", "b * (p - 1)")),
                       "Rounds: p - 2 is 65534 here, but this rank alone takes 65535"));
  EXPECT_TRUE(contains(found(made(collective::allgather, ring<mistake::none>, "p - 1", "b")),
                       "this rank alone sends"));
  EXPECT_TRUE(
      contains(found(made(collective::allgather, ring<mistake::none>, "p - 1", "nonsense")), "nonsense"));
}

TEST(proof_of_one_rank, compares_received_bytes_with_the_claims) {
  const auto gather = [](const shape& s, builder& b) {
    if (s.rank != s.root) return b.send(s.root, whole(buffer::input));
    b.loop(s.root, [&] { b.recv(at(0, 1), block(buffer::output, at(0, 1))); });
    b.loop(s.size - 1 - s.root, [&] { b.recv(at(s.root + 1, 1), block(buffer::output, at(s.root + 1, 1))); });
    if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.root));
  };
  // Rank 7 is the root of some calls, where it sends nothing.
  const auto with = [&](std::string_view bytes) {
    return found(made(collective::gather, gather, "p - 1", bytes));
  };
  EXPECT_EQ(with("b * (p - 1)"), "");
  EXPECT_TRUE(contains(with("b"), "Bytes: b is")) << with("b");
  EXPECT_TRUE(contains(with("b"), "but this rank alone receives")) << with("b");
}

TEST(proof_of_one_rank, refuses_a_put) {
  const auto write = [](const shape& s, builder& b) {
    b.put((s.rank + 1) % s.size, whole(buffer::input), whole(buffer::output));
  };
  EXPECT_TRUE(
      contains(found(made(collective::allreduce, write, "1", "n"), 16, 3), "only a run of all ranks"));
}

TEST(proof_of_one_rank, compares_all_peers_of_a_root) {
  for (const pure_algorithm* a : catalogue()) {
    if (a->name != "bcast/linear") continue;
    abstract_machine machine;
    const rank_proof all = prove_rank(*a, 65536, 0, machine);
    EXPECT_TRUE(all.findings.empty());
    EXPECT_GE(all.peers.all, 65535u);
    EXPECT_EQ(all.peers.all, all.peers.tried);
  }
}

}  // namespace
}  // namespace tutti::proof

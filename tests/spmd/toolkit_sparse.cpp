// SPDX-License-Identifier: Apache-2.0
//
// Tests sparse all-to-all against its definition: few and many messages, none, several for one
// rank, large ones, and many consecutive exchanges. Also tests callbacks that communicate or throw,
// and errors.
#include <array>
#include <map>
#include <span>
#include <unordered_map>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/sparse.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

using message = std::pair<int, std::vector<int>>;

// How many messages `from` sends to `to` in an exchange, and their contents.
int messages(int kind, int from, int to, int p) {
  switch (kind) {
    case 0:  // a few each
      return (from * 7 + to * 5) % 11 == 0 ? 1 : 0;
    case 1:  // none
      return 0;
    case 2:  // all to all, itself included
      return 1;
    case 3:  // all to one, several each
      return to == p / 2 ? 1 + from % 3 : 0;
    case 4:  // one to all
      return from == p - 1 ? 2 : 0;
    default:  // only to itself
      return from == to ? 1 : 0;
  }
}
constexpr int kinds = 6;

std::vector<int> contents(int kind, int from, int to, int number) {
  // Some messages are empty.
  const int n = kind == 0 && (from + to) % 4 == 0 ? 30000 : (from + to * 3 + number) % 5;
  std::vector<int> v;
  for (int i = 0; i < n; ++i) v.push_back(from * 1000 + to * 10 + number * 100000 + i);
  return v;
}

std::vector<message> sent(int kind, int from, int p) {
  std::vector<message> all;
  for (int number = 0; number < 3; ++number)
    for (int to = p - 1; to >= 0; --to)
      if (number < messages(kind, from, to, p)) all.emplace_back(to, contents(kind, from, to, number));
  return all;
}
std::vector<message> expected(int kind, int to, int p) {
  std::vector<message> all;
  for (int from = 0; from < p; ++from)
    for (int number = 0; number < messages(kind, from, to, p); ++number)
      all.emplace_back(from, contents(kind, from, to, number));
  return all;
}

void exchange_all(communicator& world, sparse_communicator& sparse, int kind) {
  const int p = world.size(), me = world.rank();
  const auto out = sent(kind, me, p), right = expected(kind, me, p);
  check.that(sparse.alltoallv(out) == right, "returned");
  check.that(sent(kind, me, p) == out, "messages changed");

  // By callback; messages of each source come in order.
  std::map<int, std::vector<std::vector<int>>> by_source, by_definition;
  for (const auto& [from, v] : right) by_definition[from].push_back(v);
  sparse.alltoallv(out, [&](int from, std::vector<int> v) { by_source[from].push_back(std::move(v)); });
  check.that(by_source == by_definition, "called back");
}

void containers(communicator& world, sparse_communicator& sparse) {
  const int p = world.size(), me = world.rank(), next = (me + 1) % p, before = (me + p - 1) % p;
  const std::vector<message> right{{before, {before, 1}}};
  check.that(sparse.alltoallv(std::map<int, std::vector<int>>{{next, {me, 1}}}) == right);
  check.that(sparse.alltoallv(std::unordered_map<std::size_t, std::array<int, 2>>{
                 {static_cast<std::size_t>(next), {me, 1}}}) == right);
  const std::vector<int> mine{me, 1};
  check.that(sparse.alltoallv(std::vector<std::tuple<int, std::span<const int>>>{{next, mine}}) == right);
  const auto text = sparse.alltoallv(std::map<int, std::string>{{0, "from " + std::to_string(me)}});
  check.equal(text.size(), static_cast<std::size_t>(me == 0 ? p : 0));
  for (const auto& [from, chars] : text)
    check.equal(std::string(chars.begin(), chars.end()), "from " + std::to_string(from));
  check.that(sparse_alltoallv(world, std::map<int, std::vector<int>>{{next, {me, 1}}}) == right);
}

// Consecutive exchanges while ranks are late in turn: no message may arrive one exchange too early.
void one_after_another(communicator& world, sparse_communicator& sparse) {
  const int p = world.size(), me = world.rank();
  for (int round = 0; round < 40; ++round) {
    std::map<int, std::vector<int>> out;
    if (me % (round % 4 + 1) == 0) out[(me + round) % p] = {round, me};
    int came = 0;
    sparse.alltoallv(out, [&](int from, const std::vector<int>& v) {
      ++came;
      check.equal(v, std::vector<int>{round, from});
      check.equal((from + round) % p, me);
    });
    const int from = ((me - round) % p + p) % p;
    check.equal(came, from % (round % 4 + 1) == 0 ? 1 : 0);
  }
  world.barrier();
}

// Other operations in progress must not be disturbed, and callbacks may use other communicators.
void beside_others(communicator& world, sparse_communicator& sparse) {
  const int p = world.size(), me = world.rank();
  auto sum = world.iallreduce(send_buf(me), op(std::plus<>{}));
  sparse_communicator other(world);
  int inner = 0;
  sparse.alltoallv(std::map<int, std::vector<int>>{{(me + 1) % p, {me}}}, [&](int, std::vector<int> v) {
    // All ranks are called exactly once here, so all reach this call.
    inner = other.alltoallv(std::map<int, std::vector<int>>{{v[0], {me}}})[0].second[0];
  });
  check.equal(inner, (me + 1) % p);
  check.equal(sum.wait()[0], p * (p - 1) / 2);
}

void misuse(communicator& world, sparse_communicator& sparse) {
  const int p = world.size(), me = world.rank();
  check.throws<usage_error>(
      [&] {
        (void)sparse.alltoallv(std::vector<message>{{p, {1}}});
      },
      {"sparse_communicator::alltoallv", "messages", ("go to rank " + std::to_string(p)).c_str()});
  check.throws<usage_error>(
      [&] {
        (void)sparse.alltoallv(std::vector<message>{{0, {1}}, {-1, {1}}});
      },
      {"sparse_communicator::alltoallv", "messages", "go to rank -1"});
  // One rank's callback throws; its other messages are discarded, and all ranks continue.
  std::vector<message> out;
  for (int r = 0; r < p; ++r) out.emplace_back(r, std::vector<int>{me});
  int called = 0;
  const auto call_back = [&](int, const std::vector<int>&) {
    ++called;
    if (me == p - 1) throw std::runtime_error("no more");
  };
  if (me == p - 1)
    check.throws<std::runtime_error>([&] { sparse.alltoallv(out, call_back); }, {"no more"});
  else
    sparse.alltoallv(out, call_back);
  check.equal(called, me == p - 1 ? 1 : p);
  exchange_all(world, sparse, 2);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    sparse_communicator sparse(world);
    for (int kind = 0; kind < kinds; ++kind)
      cases("kind_" + std::to_string(kind), [&] { exchange_all(world, sparse, kind); });
    cases("containers", [&] { containers(world, sparse); });
    cases("one_after_another", [&] { one_after_another(world, sparse); });
    cases("beside_others", [&] { beside_others(world, sparse); });
    cases("misuse", [&] { misuse(world, sparse); });
  });
}

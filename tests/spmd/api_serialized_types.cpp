// SPDX-License-Identifier: Apache-2.0
//
// Tests the default serialization format for each kind of type. Also tests messages that contain no
// such object, some randomly damaged. Reading them must give an object or a mismatch_error.
#include <random>
#include <span>
#include <string_view>
#include <unordered_set>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/failure_report.hpp"
#include "support/program.hpp"
#include "support/serialized_objects.hpp"

using namespace tutti;
using namespace tests::objects;
using tests::check;

namespace {

// Sends an object to the own rank and returns what arrives.
template <class T>
T echo(communicator& comm, const T& x) {
  auto sent = comm.isend(send_buf(as_serialized(x)), destination(comm.rank()), tag(9));
  T got = comm.recv(recv_buf(as_deserializable<T>()), source(comm.rank()), tag(9));
  sent.wait();
  return got;
}
template <class T>
std::vector<std::byte> message_of(communicator& comm, const T& x) {
  auto sent = comm.isend(send_buf(as_serialized(x)), destination(comm.rank()), tag(9));
  std::vector<std::byte> got = comm.recv<std::byte>(source(comm.rank()), tag(9));
  sent.wait();
  return got;
}

void kinds(communicator& comm) {
  const int r = comm.rank();
  const auto same = [&](const auto& x) { check.that(echo(comm, x) == x); };
  same(r);
  same(r % 2 == 0);
  same(std::string(1000, 'x'));
  same(std::string());
  same(std::vector<bool>{true, false});
  same(std::vector<point>{{1, 2}, {3, r * 1.0}});
  same(std::deque<int>{1, 2, r});
  same(std::list<std::string>{"a", "bc"});
  same(std::array<std::string, 3>{"x", "", "z"});
  same(std::array<int, 3>{1, 2, 3});
  same(std::set<int>{3, 1, 2});
  same(std::multiset<int>{1, 1, 2});
  same(std::unordered_set<std::string>{"a", "b"});
  same(table_of(r));
  same(std::multimap<int, std::string>{{1, "a"}, {1, "b"}});
  same(std::unordered_map<std::string, double>{{"a", 0.5}});
  same(std::pair<std::string, int>{"p", 1});
  same(std::tuple<>());
  same(std::optional<int>());
  same(std::optional<int>(r));
  same(std::optional<std::vector<std::string>>({"in", "it"}));
  same(std::variant<int, std::string>("text"));
  same(std::variant<std::monostate, int>());
  same(color::green);
  same(city_of(r));
  same(anything_of(r));
  same(std::vector<empty>(5));
  same(std::map<int, std::vector<empty>>{{1, std::vector<empty>(3)}, {2, {}}});
  same(empty());
  same(std::vector<std::vector<std::vector<int>>>{{{1}, {}}, {}, {{2, 3}}});
  same(dynamic_array<bool>(3));
  tree t{1, {}, nullptr};
  t.children.resize(2);
  t.children[1].value = r;
  t.children[1].only = std::make_unique<tree>();
  t.children[1].only->value = 7;
  same(t);
  const auto pointer = echo(comm, std::make_unique<std::string>("there"));
  check.equal(*pointer, std::string("there"));
  check.that(echo(comm, std::unique_ptr<int>()) == nullptr);
  const int five = 5;
  const cached c = echo(comm, cached{3, &five});
  check.that(c.value == 3 && c.cache == nullptr);
  check.equal(message_of(comm, std::vector<int>(10)).size(), 48u);
  check.equal(message_of(comm, empty()).size(), 1u);
}

// A view arrives as a type that owns its elements. Containers of the same kind are compatible.
void views(communicator& comm) {
  const std::string text = "a view of this";
  const int me = comm.rank();
  comm.bsend(send_buf(as_serialized(std::string_view(text).substr(2, 4))), destination(me));
  check.equal(comm.recv(recv_buf(as_deserializable<std::string>())), std::string("view"));
  const std::vector<std::string> words = {"a", "b", "c"};
  comm.bsend(send_buf(as_serialized(std::span(words).last(2))), destination(me));
  check.equal(comm.recv(recv_buf(as_deserializable<std::list<std::string>>())).back(), std::string("c"));
  const auto all = comm.allgather(send_buf(as_serialized(std::string_view(text).substr(0, 1))),
                                  recv_buf(as_deserializable<std::vector<std::string>>()));
  check.that(all == std::vector<std::string>(static_cast<std::size_t>(comm.size()), "a"));
}

void wrong_messages(communicator& comm) {
  const int me = comm.rank();
  // The maximum depth, and one level more.
  tree root{0, {}, nullptr};
  tree* end = &root;
  for (int i = 1; i < detail::max_object_depth; ++i) {
    end->only = std::make_unique<tree>();
    end = end->only.get();
  }
  check.that(echo(comm, root) == root);
  const auto deep = message_of(comm, root);
  end->only = std::make_unique<tree>();
  check.throws<usage_error>([&] { comm.send(send_buf(as_serialized(root)), destination(me)); },
                            {"send on", "send_buf", "levels of nested objects"});
  auto deeper = deep;
  deeper.back() = std::byte{1};
  deeper.insert(deeper.end(), deep.begin(), deep.end());
  const auto reading = [&](const std::vector<std::byte>& bytes, std::initializer_list<const char*> words,
                           auto object) {
    auto sent = comm.isend(send_buf(bytes), destination(me), tag(9));
    check.throws<mismatch_error>([&] { comm.recv(recv_buf(as_deserializable(object)), source(me), tag(9)); },
                                 words);
    sent.wait();
  };
  reading(deeper, {"recv on", "recv_buf", "levels of objects are nested"}, tree{});
  reading({}, {"recv_buf", "ends too soon"}, table{});
  reading({std::byte{2}}, {"0 or 1"}, true);
  reading(std::vector<std::byte>(9), {"1 bytes of the message are left"}, std::string());
  reading(std::vector<std::byte>(8, std::byte{0xff}), {"the message announces"}, std::vector<empty>());
  reading(std::vector<std::byte>(8, std::byte{0xff}), {"no such alternative"},
          std::variant<int, std::string>());
  std::string good = "good";
  auto under_way = comm.isend(send_buf(as_serialized(good)), destination(me), tag(9));
  auto coming = comm.irecv(recv_buf(as_deserializable<table>()), source(me), tag(9));
  check.throws<mismatch_error>([&] { coming.wait(); }, {"irecv on", "recv_buf"});
  under_way.wait();
  comm.barrier();
}

// Damages a message at random, in several ways.
std::vector<std::byte> spoiled(std::vector<std::byte> bytes, std::mt19937_64& draw) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(draw() % n); };
  for (std::size_t times = 1 + below(3); times != 0; --times) {
    const std::size_t at = bytes.empty() ? 0 : below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.resize(bytes.size() + below(20), static_cast<std::byte>(draw()));
        break;
      case 2:
        if (!bytes.empty()) bytes[at] = static_cast<std::byte>(draw());
        break;
      case 3:
        if (!bytes.empty()) bytes[at] ^= static_cast<std::byte>(1u << below(8));
        break;
      case 4:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), below(9),
                     static_cast<std::byte>(draw()));
        break;
      default:
        for (std::size_t i = at; i < bytes.size() && i < at + 8; ++i) bytes[i] = std::byte{0xff};
    }
  }
  return bytes;
}

template <class T>
int read_spoiled(communicator& comm, const T& x, std::mt19937_64& draw, int times) {
  const auto good = message_of(comm, x);
  int refused = 0;
  for (int i = 0; i < times; ++i) {
    const auto bytes = spoiled(good, draw);
    auto sent = comm.isend(send_buf(bytes), destination(comm.rank()), tag(9));
    T got{};
    try {
      comm.recv(recv_buf(as_deserializable(got)), source(comm.rank()), tag(9));
      sent.wait();
      echo(comm, got);  // the object that was read must be valid
    } catch (const mismatch_error& e) {
      check.that(e.parameter() == "recv_buf" && e.operation() == "recv" && e.rank() == comm.rank());
      sent.wait();
      ++refused;
    }
  }
  return refused;
}

void fuzz(communicator& comm) {
  std::mt19937_64 draw(tests::selected_seed().value_or(20) + static_cast<unsigned>(comm.rank()));
  const int times = 150, r = comm.rank() % 6;
  tree t{1, std::vector<tree>(3), nullptr};
  t.children[1].only = std::make_unique<tree>();
  int refused = read_spoiled(comm, anything_of(r + 2), draw, times);
  refused += read_spoiled(comm, t, draw, times);
  refused += read_spoiled(comm, table_of(r + 3), draw, times);
  refused += read_spoiled(comm, std::vector<empty>(9), draw, times);
  refused += read_spoiled(comm, std::vector<std::variant<bool, std::string>>{true, "x", false}, draw, times);
  check.that(refused > times && refused < 5 * times, "spoiled messages were all read, or all refused");
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& run) {
    run("kinds", [&] { kinds(comm); });
    run("views", [&] { views(comm); });
    run("wrong_messages", [&] { wrong_messages(comm); });
    run("fuzz", [&] { fuzz(comm); });
  });
}

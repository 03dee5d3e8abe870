// SPDX-License-Identifier: Apache-2.0
//
// Tests objects in cereal's archives: every archive in messages and in each collective, types that
// only cereal can serialize, and unreadable messages.
#include <list>

#include <cereal/archives/binary.hpp>
#include <cereal/archives/json.hpp>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/archives/xml.hpp>
#include <cereal/types/list.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <tutti/cereal.hpp>
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

// Has separate load and save functions, as cereal allows, and a shared pointer. The default format
// supports neither.
struct document {
  std::string title;
  std::map<int, std::vector<std::string>> pages;
  std::shared_ptr<int> one, same;
  template <class Archive>
  void save(Archive& a) const {
    a(title, pages, one, same);
  }
  template <class Archive>
  void load(Archive& a) {
    a(title, pages, one, same);
  }
};
bool operator==(const document& a, const document& b) {
  return a.title == b.title && a.pages == b.pages && !a.one == !b.one && (!a.one || *a.one == *b.one) &&
         (a.one == a.same) == (b.one == b.same);
}

document document_of(int r) {
  document d{"of rank " + std::to_string(r), {}, {}, {}};
  for (int i = 0; i < r % 4; ++i) d.pages[i] = {static_cast<std::size_t>(10 * i), "line"};
  if (r % 2 == 1) d.one = d.same = std::make_shared<int>(r);
  return d;
}
std::vector<document> documents(int p) {
  std::vector<document> all;
  for (int r = 0; r < p; ++r) all.push_back(document_of(r));
  return all;
}

template <class Out, class In>
void calls(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  const document mine = document_of(me), theirs = document_of(left);
  const auto all = documents(p);
  comm.bsend(send_buf(as_serialized<Out>(mine)), destination(right));
  check.that(comm.recv(recv_buf(as_deserializable<document, In>()), source(left)) == theirs);
  {
    document into;
    auto coming = comm.irecv(recv_buf(as_deserializable<In>(into)), source(left));
    comm.isend(send_buf(as_serialized<Out>(mine)), destination(right)).wait();
    coming.wait();
    check.that(into == theirs);
  }
  check.that(comm.sendrecv(send_buf(as_serialized<Out>(mine)), destination(right), source(left)) == theirs);
  for (int q = 0; q < p; ++q) {
    document d = me == q ? mine : document{};
    comm.bcast(send_recv_buf(as_serialized<Out>(d)), root(q));
    check.that(d == document_of(q));
    check.that(comm.gather(send_buf(as_serialized<Out>(mine)), root(q)) ==
               (me == q ? all : std::vector<document>{}));
    check.that(comm.scatter(send_buf(as_serialized<Out>(all)), root(q)) == mine);
  }
  check.that(comm.iallgather(send_buf(as_serialized<Out>(mine))).wait() == all);
  const auto list = comm.allgather(send_buf(as_serialized<Out>(mine)),
                                   recv_buf(as_deserializable<std::list<document>, In>()));
  check.that(std::vector<document>(list.begin(), list.end()) == all);
  check.that(comm.alltoall(send_buf(
                 as_serialized<Out>(std::vector<document>(static_cast<std::size_t>(p), mine)))) == all);
}

// Reads a message truncated at each position. The result is an object or an error; for a binary
// archive it is always an error.
template <class Out, class In>
void spoiled(communicator& comm, bool text) {
  const int me = comm.rank();
  const auto exchange = [&](const std::vector<char>& bytes, auto&& receive) {
    auto sent = comm.isend(send_buf(bytes), destination(me), tag(1));
    receive();
    sent.wait();
  };
  auto sent = comm.isend(send_buf(as_serialized<Out>(document_of(3))), destination(me), tag(1));
  const std::vector<char> good = comm.recv<char>(source(me), tag(1));
  sent.wait();
  const auto read = [&] {
    check.throws<mismatch_error>(
        [&] { comm.recv(recv_buf(as_deserializable<document, In>()), source(me), tag(1)); },
        {"recv on", "recv_buf"});
  };
  for (std::size_t n = 0; n < (text ? good.size() / 2 : good.size()); n += 3) {
    std::vector<char> cut = good;
    cut.resize(n);
    exchange(cut, read);
  }
  if (text) return;
  std::vector<char> longer = good;
  longer.push_back('x');
  exchange(longer, read);
}

template <class Out, class In>
void archive(communicator& comm, tests::cases& run, const std::string& name, bool text) {
  run(name + "/calls", [&] { calls<Out, In>(comm); });
  run(name + "/spoiled", [&] { spoiled<Out, In>(comm, text); });
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& run) {
    archive<cereal::BinaryOutputArchive, cereal::BinaryInputArchive>(comm, run, "binary", false);
    archive<cereal::PortableBinaryOutputArchive, cereal::PortableBinaryInputArchive>(
        comm, run, "portable_binary", false);
    archive<cereal::JSONOutputArchive, cereal::JSONInputArchive>(comm, run, "json", true);
    archive<cereal::XMLOutputArchive, cereal::XMLInputArchive>(comm, run, "xml", true);
  });
}

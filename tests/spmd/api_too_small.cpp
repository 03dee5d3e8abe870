// SPDX-License-Identifier: Apache-2.0
//
// Tests containers that are too small on the receiving ranks while the others continue. The
// receiver throws, and the following calls must not receive leftover data.
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

// `call(out, base)` receives into `out` on the ranks where `receives` is true; `expected(base)` is
// the result.
template <class Call, class Expected>
void refused_then_right(const char* operation, bool receives, const Call& call, const Expected& expected) {
  for (int round = 0; round < 3; ++round) {
    ints small;
    if (receives)
      check.throws<usage_error>([&] { call(small, 1000 * round); }, {operation, "_buf", "holds 0 elements"});
    else
      call(small, 1000 * round);
    check.equal(small, ints{});
    const ints wanted = expected(1000 * round + 7);
    ints enough(receives ? wanted.size() : 0, -1);
    call(enough, 1000 * round + 7);
    if (receives) check.equal(enough, wanted);
  }
}

void to_the_root(const communicator& world) {
  const int p = world.size(), me = world.rank();
  for (int q = 0; q<p; q += p> 3 ? 3 : 1) {
    const auto all = [&](int base) {
      ints v;
      for (int r = 0; r < p; ++r) v.push_back(base + r);
      return v;
    };
    const ints ones(static_cast<std::size_t>(p), 1);
    refused_then_right(
        "gather", me == q,
        [&](ints& out, int base) { world.gather(send_buf(base + me), recv_buf(out), root(q)); }, all);
    refused_then_right(
        "igather", me == q,
        [&](ints& out, int base) { world.igather(send_buf(base + me), recv_buf(out), root(q)).wait(); }, all);
    refused_then_right(
        "gatherv", me == q,
        [&](ints& out, int base) { world.gatherv(send_buf(base + me), recv_buf(out), root(q)); }, all);
    refused_then_right(
        "gatherv", me == q,
        [&](ints& out, int base) {
          world.gatherv(send_buf(base + me), recv_buf(out), recv_counts(ones), root(q));
        },
        all);
    refused_then_right(
        "reduce", me == q,
        [&](ints& out, int base) {
          world.reduce(send_buf({base + me, base}), recv_buf(out), op(std::plus<>{}), root(q));
        },
        [&](int base) {
          return ints{p * base + p * (p - 1) / 2, p * base};
        });
  }
}

void from_the_root(const communicator& world) {
  const int p = world.size(), me = world.rank();
  for (int q = 0; q<p; q += p> 3 ? 3 : 1) {
    refused_then_right(
        "bcast", me != q,
        [&](ints& out, int base) {
          ints own{base, base + 1, base + 2};
          world.bcast(send_recv_buf(me == q ? own : out), root(q));
        },
        [](int base) {
          return ints{base, base + 1, base + 2};
        });
    const auto mine = [&](int base) { return ints{base + me}; };
    const auto rows = [&](int base) {
      ints v;
      for (int r = 0; r < p; ++r) v.push_back(base + r);
      return v;
    };
    refused_then_right(
        "scatter", true,
        [&](ints& out, int base) { world.scatter(send_buf(rows(base)), recv_buf(out), root(q)); }, mine);
    const ints ones(static_cast<std::size_t>(p), 1);
    refused_then_right(
        "scatterv", true,
        [&](ints& out, int base) {
          world.scatterv(send_buf(rows(base)), send_counts(ones), recv_buf(out), root(q));
        },
        mine);
  }
}

// All ranks know the counts, and one rank has too little memory.
void among_all(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const int alone = p - 1;
  const auto all = [&](int base) {
    ints v;
    for (int r = 0; r < p; ++r) v.push_back(base + r);
    return v;
  };
  const auto into = [&](ints& out, const auto& call) {
    ints enough(static_cast<std::size_t>(p));
    call(me == alone ? out : enough);
  };
  refused_then_right(
      "allgatherv", me == alone,
      [&](ints& out, int base) {
        into(out, [&](ints& to) { world.allgatherv(send_buf(base + me), recv_buf(to)); });
      },
      all);
  const ints ones(static_cast<std::size_t>(p), 1);
  refused_then_right(
      "alltoallv", me == alone,
      [&](ints& out, int base) {
        const ints row(static_cast<std::size_t>(p), base + me);
        into(out, [&](ints& to) { world.alltoallv(send_buf(row), send_counts(ones), recv_buf(to)); });
      },
      all);
  // Nothing is exchanged here, and the counts are right.
  refused_then_right(
      "allgatherv", me == alone,
      [&](ints& out, int base) {
        into(out, [&](ints& to) { world.allgatherv(send_buf(base + me), recv_counts(ones), recv_buf(to)); });
      },
      all);
  refused_then_right(
      "alltoallv", me == alone,
      [&](ints& out, int base) {
        const ints row(static_cast<std::size_t>(p), base + me);
        into(out, [&](ints& to) {
          world.alltoallv(send_buf(row), send_counts(ones), recv_counts(ones), recv_buf(to));
        });
      },
      all);
  // The same mistake on all ranks.
  ints none;
  check.throws<usage_error>([&] { world.allgatherv(send_buf(me), recv_counts(ones), recv_buf(none)); },
                            {"allgatherv", "recv_buf"});
  check.equal(world.allgatherv(send_buf(me), recv_counts(ones)), all(0));
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("to_the_root", [&] { to_the_root(world); });
    cases("from_the_root", [&] { from_the_root(world); });
    cases("among_all", [&] { among_all(world); });
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests a program that is ported from MPI to tutti/kamping.hpp call by call. On one communicator
// MPI sends some messages and kamping receives them, and the reverse. Each must match as if both
// were MPI's.
#include <numeric>

#include "tutti/serialization.hpp"
#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

std::vector<int> numbers(std::size_t n, int from) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), from);
  return v;
}

// Lengths below and above the eager limits of MPI and of tutti.
constexpr std::size_t lengths[] = {0, 200, 300, 100000};

struct ring {
  const Communicator<>& comm;
  MPI_Comm native = comm.mpi_communicator();
  int right = static_cast<int>(comm.rank_shifted_cyclic(1));
  int left = static_cast<int>(comm.rank_shifted_cyclic(-1));
};

template <class Send>
void to_mpi(const ring& r, std::size_t n, int tag, bool wild, Send&& send) {
  std::vector<int> got(n + 3, -1);
  MPI_Request request;
  MPI_Irecv(got.data(), static_cast<int>(got.size()), MPI_INT, wild ? MPI_ANY_SOURCE : r.left,
            wild ? MPI_ANY_TAG : tag, r.native, &request);
  const std::vector<int> mine = numbers(n, r.comm.rank_signed());
  send(mine);
  MPI_Status status;
  MPI_Wait(&request, &status);
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  check.equal(count, static_cast<int>(n));
  check.equal(status.MPI_SOURCE, r.left);
  check.equal(status.MPI_TAG, tag);
  got.resize(n);
  check.equal(got, numbers(n, r.left));
}

void sent_by_kamping(const Communicator<>& comm) {
  const ring r{comm};
  int tag_used = 100;
  for (const std::size_t n : lengths)
    for (const bool wild : {false, true}) {
      const int t = ++tag_used;
      const auto each = [&](auto&& send) {
        to_mpi(r, n, t, wild, send);
        comm.barrier();  // the next wildcard is for the next message
      };
      each([&](const auto& v) { comm.send(send_buf(v), destination(r.right), tag(t)); });
      each([&](const auto& v) { comm.ssend(send_buf(v), destination(r.right), tag(t)); });
      each([&](const auto& v) { comm.bsend(send_buf(v), destination(r.right), tag(t)); });
      each([&](const auto& v) { comm.isend(send_buf(v), destination(r.right), tag(t)).wait(); });
      each([&](const auto& v) {
        Request request_of_send;
        comm.issend(send_buf(v), destination(r.right), tag(t), request(request_of_send));
        request_of_send.wait();
      });
      each([&](const auto& v) {
        RequestPool pool;
        comm.isend(send_buf(v), destination(r.right), tag(t), request(pool.get_request()));
        pool.wait_all();
      });
      each([&](const auto& v) {
        comm.send(send_buf(v), destination(r.right), tag(t), send_mode(send_modes::synchronous));
      });
    }
}

template <class Receive>
void from_mpi(const ring& r, std::size_t n, int tag, Receive&& receive) {
  const std::vector<int> mine = numbers(n, r.comm.rank_signed());
  MPI_Request request;
  MPI_Isend(mine.data(), static_cast<int>(n), MPI_INT, r.right, tag, r.native, &request);
  std::vector<int> got = receive();
  check.equal(got, numbers(n, r.left));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void received_by_kamping(const Communicator<>& comm) {
  const ring r{comm};
  int t = 200;
  for (const std::size_t n : lengths) {
    from_mpi(r, n, ++t, [&] { return comm.recv<int>(source(r.left), tag(t)); });
    from_mpi(r, n, ++t, [&] {
      std::vector<int> v(n + 5);
      auto status = comm.recv(recv_buf(v), tag(t), status_out()).extract_status();
      check.equal(status.source(), static_cast<std::size_t>(r.left));
      check.equal(status.tag(), t);
      check.equal(status.template count<int>(), n);
      v.resize(n);
      return v;
    });
    from_mpi(r, n, ++t, [&] {
      std::vector<int> v(n);
      comm.recv(recv_buf(v), recv_count(n), source(r.left), tag(t));
      return v;
    });
    from_mpi(r, n, ++t, [&] { return comm.irecv<int>(source(r.left), tag(t)).wait(); });
    from_mpi(r, n, ++t, [&] {
      std::vector<int> v(n);
      Request pending;
      comm.irecv(recv_buf(v), recv_count(n), tag(t), request(pending));
      const Status status = pending.wait(status_out());
      check.equal(status.source_signed(), r.left);
      check.equal(status.count(MPI_INT), n);
      return v;
    });
    from_mpi(r, n, ++t, [&] {
      for (;;)
        if (auto v = comm.try_recv<int>(source(r.left), tag(t))) return std::move(*v);
    });
    from_mpi(r, n, ++t, [&] {
      while (!comm.iprobe(source(r.left), tag(t))) {
      }
      const Status status = comm.probe(source(r.left), tag(t), status_out()).extract_status();
      std::vector<int> v(status.count<int>());
      MPI_Recv(v.data(), static_cast<int>(v.size()), MPI_INT, status.source_signed(), status.tag(), r.native,
               MPI_STATUS_IGNORE);  // the probe has left the message in the queue
      return v;
    });
    // Each side makes one half of a sendrecv.
    const std::vector<int> mine = numbers(n, comm.rank_signed());
    ++t;
    if (comm.rank() % 2 == 0) {
      check.equal(comm.sendrecv<int>(send_buf(mine), destination(r.right), source(r.left), tag(t)),
                  numbers(n, r.left));
    } else {
      std::vector<int> v(n);
      MPI_Sendrecv(mine.data(), static_cast<int>(n), MPI_INT, r.right, t, v.data(), static_cast<int>(n),
                   MPI_INT, r.left, t, r.native, MPI_STATUS_IGNORE);
      check.equal(v, numbers(n, r.left));
    }
  }
  comm.barrier();
}

// Receives that could match the same messages get them in the order in which they began, whichever
// library began them.
void in_order(const Communicator<>& comm) {
  const ring r{comm};
  constexpr int t = 300;
  std::vector<int> got(6, -1);
  Request by_kamping[3];
  MPI_Request by_mpi[3];
  for (std::size_t i = 0; i < 3; ++i) {
    comm.irecv(recv_buf(got[2 * i]), recv_count(1), source(r.left), tag(t), request(by_kamping[i]));
    MPI_Irecv(&got[2 * i + 1], 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : r.left, t, r.native, &by_mpi[i]);
  }
  comm.barrier();
  for (int i = 0; i < 6; ++i) {
    if (i % 3 == 0)
      MPI_Send(&i, 1, MPI_INT, r.right, t, r.native);
    else
      comm.bsend(send_buf(i), destination(r.right), tag(t));
  }
  MPI_Waitall(3, by_mpi, MPI_STATUSES_IGNORE);
  for (Request& each : by_kamping) each.wait();
  check.equal(got, numbers(6, 0));

  // Receives of unknown length: the order also holds among kamping's receives, and messages for
  // others stay.
  auto first = comm.irecv<int>(tag(t));
  std::vector<int> second(1, -1), third(1, -1);
  Request of_second, of_third;
  comm.irecv(recv_buf(second), recv_count(1), source(r.left), request(of_second), tag(t));
  comm.irecv(recv_buf(third), recv_count(1), source(r.left), tag(t + 1), request(of_third));
  comm.barrier();
  const int mine[] = {10, 11, 12, 13};
  const int tags_of[] = {t + 2, t + 1, t, t}, sent_as[] = {3, 2, 0, 1};
  MPI_Request sends[4];
  for (int i = 0; i < 4; ++i)
    MPI_Isend(mine + sent_as[i], 1, MPI_INT, r.right, tags_of[i], r.native, &sends[i]);
  of_third.wait();
  of_second.wait();
  check.equal(first.wait(), std::vector<int>{10});
  check.equal(second[0], 11);
  check.equal(third[0], 12);
  check.that(!comm.iprobe(source(r.left), tag(t)));
  int last = -1;
  MPI_Recv(&last, 1, MPI_INT, r.left, MPI_ANY_TAG, r.native, MPI_STATUS_IGNORE);
  check.equal(last, 13);
  MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
  comm.barrier();
}

// While kamping waits for a plain message, it progresses the rank's operations. Rank 0 sends when
// its sum is complete, which needs the parts of the others.
void progresses_other_operations(const Communicator<>& comm) {
  const std::vector<int> big(100000, 1);
  for (int i = 0; i < 3; ++i) {
    auto sum = comm.iallreduce(send_buf(big), op([](int a, int b) { return a + b; }, ops::commutative));
    if (comm.rank() == 0) {
      check.equal(sum.wait()[0], comm.size_signed());
      for (int to = 1; to < comm.size_signed(); ++to)
        MPI_Ssend(&i, 1, MPI_INT, to, 400, comm.mpi_communicator());
    } else {
      if (i == 2) comm.probe(source(0), tag(400));
      check.equal(comm.recv_single<int>(source(0), tag(400)), i);
      check.equal(sum.wait()[0], comm.size_signed());
    }
  }
  // The same if a message waits to be received.
  const std::vector<int> mine(100000, comm.rank_signed());
  auto sum = comm.iallreduce(send_buf(big), op([](int a, int b) { return a + b; }, ops::commutative));
  if (comm.rank() == 0) {
    sum.wait();
    std::vector<int> theirs(mine.size());
    for (int from = 1; from < comm.size_signed(); ++from) {
      MPI_Recv(theirs.data(), static_cast<int>(theirs.size()), MPI_INT, from, 401, comm.mpi_communicator(),
               MPI_STATUS_IGNORE);
      check.equal(theirs.back(), from);
    }
  } else {
    comm.ssend(send_buf(mine), destination(0), tag(401));
    sum.wait();
  }
  comm.barrier();
}

// A message that is too long throws, whether it arrives before or after the receive began. The
// program's error handler stays installed.
void too_long(const Communicator<>& comm) {
  const ring r{comm};
  const std::vector<int> mine = numbers(20, 0);
  for (const bool before : {true, false}) {
    // Open MPI 4.1 does not report truncation of a message to the own rank if the receive began
    // first.
    if (!before && comm.size() == 1) continue;
    std::vector<int> got(40, -1);
    Request pending;
    if (before) {
      comm.bsend(send_buf(mine), destination(r.right), tag(500));
      comm.probe(source(r.left), tag(500));
    }
    comm.irecv(recv_buf(got), recv_count(3), source(r.left), tag(500), request(pending));
    comm.barrier();
    if (!before) MPI_Send(mine.data(), 20, MPI_INT, r.right, 500, r.native);
    int code = MPI_SUCCESS;
    try {
      pending.wait();
    } catch (const MpiErrorException& e) {
      code = e.mpi_error_class();
    }
    check.equal(code, MPI_ERR_TRUNCATE);
    check.equal(std::accumulate(got.begin() + 20, got.end(), 0), -20);
    comm.barrier();
  }
  MPI_Errhandler now;
  MPI_Comm_get_errhandler(r.native, &now);
  check.that(now == MPI_ERRORS_ARE_FATAL);
  // A receive whose buffer is too small leaves the message where MPI finds it.
  MPI_Request request;
  MPI_Isend(mine.data(), 20, MPI_INT, r.right, 501, r.native, &request);
  std::vector<int> small(2);
  check.throws<MpiErrorException>([&] { comm.recv(recv_buf(small), tag(501)); }, {"recv_buf"});
  std::vector<int> got(20);
  MPI_Recv(got.data(), 20, MPI_INT, r.left, 501, r.native, MPI_STATUS_IGNORE);
  check.equal(got, mine);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  comm.barrier();
}

struct record {
  char kind;
  double value;
};

void types(const Communicator<>& comm) {
  const ring r{comm};
  MPI_Datatype column;
  MPI_Type_vector(2, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  const std::vector<int> matrix = {1, 2, 3, 4, 5, 6};
  std::vector<int> got(6, 0);
  MPI_Request request;
  MPI_Irecv(got.data(), 1, column, r.left, 600, r.native, &request);
  comm.send(send_buf(matrix), send_type(column), send_count(1), destination(r.right), tag(600));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check.equal(got, std::vector<int>{1, 0, 0, 4, 0, 0});
  MPI_Isend(matrix.data() + 1, 1, column, r.right, 601, r.native, &request);
  got.assign(6, 0);
  comm.recv(recv_buf(got), recv_type(column), recv_count(1), source(r.left), tag(601));
  check.equal(got, std::vector<int>{2, 0, 0, 5, 0, 0});
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);

  const record mine{'k', 0.5 + comm.rank_signed()};
  MPI_Isend(&mine, 1, mpi_datatype<record>(), r.right, 602, r.native, &request);
  const record theirs = comm.recv_single<record>(source(r.left), tag(602));
  check.that(theirs.kind == 'k' && theirs.value == 0.5 + r.left);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  const std::vector<std::string> words = {"one", "two", std::string(3000, 'x')};
  auto sent = comm.isend(send_buf(as_serialized(words)), destination(r.right), tag(603));
  auto received =
      comm.recv(recv_buf(as_deserializable<std::vector<std::string>>()), source(r.left), tag(603));
  sent.wait();
  check.that(received == words);
}

void null_ranks(const Communicator<>& comm) {
  comm.send(send_buf(1), destination(MPI_PROC_NULL));
  check.that(comm.recv<int>(source(rank::null)).empty());
  check.that(!comm.iprobe());
}

void all(const Communicator<>& comm) {
  sent_by_kamping(comm);
  received_by_kamping(comm);
  in_order(comm);
  progresses_other_operations(comm);
  too_long(comm);
  types(comm);
  null_ranks(comm);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Communicator comm;
    all(comm);
    // Communicators other than the world: parts of it, and those that the program made.
    const Communicator half = comm.split(comm.rank_signed() % 2, -comm.rank_signed());
    all(half);
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    {
      const Communicator own(made);
      received_by_kamping(own);
      // A message on one communicator is invisible on another.
      own.bsend(send_buf(1), destination(own.rank()), tag(7));
      own.probe(tag(7));
      check.that(!comm.iprobe(tag(7)) && !half.iprobe(tag(7)));
      int one = 0;
      MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 7, made, MPI_STATUS_IGNORE);
      check.equal(one, 1);
    }
    MPI_Comm_free(&made);
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests point-to-point messages in KaMPIng's style: every mode, probes, statuses, requests and
// pools of them. Also tests the exceptions in cases where KaMPIng aborts.
#include <optional>

#include "support/rejected_bcast.hpp"
#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

enum class Tag { halo = 3, other };

void ring(const Communicator<>& comm) {
  const int me = comm.rank_signed();
  const std::size_t right = comm.rank_shifted_cyclic(1), left = comm.rank_shifted_cyclic(-1);
  const std::vector<int> mine(comm.rank() + 1, me), theirs(left + 1, static_cast<int>(left));
  {
    auto sent = comm.isend(send_buf(mine), destination(right), tag(Tag::halo));
    auto [got, status] = comm.recv<int>(source(left), tag(Tag::halo), status_out());
    sent.wait();
    check.equal(got, theirs);
    check.equal(status.source(), left);
    check.equal(status.source_signed(), static_cast<int>(left));
    check.equal(status.tag(), 3);
    check.equal(status.count<int>(), theirs.size());
    check.equal(status.count(MPI_INT), theirs.size());
    int n = 0;
    MPI_Get_count(&status.native(), MPI_INT, &n);
    check.equal(n, static_cast<int>(theirs.size()));
  }
  {
    Request request_of_send, request_of_recv;
    std::vector<int> got(theirs.size());
    comm.irecv(recv_buf(got), recv_count(got.size()), source(left), request(request_of_recv));
    comm.issend(send_buf(mine), destination(right), request(request_of_send));
    Status status = request_of_recv.wait(status_out());
    while (!request_of_send.test()) {
    }
    check.equal(status.count_signed<int>(), static_cast<int>(theirs.size()));
    check.equal(got, theirs);
    check.that(request_of_send.is_null() && request_of_recv.is_null());
  }
  {
    auto coming = comm.irecv<int>(source(left));
    auto sent = comm.isend(send_buf_out(std::vector<int>(mine)), destination(right));
    check.equal(coming.wait(), theirs);
    check.equal(sent.wait(), mine);
  }
  {
    auto coming = comm.irecv<int>(source(left));
    comm.send(send_buf(mine), destination(right), send_mode(send_modes::buffered));
    auto [got, status] = coming.wait(status_out());
    check.equal(got, theirs);
    check.equal(status.source(), left);
  }
  const auto exchanged =
      comm.sendrecv<int>(send_buf(mine), destination(right), source(left), send_tag(5), recv_tag(5));
  check.equal(exchanged, theirs);
}

void modes(const Communicator<>& comm) {
  const int me = comm.rank_signed();
  comm.bsend(send_buf(me), destination(comm.rank()), tag(1));
  Status status;
  comm.probe(source(rank::any), tag(tags::any), status_out(status));
  check.equal(status.count<int>(), std::size_t{1});
  check.equal(comm.recv_single<int>(source(status.source()), tag(status.tag())), me);
  check.that(!comm.iprobe(source(comm.rank())));
  check.that(!comm.try_recv<int>(source(comm.rank())).has_value());
  comm.bsend(send_buf({1, 2, 3}), destination(comm.rank()));
  auto probed = comm.iprobe(source(comm.rank()), status_out());
  while (!probed) probed = comm.iprobe(source(comm.rank()), status_out());
  check.equal(probed->extract_status().count<int>(), std::size_t{3});
  check.equal(comm.probe(status_out()).extract_status().tag(), 0);
  MPI_Status native;
  std::vector<int> v;
  comm.recv(recv_buf<resize_to_fit>(v), kamping::status(native));
  check.equal(v, std::vector<int>{1, 2, 3});
  check.that(native.MPI_SOURCE == me && native.MPI_TAG == 0);
  comm.send(send_buf(me), destination(rank::null));
  comm.bsend(send_buf(me), destination(comm.rank()));
  comm.recv(recv_buf(v), kamping::status(ignore<>));
  check.equal(v[0], me);
}

void pools(const Communicator<>& comm) {
  const auto p = comm.size();
  std::vector<int> mine(p, comm.rank_signed()), received(p, -1);
  RequestPool pool;
  for (std::size_t r = 0; r < p; ++r) {
    comm.irecv(recv_buf(received[r]), source(r), request(pool.get_request()));
    comm.isend(send_buf(mine[r]), destination(r), request(pool.get_request()));
  }
  check.equal(pool.num_requests(), 2 * p);
  std::vector<Status> statuses = pool.wait_all(statuses_out());
  for (std::size_t r = 0; r < p; ++r) {
    check.equal(received[r], static_cast<int>(r));
    check.equal(statuses[2 * r].source(), r);
  }
  check.that(pool.test_all());

  RequestPool any;
  std::vector<int> again(p, -1);
  for (std::size_t r = 0; r < p; ++r) comm.irecv(recv_buf(again[r]), source(r), request(any.get_request()));
  RequestPool sends;
  for (std::size_t r = 0; r < p; ++r)
    comm.isend(send_buf(mine[r]), destination(r), request(sends.get_request()));
  std::size_t complete = 0;
  while (auto found = any.wait_any(status_out())) {
    check.equal(found->status.source(), found->index);
    check.equal(again[found->index], static_cast<int>(found->index));
    ++complete;
  }
  check.equal(complete, p);
  check.that(!any.test_any());
  std::vector<MPI_Status> of_sends(p);
  sends.wait_all(kamping::statuses(of_sends));

  std::vector<Request> list(2);
  int to_me = -1;
  comm.irecv(recv_buf(to_me), source(comm.rank()), request(list[0]));
  comm.isend(send_buf(mine[0]), destination(comm.rank()), request(list[1]));
  requests::wait_all(list);
  check.equal(to_me, comm.rank_signed());
  Request one, other;
  comm.irecv(recv_buf(to_me), source(comm.rank()), request(one));
  comm.isend(send_buf(mine[1 % p]), destination(comm.rank()), request(other));
  requests::wait_all(one, other);
  check.that(one.is_null() && other.is_null());

  // The request keeps buffers that were moved in or that the call created until it is complete.
  RequestPool keeping;
  auto later = comm.irecv<int>(source(comm.rank()), request(keeping.get_request()));
  auto back = comm.isend(send_buf_out(std::vector<int>{4, 5, 6}), destination(comm.rank()),
                         request(keeping.get_request()));
  comm.isend(send_buf(7), destination(comm.rank()), tag(1), request(keeping.get_request()));
  check.equal(comm.recv_single<int>(source(comm.rank()), tag(1)), 7);
  while (!keeping.test_all()) {
  }
  check.equal(later.extract(), std::vector<int>{4, 5, 6});
  check.equal(back.extract(), std::vector<int>{4, 5, 6});
  comm.bsend(send_buf(1), destination(comm.rank()));
  Request last;
  auto unwaited = comm.irecv<int>(source(comm.rank()), request(last));
  check.equal(unwaited.extract(), std::vector<int>{1});
  check.that(last.test());
}

// A receive into a buffer that is too small. KaMPIng's job ends here, and the exception is never
// thrown.
void refusals(const Communicator<>& comm) {
  std::vector<int> little(1);
  comm.bsend(send_buf({1, 2, 3}), destination(comm.rank()));
  int code = MPI_SUCCESS;
  try {
    comm.recv(recv_buf(little), recv_count(1));
  } catch (const MpiErrorException& e) {
    code = e.mpi_error_class();
    check.that(std::string(e.what()).find("recv") != std::string::npos);
  }
  check.equal(code, MPI_ERR_TRUNCATE);
  check.throws<MpiErrorException>([&] { comm.send(send_buf(1), destination(comm.size())); },
                                  {"send", "destination"});
  std::vector<int> none;
  check.throws<MpiErrorException>([&] { comm.allgather(send_buf(1), recv_buf(none)); }, {"recv_buf"});
  comm.bsend(send_buf(7), destination(comm.rank()));
  auto refused = comm.irecv(recv_buf(little), recv_count(0));
  check.throws<MpiErrorException>([&] { refused.wait(); }, {"irecv"});
}

// A rejection of another rank is due. wait_all() throws it after it has waited for every call, also
// for those whose results are extracted later.
void wait_all_after_rejection(const Communicator<>& comm) {
  const int p = comm.size_signed(), q = p - 1;
  const std::vector<int> ones(1, 1);
  std::vector<std::vector<int>> sums(2);
  std::vector<Request> calls(3);
  const auto waits_after_rejection = [&](const auto& wait) {
    for (std::size_t i = 0; i < 2; ++i) {
      sums[i].assign(1, -1);
      comm.iallreduce(send_buf(ones), recv_buf(sums[i]), op(ops::plus<>{}), request(calls[i]));
    }
    auto later = comm.iallreduce(send_buf(ones), op(ops::plus<>{}), request(calls[2]));
    tests::reject_bcast(comm.tutti_communicator(), q);
    if (comm.rank_signed() == q)
      wait();
    else
      check.throws<MpiErrorException>(wait, {"rejected its arguments", "bcast"});
    for (const Request& call : calls) check.that(call.is_null());
    check.that(sums[0] == std::vector<int>{p} && sums[1] == sums[0]);
    check.equal(later.extract(), sums[0]);
    comm.barrier();
  };
  waits_after_rejection([&] { requests::wait_all(calls); });
  waits_after_rejection([&] { requests::wait_all(calls[0], calls[1], calls[2]); });
  waits_after_rejection([&] {
    std::vector<Status> statuses = requests::wait_all(calls, statuses_out());
    check.equal(statuses.size(), calls.size());
  });
}

// test_all() allocates its statuses when all calls are complete. A rejection becomes due then.
struct statuses_with_rejection : std::vector<Status> {
  inline static const Communicator<>* comm = nullptr;
  void resize(std::size_t n) {
    std::vector<Status>::resize(n);
    tests::reject_bcast(comm->tutti_communicator(), comm->size_signed() - 1);
  }
};
// test_all() returns the statuses, and the next call throws the rejection.
void test_all_before_rejection(const Communicator<>& comm) {
  const std::size_t p = comm.size(), me = comm.rank(), left = (me + p - 1) % p;
  const std::vector<int> ones(1, 1);
  int received = -1;
  RequestPool pool;
  comm.irecv(recv_buf(received), source(left), request(pool.get_request()));
  auto sum = comm.iallreduce(send_buf(ones), op(ops::plus<>{}), request(pool.get_request()));
  comm.bsend(send_buf(comm.rank_signed()), destination((me + 1) % p));
  statuses_with_rejection::comm = &comm;
  std::optional<statuses_with_rejection> statuses;
  while (!statuses) statuses = pool.test_all(statuses_out<statuses_with_rejection>());
  check.equal((*statuses)[0].source(), left);
  check.equal(received, static_cast<int>(left));
  check.equal(sum.extract(), std::vector<int>{comm.size_signed()});
  if (me != p - 1)
    check.throws<MpiErrorException>([&] { comm.barrier(); }, {"rejected its arguments", "bcast"});
  comm.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Communicator comm;
    for (int i = 0; i < 3; ++i) {
      ring(comm);
      comm.barrier();
      modes(comm);
      comm.barrier();
      pools(comm);
      comm.barrier();
      refusals(comm);
      comm.barrier();
      wait_all_after_rejection(comm);
      test_all_before_rejection(comm);
    }
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests every form of alltoallv of KaMPIng's page on named parameters against a reference.
#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

// Rank r sends (r + d) % 3 elements to rank d, each with the value 100 r + d.
struct exchange {
  std::vector<int> data, counts, send_displs, received, recv_counts, recv_displs;
  explicit exchange(const Communicator<>& comm) {
    const auto p = static_cast<int>(comm.size()), me = comm.rank_signed();
    for (int d = 0; d < p; ++d) {
      send_displs.push_back(static_cast<int>(data.size()));
      counts.push_back((me + d) % 3);
      data.insert(data.end(), static_cast<std::size_t>((me + d) % 3), 100 * me + d);
      recv_displs.push_back(static_cast<int>(received.size()));
      recv_counts.push_back((me + d) % 3);
      received.insert(received.end(), static_cast<std::size_t>((me + d) % 3), 100 * d + me);
    }
  }
};

void out_parameters(const Communicator<>& comm, const exchange& x) {
  {
    auto recv_buf = comm.alltoallv(send_buf(x.data), send_counts(x.counts));
    check.equal(recv_buf, x.received);
  }
  {
    auto result = comm.alltoallv(send_buf(x.data), send_counts(x.counts), recv_counts_out());
    std::vector<int> recv_buf = result.extract_recv_buf();
    std::vector<int> recv_counts = result.extract_recv_counts();
    check.equal(recv_buf, x.received);
    check.equal(recv_counts, x.recv_counts);
    auto [same_buf, same_counts] = comm.alltoallv(send_buf(x.data), send_counts(x.counts), recv_counts_out());
    check.equal(same_buf, x.received);
    check.equal(same_counts, x.recv_counts);
  }
  {
    std::vector<int> recv_counts(comm.size());
    std::vector<int> recv_buffer(x.received.size());
    comm.alltoallv(send_buf(x.data), send_counts(x.counts), recv_counts_out(recv_counts),
                   recv_buf_out(recv_buffer));
    check.equal(recv_buffer, x.received);
    check.equal(recv_counts, x.recv_counts);
  }
  {
    std::vector<int> recv_counts;
    std::vector<int> recv_buffer;
    comm.alltoallv(send_buf(x.data), send_counts(x.counts), recv_counts_out<resize_to_fit>(recv_counts),
                   recv_buf_out<resize_to_fit>(recv_buffer));
    check.equal(recv_buffer, x.received);
    check.equal(recv_counts, x.recv_counts);
  }
}

void ownership(const Communicator<>& comm, const exchange& x) {
  {
    auto result = comm.alltoallv(send_buf(x.data), send_counts(x.counts), recv_buf_out(), recv_counts_out());
    auto recv_buffer = result.extract_recv_buffer();
    auto recv_counts = result.extract_recv_counts();
    check.equal(recv_buffer, x.received);
    check.equal(recv_counts, x.recv_counts);
  }
  {
    auto [recv_counts, recv_buffer] =
        comm.alltoallv(send_buf(x.data), send_counts(x.counts), recv_counts_out(), recv_buf_out());
    check.equal(recv_buffer, x.received);
    check.equal(recv_counts, x.recv_counts);
  }
  {
    std::vector<int> storage(x.received.size());
    const int* const where = storage.data();
    std::vector<int> same =
        comm.alltoallv(send_buf(x.data), send_counts(x.counts), recv_buf_out(std::move(storage)));
    check.that(same.data() == where);
    check.equal(same, x.received);
  }
  {
    std::vector<int> recv_buffer;
    std::vector<int> recv_counts(comm.size());
    comm.alltoallv(send_buf(x.data), send_counts(x.counts), recv_buf_out<resize_to_fit>(recv_buffer),
                   recv_counts_out<no_resize>(recv_counts));
    check.equal(recv_buffer, x.received);
    check.equal(recv_counts, x.recv_counts);
  }
}

void everything_given(const Communicator<>& comm, const exchange& x) {
  std::vector<int> recv_buffer(x.received.size());
  comm.alltoallv(recv_displs(x.recv_displs), send_counts(x.counts), recv_buf(recv_buffer), send_buf(x.data),
                 recv_counts(x.recv_counts), send_displs(x.send_displs));
  check.equal(recv_buffer, x.received);
  auto [buffer, to, from] =
      comm.alltoallv(send_buf(x.data), send_counts(x.counts), send_displs_out(), recv_displs_out());
  check.equal(buffer, x.received);
  check.equal(to, x.send_displs);
  check.equal(from, x.recv_displs);
  const int same = x.counts[0];
  std::vector<int> one_list =
      comm.allgatherv(params::send_buf({same, same}), recv_counts(std::vector<int>(comm.size(), 2)));
  check.equal(one_list.size(), 2 * comm.size());
}

void nested(const Communicator<>& comm, const exchange& x) {
  std::vector<std::vector<int>> rows(comm.size());
  for (std::size_t d = 0; d < comm.size(); ++d)
    rows[d].assign(static_cast<std::size_t>(x.counts[d]), 100 * comm.rank_signed() + static_cast<int>(d));
  auto received = with_flattened(rows, comm.size()).call([&](auto... flattened) {
    return comm.alltoallv(std::move(flattened)...);
  });
  check.equal(received, x.received);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Communicator comm;
    const exchange x(comm);
    out_parameters(comm, x);
    ownership(comm, x);
    everything_given(comm, x);
    nested(comm, x);
  });
}

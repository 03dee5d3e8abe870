// SPDX-License-Identifier: Apache-2.0
//
// destroyed: another thread destroys a request in progress. The job fails, and the rank's own
// thread may still write to the buffers of the request. AddressSanitizer would detect freed
// buffers.
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tutti/tutti.hpp"

using namespace tutti;

namespace {

void receive(communicator& world) {
  const int me = world.rank();
  auto message = world.irecv<int>(source(me), tag(7), recv_count(1000));
  std::thread([&] { auto last = std::move(message); }).join();
  world.send(send_buf(std::vector<int>(1000, me)), destination(me), tag(7));
  world.barrier();
}

}  // namespace

int main() {
  std::string message = "nothing";
  try {
    run(run_options{}, receive);
  } catch (const error& e) {
    message = e.what();
  }
  if (message.find("is destroyed while it is in progress") != std::string::npos) return 0;
  std::fprintf(stderr, "FAILED: run() throws %s\n", message.c_str());
  return 1;
}

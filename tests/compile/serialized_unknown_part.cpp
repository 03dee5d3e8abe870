// expect: needs_serialize<street>
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

struct street {
  std::string name;
#ifdef CORRECTED
  template <class Archive>
  void serialize(Archive& a) {
    a(name);
  }
#endif
};
struct city {
  std::vector<street> streets;
  template <class Archive>
  void serialize(Archive& a) {
    a(streets);
  }
};

void f(tutti::communicator& comm, std::vector<city>& v) {
  using namespace tutti;
  comm.bcast(send_recv_buf(as_serialized(v)));
}

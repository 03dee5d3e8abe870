// expect: as_serialized: this type needs a template <class Archive> void serialize(Archive& a, T&
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

struct city {
  std::string name;
};
#ifdef CORRECTED
template <class Archive>
void serialize(Archive& a, city& x) {
  a(x.name);
}
#endif

void f(tutti::communicator& comm, std::vector<city>& v) {
  using namespace tutti;
  comm.bcast(send_recv_buf(as_serialized(v)));
}

// SPDX-License-Identifier: Apache-2.0
//
// Types to serialize, and objects of them that each rank has and all ranks know.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace tests::objects {

struct point {
  double x = 0, y = 0;
  bool operator==(const point&) const = default;
};

// Serialized by a member function.
struct city {
  std::string name;
  point where;
  std::vector<std::string> streets;
  bool operator==(const city&) const = default;
  template <class Archive>
  void serialize(Archive& a) {
    a(name, where, streets);
  }
};

// Serialized by a function of its namespace. It is a tree, so it contains itself.
struct tree {
  int value = 0;
  std::vector<tree> children;
  std::unique_ptr<tree> only;
};
template <class Archive>
void serialize(Archive& a, tree& t) {
  a(t.value, t.children)(t.only);
}
bool operator==(const tree& a, const tree& b) {
  return a.value == b.value && a.children == b.children && !a.only == !b.only &&
         (!a.only || *a.only == *b.only);
}

// Trivially copyable, but its address is meaningless on other ranks.
struct cached {
  int value = 0;
  const int* cache = nullptr;
  template <class Archive>
  void serialize(Archive& a) {
    a(value);
    if (Archive::is_loading::value) cache = nullptr;
  }
};

// Serialized into zero bytes.
struct empty {
  bool operator==(const empty&) const = default;
  template <class Archive>
  void serialize(Archive&) {}
};

enum class color : short { red, green = 300 };

using anything =
    std::tuple<std::map<std::string, std::vector<int>>, std::optional<std::string>,
               std::list<std::pair<int, std::string>>, std::variant<int, std::string, std::vector<bool>>,
               std::deque<color>, std::unordered_map<int, bool>, std::array<std::string, 2>,
               std::set<std::string>, city>;

using table = std::map<int, std::string>;

inline table table_of(int r) {
  table t;
  for (int i = 0; i < (r * 5) % 7; ++i)
    t[100 * r + i] = std::string(static_cast<std::size_t>(40 * i), 'a' + char(r % 26));
  return t;
}

inline city city_of(int r) {
  return {"city " + std::to_string(r),
          {r + 0.5, -r * 1.0},
          std::vector<std::string>(static_cast<std::size_t>(r % 4), "s")};
}

inline anything anything_of(int r) {
  anything x;
  std::get<0>(x)["k" + std::to_string(r)] = std::vector<int>(static_cast<std::size_t>(r % 5), r);
  if (r % 2 == 1) std::get<1>(x) = "odd";
  std::get<2>(x) = {{r, "one"}, {-r, ""}};
  if (r % 3 == 1) std::get<3>(x) = "text";
  if (r % 3 == 2) std::get<3>(x) = std::vector<bool>{true, false, true};
  std::get<4>(x) = {color::red, color::green};
  std::get<5>(x) = {{r, true}, {r + 1, false}};
  std::get<6>(x) = {"", std::string(static_cast<std::size_t>(r), 'z')};
  std::get<7>(x) = {"b", "a", std::to_string(r)};
  std::get<8>(x) = city_of(r);
  return x;
}

}  // namespace tests::objects

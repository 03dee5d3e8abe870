// SPDX-License-Identifier: Apache-2.0
//
// Images of documents: the same choices with the same origins, damaged images, hashes.
#include "selection/tree_image.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::detail {
namespace {

std::string place(const origin& o) {
  if (o.file == nullptr) return "nowhere";
  return o.file->name + (o.file->builtin ? " built in:" : ":") + std::to_string(o.line);
}

void list_places(const tree_node& n, std::vector<std::string>& places) {
  if (n.is_leaf()) places.push_back(place(n.use.from));
  for (const tree_step& s : n.steps) {
    places.push_back(place(s.from));
    list_places(s.then, places);
  }
}

std::vector<std::string> places_of(const document& d) {
  std::vector<std::string> places;
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    for (const auto& regions : d.of(half))
      for (const tree_region& r : regions) {
        places.push_back(place(r.from));
        list_places(r.then, places);
      }
  return places;
}

document from_text(std::string_view name) {
  read_result read =
      read_tree(builtin_tree(name), "trees/" + std::string(name) + ".json", extent::whole, true);
  EXPECT_TRUE(read.good());
  return std::move(read.made);
}

void expect_equal(const document& a, const document& b) {
  EXPECT_EQ(write_tree(a), write_tree(b));
  EXPECT_EQ(places_of(a), places_of(b));
  EXPECT_EQ(a.conditions, b.conditions);
  EXPECT_EQ(a.machine, b.machine);
  EXPECT_EQ(hash_of(a), hash_of(b));
}

TEST(tree_images, hold_whole_documents) {
  for (const std::string_view name : builtin_tree_names()) {
    SCOPED_TRACE(name);
    const document text = from_text(name);
    expect_equal(read_image(write_image(text)), text);
  }
  document d = from_text("common");
  d.machine = {{"host", "a"}, {"", std::string("\xff\0b", 3)}};
  d.conditions = {{"fast", ""}, {"near", "the ranks are near"}};
  expect_equal(read_image(write_image(d)), d);
  expect_equal(read_image(write_image({})), {});
}

// The images of the build are those of the texts that the build embeds.
TEST(tree_images, of_the_build_are_in_use) {
  for (const std::string_view name : builtin_tree_names()) {
    SCOPED_TRACE(name);
    ASSERT_FALSE(builtin_image(name).empty());
    expect_equal(builtin_document(name), from_text(name));
  }
  EXPECT_TRUE(builtin_image("nonsense").empty());
}

TEST(tree_images, that_are_damaged_are_rejected) {
  const std::string image = write_image(from_text("common"));
  for (std::size_t length = 0; length < image.size(); ++length)
    EXPECT_THROW((void)read_image(std::string_view(image).substr(0, length)), std::logic_error) << length;
  EXPECT_THROW((void)read_image(image + '\0'), std::logic_error);
  std::string other = image;
  other[other.find("ring")] = 'R';
  EXPECT_THROW((void)read_image(other), std::logic_error);
}

TEST(tree_hashes, differ_with_the_choices) {
  const auto hash = [](const std::string& allreduce) {
    const read_result read =
        read_tree(R"({"schema": "tutti/tree/1", "pure": {"allreduce": [)" + allreduce + "]}}", "t.json");
    EXPECT_TRUE(read.good()) << read.faults.front().text();
    return hash_of(read.made);
  };
  const std::string in_place =
      R"({"when": {"in_place": true, "commutative": true, "inter": false}, "use": "ring"})";
  const std::vector<std::string> all = {
      in_place,
      R"({"when": {"in_place": false, "commutative": true, "inter": false}, "use": "ring"})",
      R"({"when": {"in_place": true, "commutative": true, "inter": false}, "use": "recursive_doubling"})",
      R"({"when": {"in_place": true, "commutative": true, "inter": false}, "by": "bytes", "steps": [{"upto": 8, "use": "ring"}, {"use": "recursive_doubling"}]})",
      R"({"when": {"in_place": true, "commutative": true, "inter": false}, "by": "bytes", "steps": [{"upto": 9, "use": "ring"}, {"use": "recursive_doubling"}]})",
      R"({"when": {"in_place": true, "commutative": true, "inter": false}, "by": "ranks", "steps": [{"upto": 8, "use": "ring"}, {"use": "recursive_doubling"}]})"};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(hash(all[i]), hash(all[j])) << all[i] << all[j];
  EXPECT_EQ(hash(in_place), hash("\n\n" + in_place));
}

}  // namespace
}  // namespace tutti::detail

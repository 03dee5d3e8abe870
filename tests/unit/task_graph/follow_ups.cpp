// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/follow_ups.hpp"

#include <gtest/gtest.h>

#include "parts.hpp"

namespace tests {
namespace {

using names = std::vector<std::string>;

TEST(follow_ups, let_tasks_wait_until_their_tag_is_unlocked) {
  parts p;
  follow_ups then(p.ready);
  noting_node &a = p.task("a"), &b = p.task("b");
  then.wait_for(a, 1);
  then.wait_for(b, 2);
  p.ready.release(a);
  p.ready.release(b);
  EXPECT_FALSE(p.ready.run_one());
  EXPECT_NE(then.waiting().find("tag 1"), std::string::npos);
  EXPECT_NE(then.waiting().find("tag 2"), std::string::npos);
  then.add({{}, true, 1});
  EXPECT_TRUE(p.ready.run_one());
  EXPECT_EQ(p.notes, names{"a"});
  EXPECT_EQ(then.waiting(), "a task waits for tag 2");
  then.unlock(2);
  EXPECT_EQ(then.waiting(), "");
  p.run();
}

TEST(follow_ups, lets_later_tasks_pass_until_the_tag_is_locked) {
  parts p;
  follow_ups then(p.ready);
  then.unlock(1);
  noting_node &a = p.task("a"), &b = p.task("b");
  then.wait_for(a, 1);
  EXPECT_EQ(a.pending_dependencies, 1);
  then.lock(1);
  then.wait_for(b, 1);
  EXPECT_EQ(b.pending_dependencies, 2);
}

TEST(follow_ups, runs_callbacks_and_those_that_they_add) {
  parts p;
  follow_ups then(p.ready);
  names ran;
  EXPECT_FALSE(then.run_callbacks());
  then.add({[&] {
              ran.push_back("first");
              EXPECT_FALSE(then.run_callbacks());
              then.add({[&] { ran.push_back("third"); }, false, 0});
            },
            false, 0});
  then.add({[&] { ran.push_back("second"); }, false, 0});
  EXPECT_TRUE(then.pending());
  EXPECT_TRUE(then.run_callbacks());
  EXPECT_EQ(ran, (names{"first", "second", "third"}));
  EXPECT_FALSE(then.pending());
}

TEST(follow_ups, continues_after_a_callback_that_throws) {
  parts p;
  follow_ups then(p.ready);
  then.add({[] { throw 1; }, false, 0});
  EXPECT_THROW(then.run_callbacks(), int);
  int ran = 0;
  then.add({[&] { ++ran; }, false, 0});
  EXPECT_TRUE(then.run_callbacks());
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/task_trace.hpp"

#include <cstdio>

#include "base/regular_file.hpp"
#include "communicator/internal_calls.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::tasks {

using namespace tutti::detail;

namespace {

std::string quoted(const char* text) {
  std::string all = "\"";
  for (; *text != '\0'; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') all += '\\';
    if (c >= 0x20) all += *text;
  }
  return all + "\"";
}

double microseconds(task_trace::clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

}  // namespace

std::string task_trace::events(int rank) const {
  static constexpr const char* kinds[] = {"task", "send", "receive", "idle"};
  std::string all;
  char numbers[160];
  for (std::size_t worker = 0; worker < lines_.size(); ++worker)
    for (const event& e : lines_[worker]) {
      std::snprintf(numbers, sizeof numbers, ",\"ph\":\"X\",\"pid\":%d,\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f",
                    rank, worker, microseconds(e.begin.time_since_epoch()), microseconds(e.end - e.begin));
      all += "{\"name\":" + quoted(e.name) + ",\"cat\":\"" + kinds[static_cast<std::size_t>(e.what)] + "\"" +
             numbers;
      if (e.peer >= 0)
        all +=
            ",\"args\":{\"peer\":" + std::to_string(e.peer) + ",\"bytes\":" + std::to_string(e.bytes) + "}";
      all += "},\n";
    }
  return all;
}

void write_trace(const task_trace& trace, detail::communicator_impl& ranks) {
  const detail::deferred_rejections steps(detail::count_of_deferrals(ranks));
  constexpr int tag = 32700;  // above the tags of the messenger
  const std::string mine = trace.events(detail::rank_of(ranks));
  if (detail::rank_of(ranks) != 0) {
    detail::send(
        ranks,
        {.operation = "tasks", .destination = 0, .tag = tag, .data = mine.data(), .bytes = mine.size()});
    return;
  }
  std::string all = "[\n" + mine;
  for (int r = 1; r < detail::size_of(ranks); ++r) {
    std::string theirs;
    detail::receive(ranks, {.operation = "tasks",
                            .source = r,
                            .tag = tag,
                            .allocate = [](void* into, const detail::envelope& e) -> void* {
                              auto& text = *static_cast<std::string*>(into);
                              text.resize(e.bytes);
                              return text.data();
                            },
                            .state = &theirs});
    all += theirs;
  }
  for (int r = 0; r < detail::size_of(ranks); ++r)
    all += "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" + std::to_string(r) +
           ",\"args\":{\"name\":\"rank " + std::to_string(r) + "\"}}" +
           (r + 1 < detail::size_of(ranks) ? ",\n" : "\n]\n");
  const std::string& file = detail::file_of_task_trace(ranks);
  const unsigned number = detail::count_task_trace(ranks);
  const std::string path = number <= 1 ? file : file + "." + std::to_string(number);
  if (const std::string problem = write_regular_file(path, all); !problem.empty())
    std::fprintf(stderr, "tutti: TUTTI_TRACE: %s\n", problem.c_str());
}

}  // namespace tutti::tasks

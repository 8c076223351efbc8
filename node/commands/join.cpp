#include "node/commands/join.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include <sys/stat.h>

#include "core/hex.hpp"
#include "core/json.hpp"
#include "core/name.hpp"
#include "core/text.hpp"
#include "node/commands/address.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/watching_options.hpp"
#include "node/join/join.hpp"
#include "node/keys/invitation_line.hpp"
#include "node/keys/private_file.hpp"
#include "node/run/interrupt.hpp"
#include "node/watch/metric_lines.hpp"
#include "node/watch/pages.hpp"

namespace troupe::node {

namespace {

std::string visits_in_words(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " visit" : " visits");
}

std::string took_part(const join_summary& x) {
  const auto clients =
    std::to_string(x.clients) + (x.clients == 1 ? " client" : " clients");
  if (x.visits == 0)
    return clients + (x.clients == 1 ? " was" : " were")
           + " here, and nothing was trained";
  return clients + " took part, with " + visits_in_words(x.visits)
         + (x.failed == 0
              ? ""
              : "; " + visits_in_words(x.failed)
                  + " more failed, the first since " + printable(x.why_failed));
}

exit_code over(const join_summary& x, bool json, streams io) {
  if (x.visits == 0 && x.failed > 0)
    return report({.code = "visits",
                   .what = "the run is over (" + x.why + "), and of "
                           + visits_in_words(x.failed)
                           + " here none came to anything",
                   .why = x.why_failed},
                  exit_code::failed, json, io);
  io.out << last_words(x, json) << std::flush;
  return exit_code::ok;
}

exit_code conclude(const join_summary& x, exit_code interrupted, bool json,
                   streams io) {
  using end = join_summary::end;
  const auto failed = [&](const char* code, std::string what, exit_code how) {
    return report(
      {.code = code, .what = std::move(what), .why = x.why, .hint = x.hint},
      how, json, io);
  };
  switch (x.how) {
    case end::finished:
      break;
    case end::interrupted:
      return failed("interrupted", "this process was interrupted", interrupted);
    case end::unreachable:
      return failed("unreachable", "no server was found",
                    exit_code::unreachable);
    case end::refused:
      return failed("refused", "the server refused these clients",
                    exit_code::refused);
    case end::misfit:
      return failed("misfit", "this process does not fit the run",
                    exit_code::configuration);
    case end::failed:
      return failed("store", "this process cannot keep what its clients must",
                    exit_code::failed);
    case end::data:
      return failed("invalid_data", "the data here does not fit the run",
                    exit_code::data);
  }
  return over(x, json, io);
}

/// What a line says, if it is one. It is not shown: a secret is in it.
std::optional<exit_code> take_invitation(join_context& in, std::string& server,
                                         bool json, streams io) {
  if (!looks_like_line(in.address))
    return std::nullopt;
  const auto line = read_line(in.address);
  if (!line || !server.empty())
    return report({.code = "usage",
                   .what = line ? "an invitation says whose server that is"
                                : "this is no whole invitation",
                   .hint = line ? "without --server it would do"
                                : "troupe keys invite prints a line without "
                                  "spaces; all of it would do"},
                  exit_code::usage, json, io);
  in.address = line->address;
  in.invitation = line->own;
  server = to_hex(line->server);
  return std::nullopt;
}

/// For people. Of a line whose beginning is missing the rest is a secret.
std::string address_in(std::string_view x) {
  constexpr std::string_view scheme = "tcp://";
  const auto host = x.starts_with(scheme) ? scheme.size() : 0;
  return in_quotes(shortened(x.substr(0, x.find('/', host))));
}

/// Keys, or the word that there are none.
std::optional<exit_code> check_security(join_context& in,
                                        const std::string& server,
                                        const std::string& insecure, bool json,
                                        streams io) {
  const auto wrong = [&](std::string what, std::string hint) {
    return report(
      {.code = "usage", .what = std::move(what), .hint = std::move(hint)},
      exit_code::usage, json, io);
  };
  if (!is_address(in.address))
    return wrong(address_in(in.address) + " is no address",
                 "an address is as in tcp://127.0.0.1:7700, with a port up to "
                 "65535, and a line of troupe keys invite begins with one");
  if (server.empty() && insecure.empty())
    return wrong("nothing says whose server that is",
                 "--server KEY --store DIR joins with keys, --insecure "
                 "without, and a line of troupe keys invite has the key");
  if (!server.empty() && !insecure.empty())
    return wrong("--insecure is without keys, and --server is one",
                 "one of them would do");
  if (insecure == "here" && !is_on_this_machine(in.address))
    return wrong("--insecure joins on this machine alone, and not at "
                   + in_quotes(in.address),
                 "--server KEY would do, or --insecure=anywhere");
  if (server.empty())
    return std::nullopt;
  in.server = from_hex<32>(server);
  if (!in.server)
    return wrong("a key has 64 digits, 0 to 9 and a to f, and this has not: "
                   + in_quotes(shortened(server)),
                 "the first line that troupe serve prints ends with it");
  if (in.store.empty())
    return wrong("with keys there is a --store, which holds our own",
                 "--store DIR would do");
  (void)keep_to_itself();
  return std::nullopt;
}

/// Of a client with data of its own.
std::optional<exit_code> check_own(const join_context& in, std::size_t clients,
                                   bool json, streams io) {
  const auto wrong = [&](std::string what, std::string hint) {
    return report(
      {.code = "usage", .what = std::move(what), .hint = std::move(hint)},
      exit_code::usage, json, io);
  };
  if (in.name.empty())
    return std::nullopt;
  if (!is_name(in.name))
    return wrong("--id " + in_quotes(shortened(in.name)) + " is no name",
                 name_rule);
  if (clients > 0)
    return wrong("--id is one client, and --virtual others",
                 "a process for each would do");
  if (in.data.empty())
    return wrong("--id has data of its own, and nothing says where",
                 "--data PATH would do");
  if (in.store.empty())
    return wrong("--id has a --store, by which the server knows it again",
                 "--store DIR would do");
  return std::nullopt;
}

/// What stands on the command line beside what `join` is told as it is.
struct join_wishes {
  std::string insecure;
  std::string server;
  std::size_t clients = 0;
  std::size_t workers = 0;
  std::size_t chunk_kib = 256;
  std::optional<int> experts;
  std::optional<double> expert_memory;

  void add_to(command_line& line, join_context& in) {
    line.add("ADDRESS", &in.address,
             "as troupe serve prints it, or the line of troupe keys invite",
             {.required = true});
    line.add("--virtual", &clients,
             "so many clients of the run's own partition; by default 1",
             {.range = {{1, 1 << 20}}});
    line.add("--id", &in.name,
             "in their place one client of this name, with data of its own",
             {.not_empty = true});
    line.add("--data", &in.data,
             "where this machine has the run's data or, with --id, its own: a "
             "CSV file, a folder with train.csv and test.csv, one with the "
             "four files of IDX, or texts: a folder, a .txt or a .jsonl");
    line.add("--model", &in.model,
             "where it has the run's scripted or language model, or a file of "
             "the weights that nobody trains");
    line.add("--tokenizer", &in.tokenizer,
             "where it has the run's tokenizer, if that is a file of its own");
    line.add("--common", &in.common,
             "where it has the run's common model: a run's folder or a file of "
             "weights, or a scripted module");
    line.add("--experts", &experts,
             "how many experts each of these clients has, in place of the "
             "run's training.experts; the server is not told",
             {.range = {{1, 1024}}});
    line.add("--expert-memory", &expert_memory,
             "the MiB that a client's experts may take: it has as many as fit; "
             "the server is not told",
             {.excludes = {"--experts"}, .above_zero = true});
    line.add("--store", &in.store,
             "the folder where clients keep what is theirs, so that they go on "
             "after a restart; without it they are gone with this process");
    line.add("--audit", &in.audit,
             "a file to which each piece that leaves this process is written "
             "before it is encrypted, as a line of JSON: what it is, how many "
             "bytes, which fields");
    line.add("--wait", &in.wait,
             "seconds for the first answer of all; 0: no end. Once there was "
             "one it has none",
             {.range = {{0, 1 << 30}}, .shows_default = true});
    line.add_chunks(&chunk_kib);
    line.add("--workers", &workers, "threads that train; 0: one per core",
             {.range = {{0, 4096}}, .shows_default = true});
    line.add(
      "--server", &server,
      "the server's public key, as troupe serve prints it; ours is made in "
      "--store where there is none");
    line.add(
      "--insecure", &insecure,
      "without keys: whoever is on this machine may do the same; a server "
      "elsewhere needs --insecure=anywhere",
      {.one_of = {"here", "anywhere"}, .bare = "here"});
  }
};

} // namespace

std::string last_words(const join_summary& x, bool as_json) {
  const auto worth = [](double y) { return to_json(std::optional{y}); };
  if (!as_json) {
    auto text = "the run is over (" + printable(x.why) + "); " + took_part(x);
    for (const auto& [name, value] : x.method_results)
      if (name.find('.') == name.npos)
        text += "\n  " + name + "  " + worth(value).dump();
    return text + "\n";
  }
  auto results = json::object();
  for (const auto& [name, value] : x.method_results)
    results.add(name, worth(value));
  return json{{"success", true},    {"clients", x.clients},
              {"visits", x.visits}, {"failed", x.failed},
              {"reason", x.why},    {"method_results", std::move(results)}}
           .dump(2)
         + "\n";
}

exit_code join_command(const model_maker& make_model, arguments args,
                       streams io) {
  command_line line{
    {"join", "Brings clients to a run that is served elsewhere.",
     "join tcp://127.0.0.1:7700 --server KEY --store runs/clients "
     "--virtual 20"}};
  join_context in{.address = {}, .make_model = make_model};
  join_wishes wish;
  wish.add_to(line, in);
  watching_options watch;
  watch.add_to(line);
  if (const auto end = line.parse(args, io))
    return *end;
  if (const auto end = watch.refused(line.json(), io))
    return *end;
  in.address = std::string{trimmed(in.address)};
  wish.server = std::string{trimmed(wish.server)};
  if (const auto wrong = take_invitation(in, wish.server, line.json(), io))
    return *wrong;
  if (const auto wrong = check_own(in, wish.clients, line.json(), io))
    return *wrong;
  if (const auto wrong =
        check_security(in, wish.server, wish.insecure, line.json(), io))
    return *wrong;
  in.clients =
    static_cast<std::uint32_t>(std::max<std::size_t>(1, wish.clients));
  in.workers = static_cast<std::uint32_t>(wish.workers);
  in.experts = static_cast<std::uint32_t>(wish.experts.value_or(0));
  in.expert_memory = wish.expert_memory.value_or(0);
  in.chunk_bytes = wish.chunk_kib << 10;
  in.say = [&io](const std::string& x) { io.err << x << std::endl; };
  // What clients keep is personal.
  umask(S_IRWXG | S_IRWXO);
  in.board = std::make_shared<process_board>();
  const auto readers = std::make_shared<http::tally>();
  const auto door = watch.open(pages_of(in.board, readers), readers, io);
  if (!door)
    return report(door.error(), line.json(), io);
  in.http = *door ? (*door)->address() : "";
  const interruption stop{
    "\nleaving the run in order; Ctrl-C again stops at once\n"};
  in.stop = &stop.requested();
  const auto done = join(in);
  return conclude(done,
                  stop.is_dismissal() ? exit_code::ok : exit_code::interrupted,
                  line.json(), io);
}

} // namespace troupe::node

#include "node/commands/keys.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

#include <sys/stat.h>

#include "core/clock.hpp"
#include "core/hex.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "node/commands/address.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/rotate_key.hpp"
#include "node/keys/invitation_line.hpp"
#include "node/keys/keyring.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

namespace {

exit_code usage(std::string what, std::string hint, bool json, streams io) {
  return report(
    {.code = "usage", .what = std::move(what), .hint = std::move(hint)},
    exit_code::usage, json, io);
}

/// What --name, --clients, --role, --numbers and --valid say.
struct wanted_permit {
  permit what;
  std::size_t numbers = permit{}.numbers;
  std::string valid;

  void add_to(command_line& line, const std::string& default_valid) {
    valid = default_valid;
    line.add("--name", &what.name, "by which logs and keys list know it",
             {.required = true});
    line.add("--clients", &what.clients,
             "names of clients with data of their own: one, or PREFIX*",
             {.shows_default = true});
    line.add("--role", &what.role, "client", {.shows_default = true});
    line.add(
      "--numbers", &numbers,
      "so many clients at most, of the run's partition and with names; the "
      "one that --clients names comes in any case",
      {.range = {{0, 1 << 20}}, .shows_default = true});
    line.add("--valid", &valid, "for how long, as 90s, 15m, 1h, 30d",
             {.shows_default = !default_valid.empty()});
  }

  /// What is wrong with it; empty: nothing.
  std::string finish() {
    what.numbers = static_cast<std::uint32_t>(numbers);
    if (!valid.empty()) {
      const auto found = duration_in(valid);
      if (!found)
        return "--valid is as 90s, 15m, 1h, 30d, and not " + in_quotes(valid);
      what.expires_ms = unix_milliseconds() + *found;
    }
    return problem_of(what);
  }
};

void add_folder(command_line& line, std::string& to) {
  line.add("--keys", &to, "the server's keys, such as RUN/keys",
           {.required = true});
}

/// Who mistypes a folder hears so, and nothing is made there.
std::optional<exit_code> has_no_keys(const std::string& folder, bool json,
                                     streams io) {
  for (const auto* name : {"pair", "allowed", "invited"}) {
    std::error_code failed;
    if (std::filesystem::exists(std::filesystem::path{folder} / name, failed))
      return std::nullopt;
    if (failed)
      return report(error{errc::storage_failure, "cannot look into "
                                                   + in_quotes(folder) + ": "
                                                   + failed.message()},
                    json, io);
  }
  std::error_code ignored;
  return usage((std::filesystem::exists(folder, ignored)
                  ? "there are no keys in "
                  : "there is no folder ")
                 + in_quotes(folder),
               "RUN/keys would do, or what troupe serve has as --keys; troupe "
               "keys new makes a pair",
               json, io);
}

exit_code new_pair(arguments args, streams io) {
  command_line line{{"keys new",
                     "Makes a pair of keys, and says the public one.",
                     "keys new --keys runs/keys"}};
  std::string folder;
  line.add("--keys", &folder,
           "where it goes: a server's keys, or what join has as its --store",
           {.required = true});
  if (const auto end = line.parse(args, io))
    return *end;
  const auto made = draw_pair();
  const auto kept = make_private(folder).and_then(
    [&] { return write_pair(std::filesystem::path{folder} / "pair", made); });
  if (!kept)
    return report(kept.error(), line.json(), io);
  if (line.json())
    io.out << json{{"success", true}, {"public", to_hex(made.open)}}.dump(2)
           << '\n';
  else
    io.out << to_hex(made.open) << '\n';
  return exit_code::ok;
}

exit_code allow(arguments args, streams io) {
  command_line line{{"keys allow",
                     "Lets a key in, from now on; of one that is known, "
                     "changes what it may.",
                     "keys allow KEY --keys runs/keys --name alice"}};
  std::string key;
  std::string folder;
  wanted_permit wanted;
  line.add("KEY", &key, "as keys new and join say it", {.required = true});
  add_folder(line, folder);
  wanted.add_to(line, "");
  if (const auto end = line.parse(args, io))
    return *end;
  const auto who = from_hex<32>(key);
  if (!who)
    return usage("a key has 64 digits, 0 to 9 and a to f, and this has not: "
                   + in_quotes(shortened(key)),
                 "join says its own where a server does not know it",
                 line.json(), io);
  if (auto wrong = wanted.finish(); !wrong.empty())
    return usage(std::move(wrong), "", line.json(), io);
  if (const auto done = keyring{folder}.allow(*who, wanted.what); !done)
    return report(done.error(), line.json(), io);
  if (line.json())
    io.out << json{{"success", true}, {"name", wanted.what.name}}.dump(2)
           << '\n';
  else
    io.out << "allowed " << wanted.what.name << '\n';
  return exit_code::ok;
}

exit_code deny(arguments args, streams io) {
  command_line line{{"keys deny",
                     "Lets a key in no longer; who is here by it is heard no "
                     "more within a second.",
                     "keys deny alice --keys runs/keys"}};
  std::string who;
  std::string folder;
  line.add("NAME", &who, "a name, or a key", {.required = true});
  add_folder(line, folder);
  if (const auto end = line.parse(args, io))
    return *end;
  if (const auto end = has_no_keys(folder, line.json(), io))
    return *end;
  const auto done = keyring{folder}.deny(who);
  if (!done)
    return report(done.error(), line.json(), io);
  if (line.json())
    io.out << json{{"success", true}, {"removed", std::uint64_t{*done}}}.dump(2)
           << '\n';
  else
    io.out << "denied " << printable(who) << '\n';
  return exit_code::ok;
}

std::string state_of(const keyring::entry& x) {
  if (!x.what)
    return "unreadable";
  if (x.used)
    return "used";
  if (x.what->expires_ms <= unix_milliseconds())
    return "expired";
  return x.is_line ? "invited" : "allowed";
}

json json_of(const keyring::entry& x) {
  json out{{"state", state_of(x)}, {x.is_line ? "line" : "key", x.file}};
  if (!x.what) {
    out.add("problem", x.what.error().context);
    return out;
  }
  out.add("name", x.what->name);
  out.add("role", x.what->role);
  out.add("clients", x.what->clients);
  out.add("numbers", std::uint64_t{x.what->numbers});
  out.add("expires", moment_of(x.what->expires_ms));
  return out;
}

/// Of the server's next pair. @pre there is one, or what is there is none
json json_of(const result<std::optional<coming_pair>>& x) {
  if (!x)
    return {{"state", "unreadable"}, {"problem", x.error().context}};
  return {{"state", "coming"},
          {"key", to_hex((*x)->pair.open)},
          {"from", moment_of((*x)->at_ms)}};
}

exit_code list(arguments args, streams io) {
  command_line line{{"keys list", "Shows who may speak with a server.",
                     "keys list --keys runs/keys"}};
  std::string folder;
  add_folder(line, folder);
  if (const auto end = line.parse(args, io))
    return *end;
  if (const auto end = has_no_keys(folder, line.json(), io))
    return *end;
  const auto all = keyring{folder}.all();
  const auto next = keyring{folder}.coming();
  if (line.json()) {
    json keys = json::array();
    for (const auto& x : all)
      keys.push_back(json_of(x));
    json out{{"success", true}, {"keys", std::move(keys)}};
    if (!next || *next)
      out.add("next", json_of(next));
    io.out << out.dump(2) << '\n';
    return exit_code::ok;
  }
  if (!next)
    io.out << "unreadable (" << printable(next.error().context) << ") next\n";
  else if (*next)
    io.out << "next of the server, from " << moment_of((*next)->at_ms) << ' '
           << to_hex((*next)->pair.open) << '\n';
  for (const auto& x : all) {
    io.out << state_of(x) << ' ';
    if (x.what)
      io.out << x.what->name << ", up to " << so_many(x.what->numbers, "client")
             << " of the run, own data as " << x.what->clients << ", expires "
             << moment_of(x.what->expires_ms);
    else
      io.out << "(" << printable(x.what.error().context) << ')';
    io.out << ' ' << printable(x.file) << '\n';
  }
  return exit_code::ok;
}

exit_code invite(arguments args, streams io) {
  command_line line{{"keys invite",
                     "Prints a line with which one process enrols its own key, "
                     "once: troupe join LINE --store DIR.",
                     "keys invite --keys runs/keys --name alice --valid 1h"}};
  std::string folder;
  std::string address;
  wanted_permit wanted;
  add_folder(line, folder);
  wanted.add_to(line, "1h");
  line.add("--address", &address,
           "where the server is dialled, in place of where it said it listens");
  if (const auto end = line.parse(args, io))
    return *end;
  if (auto wrong = wanted.finish(); !wrong.empty())
    return usage(std::move(wrong), "", line.json(), io);
  if (!address.empty() && !is_address(address))
    return usage("--address takes one address, and not " + in_quotes(address),
                 "as in tcp://127.0.0.1:7700", line.json(), io);
  if (const auto end = has_no_keys(folder, line.json(), io))
    return *end;
  const keyring keys{folder};
  if (address.empty()) {
    auto known = keys.address();
    if (!known)
      return usage(
        "no server has said in " + in_quotes(folder) + " where it listens",
        "--address tcp://HOST:PORT says where it will", line.json(), io);
    address = std::move(*known);
  }
  if (is_every_address(address))
    return usage(in_quotes(address)
                   + " is every address of the server's machine, and none that "
                     "is dialled from another",
                 "--address tcp://HOST:PORT says where it is dialled",
                 line.json(), io);
  const auto now = unix_milliseconds();
  const auto server = keys.serves_by(now);
  if (!server)
    return report(server.error(), line.json(), io);
  if (const auto until = server->until_ms;
      until && wanted.what.expires_ms > *until) {
    wanted.what.expires_ms = *until;
    io.err << "note: it is good until " << moment_of(*until)
           << ", when the server has another pair\n";
  }
  const auto made = keys.invite(wanted.what, now);
  if (!made)
    return report(made.error(), line.json(), io);
  const auto text = write_line({address, server->key, *made});
  if (line.json())
    io.out << json{{"success", true}, {"line", text}}.dump(2) << '\n';
  else
    io.out << text << '\n';
  return exit_code::ok;
}

exit_code renew(arguments args, streams io) {
  command_line line{
    {"keys renew",
     "Gives the server another pair of keys from then on. Who is connected "
     "meanwhile hears of it and goes on; all others need a new line. Said "
     "again, it moves the moment.",
     "keys renew --keys runs/keys --in 1d"}};
  constexpr std::int64_t longest_ms = std::int64_t{365} * 86'400'000;
  std::string folder;
  std::string in = "1d";
  add_folder(line, folder);
  line.add("--in", &in, "after how long, as 90s, 15m, 1h, 30d; 365d at most",
           {.shows_default = true});
  if (const auto end = line.parse(args, io))
    return *end;
  const auto after_ms = duration_in(in);
  if (!after_ms || *after_ms > longest_ms)
    return usage("--in is as 90s, 15m, 1h, 30d, 365d at most, and not "
                   + in_quotes(in),
                 "", line.json(), io);
  if (!std::filesystem::exists(std::filesystem::path{folder} / "pair"))
    return usage("no server has its pair in " + in_quotes(folder),
                 "troupe serve makes one, in --keys or in keys of its run's "
                 "folder",
                 line.json(), io);
  const auto next = keyring{folder}.renew(unix_milliseconds() + *after_ms);
  if (!next)
    return report(next.error(), line.json(), io);
  const auto key = to_hex(next->pair.open);
  const auto from = moment_of(next->at_ms);
  if (line.json())
    io.out << json{{"success", true}, {"key", key}, {"from", from}}.dump(2)
           << '\n';
  else
    io.out << "from " << from << " on the server's key is " << key << '\n';
  return exit_code::ok;
}

struct verb {
  const char* name;
  const char* says;
  exit_code (*run)(arguments, streams);
};

constexpr std::array verbs{
  verb{"new", "make a pair of keys", new_pair},
  verb{"allow", "KEY: let it in", allow},
  verb{"deny", "NAME: no longer", deny},
  verb{"list", "who may", list},
  verb{"invite", "print a line that enrols one key", invite},
  verb{"rotate", "RUN: another key for its invitations", rotate_key},
  verb{"renew", "another pair for the server, from a moment on", renew},
};

} // namespace

exit_code keys_command(arguments args, streams io) {
  umask(S_IRWXG | S_IRWXO);
  (void)keep_to_itself();
  const auto found = std::ranges::find_if(
    verbs, [&](const auto& x) { return !args.empty() && args[0] == x.name; });
  if (found != verbs.end())
    return found->run(args.subspan(1), io);
  const bool helps = !args.empty() && (args[0] == "--help" || args[0] == "-h");
  const bool json = std::ranges::find(args, "json") != args.end();
  if (!helps && json)
    return usage("'troupe keys' has no such verb",
                 "troupe keys --help lists them", json, io);
  auto& to = helps ? io.out : io.err;
  to << "troupe keys says who may speak with a server.\n\n";
  for (const auto& x : verbs)
    to << "  troupe keys " << x.name
       << std::string(10 - std::string_view{x.name}.size(), ' ') << x.says
       << '\n';
  to << "\nEach has --help with an example.\n\nExample:\n"
        "  troupe keys list --keys runs/keys\n";
  return helps ? exit_code::ok : exit_code::usage;
}

} // namespace troupe::node

#include "node/commands/doctor.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <system_error>
#include <thread>

#include <sodium.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zlib.h>

#include "core/json.hpp"
#include "core/program_version.hpp"
#include "kernels/backend.hpp"
#include "node/commands/checkup.hpp"
#include "node/commands/command_line.hpp"

namespace troupe::node {

namespace {

using actors::remark;
using finding_state = finding::state_kind;

std::string gigabytes(double bytes) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << bytes / 1e9 << " GB";
  return text.str();
}

finding device(std::string name, kernels::device where) {
  const auto made = kernels::make_backend(where);
  if (made)
    return {std::move(name), finding_state::fine, std::string{(*made)->name()}};
  return {std::move(name),
          where.kind == kernels::device_kind::cpu ? finding_state::missing
                                                  : finding_state::optional,
          made.error().context, "runs on the CPU do without"};
}

finding disk(const std::filesystem::path& folder) {
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  if (failed)
    return {"disk", finding_state::missing,
            folder.string() + ": " + failed.message(),
            "give a folder that exists with --folder"};
  const auto free = static_cast<double>(space.available);
  const auto text =
    gigabytes(free) + " free in "
    + std::filesystem::absolute(folder, failed).lexically_normal().string();
  if (free < 1e9)
    return {"disk", finding_state::missing, text,
            "a run keeps versions: free at least 1 GB"};
  return {"disk", finding_state::fine, text};
}

finding fashion_mnist(const std::filesystem::path& data_sets) {
  const auto folder = data_sets / "fashion-mnist";
  for (const auto* name :
       {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    const auto plain = folder / name;
    auto packed = plain;
    packed += ".gz";
    std::error_code ignored;
    if (!std::filesystem::exists(plain, ignored)
        && !std::filesystem::exists(packed, ignored))
      return {
        "Fashion-MNIST", finding_state::optional,
        plain.string() + " is not there",
        "sudo apt-get install dataset-fashion-mnist; or give a folder of IDX "
        "files as data.path"};
  }
  return {"Fashion-MNIST", finding_state::fine, folder.string()};
}

finding arithmetic(const host_facts& known) {
  if (!known.arithmetic)
    return {"LibTorch", finding_state::missing, "this build has none",
            "configure with -DTROUPE_WITH_TORCH=ON; ./dev setup installs it"};
  const auto text = known.arithmetic();
  if (!text)
    return {"LibTorch", finding_state::missing, text.error().context,
            "./dev setup and ./dev build mend that"};
  if (text->find("(slow)") != std::string::npos)
    return {
      "LibTorch", finding_state::missing, *text,
      "sudo apt-get install libopenblas0-pthread makes training ten times "
      "faster"};
  return {"LibTorch", finding_state::fine, *text};
}

// They are read by the libraries that train, as they are loaded.
constexpr std::array forcing_variables{"OPENBLAS_CORETYPE",
                                       "ATEN_CPU_CAPABILITY"};

/// Of each variable that chooses kernels in the processor's place.
void add_forced(std::vector<finding>& to) {
  for (const auto* name : forcing_variables)
    if (const auto* said = std::getenv(name); said && *said != '\0')
      to.push_back({"environment", finding_state::note,
                    std::string{name} + "=" + said
                      + " chooses kernels, and not this processor",
                    "without it they are the processor's own, which may be far "
                    "faster; bits of results change with them"});
}

const char* mark(finding_state x) {
  return x == finding_state::fine       ? "ok"
         : x == finding_state::note     ? "note"
         : x == finding_state::optional ? "--"
                                        : "MISSING";
}

const char* word_for(finding_state x) {
  return x == finding_state::fine       ? "ok"
         : x == finding_state::note     ? "note"
         : x == finding_state::optional ? "optional"
                                        : "missing";
}

void print(const std::vector<finding>& all, std::ostream& out) {
  for (const auto& x : all) {
    out << std::left << std::setw(8) << mark(x.state) << std::setw(16) << x.name
        << x.what << '\n';
    if (x.state != finding_state::fine && !x.hint.empty())
      out << std::string(24, ' ') << x.hint << '\n';
  }
}

} // namespace

std::vector<finding> examine(const host_facts& known, const places& where) {
  const auto cores = std::max(std::thread::hardware_concurrency(), 1u);
  const auto memory = static_cast<double>(sysconf(_SC_PHYS_PAGES))
                      * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  std::vector<finding> all{
    {"troupe", finding_state::fine,
     program_version() + " (g++ " __VERSION__ ")"},
    {"cores", finding_state::fine, std::to_string(cores)},
    {"memory", memory < 2e9 ? finding_state::optional : finding_state::fine,
     gigabytes(memory), "ResNet-18 and many workers need more than 2 GB"},
    disk(where.folder),
    device("kernels", {kernels::device_kind::cpu, 0}),
    device("kernels CUDA", {kernels::device_kind::cuda, 0}),
    arithmetic(known),
    {"SQLite", finding_state::fine, sqlite3_libversion()},
    {"libsodium", finding_state::fine, sodium_version_string()},
    {"zlib", finding_state::fine, zlibVersion()},
    fashion_mnist(where.data_sets),
  };
  add_forced(all);
  if (known.fingerprint)
    if (auto text = known.fingerprint())
      all.push_back({"fingerprint", finding_state::fine, std::move(*text)});
  return all;
}

namespace {

const char* word_for(remark::state_kind x) {
  switch (x) {
    case remark::state_kind::fine:
      return "ok";
    case remark::state_kind::mendable:
      return "mendable";
    case remark::state_kind::mended:
      return "mended";
    case remark::state_kind::broken:
      break;
  }
  return "BROKEN";
}

exit_code tell(const std::vector<remark>& all, bool as_json, streams io) {
  const bool well = std::ranges::all_of(all, [](const auto& x) {
    return x.state == remark::state_kind::fine
           || x.state == remark::state_kind::mended;
  });
  auto list = json::array();
  for (const auto& x : all) {
    if (as_json) {
      list.push_back({{"name", x.place},
                      {"state", word_for(x.state)},
                      {"what", x.what},
                      {"hint", x.hint}});
      continue;
    }
    io.out << std::left << std::setw(10) << word_for(x.state) << std::setw(16)
           << x.place << ' ' << x.what << '\n';
    if (x.state == remark::state_kind::mendable
        || x.state == remark::state_kind::broken)
      io.out << std::string(27, ' ') << x.hint << '\n';
  }
  if (as_json)
    io.out << json{{"success", well}, {"findings", list}}.dump(2) << '\n';
  return well ? exit_code::ok : exit_code::failed;
}

} // namespace

exit_code doctor(const host_facts& known, arguments args, streams io) {
  command_line line{{"doctor",
                     "Says what this machine has and what is missing; of a "
                     "folder, whether it is whole.",
                     "doctor"}};
  std::string patient;
  bool mends = false;
  std::string folder;
  std::string data_sets;
  line.add("FOLDER", &patient,
           "a run's folder, or that of a joining process, to look at");
  line.add("--mend", &mends, "mend what can be mended in FOLDER");
  line.add("--folder", &folder, "where runs would be written");
  line.add("--data-sets", &data_sets, "where to look for data");
  if (const auto end = line.parse(args, io))
    return *end;
  if (!patient.empty()) {
    const auto all = check_up(patient, mends);
    return all ? tell(*all, line.json(), io)
               : report(all.error(), line.json(), io);
  }
  places where;
  if (!folder.empty())
    where.folder = folder;
  if (!data_sets.empty())
    where.data_sets = data_sets;
  const auto all = examine(known, where);
  const auto missing =
    std::ranges::count(all, finding_state::missing, &finding::state);
  if (line.json()) {
    auto list = json::array();
    for (const auto& x : all)
      list.push_back({{"name", x.name},
                      {"state", word_for(x.state)},
                      {"what", x.what},
                      {"hint", x.hint}});
    io.out << json{{"success", missing == 0}, {"findings", list}}.dump(2)
           << '\n';
  } else {
    print(all, io.out);
  }
  return missing == 0 ? exit_code::ok : exit_code::failed;
}

} // namespace troupe::node

#include "node/join/task.hpp"

#include <algorithm>
#include <utility>

#include "core/hex.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/inner_setup.hpp"
#include "node/config/config.hpp"
#include "node/join/farewells.hpp"
#include "node/run/serving.hpp"
#include "node/task/materials.hpp"
#include "node/task/model_file.hpp"
#include "node/task/own_text.hpp"
#include "node/task/torch_model.hpp"

namespace troupe::node {

using end = join_summary::end;

namespace {

/// From files, and not made.
bool is_read(const data_options& x) {
  return !x.is_made() && !x.has_own_model();
}

result<workload> prepare_joining(const experiment& x, materials found) {
  found.starts = false;
  return prepare(x, std::move(found));
}

join_summary not_made(const error& why) {
  const bool is_data =
    why.code == errc::invalid_data || why.code == errc::storage_failure;
  return ended(is_data ? end::data : end::misfit, why.context);
}

/// What nobody trains is settled later: here it counts as what the run says
/// that it is.
std::optional<join_summary> fits(const messages::terms_given& terms,
                                 const workload& work) {
  auto blocks = *work.blocks;
  for (auto& block : blocks.frozen)
    for (const auto& what : terms.frozen)
      if (what.name == block.name)
        block.content = what.content;
  if (blocks.fingerprint() != terms.layout)
    return ended(end::misfit, "this model has other blocks than the run's");
  return std::nullopt;
}

/// Whoever names no tokenizer uses its model's, and a copy may be without.
std::optional<join_summary> has_own_tokenizer(const experiment& here) {
  if (!lacks_tokenizer(here))
    return std::nullopt;
  return ended(end::misfit,
               "this run uses its model's own tokenizer, and " + here.model.path
                 + " has none",
               "--model PATH of a copy with the tokenizer that the server's "
               "has; --tokenizer is of runs that name another one");
}

/// Before it is loaded. A server of an earlier build says no digest: then the
/// layout alone is compared, as that build does.
std::optional<join_summary>
is_the_runs_model(const messages::terms_given& terms, const experiment& here) {
  if (auto wrong = has_own_tokenizer(here))
    return wrong;
  const auto found = digest_of_model(here);
  if (!found)
    return ended(end::misfit, found.error().context,
                 "--model PATH says where this machine has the run's model");
  if (terms.model == models::digest{} || *found == terms.model)
    return std::nullopt;
  return ended(end::misfit,
               files_of_model(here)
                 + " is not the model that the run has: its digest is "
                 + short_digest(to_hex(*found)) + ", the run's "
                 + short_digest(to_hex(terms.model)),
               "--model PATH of a copy of the file that the server has, byte "
               "for byte");
}

/// A scripted model is a module of ours; of others there is no file but, where
/// it is said, of what nobody trains.
std::optional<join_summary> place_model(const join_context& in,
                                        const messages::terms_given& terms,
                                        experiment& to) {
  const bool is_script = to.model.kind == model_options::shape::torchscript;
  to.model.path = is_script ? in.model : std::string{};
  to.init = is_script ? std::string{} : in.model;
  if (!is_script)
    return std::nullopt;
  if (in.model.empty())
    return ended(end::misfit, "this run has a scripted model",
                 "--model PATH says where this machine has it");
  return is_the_runs_model(terms, to);
}

/// A language model is a file of ours, unless it begins from the seed, and so
/// may its tokenizer be.
std::optional<join_summary> place_language(const join_context& in,
                                           const messages::terms_given& terms,
                                           experiment& to) {
  to.init.clear();
  const bool has_file = !to.model.path.empty();
  to.model.path = has_file ? in.model : std::string{};
  const bool has_tokenizer = to.data.names_tokenizer();
  if (has_tokenizer)
    to.data.tokenizer = in.tokenizer;
  if (has_file && in.model.empty())
    return ended(end::misfit, "this run adapts a language model of a file",
                 "--model PATH says where this machine has it");
  if (!has_file && !in.model.empty())
    return ended(end::misfit,
                 "this run's language model begins from the seed, and has no "
                 "file",
                 "without --model it would do");
  if (has_tokenizer && in.tokenizer.empty())
    return ended(end::misfit, "this run's tokenizer is a file of its own",
                 "--tokenizer PATH says where this machine has it");
  return is_the_runs_model(terms, to);
}

/// A common model that is scripted is a module of ours, one of language a file;
/// others have weights of ours or none yet.
std::optional<join_summary> place_common(const join_context& in,
                                         experiment& to) {
  to.common.clear();
  if (!has_common(to) && !in.common.empty())
    return ended(end::misfit,
                 "this run's method, " + to.method + ", has no common model",
                 "without --common it would do");
  to.common = in.common;
  if (!to.common_model)
    return std::nullopt;
  to.common_model->path.clear();
  const bool is_script =
    to.common_model->kind == model_options::shape::torchscript;
  if (!is_script && !to.common_model->is_language())
    return std::nullopt;
  to.common_model->path = in.common;
  to.common.clear();
  if (!in.common.empty())
    return std::nullopt;
  return ended(end::misfit,
               is_script ? "this run has a scripted common model"
                         : "this run looks through a language model of a file",
               "--common PATH says where this machine has it");
}

/// Of models that are neither scripted nor of language: their first values are
/// the server's, and a file has what nobody trains.
std::optional<join_summary>
has_use_of_weights(const messages::terms_given& terms, const experiment& x) {
  if (x.init.empty() || !terms.frozen.empty())
    return std::nullopt;
  return ended(end::misfit,
               "nothing in this run is frozen, and its values come from the "
               "server",
               "without --model it would do");
}

/// A tokenizer is read where the run names a file of its own, and there alone.
std::optional<join_summary> has_use_of_tokenizer(const join_context& in,
                                                 const experiment& x) {
  if (in.tokenizer.empty() || x.data.names_tokenizer())
    return std::nullopt;
  std::string why = "this run learns from no text, and has no tokenizer";
  if (x.data.is_language())
    why = x.data.tokenizer.empty()
            ? "this run's tokenizer is in its model's files"
            : "this run's tokens are bytes, and no file says them";
  return ended(end::misfit, std::move(why), "without --tokenizer it would do");
}

/// How many experts clients have is said here, and the server is not told.
std::optional<join_summary> place_experts(const join_context& in,
                                          experiment& to) {
  if (in.experts == 0 && in.expert_memory == 0)
    return std::nullopt;
  const std::string said = in.experts > 0 ? "--experts" : "--expert-memory";
  const auto* method = all_methods().find(to.method);
  const auto most = method == nullptr ? 0 : models::experts_max(*method);
  if (most == 0)
    return ended(end::misfit,
                 "clients of this run's method, " + to.method
                   + ", have no number of experts of their own",
                 "without " + said + " it would do");
  if (in.experts > most)
    return ended(end::misfit,
                 "a client of this run's method, " + to.method + ", has 1 to "
                   + std::to_string(most) + " experts, and --experts says "
                   + std::to_string(in.experts),
                 "--experts " + std::to_string(most) + " would do");
  to.training.experts.clear();
  to.training.expert_memory.clear();
  if (in.experts > 0)
    to.training.experts = {in.experts};
  else
    to.training.expert_memory = {in.expert_memory};
  // What the server's text said there is no more.
  const auto* key =
    in.experts > 0 ? "training.experts" : "training.expert_memory";
  to.places.said[key] = said;
  return std::nullopt;
}

} // namespace

std::optional<join_summary> read_terms(const join_context& in,
                                       const messages::terms_given& terms,
                                       experiment& to) {
  std::string text;
  for (const auto& line : terms.config)
    text += line + '\n';
  std::vector<std::string> changes;
  if (!in.data.empty())
    changes.push_back("data.path=" + in.data);
  auto loaded = parse_config({text, "the server's terms"}, changes);
  if (!loaded)
    return ended(end::misfit, loaded.error().context,
                 "another build of troupe may have written them");
  to = for_clients(std::move(loaded->x));
  // No path of a server's is left, also where nothing would read it.
  to.data.path = in.data;
  to.data.cache.clear();
  // Asked of what the run says, before its own paths stand there.
  auto tokenizer = has_use_of_tokenizer(in, to);
  const auto place = to.model.is_language() ? &place_language : &place_model;
  auto model = place(in, terms, to);
  if (auto wrong = place_common(in, to))
    return wrong;
  if (auto wrong = place_experts(in, to))
    return wrong;
  if (model)
    return model;
  if (auto wrong = has_use_of_weights(terms, to))
    return wrong;
  if (tokenizer)
    return tokenizer;
  if (!in.name.empty())
    return std::nullopt;
  if (to.data.is_elsewhere())
    return ended(end::data,
                 "this run has no data of its own: its clients bring theirs",
                 "--data PATH --id NAME brings some");
  if (is_read(to.data) && in.data.empty())
    return ended(end::data,
                 "this run learns from data in files, which a process that "
                 "joins has as well",
                 "--data PATH says where this machine has it");
  return std::nullopt;
}

std::optional<join_summary> has_data(const join_context& in) {
  std::error_code failed;
  if (in.data.empty() || std::filesystem::exists(in.data, failed))
    return std::nullopt;
  return ended(end::data, in.data + ": "
                            + (failed ? failed.message()
                                      : "there is no such file or folder"));
}

bool may_be(client_id who, const join_context& in, const experiment& x) {
  const auto last = x.data.is_elsewhere() ? 0 : x.clients.clients;
  return in.name.empty() ? who.value >= 1 && who.value <= x.clients.invitable()
                         : who.value > last && who.value <= limits::clients_max;
}

std::optional<join_summary> read_own(const join_context& in,
                                     const messages::terms_given& terms,
                                     const experiment& x, own_data& to) {
  if (terms.inputs.empty())
    return ended(end::data,
                 "this run takes no clients with data of their own: its data "
                 "is made, or dealt to clusters of clients",
                 "--virtual N joins with clients of the run's partition");
  auto found = read_own_data(x, in.data,
                             {.inputs = terms.inputs,
                              .classes = terms.classes,
                              .examples_max = terms.examples_max});
  if (!found)
    return ended(end::data, found.error().context);
  to = std::move(*found);
  return std::nullopt;
}

std::optional<join_summary> make_work(const join_context& in,
                                      const messages::terms_given& terms,
                                      const experiment& x, workload& to) {
  auto work =
    in.make_work
      ? in.make_work(x)
      : materials_of(x, in.make_model).and_then([&x](materials found) {
          return prepare_joining(x, std::move(found));
        });
  if (!work)
    return not_made(work.error());
  to = std::move(*work);
  const auto data = to.data_digest ? to.data_digest() : models::digest{};
  if (data != terms.data)
    return ended(
      end::data,
      (in.data.empty() ? "the data made here" : "what is at " + in.data)
        + " is not what the run learns from: its digest is "
        + short_digest(to_hex(data)) + ", the run's "
        + short_digest(to_hex(terms.data)));
  return fits(terms, to);
}

// As large as the run's clients may be, or the grids would differ.
std::optional<join_summary> make_work(const join_context& in,
                                      const messages::terms_given& terms,
                                      const experiment& x, const own_data& mine,
                                      client_id me, workload& to) {
  auto as_here = x;
  as_here.merge.samples_max = terms.examples_max;
  const example_shape shape{.inputs = terms.inputs,
                            .classes = terms.classes,
                            .examples_max = terms.examples_max};
  auto found =
    mine.text
      ? materials_of_text(x, mine, me, shape, make_torch_language)
      : result<materials>{materials_of(x, mine, me, shape, in.make_model)};
  if (!found)
    return not_made(found.error());
  auto work = prepare_joining(as_here, std::move(*found));
  if (!work)
    return not_made(work.error());
  to = std::move(*work);
  return fits(terms, to);
}

namespace {

/// A server that came from a copy may have given their numbers to others.
std::string left_behind(const experiment& x, const std::vector<client_id>& mine,
                        const actors::vault& kept) {
  std::string who;
  for (const auto& [client, state] : kept.states()) {
    if (std::ranges::find(mine, client) != mine.end())
      return {};
    if (client.value <= x.clients.invitable())
      who += (who.empty() ? " " : ", ") + std::to_string(client.value);
  }
  return who.empty()
           ? ""
           : "\nthis store has what clients of other numbers kept:" + who
               + "; the server does not know any more that they are "
                 "its, and what they offered last is not said again";
}

} // namespace

std::string joined(const join_context& in, const experiment& x,
                   const workload& work, const std::vector<client_id>& mine,
                   const actors::vault& kept) {
  const auto first = std::to_string(mine.front().value);
  if (!in.name.empty())
    return "joined as " + in.name + ", client " + first + " of the run, with "
           + std::to_string(work.examples(mine.front())) + " examples";
  return "joined with " + std::to_string(mine.size()) + " of the run's "
         + std::to_string(x.clients.invitable()) + " clients: " + first + " to "
         + std::to_string(mine.back().value) + left_behind(x, mine, kept);
}

} // namespace troupe::node

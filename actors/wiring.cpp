#include "actors/wiring.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <caf/event_based_actor.hpp>

#include "actors/aggregator/aggregator.hpp"
#include "actors/archivist/archivist.hpp"
#include "actors/assessor/assessor.hpp"
#include "actors/expert/expert.hpp"
#include "actors/kernel_worker/evaluator.hpp"
#include "actors/kernel_worker/kernel_worker.hpp"
#include "actors/kernel_worker/merger.hpp"
#include "actors/roster/roster.hpp"
#include "actors/router/router.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/wiring_of_clients.hpp"
#include "actors/wiring_of_routes.hpp"
#include "actors/wiring_of_serving.hpp"

namespace troupe::actors {

namespace {

messages::version_published published(line_id line, const stored_line& x) {
  return {.line = line,
          .head = x.head,
          .round = x.round,
          .blocks = messages::without_moments(x.blocks),
          .merged = {}};
}

values_on_disk reader_of(const std::shared_ptr<arrivals>& x) {
  if (!x)
    return {};
  return [x](line_id line, visit_id visit, block_id block, values_part of) {
    return x->values(line, visit, block, of);
  };
}

/// Spawns one node, step by step.
class builder {
public:
  builder(caf::actor_system& system, const node_args& args, stored_node found,
          std::vector<messages::part_offered> arrived)
    : system_(system),
      args_(args),
      found_(std::move(found)),
      arrived_(std::move(arrived)),
      others_(std::make_shared<cast>()) {
    // Before anybody writes to the record.
    if (args.asked)
      asked_ = args.asked();
    if (args.resumed)
      resumed_ = args.resumed();
  }

  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;

  /// Half a node is none.
  ~builder() {
    for (const auto& x : all_)
      caf::anon_send_exit(x, caf::exit_reason::kill);
  }

  std::vector<caf::actor> build() {
    spawn_arithmetic();
    spawn_books();
    spawn_publisher();
    spawn_lines();
    spawn_director();
    spawn_doors();
    others_->whole = true;
    begin();
    return std::exchange(all_, {});
  }

private:
  template <caf::spawn_options Options = caf::no_spawn_options, class F,
            class... Ts>
  auto spawn(F f, Ts&&... xs) {
    auto x = system_.spawn<Options>(f, std::forward<Ts>(xs)...);
    all_.push_back(caf::actor_cast<caf::actor>(x));
    return x;
  }

  template <class F, class... Ts>
  auto spawn_apart(F f, Ts&&... xs) {
    return args_.detached ? spawn<caf::detached>(f, std::forward<Ts>(xs)...)
                          : spawn(f, std::forward<Ts>(xs)...);
  }

  void spawn_arithmetic() {
    others_->merger =
      spawn_apart(merger, merger_args{args_.arithmetic, args_.blocks,
                                      reader_of(args_.books->arrived())});
    others_->evaluator =
      spawn_apart(evaluator, evaluator_args{args_.evaluator});
    if (args_.around_merger)
      others_->merger = args_.around_merger(others_->merger);
    if (!args_.processes.of)
      return;
    others_->assessor = caf::actor_cast<assessor_actor>(
      spawn(assessor,
            assessor_args{.evaluator = others_->evaluator,
                          .others = others_,
                          .started = args_.started,
                          .waits = args_.waits,
                          .first_question =
                            args_.first_question ? args_.first_question() : 0,
                          .spoke = args_.processes.spoke}));
    others_->evaluator = caf::actor_cast<evaluator_actor>(others_->assessor);
  }

  void spawn_books() {
    others_->archivist =
      spawn_apart(archivist, archivist_args{args_.books, args_.books->arrived(),
                                            args_.events, args_.started});
    if (args_.around_archivist)
      others_->archivist = args_.around_archivist(others_->archivist);
  }

  void spawn_publisher() {
    publisher_args x{.heads = {},
                     .lead = args_.blocks->lead(),
                     .evaluate_every = args_.evaluate_every,
                     .evaluate_at_end = args_.evaluate_at_end,
                     .score_clients = args_.score_clients,
                     .watching = args_.watching,
                     .others = others_,
                     .started = args_.started,
                     .waits = args_.waits,
                     .held_out = args_.held_out,
                     .offers = args_.method->offers,
                     .score_aside = args_.score_aside};
    for (const auto& [line, stored] : found_.lines)
      x.heads[line] = published(line, stored);
    others_->publisher =
      caf::actor_cast<publisher_actor>(spawn(publisher, std::move(x)));
  }

  void spawn_lines() {
    router_args routes{.lines = {}, .others = others_};
    // What cannot be read again is held, however much it is.
    const auto room = args_.books->reads()
                        ? args_.versions_bytes_max / args_.blocks->lines.size()
                        : ~std::size_t{0};
    for (const auto& line : args_.blocks->lines) {
      const auto& stored = found_.lines.at(line.id);
      auto books = ledger_options(*args_.lines, *args_.blocks, line);
      books.history_bytes_max = room;
      books.spools = args_.books->arrived() != nullptr;
      books.values_bytes_max = room_of(line.id);
      const auto lead = args_.blocks->lead();
      if (const auto last = args_.course.budget.versions;
          last > 0 && lead.value_or(line.id) == line.id)
        books.head_last = {last};
      if (found_.end != messages::course_end::none)
        books.head_last = stored.head; // Of what comes back nothing is merged.
      const auto writer = spawn(
        aggregator, aggregator_args{.options = std::move(books),
                                    .found = {.head = stored.head,
                                              .round = stored.round,
                                              .blocks = stored.blocks,
                                              .merged = stored.merged,
                                              .admitted = std::max<std::size_t>(
                                                1, found_.clients.size())},
                                    .arrived = arrived_at(line.id),
                                    .others = others_,
                                    .waits = args_.waits,
                                    .resumed = resumed_});
      if (args_.books->arrived()) // It may say what it took up.
        speak_first_.push_back(caf::actor_cast<caf::actor>(writer));
      const auto reader = spawn(
        expert,
        expert_args{
          .options = {.line = line.id,
                      .versions_max = args_.lines->admission.staleness_max + 2,
                      .bytes_max = room},
          .first = published(line.id, stored),
          .blocks = args_.blocks,
          .others = others_,
          .waits = args_.waits,
          .resumed = resumed_});
      routes.lines[line.id] = {caf::actor_cast<aggregator_actor>(writer),
                               reader};
    }
    others_->router = spawn(router, std::move(routes));
  }

  void begin() {
    if (args_.started_as)
      args_.started_as(*others_);
    for (const auto& x : std::exchange(speak_first_, {}))
      caf::anon_send(x, caf::tick_atom_v);
  }

  course::durable found_of_course() const {
    course::durable x{.clients = found_.clients,
                      .index_upto = found_.index_upto,
                      .round = found_.round,
                      .heads = {},
                      .merged = {},
                      .stopper = found_.stopper,
                      .updates = found_.updates,
                      .fruitful = found_.fruitful,
                      .end = found_.end,
                      .had_last = found_.had_last};
    for (const auto& [line, stored] : found_.lines) {
      x.heads[line] = stored.head;
      x.round_has_version |= stored.round == found_.round.round;
      policies::insert_all(x.merged, stored.merged);
    }
    return x;
  }

  void spawn_director() {
    director_args plan{.options = args_.course,
                       .found = found_of_course(),
                       .others = others_,
                       .metric = args_.metric,
                       .started = args_.started,
                       .waits = args_.waits,
                       .events = args_.events,
                       .resumed = resumed_,
                       .method = args_.method,
                       .blocks = args_.blocks,
                       .groups = args_.groups,
                       .asked = std::move(asked_)};
    plan.options.lead = args_.blocks->lead();
    plan.options.silence_max = args_.attendance.silence_max;
    for (const auto& [line, stored] : found_.lines)
      plan.options.lines.push_back(line);
    const auto made = spawn(director, std::move(plan));
    others_->director = caf::actor_cast<director_actor>(made);
    if (!resumed_) // It has looked at everything up to this instant.
      speak_first_.push_back(caf::actor_cast<caf::actor>(made));
  }

  void spawn_doors() {
    others_->roster = caf::actor_cast<roster_actor>(
      spawn(roster, roster_args{.options = args_.attendance,
                                .others = others_,
                                .started = args_.started,
                                .resumed = resumed_}));
    gateway_args door{.network = args_.network,
                      .counted = args_.counted,
                      .blocks = args_.blocks,
                      .method = args_.method,
                      .rules = {.blocks = nullptr,
                                .disclosures = args_.method->disclosures,
                                .weighting = args_.weighting,
                                .norm_max = args_.norm_max},
                      .may_speak = args_.may_speak,
                      .processes = args_.processes,
                      .refused = args_.refused,
                      .key = found_.key,
                      .tickets = args_.tickets,
                      .others = others_,
                      .started = args_.started,
                      .offered = args_.offered,
                      .keeps = args_.keeps,
                      .announce = args_.announce,
                      .events = args_.events,
                      .outlived = args_.outlived,
                      .resumed = resumed_};
    door.silence_counts = args_.attendance.silence_max > instant{};
    for (const auto& [line, stored] : found_.lines)
      door.found.emplace(line, stored.head);
    for (const auto& x : arrived_)
      door.arrived.insert(x.visit);
    others_->gateway = spawn(gateway, std::move(door));
  }

  /// Of the memory for offers, a line's share by its size.
  std::uint64_t room_of(line_id line) const {
    double all = 0;
    for (const auto& block : args_.blocks->blocks)
      all += static_cast<double>(block.size);
    double own = 0;
    for (const auto& block : args_.blocks->blocks)
      own += block.line == line ? static_cast<double>(block.size) : 0;
    return args_.offers_bytes_max == ~std::uint64_t{0} || all == 0
             ? args_.offers_bytes_max
             : static_cast<std::uint64_t>(
               static_cast<double>(args_.offers_bytes_max) * (own / all));
  }

  std::vector<messages::part_offered> arrived_at(line_id line) const {
    std::vector<messages::part_offered> out;
    std::ranges::copy_if(arrived_, std::back_inserter(out),
                         [=](const auto& x) { return x.line == line; });
    return out;
  }

  caf::actor_system& system_;
  const node_args& args_;
  stored_node found_;
  std::optional<policies::request_watch> asked_;
  std::vector<messages::part_offered> arrived_;
  std::vector<caf::actor> speak_first_; ///< When everybody is there.
  std::shared_ptr<const snapshot> resumed_;
  std::shared_ptr<cast> others_;
  std::vector<caf::actor> all_;
};

result<stored_node> found_for(const node_args& args) {
  if (auto* first = args.found ? args.found() : nullptr)
    return std::move(*first);
  return args.books->load();
}

} // namespace

result<std::vector<caf::actor>> build_node(caf::actor_system& system,
                                           const node_args& args) {
  auto found = found_for(args);
  if (!found)
    return tl::make_unexpected(found.error());
  result<std::vector<messages::part_offered>> arrived;
  if (const auto spool = args.books->arrived())
    arrived = spool->found();
  if (!arrived)
    return tl::make_unexpected(arrived.error());
  std::map<line_id, version> heads;
  for (const auto& [line, stored] : found->lines)
    heads.emplace(line, stored.head);
  mark_lost(*arrived, heads);
  return builder{system, args, std::move(*found), std::move(*arrived)}.build();
}

caf::actor start_node(caf::actor_system& system, node_args args,
                      std::function<void(const std::string&)> broke) {
  return system.spawn(supervisor,
                      supervisor_args{[&system, args = std::move(args)] {
                                        return build_node(system, args);
                                      },
                                      std::move(broke)});
}

client_actor
start_client(caf::actor_system& system, client_args args,
             const std::function<void(const client_actor&)>& connect) {
  const bool begins = !args.resumed;
  const auto made = system.spawn(client, std::move(args));
  auto out = caf::actor_cast<client_actor>(made);
  connect(out);
  if (begins)
    caf::anon_send(made, caf::tick_atom_v);
  return out;
}

world_actor start_world(caf::actor_system& system, world_args args) {
  return caf::actor_cast<world_actor>(system.spawn(world, std::move(args)));
}

reception_actor start_reception(caf::actor_system& system,
                                reception_args args) {
  return caf::actor_cast<reception_actor>(
    system.spawn(reception, std::move(args)));
}

kernel_worker_actor start_worker(caf::actor_system& system,
                                 std::shared_ptr<workshop> jobs) {
  return system.spawn(kernel_worker, std::move(jobs));
}

lone_router start_lone_router(caf::actor_system& system,
                              const std::vector<line_id>& lines,
                              std::uint64_t& heard) {
  const auto keeper = caf::actor_cast<expert_actor>(system.spawn(
    [](caf::event_based_actor*, std::uint64_t* count) -> caf::behavior {
      return {[count](const messages::serve_requested&) { ++*count; }};
    },
    &heard));
  router_args routes;
  for (const auto line : lines)
    routes.lines[line] = {aggregator_actor{}, keeper};
  return {system.spawn(router, std::move(routes)), keeper};
}

} // namespace troupe::actors

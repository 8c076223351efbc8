#include "tests/support/wire_examples.hpp"

namespace troupe::test {

messages::ticket example_ticket() {
  return {.visit = {{0x11}, {0x12}},
          .index = 0x13,
          .seed = 0x1415161718191a1b,
          .role = 0x1c,
          .progress = 0.25,
          .round = {0x1d},
          .cut = {0x1e},
          .expires_ns = -0x1f,
          .mac = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9,
                  0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf}};
}

namespace {

using namespace messages;

std::vector<wire_example> example_sessions() {
  return {
    {"hello", hello{.protocol_min = 1,
                    .protocol_max = 2,
                    .client = {3},
                    .incarnation = 4,
                    .layout = {5, 6, 7},
                    .nonce = 8,
                    .examples = 9,
                    .last = {10},
                    .open = {example_ticket()}}},
    {"welcome", welcome{.protocol = 1,
                        .nonce = 2,
                        .session = {3},
                        .heads = {{{4}, {5}}, {{6}, {7}}}}},
    {"farewell", farewell{farewell_reason::finished, "the run is over", 9, 10}},
    {"beat", beat{{0x0102030405060708}, {9}}},
    {"beat_answered", beat_answered{{{{1}, {2}}}}},
    {"leave", leave{{7}}}};
}

std::vector<wire_example> example_visits() {
  return {
    {"invited", messages::invited{example_ticket()}},
    {"fetch_requested",
     fetch_requested{
       .pass = example_ticket(),
       .leg = 1,
       .wanted = {{.line = {2}, .held = {3}, .exact = {4}, .rank = 5},
                  {.line = {6}}}}},
    {"line_served",
     line_served{.visit = {{1}, {2}},
                 .leg = 3,
                 .line = {4},
                 .base = {5},
                 .unchanged = 0,
                 .blocks = {{{6}, share({1.0f, -2.5f})}, {{7}, share({})}}}},
    {"visit_ended", visit_ended{{{1}, {2}}, policies::verdict::too_stale}},
    {"visit_declined",
     visit_declined{example_ticket(), decline_reason::failed}},
    {"offer_made",
     offer_made{
       .pass = example_ticket(),
       .disclosures = {{.index = 1, .values = {0.25, 0.75}}},
       .blocks =
         {{{.block = {1},
            .rank = 3,
            .weight = 40.5,
            .delta = share({0.125f, -0.5f, 3.0f})},
           {2}},
          {{.block = {4}, .rank = 0, .weight = 1, .delta = share({6.0f})},
           {5}}},
       .loss = 1.5,
       .fetched = {{{7}, {8}}}}},
    {"offer_answered",
     offer_answered{{{1}, {2}}, {3}, policies::verdict::duplicate, {4}}},
    {"offer_held", offer_held{{{1}, {2}}, {3}, 1}},
    {"offer_awaited", offer_awaited{example_ticket(), {{2}, {3}}}},
    {"version_announced", version_announced{{1}, {2}}}};
}

std::vector<wire_example> example_terms() {
  return {
    {"terms_asked", terms_asked{1, 2, 3}},
    {"terms_given", terms_given{.protocol = 1,
                                .nonce = 2,
                                .run = {3, 4},
                                .layout = {5, 6},
                                .data = {7, 8},
                                .config = {"seed = 1", ""},
                                .inputs = {1, 28, 28},
                                .classes = 10,
                                .examples_max = 9,
                                .frozen = {{"model", {10, 11}}},
                                .model = {12, 13}}},
    {"places_asked", places_asked{1, {2, 3}, 4, "ward7"}},
    {"places_given", places_given{1, {{2}, {3}}, "all are taken"}},
    {"process_parted", process_parted{parting::over, "500 rounds"}},
    {"enrolment_asked", enrolment_asked{1, {2, 3}}},
    {"enrolment_answered", enrolment_answered{1, "it is used up"}},
    {"frozen_asked", frozen_asked{1, {2, 3}, 4}},
    {"frozen_given", frozen_given{1, 2, share({0.5f}), "it is not served"}},
    {"scores_asked", scores_asked{1, {{2}, {3}}, {{{4}, share({0.5f})}}}},
    {"scores_told", scores_told{1, {{{2}, 10, 9, 0.5, 4, 3, 0.25}}}}};
}

} // namespace

std::vector<wire_example> example_messages() {
  auto all = example_sessions();
  for (auto& x : example_visits())
    all.push_back(std::move(x));
  for (auto& x : example_terms())
    all.push_back(std::move(x));
  return all;
}

} // namespace troupe::test

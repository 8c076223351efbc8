#!/usr/bin/env python3
"""Each rule can fail, and does not where it must not: pairs of a good and a bad line."""

import unittest

import rules
import tree
from source import functions, types, without

# (rule, path, good, bad)
PAIRS = [
    (rules.world, "policies/a.cpp", "#include <map>", "#include <fstream>"),
    (rules.world, "core/a.cpp", "#include <vector>", "#include <chrono>"),
    (rules.torch_room, "actors/client/a.cpp", '#include "models/trainer.hpp"',
     '#include "models/torch/module.hpp"'),
    (rules.actors_meet_transport, "actors/roster/a.cpp",
     '#include <caf/all.hpp>\n#include "actors/interfaces.hpp"',
     '#include <caf/all.hpp>\n#include "actors/transport/codec.hpp"'),
    (rules.actors_meet_transport, "node/run/a.cpp", '#include "actors/transport/codec.hpp"',
     '#include "actors/transport/codec.hpp"\n#include <caf/all.hpp>'),
    (rules.chance, "actors/a.cpp", "auto t = steady_now();",
     "auto t = std::chrono::steady_clock::now();"),
    (rules.chance, "models/a.cpp", "random_stream r{seed};", "std::mt19937 r{seed};"),
    (rules.chance, "models/a.cpp", "double time(int x);", "srand(time(nullptr));"),
    (rules.chance, "policies/a.cpp", "x.rand(3); // rand() is bad", "int x = rand();"),
    (rules.chance, "actors/a.cpp", "const actor_clock now;", "static random_device x;"),
    (rules.chance, "actors/a.cpp", "x.time(y);", "return time(y);"),
    (rules.chance, "models/a.cpp", "entropy(x);", "::getentropy(x, 8);"),
    (rules.unordered, "actors/a.hpp", "std::map<int, int> x;", "std::unordered_map<int, int> x;"),
    (rules.method_names, "actors/a.cpp", 'x = "mean"; // as in SCAFFOLD', 'x = "scaffold";'),
    (rules.method_names, "core/a.hpp", "struct mean {};", "struct fedavg {};"),
    (rules.method_names, "node/a.cpp", "policies::catalogue()", '"per_fedavg_lora"'),
    (rules.spawning, "actors/a.cpp", "respawn(); // spawn() elsewhere",
     "self->spawn(expert, x);"),
    (rules.spawning, "actors/a.cpp", "int spawned = 0;", "sys.spawn<caf::detached>(f);"),
    (rules.spawning, "node/run/a.cpp", "::posix_spawn(x);", "system.spawn(expert);"),
    (rules.handles, "models/methods/a.cpp", "co_await v.move(w, w, -rate, slope); // w[j]",
     "w[j] -= rate * slope[j];"),
    (rules.awaits, "models/methods/a.cpp", "if (a ? b : c) {\n  co_await v.step(x, {y, z});\n}",
     "const auto w = a ? co_await v.take() : b;"),
    (rules.awaits, "models/methods/a.cpp", "for (auto x : xs)\n  sum += co_await v.score(x::y, {1});",
     "const pair x{co_await v.take(), 1};"),
    (rules.awaits, "models/methods/a.cpp", "task<done> f(visit& v) { co_await v.take(); }",
     "co_await v.offer(base, {f(co_await v.take())});"),
    (rules.awaits, "models/methods/a.cpp", "[](visit& v) -> task<done> { co_await v.take(); }",
     "[&](visit& v) -> models::task<done> { co_await v.take(); }"),
    (rules.subranges, "core/a.cpp", "std::unique(x.begin(), x.end()); std::ranges::sort(x);",
     "const auto rest = std::ranges::unique(x);"),
    (rules.subranges, "node/run/a.cpp", "std::string_view::npos; views_of(x);", "x | std::views::split(',')"),
    (rules.subranges, "node/keys/a.cpp", "std::ranges::lower_bound(x, 1);", "std::ranges::stable_partition(x, is);"),
    (rules.scripts, "tests/e2e/a.sh", 'start one "$troupe" serve && wait "$server"', '"$troupe" serve 2>err &'),
    (rules.scripts, "tests/e2e/a.sh", 'tell INT "$process"', 'kill -INT "$(pgrep -P "$server")"'),
    (rules.scripts, "tests/e2e/a.sh", "# A trap of this shell's own.", "trap 'rm -rf x' EXIT"),
    (rules.scripts, "tests/e2e/a.sh", '"$troupe" why x | grep word >/dev/null', '"$troupe" why x | grep -q word'),
    (rules.personal, "actors/client/a.cpp", "x.view(); // own_view()", "share(to(p.own_view()));"),
    (rules.sizes, "core/a.cpp", "int x;\n" * 400, "int x;\n" * 401),
    (rules.sizes, "core/a.cpp", "void f() {\n" + "g();\n" * 58 + "}\n",
     "void f() {\n" + "g();\n" * 59 + "}\n"),
    (rules.manners, "core/a.hpp", "#pragma once\nint x;", "int x;\n#pragma once"),
    (rules.manners, "core/a.hpp", "#pragma once\nusing std::map;",
     "#pragma once\nusing namespace std;"),
    (rules.manners, "kernels/cuda/a.cuh", "#pragma once\nint x;", "int x;"),
    (rules.manners, "core/a.cpp", "// What is left: an issue.", "// TO" + "DO: more"),
    (rules.manners, "core/a.cpp", "// FIX" + "ME: see #12", "// FIX" + "ME: later"),
]

# Where a rule does not hold: (rule, path, text)
EXEMPT = [
    (rules.chance, "core/clock.cpp", "std::chrono::steady_clock::now();"),
    (rules.method_names, "policies/methods/a.cpp", '"fedavg"'),
    (rules.spawning, "actors/wiring.cpp", "sys.spawn(expert);"),
    (rules.torch_room, "node/task/torch_model.cpp", '#include "models/torch/module.hpp"'),
    (rules.scripts, "tests/e2e/common.sh", "trap end EXIT"),
    (rules.actors_meet_transport, "actors/gateway/gateway.cpp",
     '#include <caf/all.hpp>\n#include "actors/transport/codec.hpp"'),
]
# What a rule does not ask about: (rule, path, text)
ELSEWHERE = [
    (rules.world, "actors/a.cpp", "#include <thread>"),
    (rules.torch_room, "tests/a.cpp", '#include "models/torch/module.hpp"'),
    (rules.actors_meet_transport, "tests/a.cpp",
     '#include <caf/all.hpp>\n#include "actors/transport/codec.hpp"'),
    (rules.unordered, "tests/a.cpp", "std::unordered_set<int> x;"),
    (rules.method_names, "tests/a.cpp", '"fedavg"'),
    (rules.spawning, "tests/a.cpp", "system.spawn(x);"),
    (rules.scripts, ".ci/long", "trap end EXIT"),
]

# Trees to plant something in: two rooms, and what CMake and the table say of them.
TABLE = """## Rooms
| folder | question | ours | others |
| --- | --- | --- | --- |
| `core` | what is? | nothing | `tl/` |
| `models` | what is being learned? | core; `actors/a.hpp` in `a.cpp` | `zlib.h` in `a.cpp` |
| `actors` | who tells whom? | core, models/ | |
## The cast
| `gateway` | speaks | nothing | |
"""
TREE = {
    "docs/architecture.md": TABLE,
    "CMakeLists.txt": "troupe_room(core FOLDERS core)\ninclude(models)\n"
                      "troupe_room(actors FOLDERS actors LINKS core)\n",
    "cmake/models.cmake": "troupe_room(models FOLDERS models LINKS core) # troupe_room(x FOLDERS x)\n",
    "core/a.hpp": "#include <vector>\n#include <unistd.h>\n#include <tl/expected.hpp>",
    "models/a.hpp": '#include "core/a.hpp"',
    "models/a.cpp": '#include "models/a.hpp"\n#include "actors/a.hpp"\n#include <zlib.h>',
    "actors/a.hpp": '#include "core/a.hpp"\n#include "models/a.hpp"',
}
FLAT = TREE | {"models/a.cpp": '#include "models/a.hpp"'}
BUILT = {
    "CMakeLists.txt": "troupe_room(core FOLDERS core actors/x LINKS y)\n"
                      'file(GLOB s "${CMAKE_SOURCE_DIR}/kernels/*.cu")\n'
                      "add_executable(troupe node/main.cpp) # node/other.cpp",
    "tests/CMakeLists.txt": 'file(GLOB_RECURSE s "${CMAKE_SOURCE_DIR}/tests/support/*.cpp")\n'
                            'file(GLOB s "${CMAKE_CURRENT_SOURCE_DIR}/*_fuzz.cpp")\n'
                            "set_source_files_properties(named.cpp PROPERTIES X y)\n"
                            "add_executable(x named.cpp ${CMAKE_BINARY_DIR}/made.cpp)",
} | dict.fromkeys(["core/a.cpp", "actors/x/a.hpp", "kernels/a.cu", "node/main.cpp", "tests/named.cpp",
                   "tests/a_fuzz.cpp", "tests/support/a.cpp", "tests/support/x/a.cpp"], "")
# The second has all names of the first, and none of its types.
NAMED = {
    "core/a.hpp": "namespace t::a {\nstruct x {};\nclass y {};\nusing z = int;\n"
                  "template <class T>\nclass w {};\nnamespace {\nenum v { one };\n}\n}",
    "core/b.cpp": "namespace t {\nstruct x {};\nnamespace a {\nclass y;\nusing z = int;\n"
                  "template <>\nclass w<int> {};\nnamespace {\nenum v { two };\nstruct x {};\n}\n"
                  "void f(y with = {}) {\n  struct x {};\n}\n}\n}",
    "tests/a.cpp": "namespace t::a {\nstruct x {};\n}",
}
DEV = "case $command in\n  build) x ;;\nesac"
HANDBOOK = {"dev": DEV, "node/main.cpp": '{"run", "x"', "node/commands/command.cpp": '{"why", "x"',
            "README.md": "```\n./dev build\ntroupe run\nbuild/release/troupe why\n./dev\n```\ntroupe is"}

LISTED = "#define TROUPE_METHODS(METHOD) \\\n  METHOD(a_b) \\\n  METHOD(c) \\\n  METHOD(still)\n"
COMPUTED = {
    "policies/methods/methods.hpp": LISTED,
    "tests/oracle/cases.py": 'CASES = [\n    Case("a sync", "a_b", {}),\n    Case("c long", "c", {}),\n]\n'
                             'QUICK = (\n    "a sync", "c texts",\n)\n'
                             'WITHOUT = {\n    "still": "nobody trains",\n}\n',
    "tests/oracle/language_cases.py": 'LANGUAGE = [\n    ("c texts", "c", {}),\n]\n',
}


BUGS = {
    "docs/testing.md": "| `before` | x |\n## Planted bugs\n| `one`, `two` | `a.test` |\n## After\n| `behind` | x |\n",
    "tests/mutants/one.patch": "", "tests/mutants/two.patch": "",
}
POINTS = {"docs/testing.md": "| 1 x | a |\n| 1 x | b |\n\n| point | held by |\n| --- | --- |\n| 1 x | a |\n| rows: x | b |\n"
                             "| rows: y | b |\n\n| point | held by |\n| --- | --- |\n| 1 x | c |\n"}


def computed(before, after):
    """Other cases."""
    name = "tests/oracle/cases.py"
    return (tree.computed_twice, COMPUTED, {name: COMPUTED[name].replace(before, after)})


def exempted():
    """A tree that needs all exceptions."""
    text = {"world": "#include <chrono>", "torch_room": '#include "models/torch/a.hpp"',
            "actors_meet_transport": '#include <caf/all.hpp>\n#include "actors/transport/a.hpp"',
            "chance": "x = rand();", "method_names": "int ditto;", "spawning": "spawn(x);", "personal": "own_view();",
            "handles": "x.host();", "scripts": "trap end EXIT",
            "manners": "# TO" + "DO"}
    files = {"node/words.hpp": " ".join(sorted(rules.OWN_WORDS))}
    for rule, homes in rules.AT_HOME.items():
        for home in homes:
            path = home if home.endswith((".py", ".sh")) else home + "cpp"
            files[path] = files.get(path, "") + text[rule] + "\n"
    return files


# (law, good tree, what makes it bad); None takes a file away.
PLANTED = [
    (tree.rooms, TREE, {"core/b.hpp": '#include "models/a.hpp"'}),
    (tree.rooms, TREE, {"models/b.cpp": '#include "actors/a.hpp"'}),
    (tree.rooms, TREE, {"models/b.cpp": "#include <zlib.h>"}),
    (tree.rooms, TREE, {"models/b.cpp": "#include <tl/expected.hpp>"}),
    (tree.rooms, TREE, {"core/b.cpp": "#include <caf/all.hpp>"}),
    (tree.rooms, TREE, {"core/b.cpp": '#include "a.hpp"'}),
    (tree.rooms, TREE, {"tests/b.cpp": '#include "a.hpp"'}),
    (tree.rooms, TREE, {"models/x/b.cpp": "int x;"}),
    (tree.rooms, TREE, {"actors/a.hpp": '#include "core/a.hpp"'}),
    (tree.rooms, TREE, {"models/a.cpp": '#include "actors/a.hpp"'}),
    (tree.rooms, TREE, {"docs/architecture.md": TABLE.replace("## The cast\n", "")}),
    (tree.upward, FLAT, {"core/a.hpp": '#include "models/a.hpp"'}),
    (tree.upward, FLAT, {"models/x/a.hpp": '#include "actors/a.hpp"'}),
    (tree.upward, FLAT, {"actors/b.cpp": '#include "node/a.hpp"'}),
    (tree.used, FLAT | dict.fromkeys(["actors/a.cpp", "tests/a.cpp"], '#include "actors/a.hpp"'),
     {"tests/a.cpp": None}),
    (tree.used, TREE, {"models/b.cuh": ""}),
    (tree.built, BUILT, {"models/a.cpp": ""}),
    (tree.built, BUILT, {"core/x/a.cpp": ""}),
    (tree.built, BUILT, {"kernels/x/a.cu": ""}),
    (tree.built, BUILT, {"node/other.cpp": ""}),
    (tree.built, BUILT, {"tests/other.cpp": ""}),
    (tree.built, BUILT, {"actors/x/a.hpp": None}),
    (tree.built, BUILT, {"tests/named.cpp": None}),
    (tree.built, BUILT, {"tests/CMakeLists.txt": "set_source_files_properties(named.cpp X y)"}),
    (tree.named_once, NAMED, {"core/c.hpp": "namespace t::a {\nstruct x final : y {};\n}"}),
    (tree.named_once, NAMED, {"node/c.cpp": "namespace t {\nnamespace a {\nenum class x : int { one };\n}\n}"}),
    (tree.named_once, NAMED, {"core/c.cpp": "namespace t::a {\nusing x = int;\n}"}),
    (tree.named_once, NAMED, {"core/c.cpp": "namespace t::a {\nusing z = long;\n}"}),
    (tree.mirrored, {"core/x/a.hpp": "", "tests/unit/core/x/a_test.cpp": ""},
     {"tests/unit/x/a_test.cpp": ""}),
    (tree.documented, HANDBOOK, {"docs/a.md": "```\n./dev fly\n```"}),
    (tree.documented, HANDBOOK, {"docs/a.md": "    troupe fly"}),
    (tree.computed_twice, COMPUTED, {"policies/methods/methods.hpp": LISTED + "  METHOD(d)\n"}),
    computed(', "c texts"', ""),
    (tree.planted, BUGS, {"tests/mutants/behind.patch": ""}),
    (tree.planted, BUGS, {"tests/mutants/two.patch": None}),
    (tree.points, POINTS, {"docs/testing.md": POINTS["docs/testing.md"] + "| 1 y | d |"}),
    computed('"still": "nobody trains"', ""),
    computed('"still": "nobody', '"c": "nobody trains",\n    "still": "nobody'),
    computed('"still": "nobody', '"gone": "nobody trains",\n    "still": "nobody'),
]
PLANTED += [(tree.exceptions, exempted(), {path: None}) for path in exempted()]


class Laws(unittest.TestCase):
    def test_every_law_has_a_planted_tree(self):
        self.assertEqual({x[0] for x in PLANTED}, set(tree.LAWS))

    def test_bad_is_found_and_good_is_not(self):
        for law, good, change in PLANTED:
            with self.subTest(law=law.__name__, change=change):
                self.assertEqual(list(law(good)), [])
                bad = {x: text for x, text in (good | change).items() if text is not None}
                self.assertTrue(list(law(bad)))

    def test_an_exception_that_keeps_the_rule_is_none(self):
        found = list(tree.exceptions(exempted() | {"actors/wiring.cpp": "int x;"}))
        self.assertEqual([what for _, _, what in found],
                         ["'actors/wiring.' needs no exception to 'spawning'"])

    def test_findings_name_line_and_law(self):
        bad = TREE | HANDBOOK | COMPUTED | {"core/b.hpp": '#include <zlib.h>\n#include "models/a.hpp"'}
        self.assertEqual([x for x in tree.findings(bad) if "core/b.hpp" in x and "[rooms]" in x],
                         ["core/b.hpp:1: <zlib.h> belongs where docs/architecture.md names it [rooms]",
                          'core/b.hpp:2: core/ must not include "models/a.hpp" [rooms]'])


class Rules(unittest.TestCase):
    def test_every_rule_has_a_pair(self):
        self.assertEqual({x[0] for x in PAIRS}, set(rules.RULES))

    def test_bad_is_found_and_good_is_not(self):
        for rule, path, good, bad in PAIRS:
            with self.subTest(rule=rule.__name__, bad=bad[:60]):
                self.assertEqual(list(rule(path, good)), [])
                self.assertTrue(list(rule(path, bad)))

    def test_exempt_places_are_exempt(self):
        for rule, path, text in EXEMPT:
            with self.subTest(rule=rule.__name__, path=path):
                self.assertTrue(list(rule(path, text)))
                self.assertEqual(list(rules.findings(path, text)), [])

    def test_rules_have_their_place(self):
        for rule, path, text in ELSEWHERE:
            with self.subTest(rule=rule.__name__):
                self.assertEqual(list(rule(path, text)), [])

    def test_findings_name_line_and_rule(self):
        text = '#include "core/a.hpp"\n\n#include <fstream>\n'
        self.assertEqual(list(rules.findings("core/a.cpp", text)),
                         ["core/a.cpp:3: core/ must not include <fstream> [world]"])


class Source(unittest.TestCase):
    def test_comments_and_strings_go_and_lines_stay(self):
        self.assertEqual(without('a /* x\n y */ b // z\nc "d // e" \'"\' f'),
                         'a \n b \nc "" "" f')
        self.assertEqual(without("1'000'000 + 'x'"), "1'000'000 + \"\"")

    def test_types_are_those_of_namespaces(self):
        text = ('#include "x.hpp"\n'
                "namespace a::b {\n"
                "struct [[nodiscard]] c final : d, e::f {\n  struct inner {};\n  using g = int;\n};\n"
                "struct declared;\n"
                "struct c made() {\n  return {};\n}\n"
                "struct h::i {};\n"
                "} // namespace a::b\n"
                "namespace {\nstruct j {};\n}\n"
                "union k {};\n"
                "using l =\n  std::map<int, c>;\n")
        self.assertEqual(list(types(text)), [(3, "a::b::c", ""), (11, "a::b::h::i", ""), (16, "k", ""),
                                             (17, "l", "std::map<int, c>")])

    def test_functions_are_found_in_classes_and_namespaces(self):
        text = ("namespace a {\n"
                "struct b {\n"
                "  int c() {\n    return 1;\n  }\n"
                "  int d = 0;\n"
                "};\n"
                "const int table[] = {\n  1,\n  2,\n};\n"
                "b::b() : x_{1}, y_(2) {\n}\n"
                "TEST(x, y) {\n  if (z) {\n  }\n}\n"
                "}\n")
        self.assertEqual(functions(text), [(3, 3), (12, 2), (14, 4)])


if __name__ == "__main__":
    unittest.main()

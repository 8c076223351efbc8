#!/usr/bin/env python3
"""Each rule can fail, and does not where it must not: pairs of a good and a bad line."""

import unittest

import rules
from source import functions, without

# (rule, path, good, bad)
PAIRS = [
    (rules.rooms, "core/a.hpp", '#include "core/b.hpp"', '#include "policies/b.hpp"'),
    (rules.rooms, "policies/a.hpp", '#include "core/b.hpp"', '#include "kernels/b.hpp"'),
    (rules.rooms, "kernels/a.hpp", '#include "core/b.hpp"', '#include "models/b.hpp"'),
    (rules.rooms, "models/a.hpp", '#include "kernels/backend.hpp"', '#include "actors/b.hpp"'),
    (rules.rooms, "models/a.hpp", '#include "kernels/grid.hpp"', '#include "kernels/robust.hpp"'),
    (rules.rooms, "actors/a.hpp", '#include "models/b.hpp"', '#include "b.hpp"'),
    (rules.rooms, "policies/a.cpp", "#include <map>", "#include <fstream>"),
    (rules.rooms, "policies/a.cpp", "#include <vector>", "#include <chrono>"),
    (rules.rooms, "models/a.cpp", "#include <vector>", "#include <torch/torch.h>"),
    (rules.rooms, "models/torch/a.cpp", "#include <torch/torch.h>", "#include <caf/all.hpp>"),
    (rules.rooms, "actors/a.cpp", "#include <caf/all.hpp>", "#include <zmq.hpp>"),
    (rules.rooms, "actors/metrics/a.cpp", "#include <prometheus/counter.h>",
     "#include <cuda_runtime.h>"),
    (rules.torch_room, "actors/client/a.cpp", '#include "models/trainer.hpp"',
     '#include "models/torch/threads.hpp"'),
    (rules.actors_meet_transport, "actors/roster/a.cpp",
     '#include <caf/all.hpp>\n#include "actors/interfaces.hpp"',
     '#include <caf/all.hpp>\n#include "actors/transport/codec.hpp"'),
    (rules.chance, "actors/a.cpp", "auto t = steady_now();",
     "auto t = std::chrono::steady_clock::now();"),
    (rules.chance, "models/a.cpp", "random_stream r{seed};", "std::mt19937 r{seed};"),
    (rules.chance, "models/a.cpp", "double time(int x);", "srand(time(nullptr));"),
    (rules.chance, "policies/a.cpp", "x.rand(3); // rand() is bad", "int x = rand();"),
    (rules.unordered, "actors/a.hpp", "std::map<int, int> x;", "std::unordered_map<int, int> x;"),
    (rules.method_names, "actors/a.cpp", 'x = "mean"; // as in SCAFFOLD', 'x = "scaffold";'),
    (rules.method_names, "core/a.hpp", "struct mean {};", "struct fedavg {};"),
    (rules.spawning, "actors/a.cpp", "respawn(); // spawn() elsewhere",
     "self->spawn(expert, x);"),
    (rules.spawning, "actors/a.cpp", "int spawned = 0;", "sys.spawn<caf::detached>(f);"),
    (rules.sizes, "core/a.cpp", "int x;\n" * 400, "int x;\n" * 401),
    (rules.sizes, "core/a.cpp", "void f() {\n" + "g();\n" * 58 + "}\n",
     "void f() {\n" + "g();\n" * 59 + "}\n"),
    (rules.manners, "core/a.hpp", "#pragma once\nint x;", "int x;\n#pragma once"),
    (rules.manners, "core/a.hpp", "#pragma once\nusing std::map;",
     "#pragma once\nusing namespace std;"),
    (rules.manners, "core/a.cpp", "// What is left: an issue.", "// TO" + "DO: more"),
    (rules.manners, "core/a.cpp", "// FIX" + "ME: see #12", "// FIX" + "ME: later"),
]

# Where a rule does not hold: (rule, path, text)
EXEMPT = [
    (rules.chance, "core/clock.cpp", "std::chrono::steady_clock::now();"),
    (rules.method_names, "policies/methods/a.cpp", '"fedavg"'),
    (rules.method_names, "models/methods/a.cpp", '"scaffold"'),
    (rules.spawning, "actors/wiring.cpp", "sys.spawn(expert);"),
    (rules.torch_room, "node/main.cpp", '#include "models/torch/threads.hpp"'),
    (rules.actors_meet_transport, "actors/gateway/gateway.cpp",
     '#include <caf/all.hpp>\n#include "actors/transport/codec.hpp"'),
]


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
                self.assertEqual(list(rule(path, text)), [])

    def test_findings_name_line_and_rule(self):
        text = '#include "core/a.hpp"\n\n#include "actors/b.hpp"\n'
        self.assertEqual(list(rules.findings("core/a.cpp", text)),
                         ['core/a.cpp:3: core/ must not include "actors/b.hpp" [rooms]'])


class Source(unittest.TestCase):
    def test_comments_and_strings_go_and_lines_stay(self):
        self.assertEqual(without('a /* x\n y */ b // z\nc "d // e" \'"\' f'),
                         'a \n b \nc "" "" f')
        self.assertEqual(without("1'000'000 + 'x'"), "1'000'000 + \"\"")

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

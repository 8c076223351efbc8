"""Runs over texts: three users, a model of two layers, and steps that are few and large."""

TEXTS = {
    "data.kind": "language", "data.tokenizer": "bytes", "data.context": 8,
    "data.validation_share": 0.2, "data.test_share": 0.2, "clients.clients": 3,
    "clients.clients_per_round": 3, "model.kind": "language", "training.local_steps": 4,
    "training.batch_size": 2, "training.batches": "anywhere", "training.optimiser": "adamw",
    "training.beta1": 0.9, "training.beta2": 0.95, "training.weight_decay": 0.01,
    "training.learning_rate": 0.02, "rank": 2, "rounds": 3, "evaluate_every": 1000,  # In the end.
}
# A burst comes in the middle of a visit, and what it goes by is older than that.
BURSTS = {"router_every": 6, "router_steps": 2, "router_rate": 0.05}
COSINE = {"training.schedule.kind": "cosine", "training.schedule.last": 0.1,
          "training.schedule.own_steps": 12}
FOUR = {**BURSTS, "training.experts": [4, 3, 4], "balance": 0.5}
SGD = {"training.optimiser": "sgd", "training.beta1": None, "training.beta2": None,
       "training.weight_decay": 0.0, "training.learning_rate": 0.02}
SEEDED = {"model.layers": 2, "model.embedding": 16, "model.heads": 2}
UNEQUAL = {"devices.speed.kind": "uniform", "devices.speed.slowest": 0.1,
           "devices.speed.fastest": 1.0}
FEDBUFF = {"pace.mode": "fedbuff", "pace.buffer_size": 2, "pace.concurrency": 3, "versions": 8,
           "rounds": None, "evaluate_every": 0, **UNEQUAL}
SEMISYNC = {"pace.mode": "semisync", "pace.window_seconds": 0.1, "rounds": 6, **UNEQUAL}
FEDASYNC = {"pace.mode": "fedasync", "pace.concurrency": 3, "versions": 8, "rounds": None,
            "server.server_learning_rate": 0.5, **UNEQUAL}
LLAMA = {"oracle.shape": "llama"}
TWO_LEVELS = {"own_rank": 1, "inner_rate": 0.3}
CLASSES = {"data.task": "classify", "training.batches": "drawn"}
OWN_HEADS = {**CLASSES, "options.head": "private"}
SLOWER = {**TWO_LEVELS, "inner_rate": 0.1}  # A head that goes to and fro would make much of a last bit.
OF_BLOCKS = {"attention_rank": 1}
OF_EXPERTS = {**OF_BLOCKS, "adapted": "blocks", "rank": 4, "rank_min": 1, "rank_per_expert": 2,
              "training.experts": [2, 1, 2]}

LANGUAGE = [
    ("comigs sync", "comigs", {**BURSTS, **COSINE}),
    ("comigs of many", "comigs", {**BURSTS, **COSINE, "training.experts": [2, 1, 4],
                                  "balance": 0.5}),
    ("comigs one", "comigs", {**BURSTS, **COSINE, "training.experts": [1, 1, 1]}),
    ("comigs four", "comigs", FOUR),
    ("comigs printed balance", "comigs", {**FOUR, "balance_scale": "printed"}),
    ("comigs nobody favoured", "comigs", {**FOUR, "favoured": 0}),
    ("comigs noisy", "comigs", {**BURSTS, **COSINE, "options.gate": "noisy", "balance": 0.5}),
    ("comigs noisy four", "comigs", {**FOUR, "options.gate": "noisy",
                                     "training.batch_size": 3, "training.micro_batch": 2}),
    ("pfedmoe noisy", "pfedmoe", {**SGD, "training.experts": [4, 2, 3], "balance": 0.5,
                                  "options.gate": "noisy"}),
    ("comigs passes", "comigs", {**FOUR, "training.batch_size": 3, "training.micro_batch": 1}),
    ("comigs private attention", "comigs", {**BURSTS, "attention": "private"}),
    ("comigs router on training", "comigs", {**BURSTS, "router_data": "training"}),
    ("comigs leaks", "comigs", {**BURSTS, "grad_leak_compat": 1}),
    ("comigs plain scale", "comigs", {**BURSTS, "options.alpha": 0, "rank": 3}),
    ("comigs sgd", "comigs", {**BURSTS, **SGD}),
    ("comigs epochs", "comigs", {**BURSTS, "training.batches": "epochs",
                                 "training.batch_size": 5}),
    ("comigs drawn", "comigs", {**BURSTS, "training.batches": "drawn"}),
    ("comigs seeded", "comigs", {**BURSTS, **SEEDED, **SGD, "options.alpha": 8}),
    ("comigs fedbuff", "comigs", {**BURSTS, **COSINE, **FEDBUFF,
                                  "training.schedule.own_steps": 200}),
    ("comigs many fedbuff", "comigs", {**BURSTS, **FEDBUFF, "training.experts": [2, 1, 4],
                                       "balance": 0.5}),
    ("comigs semisync", "comigs", {**BURSTS, **SEMISYNC}),
    ("comigs fedasync", "comigs", {**BURSTS, **FEDASYNC}),
    ("comigs llama", "comigs", {**BURSTS, **SGD, **LLAMA}),
    ("comigs_2g sync", "comigs_2g", {**BURSTS, **COSINE}),
    ("comigs_2g fedbuff", "comigs_2g", {**BURSTS, **FEDBUFF}),
    ("comigs_2g router on training", "comigs_2g", {**BURSTS, "router_data": "training"}),
    ("comigs_2g joint", "comigs_2g", {"joint": 1}),
    ("comigs_2s sync", "comigs_2s", {**BURSTS, **COSINE}),
    ("comigs_2s joint", "comigs_2s", {"joint": 1}),
    ("comigs_2s router on training", "comigs_2s", {**BURSTS, "router_data": "training"}),
    ("pfedmoe sync", "pfedmoe", COSINE),
    ("pfedmoe fedbuff", "pfedmoe", FEDBUFF),
    # Loads that happen to be as wanted have no slope, of which AdamW would make a step.
    ("pfedmoe four", "pfedmoe", {**SGD, "training.experts": [4, 2, 3], "balance": 0.5}),
    ("fedavg_lora", "fedavg_lora", COSINE),
    ("local_lora", "local_lora", COSINE),
    ("ffa_lora", "ffa_lora", OF_BLOCKS),
    ("fedsa_lora", "fedsa_lora", OF_BLOCKS),
    ("pcl", "pcl", {**OF_BLOCKS, **SEEDED, **SGD, "training.learning_rate": 0.2}),
    ("pcl adamw", "pcl", {**OF_BLOCKS, **SEEDED}),
    ("pretrained", "pretrained", {}),
    ("pf2lora language", "pf2lora", TWO_LEVELS),
    ("pf2lora language four batches", "pf2lora", {**TWO_LEVELS, **SGD, "four_batches": 1}),
    ("pf2lora language scheduled", "pf2lora", {**TWO_LEVELS, **COSINE}),
    ("pf2lora language alpha", "pf2lora", {**TWO_LEVELS, "options.alpha": 4,
                                           "alpha_over": "root"}),
    ("pf2lora language joint", "pf2lora", {**TWO_LEVELS, "joint": 1}),
    ("pf2lora language passes", "pf2lora", {**TWO_LEVELS, "training.micro_batch": 1}),
    ("pf2lora language fedbuff", "pf2lora", {**TWO_LEVELS, **FEDBUFF}),
    ("pf2lora language semisync", "pf2lora", {**TWO_LEVELS, **SEMISYNC}),
    ("pf2lora language fedasync", "pf2lora", {**TWO_LEVELS, **FEDASYNC}),
    ("pf2lora language llama", "pf2lora", {**TWO_LEVELS, **LLAMA}),
    ("pf2lora classifies", "pf2lora", {**TWO_LEVELS, **CLASSES}),
    ("pf2lora classifies by own heads", "pf2lora", {**SLOWER, **OWN_HEADS, **SGD}),
    ("pf2lora own heads fedbuff", "pf2lora", {**SLOWER, **OWN_HEADS, **SGD, **FEDBUFF}),
    ("homlora classifies", "homlora", CLASSES),
    ("homlora classifies by own heads", "homlora", OWN_HEADS),
    ("per_fedavg_lora language", "per_fedavg_lora", {
        **SGD, "inner_rate": 0.3, "training.batches": "epochs", "training.batch_size": 0,
        "data.tokens": 120}),
    ("homlora language", "homlora", {}),
    ("hetlora language", "hetlora", {**SGD, "rank": 3, "rank_min": 1, "keep_share": 0.7,
                                     "penalty": 0.2}),
    ("hetlora experts", "hetlora", {**SGD, **OF_EXPERTS, "keep_share": 0.7, "penalty": 0.2}),
    ("hetlora plain attention", "hetlora", {**SGD, **OF_EXPERTS, "keep_share": 0.7, "penalty": 0.2,
                                            "plain_attention": 1, "attention_rank": 3}),
    ("flexlora language", "flexlora", {"rank": 3, "rank_min": 1}),
    ("flexlora experts", "flexlora", OF_EXPERTS),
    # So fast that using all of both is not the best.
    ("fdlora", "fdlora", {"own_rank": 1, "attention_rank": 1, "training.learning_rate": 0.05}),
    ("fdlora sgd", "fdlora", {**SEEDED, **SGD, "own_rank": 2, "attention_rank": 1,
                              "training.learning_rate": 1.0}),
    ("fdlora fedbuff", "fdlora", {**FEDBUFF, "own_rank": 1, "attention_rank": 1}),
    ("centralised_lora", "centralised_lora", {**COSINE, "data.pooled": True, "clients.clients": 1,
                                              "clients.clients_per_round": 1}),
]

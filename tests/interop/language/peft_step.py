#!/usr/bin/env python3
"""A LoRA step of PyTorch with PEFT, timed beside ours: peft_step.py [--troupe EXECUTABLE] [--steps N].

The same step on one core: SmolLM2's shape (weights at random, which cost the same), 4 x 128 tokens, factors of rank 8 beside
every product but the head's, forward, back to the factors, AdamW. With --troupe it is taken in turn with `troupe bench --only
lora_step`, whose step is that over the file itself, and the ratio of the best is red above 1.05. Both say whose kernels they
are of: OPENBLAS_CORETYPE in the environment chooses others than this processor's, for ours alone. Ours is that of SmolLM2 only
where `./dev data language` has brought it: without, the bench says "of a small GPT-2", and there is nothing to compare."""

import argparse
import json
import subprocess
import sys
import time

import peft
import torch
import transformers

ROWS, TOKENS, RANK, AT_MOST = 4, 128, 8, 1.05


def model():
    torch.manual_seed(1)
    plain = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
        num_key_value_heads=3, max_position_embeddings=8192, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_theta=100000.0))
    return peft.get_peft_model(plain, peft.LoraConfig(
        r=RANK, lora_alpha=16, use_rslora=True, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM"))


class Step:
    def __init__(self):
        self.model = model()
        self.learned = [x for x in self.model.parameters() if x.requires_grad]
        self.optimiser = torch.optim.AdamW(self.learned, lr=2e-3, weight_decay=0.01)

    def seconds(self):
        """Of this process, which has one thread that computes."""
        ids = torch.randint(0, 49152, (ROWS, TOKENS))
        begin = time.process_time()
        self.optimiser.zero_grad()
        self.model(input_ids=ids, labels=ids).loss.backward()
        self.optimiser.step()
        return time.process_time() - begin


def ours(troupe):
    """Seconds, and by whose kernels."""
    done = subprocess.run([troupe, "bench", "--only", "lora_step", "--repetitions", "1", "--format", "json"],
                          stdout=subprocess.PIPE, text=True, check=False)
    said = json.loads(done.stdout)
    figure = said["figures"][0]
    if "SmolLM2" not in figure.get("compared_with", ""):
        sys.exit("peft_step.py: the bench has no SmolLM2; ./dev data language brings it")
    return figure["value"] / 1e3, said["kernels"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--troupe")
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}, "
          f"{torch.backends.cpu.get_cpu_capability()}", file=sys.stderr)
    step = Step()
    step.seconds()  # Memory is used by then.
    taken, own, kernels = [], [], ""
    for _ in range(args.steps):
        taken.append(step.seconds())
        if args.troupe:
            seconds, kernels = ours(args.troupe)
            own.append(seconds)
    print(f"{sum(x.numel() for x in step.learned)} values learned, {min(taken):.3f} s a step, the best of {args.steps}")
    if not own:
        return 0
    ratio = min(own) / min(taken)
    print(f"ours {min(own):.3f} s by {kernels}: {ratio:.3f} of it, at most {AT_MOST} wanted")
    return 1 if ratio > AT_MOST else 0


if __name__ == "__main__":
    sys.exit(main())

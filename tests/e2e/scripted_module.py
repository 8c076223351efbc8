"""Saves a linear model of 60 inputs and 10 classes as TorchScript does, without torch: scripted_module.py FILE FACTOR.

Modules of other factors have the same parameters and compute something else.
"""

import struct
import sys
import zipfile

INPUTS, CLASSES = 60, 10

CODE = """class Linear(Module):
  __parameters__ = ["w", ]
  __buffers__ = []
  training : bool
  w : Tensor
  def forward(self: __torch__.Linear,
    x: Tensor) -> Tensor:
    w = self.w
    y = torch.matmul(x, torch.t(w))
    return torch.mul(y, {factor})
"""


def text(x):
    return b"X" + struct.pack("<I", len(x)) + x.encode()


def number(x):
    return b"J" + struct.pack("<i", x)


def module():
    """The object as pickle has it: its class, and what its attributes are."""
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu")
    storage += number(INPUTS * CLASSES) + b"tQ"
    shape = b"(" + number(CLASSES) + number(INPUTS) + b"t"
    strides = b"(" + number(INPUTS) + number(1) + b"t"
    hooks = b"ccollections\nOrderedDict\n)R"
    weights = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(0) + shape + strides + b"\x88" + hooks + b"tR"
    state = b"}(" + text("training") + b"\x88" + text("w") + weights + b"u"
    return b"\x80\x02c__torch__\nLinear\n)\x81" + state + b"b."


def main(path, factor, code=CODE):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        for name, content in (("data.pkl", module()), ("data/0", bytes(4 * INPUTS * CLASSES)),
                              ("code/__torch__.py", code.format(factor=factor).encode()),
                              ("constants.pkl", b"\x80\x02)."), ("version", b"3\n")):
            out.writestr(zipfile.ZipInfo("linear/" + name), content)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The text of a rule as it is recorded, with the lines of Python that its lines come from."""
import enum
import os
import re
import sys

from . import _vocabulary as v

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_HERE = os.path.dirname(os.path.abspath(__file__))


def where():
    """File and line of whoever called the module."""
    frame = sys._getframe(1)
    while frame is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _HERE:
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


class Block(enum.IntEnum):
    """What a line is a part of, in the order of the text."""
    SOURCE = 0
    DERIVED = 1  # of the source, behind its operations
    FLAGS = 2
    CONSTRAINTS = 3
    RESULT = 4
    REPLACEMENTS = 5


class Label:
    """What has a name in the text."""
    sigil = ""

    def __init__(self, record, name):
        self.record, self._name, self._number = record, name, None

    def label(self):
        if self._name:
            return self.sigil + (self._name if _NAME.fullmatch(self._name) else v.quoted(self._name))
        if self._number is None:
            self._number = self.record.next_number(self.sigil)
        return f"{self.sigil}{self._number}"


class Record:
    """Lines are texts that are made when all is known."""

    def __init__(self, place):
        self.place, self.functions, self.places = place, {}, {}
        self._lines = {block: [] for block in Block}
        self._numbers = {}

    def next_number(self, sigil):
        self._numbers[sigil] = self._numbers.get(sigil, -1) + 1
        return self._numbers[sigil]

    def line(self, block, text):
        self._lines[block].append((where(), text))

    def flag(self, word, value):
        self.line(Block.FLAGS, lambda: f"{word} {value.label()}")
        return value

    def function(self, function):
        """Its name in the text."""
        name = getattr(function, "__name__", "")
        base = name if _NAME.fullmatch(name) else "function"
        name, number = base, 1
        while name in self.functions:
            number += 1
            name = f"{base}_{number}"
        self.functions[name] = function
        return name

    def text(self, name, numerics, benefit, algebra):
        """Of the rule; from then on `places` has file and line of Python by number of line."""
        lines = []

        def add(text, place=self.place):
            lines.append(text)
            self.places[len(lines)] = place

        def add_block(blocks, indent):
            for block in blocks:
                for place, text in self._lines[block]:
                    add(indent + text(), place)
        add(f"rule {name if re.fullmatch('[A-Za-z_][A-Za-z0-9_.-]*', name) else v.quoted(name)} {{")
        if algebra is not None:
            add(f"  algebra {v.quoted(algebra)}")
        add(f"  numerics {numerics}")
        if benefit is not None:
            add(f"  benefit {int(benefit)}")
        add("  source {")
        add_block((Block.SOURCE, Block.DERIVED, Block.FLAGS), "    ")
        add("  }")
        add_block((Block.CONSTRAINTS,), "  ")
        add("  result {")
        add_block((Block.RESULT,), "    ")
        add("  }")
        add_block((Block.REPLACEMENTS,), "  ")
        add("}")
        return "\n".join(lines) + "\n"

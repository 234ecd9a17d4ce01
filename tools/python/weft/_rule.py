"""Rules as text, with functions; judging them."""
import ctypes
import dataclasses
import json
import os
import re

from . import _library as c
from ._errors import Error
from ._match import arguments_of


class RuleText:
    """Rules as text, read and found right. Made by rules_from_text.

    text    as they were understood: of any spelling the same
    source  as they were given"""

    def __init__(self, source, origin, functions):
        self.source, self.origin, self.functions = source, origin, dict(functions)
        with Texts([self]) as texts:
            self.text = c.take_bytes(c.make("weft_rules_print", texts.array, texts.notice(), None)).decode()

    def place(self, line, column):
        """Where a line of the text comes from; both are 0 where they are not said."""
        return self.origin + "".join(f":{number}" for number in (line, column) if number)

    def __str__(self):
        return self.text


class Rule(RuleText):
    """A rule written in Python. Made by rule."""

    def __init__(self, name, source, record):
        self.name, self._places = name, record.places
        super().__init__(source, f"{record.place[0]}:{record.place[1]}", record.functions)

    def place(self, line, column):
        """Where in Python a line of the text comes from."""
        return "%s:%d" % self._places[line] if line in self._places else self.origin

    def judge(self, *, seconds=2, seed=1, stop=None):
        """As weft.judge."""
        return judge(self, seconds=seconds, seed=seed, stop=stop)

    def __repr__(self):
        return f"<weft.Rule {self.name}, {self.origin}>"


def rules_from_text(text, *, origin="<rules>", functions=None):
    """Rules as drr/text/README.md has their grammar; InvalidArgumentError, and its `details`, say what is wrong.

    origin     in messages, as the name of a file is
    functions  those that `native NAME(...)` names: {name: function}"""
    return RuleText(text, origin, functions or {})


class Texts(c.Callbacks):
    """Rules as an array of C's, for a call inside `with`; what that says then names the places in Python."""

    def __init__(self, rules):
        super().__init__()
        self.rules, self.details = list(rules), []
        self._kept = []
        self.array = (c.RuleText * len(self.rules))(*(self._one(i, rule) for i, rule in enumerate(self.rules)))

    def _one(self, number, rule):
        functions = (c.Function * len(rule.functions))()
        for function, (name, python) in zip(functions, rule.functions.items()):
            function.name, function.holds = c.utf8(name), self._callback(python)
        self._kept.append(functions)
        return c.RuleText(text=c.text(rule.source), origin=f"<rule {number}>".encode(), functions=functions,
                          num_functions=len(functions))

    def _callback(self, python):
        def holds(_, arguments, count):
            with arguments_of(arguments, count) as values:
                return values.ask(python)
        return c.FUNCTION(self.guard(holds, -1))

    def place(self, text):
        """A message with the places of Python in it."""
        def found(match):
            number, line, column = (int(digits or 0) for digits in match.groups())
            return self.rules[number].place(line, column) if number < len(self.rules) else match[0]
        return re.sub(r"<rule (\d+)>(?::(\d+)(?::(\d+))?)?", found, text)

    def notice(self, warn=None):
        def add(_, kind, text):
            text = self.place(text.decode(errors="replace").rstrip("\n"))
            if kind != c.NOTICE_WARNING:
                self.details.append(text)
            elif warn:
                warn(text)
        return c.NOTICE(self.guard(add))

    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)
        if isinstance(error, Error):
            error.args = (self.place(str(error)),)
            error.details = "\n".join(self.details)


@dataclasses.dataclass(frozen=True)
class Judgement:
    """What a rule was found to be; str() has the counterexample."""
    rule: str
    numerics: str
    verdict: str         # "tested", "refuted", "unjudged"
    badge: str           # "tested 24"
    why: str             # a line: why it is refuted or unjudged
    counterexample: str  # of a refuted one: the program, the inputs, both results
    programs: int        # that were compared
    comparisons: int     # of results on one set of inputs

    def __str__(self):
        line = f"{self.rule}: {self.badge}" + (f": {self.why}" if self.why else "")
        return line + (f"\n{self.counterexample}" if self.counterexample else "")


def judge(rule, *, seconds=2, seed=1, stop=None):
    """Tries it on programs that are made from it. Of a Rule its Judgement, of texts and files a list of those.

    No rule is "proved", as `ir-opt --verify-rules` finds some: libweft.so has no Z3. Such a rule is "tested" here.

    seconds  of CPU time, for each rule
    seed     of what is random in the programs and their inputs
    stop     asked now and then; True raises CancelledError"""
    if isinstance(rule, (str, os.PathLike)):
        with open(rule, encoding="utf-8") as file:
            rule = rules_from_text(file.read(), origin=os.fspath(rule))
    if not isinstance(rule, RuleText):
        raise TypeError("a rule is a file, or made by @weft.rule or weft.rules_from_text, found "
                        f"{type(rule).__name__}")
    seed = c.integer("seed", seed, 64)
    with Texts([rule]) as texts:
        options = c.JudgeOptions(seconds_a_rule=seconds, seed=seed, notice=texts.notice(), stop=texts.stop(stop))
        judged = c.take_bytes(c.make("weft_rules_judge", texts.array, ctypes.byref(options)))
    fields = [field.name for field in dataclasses.fields(Judgement)]
    judgements = [Judgement(**{name: one[name] for name in fields}) for one in json.loads(judged)]
    return judgements[0] if isinstance(rule, Rule) else judgements

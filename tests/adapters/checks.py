"""Counting what holds and what does not."""

import contextlib
import json
import traceback


class Checks:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def ok(self, what, holds, seen=None):
        if holds:
            self.passed += 1
            print(f"ok {what}", flush=True)
        else:
            self.failed += 1
            shown = json.dumps(seen, ensure_ascii=False, default=str)
            print(f"not ok {what}\n    seen: {shown[:2000]}", flush=True)

    def same(self, what, seen, wanted):
        self.ok(what, seen == wanted, {"seen": seen, "wanted": wanted})

    @contextlib.contextmanager
    def part(self, name):
        """A part of the test; an error in it is a failed check, and the next part runs."""
        print(f"# {name}", flush=True)
        try:
            yield
        except Exception:  # whatever it is, the other parts are to run
            self.failed += 1
            print(f"not ok {name} runs to its end\n{traceback.format_exc()}", flush=True)

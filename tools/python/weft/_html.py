"""Tables for notebooks."""
from html import escape

MOST_ROWS = 40  # of a table
SIZES = ("operations", "parameters", "their bytes", "FLOPs of a run", "bytes of the arena")


def _row(cells, tag="td"):
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def table(head, rows):
    """All of it escaped. Of many rows the first."""
    shown = [_row(row) for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        shown.append(_row([f"and {len(rows) - MOST_ROWS} more", *[""] * (len(head) - 1)]))
    return f"<table><thead>{_row(head, 'th')}</thead><tbody>{''.join(shown)}</tbody></table>"


def of_model(summary):
    operators = sorted(summary["operators"], key=lambda one: (-one["count"], one["name"]))
    values = [(kind, value["name"], value["type"]) for kind, key in (("input", "inputs"), ("output", "outputs"))
              for value in summary[key]]
    total = sum(one["count"] for one in operators)
    return (f"<div><p>weft.Model: {total} operations</p>" + table(("", "name", "type"), values)
            + table(("operator", "operations"), [(one["name"], one["count"]) for one in operators]) + "</div>")


def of_session(session):
    values = [(kind, value.name, value.type) for kind, these in (("input", session.inputs), ("output", session.outputs))
              for value in these]
    threads = f"{session.threads} thread" + ("s" if session.threads != 1 else "")
    return f"<div><p>weft.Session: {threads}, {escape(session.isa)}</p>" + table(("", "name", "type"), values) + "</div>"


def _size(size):
    arena = size["arena_bytes"]
    return [f"{size[key]:,.0f}" for key in ("operations", "parameters", "parameter_bytes", "flops")] + [
        "unknown" if arena is None else f"{arena:,}"]


def of_result(report):
    operators = sorted(report["operators"], key=lambda one: (-max(one["before"], one["after"]), one["name"]))
    rules = [(rule["rule"], rule["pass"], rule["applied"], f"{rule['ops_erased']} → {rule['ops_created']}")
             for rule in report["rules"] if rule["applied"]]
    parts = [f"<div><p>weft.Result: operations {report['ops_before']} → {report['ops_after']}</p>",
             table(("", "before", "after"), list(zip(SIZES, _size(report["before"]), _size(report["after"])))),
             table(("operator", "before", "after"), [(one["name"], one["before"], one["after"]) for one in operators]),
             table(("rule", "pass", "applied", "operations"), rules)]
    if report["outputs"]:
        parts.append(table(("output", "difference", "verdict"), [
            (one["name"], one["difference"], one["verdict"]) for one in report["outputs"]]))
    if report["rewrites"]:
        rewrites = [(one["number"], one["rule"] or one["pass"], one["site"], ", ".join(one["removed"]),
                     ", ".join(one["added"])) for one in report["rewrites"]]
        parts.append(f"<details><summary>{len(rewrites)} rewrites</summary>"
                     + table(("", "rule", "at", "removed", "added"), rewrites) + "</details>")
    return "".join(parts) + "</div>"

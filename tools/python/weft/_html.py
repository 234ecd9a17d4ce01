"""Tables for notebooks."""
from html import escape

MOST_ROWS = 40  # of a table


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


def of_result(report):
    operators = sorted(report["operators"], key=lambda one: (-max(one["before"], one["after"]), one["name"]))
    rules = [(rule["rule"], rule["pass"], rule["applied"], f"{rule['ops_erased']} → {rule['ops_created']}")
             for rule in report["rules"] if rule["applied"]]
    parts = [f"<div><p>weft.Result: operations {report['ops_before']} → {report['ops_after']}</p>",
             table(("operator", "before", "after"), [(one["name"], one["before"], one["after"]) for one in operators]),
             table(("rule", "pass", "applied", "operations"), rules)]
    if report["outputs"]:
        parts.append(table(("output", "difference", "verdict"), [
            (one["name"], one["difference"], one["verdict"]) for one in report["outputs"]]))
    return "".join(parts) + "</div>"

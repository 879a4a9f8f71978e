# The batches of a plan in Python, for comparison, as a careful author would write it: the headings and
# the dependencies by regular expressions, outside of code, and no module but what that needs.
import argparse
import collections
import heapq
import json
import re
import sys

FENCED = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
BOUNDARY = re.compile(r"^(?:#{1,2} |### Task (\d+)(-tests|-impl)?:)", re.MULTILINE | re.ASCII)
DEPENDS = re.compile(r"^\*\*Depends on:\*\*(.*)$", re.MULTILINE)
REFERENCE = re.compile(r"(\d+)(?:\s*[-–]\s*(?:Task\s*)?(\d+)|(-tests|-impl))?", re.ASCII)
MARKER = "<!-- checkpoint -->"


def read(text):
    """The tasks: id, whether it is marked, and the references of its dependencies."""
    tasks = []
    text = FENCED.sub("", text)
    found = list(BOUNDARY.finditer(text))
    for place, heading in enumerate(found):
        if heading[1] is None:
            continue
        end = found[place + 1].start() if place + 1 < len(found) else len(text)
        body = text[heading.start() : end]
        references = []
        for line in DEPENDS.finditer(body):
            for first, last, half in REFERENCE.findall(line[1]):
                numbers = range(int(first), int(last) + 1) if last else [int(first)]
                references += [f"{number}{half}" for number in numbers]
        tasks.append((f"{int(heading[1])}{heading[2] or ''}", MARKER in body, references))
    return tasks


def edges(tasks):
    ids = {id for id, _, _ in tasks}
    needs = {}
    for id, _, references in tasks:
        named = [name if name in ids else f"{name}-impl" for name in references]
        if unknown := [name for name in named if name not in ids]:
            sys.exit(f"task {id} depends on {unknown[0]}, which is not there")
        needs[id] = list(dict.fromkeys(named))
    return needs


def units(tasks, needs):
    """Pairs as one unit, each behind what it needs, else in the order of the file."""
    ids = [id for id, _, _ in tasks]
    known = set(ids)
    unit_of, members = {}, []
    for id in ids:
        number, _, half = id.partition("-")
        both = [f"{number}-tests", f"{number}-impl"]
        pair = both if half and all(one in known for one in both) else [id]
        if id not in unit_of:
            unit_of.update((one, len(members)) for one in pair)
            members.append(pair)
    waits = [{unit_of[need] for id in unit for need in needs[id]} - {place} for place, unit in enumerate(members)]
    needed_by = collections.defaultdict(list)
    for place, before in enumerate(waits):
        for one in before:
            needed_by[one].append(place)
    ready = [place for place, before in enumerate(waits) if not before]
    order = []
    while ready:
        place = heapq.heappop(ready)
        order.append(members[place])
        for behind in needed_by[place]:
            waits[behind].discard(place)
            if not waits[behind]:
                heapq.heappush(ready, behind)
    if len(order) < len(members):
        sys.exit("tasks need each other")
    return order


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plan")
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=5)
    given = parser.parse_args()
    with open(given.plan, encoding="utf-8") as file:
        tasks = read(file.read())
    needs = edges(tasks)
    if len(needs) < len(tasks):
        sys.exit("an id stands twice")
    dependents = {id: 0 for id in needs}
    for named in needs.values():
        for need in named:
            dependents[need] += 1
    batches = []
    for unit in units(tasks, needs):
        if batches and len(batches[-1]) + len(unit) <= given.batch_size:
            batches[-1] += unit
        else:
            batches.append(list(unit))
    marked = {id for id, is_marked, _ in tasks if is_marked}
    stops = [
        place
        for place, batch in enumerate(batches)
        if place == 0 or any(dependents[id] >= given.k or id in marked for id in batch)
    ]
    answer = {
        "batch_size": given.batch_size,
        "total": len(tasks),
        "batches": batches,
        "dependents": dependents,
        "hard_stops": stops,
        "tasks": [{"id": id, "depends_on": needs[id]} for id in needs],
        "k": given.k,
        "diagnostics": [],
    }
    print(json.dumps(answer, indent=2))


main()

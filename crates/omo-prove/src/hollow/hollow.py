"""Empties the functions of Python that a change added or altered."""

import ast
import json
import os
import sys

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def functions_of(node, within, found):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            if not child.name.startswith("test"):
                found.append((within + child.name, child))
        elif isinstance(child, ast.ClassDef):
            # A class of tests in a file that is none.
            bases = [ast.dump(base) for base in child.bases]
            if not child.name.startswith("Test") and not any("TestCase" in base for base in bases):
                functions_of(child, within + child.name + ".", found)
        elif isinstance(child, ast.stmt):
            functions_of(child, within, found)


def last_name(node):
    while isinstance(node, ast.Call):
        node = node.func
    return getattr(node, "attr", getattr(node, "id", None))


def run_by_import(node, names):
    """The names of what runs as the module is imported: without it, nothing could be."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS + (ast.ClassDef,)):
            names.update(last_name(decorator) for decorator in child.decorator_list)
        if isinstance(child, ast.Call):
            names.add(last_name(child))
        is_main = isinstance(child, ast.If) and "__main__" in ast.dump(child.test)
        if not is_main and not isinstance(child, FUNCTIONS + (ast.Lambda,)):
            run_by_import(child, names)


def is_run_by_import(name, names):
    *within, last = name.split(".")
    return last in names or (last in ("__init__", "__new__") and within[-1:] and within[-1] in names)


def statements(function):
    """The body behind its docstring."""
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
    return function.body[1:] if is_text else function.body


def is_stub(body):
    def says_nothing(statement):
        is_constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_refusal = isinstance(statement, ast.Raise) and "NotImplementedError" in ast.dump(statement)
        return is_constant or is_refusal or isinstance(statement, ast.Pass)

    return all(says_nothing(statement) for statement in body)


def hollow(base, now, names, limit, question):
    found, before = [], []
    functions_of(ast.parse(now), "", found)
    try:
        functions_of(ast.parse(base or ""), "", before)
    except SyntaxError:
        pass
    def key(name, function):
        return name if question["only_new"] else (name, dump(function))

    known = {key(name, function) for name, function in before}
    changed = [
        (name, function)
        for name, function in found
        if not is_stub(statements(function))
        and not is_run_by_import(name, names)
        and key(name, function) not in known
    ]
    lines = now.encode().splitlines(keepends=True)
    for _, function in reversed(changed[:limit]):
        empty(function, lines, question["mark"])
    text = b"".join(lines).decode()
    ast.parse(text)
    return {"text": text, "functions": [name for name, _ in changed[:limit]], "left_out": len(changed[limit:])}


def dump(function):
    return tuple(ast.dump(statement) for statement in function.body)


def empty(function, lines, mark):
    first = statements(function)[0]
    line = min([first.lineno] + [it.lineno for it in getattr(first, "decorator_list", [])]) - 1
    before, after = lines[line][: first.col_offset], lines[line][first.col_offset :]
    throw = 'raise NotImplementedError("{}")'.format(mark).encode()
    alone = not before.strip()
    lines[line] = before + throw + (b"\n" + before if alone else b"; ") + after


def main():
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    with open(os.path.join(folder, "question.json"), encoding="utf-8") as file:
        question = json.load(file)
    names = set()
    for file in question["files"]:
        try:
            run_by_import(ast.parse(file["now"]), names)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    answers, limit = [], question["limit"]
    for file in question["files"]:
        try:
            answer = hollow(file["base"], file["now"], names, limit, question)
            limit -= len(answer["functions"])
            answers.append({"hollowed": answer})
        except (SyntaxError, ValueError):
            answers.append({"problem": "it cannot be parsed"})
        except (RecursionError, MemoryError):
            answers.append({"problem": "it is too large or too deep to be parsed"})
    with open(os.path.join(folder, "answer.json"), "w", encoding="utf-8") as file:
        json.dump(answers, file)


main()

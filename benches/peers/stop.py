# The Stop hook in Python, for comparison, as a careful author would write it: only modules that
# load fast, run with -I and -S so that no site package is looked for, the state changed under a
# lock and put in place by a rename, what was decided logged.
import fcntl
import json
import os
import sys
import time

LOCK_SECONDS = 0.25


def lock(path):
    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            if time.monotonic() > deadline:
                sys.exit(0)
            time.sleep(0.005)


def read(path):
    with open(path, "rb") as file:
        return json.loads(file.read())


def main():
    event = json.loads(sys.stdin.buffer.read())
    folder = os.path.join(event["cwd"], ".sisyphus", "cc-omo")
    path = os.path.join(folder, "runtime.local.json")
    session = event["session_id"]

    def open_run(state):
        ulw = state["sessions"].get(session, {}).get("ulw", {})
        claimed = (event.get("last_assistant_message") or "").endswith("<promise>DONE</promise>")
        return ulw if ulw.get("enabled") and not claimed and ulw["stopBlocks"] < 8 else None

    try:
        if open_run(read(path)) is None:
            return
    except FileNotFoundError:
        return
    held = lock(os.path.join(folder, "runtime.lock"))
    state = read(path)
    ulw = open_run(state)
    if ulw is None:
        return
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    ulw["stopBlocks"] += 1
    ulw["lastStopAt"] = state["sessions"][session]["updatedAt"] = now
    with open(path + ".new", "w") as file:
        file.write(json.dumps(state, separators=(",", ":")))
    os.replace(path + ".new", path)
    block = ulw["stopBlocks"]
    with open(os.path.join(folder, "decisions.jsonl"), "a") as file:
        file.write(json.dumps({"time": now, "session": session, "event": "Stop", "block": block}) + "\n")
    reason = f"block {block} of 8: go on with the next unfinished change"
    print(json.dumps({"decision": "block", "reason": reason}), flush=True)
    os.close(held)


main()

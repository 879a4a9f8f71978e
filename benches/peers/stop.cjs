// The Stop hook in JavaScript, for comparison, as a careful author would write it: a CommonJS
// module, which starts sooner than an ES module, with nothing but node:fs; the state is changed
// under a lock (Node has no flock: a file that only one can make) and put in place by a rename;
// what was decided is logged.
"use strict";
const fs = require("node:fs");

const LOCK_MILLISECONDS = 250;
const event = JSON.parse(fs.readFileSync(0, "utf8"));
const folder = `${event.cwd}/.sisyphus/cc-omo`;
const path = `${folder}/runtime.local.json`;

function read() {
  return JSON.parse(fs.readFileSync(path, "utf8"));
}

function openRun(state) {
  const ulw = state.sessions[event.session_id]?.ulw;
  const claimed = (event.last_assistant_message ?? "").endsWith("<promise>DONE</promise>");
  return ulw?.enabled && !claimed && ulw.stopBlocks < 8 ? ulw : undefined;
}

function lock(name) {
  const deadline = Date.now() + LOCK_MILLISECONDS;
  for (;;) {
    try {
      fs.closeSync(fs.openSync(name, "wx", 0o600));
      return;
    } catch (error) {
      if (error.code !== "EEXIST" || Date.now() > deadline) process.exit(0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function block() {
  const state = read();
  const ulw = openRun(state);
  if (!ulw) return;
  const now = new Date().toISOString();
  ulw.stopBlocks += 1;
  ulw.lastStopAt = now;
  state.sessions[event.session_id].updatedAt = now;
  fs.writeFileSync(`${path}.new`, JSON.stringify(state));
  fs.renameSync(`${path}.new`, path);
  const line = { time: now, session: event.session_id, event: "Stop", block: ulw.stopBlocks };
  fs.appendFileSync(`${folder}/decisions.jsonl`, `${JSON.stringify(line)}\n`);
  const reason = `block ${ulw.stopBlocks} of 8: go on with the next unfinished change`;
  fs.writeSync(1, `${JSON.stringify({ decision: "block", reason })}\n`);
}

if (fs.existsSync(path) && openRun(read())) {
  lock(`${folder}/peer.lock`);
  try {
    block();
  } finally {
    fs.unlinkSync(`${folder}/peer.lock`);
  }
}

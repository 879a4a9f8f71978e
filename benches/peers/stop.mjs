// The same Stop hook in JavaScript, for comparison. It takes no lock: Node has none.
import { readFileSync, renameSync, writeFileSync, existsSync } from "node:fs";

const input = JSON.parse(readFileSync(0, "utf8"));
const path = `${input.cwd}/.sisyphus/cc-omo/runtime.local.json`;
if (existsSync(path)) {
  const state = JSON.parse(readFileSync(path, "utf8"));
  const ulw = state.sessions?.[input.session_id]?.ulw;
  const claimed = (input.last_assistant_message ?? "").endsWith("<promise>DONE</promise>");
  if (ulw?.enabled && !claimed && ulw.stopBlocks < 8) {
    ulw.stopBlocks += 1;
    ulw.lastStopAt = new Date().toISOString();
    writeFileSync(`${path}.new`, JSON.stringify(state));
    renameSync(`${path}.new`, path);
    console.log(JSON.stringify({ decision: "block", reason: `block ${ulw.stopBlocks} of 8` }));
  }
}

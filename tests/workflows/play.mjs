// Plays a workflow script as the client does: with what the client gives a script and nothing of node.
// Reads {script, cases: [{args, agent_script}]}, and writes what came of each case, both as JSON.
import { readFileSync, writeFileSync } from 'node:fs'
import vm from 'node:vm'

const { script, cases } = JSON.parse(readFileSync(0, 'utf8'))

// An answer of this kind is a worker that could not be started.
const THROWS = 'THROW '

function answer(id, answers) {
  if (!Object.hasOwn(answers, id)) {
    return { task_id: id, status: 'done', files_written: [`/p/${id}`], evidence: 'exit=0' }
  }
  const said = answers[id]
  if (typeof said === 'string' && said.startsWith(THROWS)) throw new Error(said.slice(THROWS.length))
  return said
}

async function play({ args, agent_script: answers }) {
  const calls = []
  const logs = []
  const globals = {
    args: args === '<undefined>' ? undefined : args,
    log: (line) => logs.push(line),
    agent: async (prompt, options) => {
      calls.push({ prompt, options })
      return answer(options.label.replace(/^task:/, ''), answers)
    },
  }
  const body = script.replace(/^export const meta\b/, 'const meta')
  try {
    const result = await vm.runInNewContext(`(async () => {${body}\n})()`, globals)
    return { calls, logs, result }
  } catch (error) {
    return { calls, logs, throws: error.message }
  }
}

const outcomes = []
for (const one of cases) outcomes.push(await play(one))
const meta = vm.runInNewContext(`${script.split('\n}\n')[0].replace(/^export const meta =/, '(')}\n})`)
let notJson
try {
  JSON.parse('run it')
} catch (error) {
  notJson = error.message
}
writeFileSync(1, JSON.stringify({ outcomes, meta, notJson }))

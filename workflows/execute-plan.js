export const meta = {
  name: 'execute-batch',
  description: 'Runs a plan',
  phases: [{ title: 'Execute Batch', detail: 'one worker for each task, in the order of the plan' }],
}

// The tasks of a plan up to its next hard stop: those of `args.batches`, one worker after another.
//
// The returned array is advisory. What counts is the ledger, which only `omo` writes, from checks that it
// ran itself: each worker begins and ends its task with a command of `omo`. So this script does not
// decide whether a task is done; it only avoids dispatching a task that `omo` would refuse to begin.
//
// `omo agent next --workflow` prints the arguments: `batches`, `tasks` with their dependencies, the tasks
// that `failed_or_blocked` before, the plan, and the id of the run. The name above differs from that of the
// command `/omo:execute-plan`, because a workflow replaces a command of the same name.

const ONLY_OBJECTS = 'Pass the batch payload as a JSON object, not a stringified one.'

const REPORT = {
  type: 'object',
  properties: {
    task_id: { type: 'string', description: 'the id of the task, as it was given' },
    status: { type: 'string', enum: ['done', 'failed', 'blocked'] },
    files_written: { type: 'array', items: { type: 'string' }, description: 'each file that was written or deleted' },
    evidence: { type: 'string', description: 'the first line that `omo agent done` printed, word for word' },
  },
  required: ['task_id', 'status', 'files_written', 'evidence'],
}

function kindOf(value) {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

// The arguments as an object; models like to send JSON as a string.
function readPayload(given) {
  let payload = given
  if (typeof given === 'string') {
    try {
      payload = JSON.parse(given)
    } catch (error) {
      throw new Error(
        `execute-plan: args arrived as a string and is not valid JSON (${error.message}). ${ONLY_OBJECTS}`,
      )
    }
    log('args arrived as a JSON string; parsed it. Callers should pass an object.')
  }
  if (kindOf(payload) !== 'object') {
    throw new Error(`execute-plan: args must be a JSON object (got ${kindOf(payload)}). ${ONLY_OBJECTS}`)
  }
  if (!Array.isArray(payload.batches)) {
    const keys = Object.keys(payload).join(', ') || 'none'
    throw new Error(
      `execute-plan: args.batches must be an array (got ${kindOf(payload.batches)}; payload keys: ${keys}).`,
    )
  }
  return payload
}

function promptFor(id, payload) {
  const run = payload.run ? ` --run ${payload.run}` : ''
  const plan = payload.plan_file ? ` of the plan ${payload.plan_file}` : ''
  const place = payload.project_root ? ` The project is in ${payload.project_root}; run omo there.` : ''
  return [
    `Execute task ${id}${plan}, and no other task.${place}`,
    '',
    `1. Run: omo agent start ${id}${run}`,
    '   It prints the brief of the task, and the command that ends it. If it refuses, change nothing: the task is',
    '   blocked if a dependency failed or a person has to decide, else failed; the line it printed is the evidence.',
    '2. Do what the brief says, in the files that it lists and no others.',
    '3. Run the `omo agent done` line that stands at its end',
    '   (with a Bash timeout of 600000). omo runs the checks itself and prints the verdict.',
    `4. Report task_id "${id}"; status "done" only if omo printed PASSED, else "failed"; files_written;`,
    '   and as evidence the first line that omo agent done printed, word for word.',
    '',
    'Write no state, checkpoint or report file: omo keeps the records.',
  ].join('\n')
}

function failed(id, evidence) {
  return { task_id: id, status: 'failed', files_written: [], evidence }
}

// A worker's report, in the one shape that callers read.
function readReport(id, report) {
  if (kindOf(report) !== 'object') return failed(id, 'agent returned no structured result (schema mismatch)')
  return {
    task_id: report.task_id ?? id,
    status: report.status ?? 'failed',
    files_written: Array.isArray(report.files_written) ? report.files_written : [],
    evidence: report.evidence ?? '',
  }
}

async function dispatch(id, payload) {
  const options = {
    label: `task:${id}`,
    phase: 'Execute Batch',
    agentType: 'omo:worker',
    // Without one it is the model of the session.
    model: payload.model === 'inherit' ? undefined : (payload.model ?? 'sonnet'),
    schema: REPORT,
  }
  try {
    return readReport(id, await agent(promptFor(id, payload), options))
  } catch (error) {
    return failed(id, `agent dispatch error: ${error?.message ?? error}`)
  }
}

const payload = readPayload(args)
const needs = new Map((payload.tasks ?? []).map((task) => [task.id, task.depends_on ?? []]))
const lost = new Set(payload.failed_or_blocked ?? [])
const results = []

for (const batch of payload.batches) {
  for (const id of batch) {
    const cause = (needs.get(id) ?? []).find((dependency) => lost.has(dependency))
    const result =
      cause === undefined
        ? await dispatch(id, payload)
        : {
            task_id: id,
            status: 'blocked',
            files_written: [],
            evidence: `skipped: dependency ${cause} failed or blocked in this run`,
          }
    if (result.status === 'failed' || result.status === 'blocked') lost.add(id)
    else lost.delete(id)
    results.push(result)
  }
}

return results

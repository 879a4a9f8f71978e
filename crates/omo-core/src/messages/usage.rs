//! Usage texts of slash commands that the model carries out; a hook shows them without the model.

/// Usage of `ulw`, for `ulw?` and `ulw help`.
pub const ULW: &str = "\
`ulw <task>` holds this session until the task is proved done: your checks are green and a reviewer agrees.
  `ulw`                    goes on with a run that is paused or was not proved, else begins one
  `ulw --new <task>`       another task in place of one that was not proved
  `ulw --check \"COMMAND\"`  this command has to be green; also --no-review, --max-blocks N, --max-minutes N, --max-tokens N, --max-failed-claims N
  /omo:status              where the run stands
  /omo:check               what judges the run: list, add, remove, run
  `ulw off`                ends the run at once; Esc pauses it, and so does `stop`
  /omo:stop-continuation   ends it too; while the model works it waits for the end of the turn";

const EXECUTE: &str = "\
usage: /omo:execute [<plan.md>] [--parallel | --waves | --batches | --fg] [--approve CODE]
Executes a plan in the way that it asks for, and says which it took. Typed alone it goes on where it was.
  --parallel       clients of their own, each in a worktree: where the plan has an Execution Strategy
  --waves          workers at the same time, then a verification: where tasks say what they depend on
  --batches        one task after the other, with stops for you: where the plan has some, and else
  --fg             one task after the other in this session
  --again          start over a plan that is done
  --approve CODE   agree to exactly the commands that were shown
  --check COMMAND  also prove tasks that name no check, once, after all of them
  --review WHEN    when a reviewer judges what no command proves: tasks, waves, end or never
  --model MODEL    the model of the workers, such as sonnet
  --batch-size N   with --batches: N tasks in a batch
  --pr             open a pull request once the run is complete
It takes the options of /omo:execute-plan, /omo:execute-local and /omo:ulw-exec as well.";

const EXECUTE_PLAN: &str = "\
usage: /omo:execute-plan [<plan.md>] [--k N] [--batch-size N] [--again] [--approve CODE]
Executes a plan task by task, each proved by its own check. Typed alone it goes on where it was.
  --k N           ask after a task that N others need (3)
  --batch-size N  N tasks in a batch (5)
  --again         start over a plan that is done
  --approve CODE  agree to exactly the commands that were shown";

const ULW_PLAN: &str = "\
usage: /omo:ulw-plan <goal> | --from FILE [<goal>]
Explores, writes a design and the tasks of a session with what shows that each is done, and stops.
Nothing of it is begun before you type /omo:ulw-exec.
  --from FILE     take the tasks of this file as they are; it needs no goal then
  --resume        go on with the planning of this session
  --session ID    another session than the one that this is typed in";

const ULW_EXEC: &str = "\
usage: /omo:ulw-exec [<plan.md>] [--session ID] [--max-iterations N] [--max-workers N]
                     [--skip-verify] [--again] [--approve CODE]
Executes a task list, or a plan, in waves of workers, has it verified, and repeats what failed.
  --session ID        another session than the one that this is typed in
  --max-iterations N  go over the tasks N times at most (5)
  --max-workers N     N workers at once; 0 for as many as there can be
  --skip-verify       end when every task is done, without a verifier
  --again             go on with a session that has failed, counting from 1
  --approve CODE      agree to exactly the commands that were shown";

const EXECUTE_LOCAL: &str = "\
usage: /omo:execute-local [--fg | --resume | --again | --dry-run | --step N | --session N] <plan.md>
Executes a plan step by step, or its sessions in parallel, each in a worktree of its own.
  --fg            one step after the other in this session
  --resume        go on with an earlier run
  --again         start over, whatever an earlier run has done
  --dry-run       only look at the plan, and tell how it would be run
  --step N        only step N
  --session N     only session N of the plan's Execution Strategy
  --approve CODE  agree to exactly the commands that were shown";

const CANCEL: &str = "\
usage: /omo:cancel [RUN] [--reason TEXT]
Ends the run of a plan before its end: that of this session, or the one that is open here.
  RUN            another run; `omo run list` names them
  --reason TEXT  why, for the record
While Claude works, press Esc first: the client keeps a slash command back until the turn ends.";

const REPORT: &str = "\
usage: /omo:report [RUN] [--format FORM | --html] | --last | --all --html
Shows the result of the run of a plan: that of this session, or the last one here.
  RUN            another run; `omo run list` names them
  --format FORM  another form, as `omo report --help` lists them
  --last         the last ultrawork run instead: its end, its checks, its review
  --html         write its page, and say where; with --all one of all runs of the project";

const RETRY: &str = "\
usage: /omo:retry TASK [--run RUN]
Has a task of a plan done again that failed, was left out or could not be proved.
  TASK       its id; /omo:report lists them. `verify` judges again, and no task is done again
  --run RUN  of another run than the one of this session; `omo run list` names them";

const ANSWER: &str = "\
usage: /omo:answer [QUESTION] OPTION [--run RUN]
Answers the question that the run of a plan waits at. No model reads it.
  OPTION     one of its options, or the number of one: 1 is the first
  QUESTION   which question, such as q2; without it the one that is open
  --run RUN  of another run than the one of this session; `omo run list` names them";

/// Usage of `/omo:NAME`; `None` for a command that shows its own, or that omo does not have.
pub fn usage_of(name: &str) -> Option<&'static str> {
    match name {
        "execute" => Some(EXECUTE),
        "execute-plan" => Some(EXECUTE_PLAN),
        "ulw-plan" => Some(ULW_PLAN),
        "ulw-exec" => Some(ULW_EXEC),
        "execute-local" => Some(EXECUTE_LOCAL),
        "cancel" => Some(CANCEL),
        "report" => Some(REPORT),
        "retry" => Some(RETRY),
        "answer" => Some(ANSWER),
        _ => None,
    }
}

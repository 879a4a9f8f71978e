//! What the pages of made-up runs show.

use std::collections::BTreeMap;

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord, CheckVerdict};
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome, TaskCheckVerdict};
use omo_core::log_entry::LogEntry;
use omo_core::review::{Review, ReviewVerdict};
use omo_core::session::{Session, VerdictKind};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{AttemptEnd, EventActor, EventKind, RunEvent, RunResult};
use omo_engine::report::build_report;
use omo_engine::state::RunState;
use omo_plan::dialects;
use omo_plan::model::{Plan, PlanSource, Task};
use omo_report_page::model::{CheckState, MarkKind, Page, RunEnd, SpanKind, Standing};
use omo_report_page::tone::Tone;

use crate::report_page::plan_page::{PlanRecord, plan_page};
use crate::report_page::ultrawork_page::{UltraworkRecord, ultrawork_page};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

//! Plans of the dialect Task Master: `tasks.json`.

use omo_plan::diagnostic::Code;
use omo_plan::dialects::{BatchOptions, PlanChange, read};
use omo_plan::model::{Dialect, Plan, PlannedState};

fn read_text(text: &str) -> Plan {
    read(
        ".taskmaster/tasks/tasks.json",
        text.as_bytes(),
        BatchOptions::default(),
    )
}

fn codes(plan: &Plan) -> Vec<Code> {
    plan.diagnostics.iter().map(|found| found.code).collect()
}

fn write_done(text: &str, task: &str) -> Option<String> {
    Dialect::TaskMaster
        .rules()
        .write_back(text, &PlanChange::Done { task })
}

const BAKERY: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Heat the \u00f6ven",
        "description": "To 200 degrees.",
        "details": "Line one\nLine two",
        "testStrategy": "Run `make heat-test` and see it pass.",
        "priority": "high",
        "dependencies": [],
        "status": "done",
        "subtasks": []
      },
      {
        "id": 2,
        "title": "Bake",
        "dependencies": [1],
        "status": "pending",
        "subtasks": [
          { "id": 1, "title": "Knead", "dependencies": [], "status": "in-progress" },
          { "id": 2, "title": "Wait", "dependencies": [1], "status": "pending" },
          { "id": 3, "title": "Form", "dependencies": ["2.2", "1"], "status": "pending" }
        ]
      },
      { "id": "3", "title": "Sell", "dependencies": ["2", "2.3"], "status": "pending" },
      { "id": 4, "title": "Rest" }
    ],
    "metadata": { "description": "Tasks for master context" }
  }
}
"#;

fn shown(plan: &Plan) -> Vec<String> {
    let list = |ids: &[String]| ids.join(",");
    let stated =
        |stated: &Option<Vec<String>>| stated.as_ref().map_or("-".to_owned(), |ids| list(ids));
    plan.tasks
        .iter()
        .map(|task| {
            format!(
                "{} [{}] {}",
                task.id,
                stated(&task.stated_deps),
                list(&task.deps)
            )
        })
        .collect()
}

#[test]
fn tasks_and_subtasks_are_read_with_what_they_need() {
    for text in [
        BAKERY.to_owned(),
        BAKERY.replace('\n', "\r\n"),
        format!("\u{feff}{BAKERY}"),
        minified(BAKERY),
    ] {
        let plan = read_text(&text);
        assert_eq!(plan.dialect, Dialect::TaskMaster);
        assert_eq!(plan.diagnostics, []);
        let expected = [
            "1 [] ",
            "2 [1] 1,2.1,2.2,2.3",
            "2.1 [] 1",
            "2.2 [2.1] 2.1,1",
            "2.3 [2.2,2.1] 2.2,2.1,1",
            "3 [2,2.3] 2,2.3",
            "4 [-] ",
        ];
        assert_eq!(shown(&plan), expected);
        let oven = &plan.tasks[0];
        assert_eq!(
            [oven.state, plan.tasks[1].state],
            [PlannedState::Done, PlannedState::Open]
        );
        assert_eq!(
            (oven.title.as_str(), oven.priority.as_deref()),
            ("Heat the öven", Some("high"))
        );
        assert!(oven.body.contains("Line one\nLine two"), "{}", oven.body);
        assert_eq!(
            oven.checks
                .iter()
                .map(|check| check.command.as_str())
                .collect::<Vec<_>>(),
            ["make heat-test"]
        );
        assert_eq!(oven.criteria, ["Run `make heat-test` and see it pass."]);
        assert_eq!(plan.tasks[2].section.as_deref(), Some("Bake"));
    }
    let lines = |plan: &Plan, place: usize| plan.tasks[place].lines;
    assert_eq!(
        (lines(&read_text(BAKERY), 0), lines(&read_text(BAKERY), 2)),
        ([4, 14], [21, 21])
    );
}

fn minified(text: &str) -> String {
    text.lines().map(str::trim).collect()
}

#[test]
fn one_tag_is_read_and_the_others_are_told() {
    let task = |id: u32| format!(r#"{{"tasks": [{{"id": {id}, "title": "T"}}]}}"#);
    let none = r#"{"tasks": []}"#;
    for (text, expected, told) in [
        (
            format!(r#"{{"b": {}, "master": {}}}"#, task(1), task(2)),
            "2",
            Some("`master` is read; there are tasks below b too"),
        ),
        (
            format!(
                r#"{{"master": {none}, "b": {}, "c": {}}}"#,
                task(3),
                task(4)
            ),
            "3",
            Some("`b` is read; there are tasks below c too"),
        ),
        (
            format!(r#"{{"version": "1", "tags": {{"b": {}}}}}"#, task(5)),
            "5",
            None,
        ),
        (
            format!(
                r#"{{"version": "1", "tags": ["master"], "b": {}}}"#,
                task(6)
            ),
            "6",
            None,
        ),
        (task(7), "7", None),
    ] {
        let plan = read_text(&text);
        assert_eq!(
            plan.tasks
                .iter()
                .map(|task| task.id.as_str())
                .collect::<Vec<_>>(),
            [expected],
            "{text}"
        );
        assert_eq!(
            plan.diagnostics.first().map(|found| found.text.as_str()),
            told,
            "{text}"
        );
        assert!(plan.can_run());
    }
    assert_eq!(
        codes(&read_text(&format!(r#"{{"master": {none}}}"#))),
        [Code::NoTasks]
    );
}

#[test]
fn what_is_left_out_is_told() {
    let text = r#"{"tasks": [
        {"id": 1, "title": "A", "status": "cancelled"},
        {"id": 2, "title": "B", "status": "deferred", "subtasks": [{"id": 1, "title": "B1"}]},
        {"id": 3, "title": "C", "dependencies": [1, 2], "status": "review"},
        {"id": 4, "title": "D", "status": "done", "dependencies": [], "subtasks": [{"id": 1, "title": "E"}]}
    ]}"#;
    let plan = read_text(text);
    let found: Vec<(usize, &str)> = plan
        .diagnostics
        .iter()
        .map(|found| (found.line, found.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (
                2,
                "task 1 is cancelled: a run leaves it out, and goes on with what needs it"
            ),
            (
                3,
                "task 2 is deferred: a run leaves it out, and goes on with what needs it"
            ),
            (4, "task 3 needs what is left out: 1, 2"),
            (5, "task 4 is done and 4.1 are not: they count as done"),
        ]
    );
    let states: Vec<_> = plan.tasks.iter().map(|task| task.state).collect();
    let [open, done, left_out] = [
        PlannedState::Open,
        PlannedState::Done,
        PlannedState::LeftOut,
    ];
    assert_eq!(states, [left_out, left_out, left_out, open, done, done]);
    assert_eq!(serde_json::to_value(states).unwrap()[0], "left_out");
    assert_eq!(
        plan.tasks[3].extra.get("Status").map(String::as_str),
        Some("review")
    );
    assert!(plan.can_run());
}

#[test]
fn what_cannot_be_run_is_refused_at_its_line() {
    for (text, code, line) in [
        (
            "{\"tasks\": [\n{\"id\": 1, \"title\": \"A\"},\n{\"id\": 1, \"title\": \"B\"}]}",
            Code::DuplicateId,
            3,
        ),
        (
            "{\"tasks\": [\n{\"id\": 1, \"title\": \"A\", \"dependencies\": [1]}]}",
            Code::SelfDependency,
            2,
        ),
        (
            "{\"tasks\": [\n{\"id\": \"../x\", \"title\": \"A\"}]}",
            Code::InvalidId,
            2,
        ),
        (
            "{\"tasks\": [{\"id\": 1, \"title\": \"A\"},\n7]}",
            Code::InvalidId,
            2,
        ),
        (
            "\n{\"tasks\": [\n{\"id\": 1, \"title\": \"A\",}]}",
            Code::UnrecognizedFormat,
            3,
        ),
        (
            "{\"version\": \"2.0.0\", \"tasks\": [{\"label\": \"build\"}]}",
            Code::UnrecognizedFormat,
            1,
        ),
        ("{\"tasks\": {\"build\": {}}}", Code::UnrecognizedFormat, 1),
    ] {
        let plan = read_text(text);
        let found: Vec<_> = plan
            .diagnostics
            .iter()
            .map(|found| (found.code, found.line))
            .collect();
        assert_eq!(found, [(code, line)], "{text}: {:?}", plan.diagnostics);
        assert!(!plan.can_run());
    }
}

#[test]
fn one_status_is_written_and_nothing_else() {
    for ending in ["\n", "\r\n"] {
        let text = BAKERY.replace('\n', ending);
        for (task, old, new) in [
            (
                "2.1",
                r#"[], "status": "in-progress""#,
                r#"[], "status": "done""#,
            ),
            (
                "2.2",
                r#"[1], "status": "pending""#,
                r#"[1], "status": "done""#,
            ),
            (
                "3",
                r#""2.3"], "status": "pending""#,
                r#""2.3"], "status": "done""#,
            ),
            ("4", r#"{ "id": 4"#, r#"{ "status": "done", "id": 4"#),
        ] {
            let expected = text.replacen(old, new, 1);
            assert_ne!(expected, text);
            assert_eq!(
                write_done(&text, task).as_deref(),
                Some(expected.as_str()),
                "{task}"
            );
            assert!(
                read_text(&expected)
                    .task(task)
                    .is_some_and(|task| task.state == PlannedState::Done)
            );
        }
        assert_eq!(write_done(&text, "1").as_deref(), Some(text.as_str()));
        assert_eq!(write_done(&text, "9"), None);
    }
    // The last of a key that stands twice counts, whatever the way in which it is written.
    let twice = "\u{feff}{\"tasks\":[{\"id\":1,\"status\":\"pending\",\"title\":\"\\\"status\\\": {\",\"st\\u0061tus\" : null }]}";
    let expected = twice.replace("null", "\"done\"");
    assert_eq!(write_done(twice, "1"), Some(expected));
    assert_eq!(
        write_done(
            "{\"tasks\":[{\"id\":1,\"title\":\"A\"},{\"id\":1,\"title\":\"B\"}]}",
            "1"
        ),
        None
    );
    assert_eq!(write_done("{\"tasks\":[", "1"), None);
}

#[test]
fn hostile_files_are_read_to_their_end() {
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(200_000), close.repeat(200_000));
    let nested =
        |inner: &str| format!("{{\"tasks\": [{{\"id\": 1, \"title\": \"A\", \"x\": {inner}}}]}}");
    assert_eq!(read_text(&nested(&deep("[", "]"))).tasks.len(), 1);
    assert_eq!(read_text(&deep("{\"tasks\":[", "]}")).tasks.len(), 0);
    let mut inner = String::new();
    for _ in 0..1000 {
        inner = format!("{{\"id\":1,\"title\":\"A\",\"subtasks\":[{inner}]}}");
    }
    let plan = read_text(&format!("{{\"tasks\":[{inner}]}}"));
    assert_eq!(codes(&plan), [Code::TooManyTasks]);
    assert_eq!(plan.tasks.len(), 9);
    write_done(&format!("{{\"tasks\":[{inner}]}}"), "1.1.1");

    let many: Vec<String> = (1..=10_001)
        .map(|id| format!("{{\"id\":{id},\"title\":\"\\u0000\\u001b[2J\"}}"))
        .collect();
    let plan = read_text(&format!("{{\"tasks\":[{}]}}", many.join(",")));
    assert_eq!(codes(&plan), [Code::TooManyTasks]);

    let needs: Vec<String> = (2..3000).map(|id| id.to_string()).collect();
    let others: Vec<String> = needs
        .iter()
        .map(|id| format!(",{{\"id\":{id},\"title\":\"B\"}}"))
        .collect();
    let subtasks: Vec<String> = (1..3000)
        .map(|id| format!("{{\"id\":{id},\"title\":\"S\"}}"))
        .collect();
    let (needs, subtasks, others) = (needs.join(","), subtasks.join(","), others.concat());
    let text = format!(
        "{{\"tasks\":[{{\"id\":1,\"title\":\"A\",\"dependencies\":[{needs}],\"subtasks\":[{subtasks}]}}{others}]}}"
    );
    assert!(codes(&read_text(&text)).contains(&Code::TooManyDependencies));
    for odd in [
        "{\"tasks\":[{\"id\":{},\"title\":[],\"dependencies\":{},\"status\":7,\"subtasks\":3}]}",
        "{\"",
        "{}",
        "{",
    ] {
        assert!(!read_text(odd).can_run(), "{odd}");
    }
}

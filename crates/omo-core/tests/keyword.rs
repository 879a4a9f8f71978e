//! Meanings of prompts, as tables.

use omo_core::keyword::short_request::ShortRequest;
use omo_core::keyword::{InvalidKeyword, Keywords, PromptReading, is_from_a_person, read_prompt};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Activates,
    Ignored,
    Command,
    Off,
}

fn outcome(prompt: &str) -> Outcome {
    outcome_of(&read_prompt(prompt, &Keywords::default()))
}

fn outcome_of(reading: &PromptReading) -> Outcome {
    match reading {
        PromptReading::Activate { .. } | PromptReading::Short(ShortRequest::GoOn) => {
            Outcome::Activates
        }
        PromptReading::Nothing | PromptReading::Short(_) => Outcome::Ignored,
        PromptReading::Command { .. } => Outcome::Command,
        PromptReading::Off { .. } => Outcome::Off,
    }
}

/// Each row of a table has to come out as said; all that do not are shown at once.
fn check(expected: Outcome, prompts: &[&str]) {
    let wrong: Vec<_> = prompts
        .iter()
        .map(|prompt| (*prompt, outcome(prompt)))
        .filter(|(_, found)| *found != expected)
        .collect();
    assert!(wrong.is_empty(), "should be {expected:?}: {wrong:#?}");
}

#[test]
fn instructions_activate() {
    check(
        Outcome::Activates,
        &[
            "ulw",
            "ULW!",
            "ulw.",
            "(ulw) fix it",
            "**ulw** fix it",
            "[ulw] fix the build",
            "ulw; fix it",
            "ulw... go",
            "fix the login bug ulw",
            "fix the login bug (ulw)",
            "let's ulw this",
            "do ulw on this",
            "have ulw fix the tests",
            "could you please use ulw for this?",
            "would you ulw the parser?",
            "can we ulw this?",
            "will you ulw this?",
            "run ulw-free text, then ulw",
            "we need ulw here",
            "switch to ulw mode",
            "time for ulw",
            "go into ulw mode and fix it",
            "no, ulw it",
            "what is failing here? ulw fix it",
            "why is CI red? use ulw to find out",
            "I don't know why it fails, ulw fix it",
            "don't stop, ulw",
            "don't forget to use ulw",
            "never mind the docs; ulw the tests",
            "ulw don't touch main",
            "ulw without breaking the API",
            "ulw no shortcuts",
            "ulw explain the parser and fix it",
            "ulw describe the bug in an issue",
            "ulw why does the login fail? fix it",
            "ulw how do I deploy this? do it",
            "ulw, what is wrong with the build? fix it",
            "ulw can you fix the login?",
            "ulw hook up the login button",
            "ulw state machine refactor",
            "ulw config cleanup",
            "ulw command line parser fix",
            "ulw keyword highlighting in the editor",
            "ulw documentation for the API",
            "ulw stop the server from crashing",
            "ulw off-by-one fix",
            "ulw stop() never returns",
            "ulw fix the bug, then stop",
            "ulw stop words are wrong, fix them",
            "ulw cancel button does nothing, fix it",
            "ulw disable the cache in tests",
            "ulw end to end tests",
            "ulw exit code is wrong",
            "summarize this file with ulw",
            "fix what is broken with ulw",
            "figure out why it fails using ulw",
            "- ulw fix the build\n- deploy it",
            "1. ulw fix the build",
            "/path/to/file is broken, ulw fix it",
            "ulw fix src/main.rs",
            "ulw see https://example.com/x?a=b for details",
            "ulw rename `foo` to `bar`",
            "ulw handle \"quoted\" input",
            "ulw it's broken",
            "ulw the users' list isn't sorted, it's 'odd'",
            "ulw fix a < b and c > d",
            "ulw fix Vec<String> handling",
            "ulw cat log | grep error",
            "ulw mail me@example.com when done",
            "ulw @src/main.rs",
            "ulw/ultrawork do it",
            "<system-reminder>x</system-reminder>\nulw",
            "<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\nulw go",
            "ulw\n<system-reminder>what is ulw</system-reminder>",
            "the docs of `ulw` are fine, now ulw the tests",
            "what is ulw? anyway, ulw fix it",
            "ulw\n\n```\nerror: x\n```",
            "```\nerror\n```\nulw fix",
            "> error: x\n\nulw fix",
            "\"it broke\" ulw fix",
            "5\" screen, ulw fix",
            "ulw: the hook keeps firing, fix it",
            "use the ulw skill to fix this",
            "ulw on",
            "turn on ulw",
            "ulw 100%",
            "ulw!!! fix",
        ],
    );
}

#[test]
fn instructions_in_other_languages_activate() {
    check(
        Outcome::Activates,
        &[
            "ulw해줘",
            "ulw로 고쳐줘",
            "ulw 모드로 진행해줘",
            "ulw 켜줘",
            "ulw를 사용해서 고쳐줘",
            "ulw 이 문제 고쳐줘",
            "이거 ulw로 해결해줘",
            "버그 고쳐줘 ulw",
            "ulw 테스트 왜 실패해? 고쳐줘",
            "ulw로 해줄래?",
            "ulw 시작",
            "ulw, 로그인 고쳐줘",
            "ulwで直して",
            "ulw モードで修正して",
            "ulwを使って直して",
            "バグを直して ulw",
            "ulw お願いします",
            "ulw：ビルドを直して",
            "用ulw修复",
            "用 ulw 修复这个 bug",
            "ulw 修复构建",
            "使用ulw模式修复测试",
            "开启 ulw",
            "请ulw",
            "ulw，修复登录",
            "ใช้ ulw แก้บั๊ก",
            "usa ulw para esto",
            "por favor ulw arregla esto",
            "benutze ulw für das",
            "mit ulw reparieren",
            "utilise ulw pour corriger",
            "dùng ulw để sửa",
            "используй ulw",
            "ulw исправь тесты",
            "usa ulw per questo",
            "なぜテストが落ちるか調べて直して ulw",
            "क्यों फेल हो रहा है देखो और ठीक करो ulw",
        ],
    );
}

#[test]
fn talk_is_ignored() {
    check(
        Outcome::Ignored,
        &[
            "what is ulw",
            "What's ulw?",
            "whats ulw",
            "what exactly is ultrawork?",
            "how does ultrawork work",
            "how do I use ulw?",
            "how to use ulw",
            "explain ulw",
            "can you explain ulw?",
            "please explain ultrawork mode",
            "explain how ulw works",
            "tell me about ulw",
            "tell me what ulw does",
            "show me how to use ulw",
            "describe ulw",
            "define ultrawork",
            "why did ulw stop?",
            "why does ulw keep running",
            "who made ulw?",
            "which model does ulw use?",
            "is ultrawork on?",
            "are you using ulw?",
            "do you know ulw?",
            "does ulw use subagents?",
            "did ulw finish?",
            "has ulw started?",
            "can ulw run tests?",
            "will ulw cost more?",
            "should we use ulw here?",
            "can I use ulw here?",
            "ulw vs ralph",
            "difference between ralph and ulw",
            "compare ulw with ralph",
            "ulw is broken",
            "ulw keeps restarting",
            "ulw was on",
            "ulw doesn't stop",
            "ulw's state is wrong",
            "the ulw hook is broken, fix it",
            "ulw mode is great",
            "the ulw keyword does not work",
            "ulw not working",
            "ultrawork mode enabled",
            "Ultrawork is on.",
            "I used ulw yesterday",
            "he said ulw",
            "the docs mention ultrawork mode",
            "please document ulw in the README",
            "document ulw",
            "remove ulw from the docs",
            "a bug in ulw",
            "there is a problem with ulw",
            "what's wrong with ulw?",
            "ulw, what is it?",
            "ulw - how does it work?",
            "so what is ulw?",
            "hey, what does ulw mean?",
            "quick question: what is ulw?",
            "if I use foo, what does ulw do?",
            "the word ulw",
            "the keyword ulw appears here",
            "when ulw is on, nothing works",
            "if ulw fails I get no output",
            "meaning of ulw",
            "ULW = ultra work",
            "I have a question about ulw",
            "ulw() is undefined",
            "what does the ultrawork mode do",
            "how is ulw different?",
            "any idea what ulw does?",
            "I wonder what ulw does",
        ],
    );
}

#[test]
fn negations_are_ignored() {
    check(
        Outcome::Ignored,
        &[
            "don't use ulw",
            "do not use ulw",
            "don’t use ulw",
            "dont use ulw for this",
            "never use ulw",
            "without ulw",
            "fix it without ulw",
            "fix it without using ultrawork",
            "no ulw",
            "no ulw please",
            "not ulw",
            "instead of ulw",
            "rather than ulw use plain mode",
            "please do not activate ulw",
            "you don't need ulw",
            "I don't want to use ulw",
            "avoid ulw",
            "don't turn on ultrawork mode",
            "do this but don't ulw",
            "don't start ultrawork yet",
            "fix it, no ulw",
            "ulw 없이 고쳐줘",
            "ulw 쓰지 마",
            "ulw 말고 그냥 해줘",
            "ulw를 사용하지 마세요",
            "ulw 모드 없이 해줘",
            "ulwなしで直して",
            "ulwを使わないで",
            "ulw を使わずに修正",
            "不要用ulw",
            "别用 ulw",
            "不使用ulw",
            "sin ulw",
            "no uses ulw",
            "ohne ulw",
            "sans ulw",
            "không dùng ulw",
            "sem ulw",
            "без ulw",
        ],
    );
}

#[test]
fn questions_in_other_languages_are_ignored() {
    check(
        Outcome::Ignored,
        &[
            "ulw가 뭐야?",
            "ulw 뭐야",
            "ulw란?",
            "ulw는 뭔가요?",
            "ulw 모드가 뭐야?",
            "ulw 설명해줘",
            "ulw 사용법 알려줘",
            "ulw에 대해 알려줘",
            "ulw 어떻게 써?",
            "ulw랑 ralph 차이가 뭐야?",
            "ulw의 의미",
            "ulw 왜 안돼?",
            "ulw 언제 써야 해?",
            "ulwとは",
            "ulwとは何ですか",
            "ulwって何？",
            "ulw の使い方を教えて",
            "ulwについて教えて",
            "ulwは何をするの？",
            "ulwの意味は？",
            "什么是ulw",
            "ulw是什么",
            "ulw 怎么用",
            "解释 ulw",
            "介绍一下ulw",
            "ulw和ralph的区别",
            "ulw的用法",
            "ulw 什么意思",
            "如何使用 ulw？",
            "ulw คืออะไร",
            "¿qué es ulw?",
            "¿Cómo funciona ulw?",
            "was ist ulw?",
            "wie funktioniert ulw?",
            "qu'est-ce que ulw ?",
            "c'est quoi ulw ?",
            "comment fonctionne ulw ?",
            "ulw là gì?",
            "что такое ulw?",
            "o que é ulw?",
            "cos'è ulw?",
            "왜 자꾸 시작해 ulw",
            "ulw น่ารำคาญ",
            "ulw m'énerve",
        ],
    );
}

#[test]
fn what_is_quoted_or_pasted_is_ignored() {
    check(
        Outcome::Ignored,
        &[
            "\"ulw\"",
            "'ulw fix it'",
            "‘ulw’",
            "„ulw“",
            "«ulw»",
            "「ulw」",
            "『ulw』",
            "《ulw》",
            "＂ulw＂",
            "he wrote \"please\nulw fix\" there",
            "````\n```\nulw\n```\nulw\n````",
            "~~~\nulw\n~~~",
            "```\nulw",
            "   ```\n   ulw\n   ```",
            "1. step\n   ```sh\n   ulw\n   ```",
            "`` ` ulw ` ``",
            "<b>ulw</b>",
            "<ulw/>",
            "<a href=\"x\">\nulw fix\n</a>",
            "<doc><p>x</p>ulw</doc>",
            "<!-- ulw",
            "| ulw | yes |",
            "a | b\n---|---\nulw | x",
            "@@ -1 +1 @@\n- ulw x\n+ ulw y",
            "$ ulw fix",
            "me@host:~$ ulw fix",
            "❯ ulw fix",
            "% ulw fix",
            "User: ulw fix",
            "**User:** ulw",
            "Human: ulw x\n\nAssistant: ulw y",
            "사용자: ulw 고쳐줘",
            "https://x.y/?q=ulw",
            "https://x.y/(ulw)",
            "see http://a.b/c,ulw",
            "me@ulw.com",
            "ulw@example.com",
            "@ulw",
            "#ulw",
            "a/ulw/b",
            "C:\\ulw\\x",
            "~/ulw/x",
            "ulw.toml",
            "x.ulw",
            "foo:ulw",
            "ulw=1",
            "--ulw",
            "éulw",
            "e\u{301}ulw",
            "[ulw](x.md)",
            "[see ulw here](x.md)",
            "[ULW LOOP - ITERATION 1/3] ulw go",
            "[omo] ulw fix",
            "hello\n[omo] ulw fix",
            "<ultrawork-mode>\nulw\n</ultrawork-mode>",
            "<system-reminder>ulw",
            "<system-reminder>`</system-reminder> x `ulw`",
            "> <system-reminder>x\n> y</system-reminder> ulw go",
            "{\"mode\": \"ulw\"}",
            "unset ulw",
            "tree ulw",
            "readlink -f ulw",
            "bun run ulw",
            "ansible ulw",
            "const ulw: string",
        ],
    );
}

#[test]
fn only_a_person_is_listened_to() {
    let synthetic = [
        "<task-notification>x</task-notification>\nulw",
        "<cross-session-message from=\"a\">x</cross-session-message> ulw",
        "<teammate-message>x</teammate-message> ulw",
        "<agent-message>x</agent-message> ulw",
        "<bash-input>x</bash-input> ulw",
        "<bash-stdout>x</bash-stdout>\nulw",
        "<command-message>omo:ulw</command-message>",
        "<local-command-stdout>ulw</local-command-stdout>",
        "<user-prompt-submit-hook>x</user-prompt-submit-hook> ulw",
        "[SYSTEM NOTIFICATION - NOT USER INPUT]\nulw",
        "Stop hook feedback:\nulw",
        "Caveat: The messages below were generated\nulw",
        "  \n<task-notification>ulw",
        "This session is being continued from a previous conversation. ulw",
        "Another Claude session sent a message:\nulw",
        "<system-reminder>x</system-reminder>\n<task-notification>ulw</task-notification>",
        "[ULW LOOP - ITERATION 3/9] go on",
    ];
    for prompt in synthetic {
        assert!(!is_from_a_person(prompt), "{prompt}");
        assert_eq!(outcome(prompt), Outcome::Ignored, "{prompt}");
    }
    for prompt in [
        "ulw",
        "hello",
        "",
        "/omo:ulw x",
        "<div> is broken",
        "stop",
        "[x] done",
        "<system-reminder>x</system-reminder>\nhello",
    ] {
        assert!(is_from_a_person(prompt), "{prompt}");
    }
}

#[test]
fn commands_are_read_byte_for_byte() {
    for (prompt, expected) in [
        ("/omo:ulw", Some(("ulw", ""))),
        ("/omo:ulw fix it", Some(("ulw", "fix it"))),
        (
            "/omo:ulw  fix `a`; $(b)\n ",
            Some(("ulw", " fix `a`; $(b)\n ")),
        ),
        ("/omo:ulw\nfix", Some(("ulw", "fix"))),
        ("  /omo:ulw fix", Some(("ulw", "fix"))),
        ("/ulw fix \"x\"", Some(("ulw", "fix \"x\""))),
        ("/ultrawork fix", None),
        (
            "/omo:stop-continuation ulw",
            Some(("stop-continuation", "ulw")),
        ),
        ("/omo:status", Some(("status", ""))),
        (
            "<system-reminder>x</system-reminder>\n/omo:ulw a",
            Some(("ulw", "a")),
        ),
        ("/other:cmd ulw", None),
        ("/review ulw fix", None),
        ("/loop 5m ulw fix", None),
        ("/omo: ulw", None),
        ("/ulw-logs/foo.txt", None),
        ("please run /omo:ulw", None),
    ] {
        let expected = expected.map_or(PromptReading::Nothing, |(name, arguments)| {
            PromptReading::Command { name, arguments }
        });
        assert_eq!(
            read_prompt(prompt, &Keywords::default()),
            expected,
            "{prompt}"
        );
    }
}

#[test]
fn letting_go_is_a_clause_of_its_own() {
    for (prompt, whole) in [
        ("ulw off", true),
        ("ULW OFF", true),
        ("ulw stop", true),
        ("stop ulw", true),
        ("please stop ulw.", true),
        ("ulw off, please!", true),
        ("ulw off stop", true),
        ("turn off ulw", true),
        ("turn ulw off", true),
        ("switch off ultrawork mode", true),
        ("disable ulw", true),
        ("cancel ulw", true),
        ("cancel ultrawork now", true),
        ("ok, stop ulw, thanks", true),
        ("can you stop ulw?", true),
        ("exit ultrawork mode", true),
        ("ulw 꺼줘", true),
        ("ulw 그만", true),
        ("ulw 중지해줘", true),
        ("ulwを止めて", true),
        ("ulw停止", true),
        ("关闭 ulw", true),
        ("停止ulw", true),
        ("ulw off. Then tell me what is left.", false),
        ("stop ulw and fix the readme by hand", false),
        ("ulw stop, then summarise", false),
        ("this is enough.\nulw off", false),
        ("ulw off\n\nnow explain the diff", false),
        ("ulw fix the parser\nstop ulw", false),
        ("stop ulw: it goes in circles", false),
    ] {
        assert_eq!(
            read_prompt(prompt, &Keywords::default()),
            PromptReading::Off { whole },
            "{prompt}"
        );
    }
    check(
        Outcome::Ignored,
        &[
            "don't stop ulw",
            "how do I stop ulw?",
            "how to turn off ulw",
            "to stop ulw, type something",
            "`ulw off`",
            "\"ulw off\"",
            "never turn off ulw",
            "what does ulw off do?",
            "> ulw off",
        ],
    );
}

#[test]
fn keywords_of_ones_own() {
    let own = Keywords::new(vec![
        "울트라워크".into(),
        "ウルトラワーク".into(),
        "go-go".into(),
    ])
    .unwrap();
    for (prompt, expected) in [
        ("울트라워크 해줘", Outcome::Activates),
        ("울트라워크로 해줘", Outcome::Activates),
        ("울트라워크 뭐야?", Outcome::Ignored),
        ("ウルトラワークで直して", Outcome::Activates),
        ("ウルトラワークローレンのシャツ", Outcome::Ignored),
        ("GO-GO fix", Outcome::Activates),
        ("go-go-go", Outcome::Ignored),
        ("ulw fix", Outcome::Ignored),
        ("울트라워크 꺼줘", Outcome::Off),
    ] {
        assert_eq!(outcome_of(&read_prompt(prompt, &own)), expected, "{prompt}");
    }
    let none = Keywords::new(Vec::new()).unwrap();
    assert_eq!(read_prompt("ulw fix", &none), PromptReading::Nothing);
    assert_eq!(
        read_prompt("/omo:ulw x", &none),
        PromptReading::Command {
            name: "ulw",
            arguments: "x"
        }
    );
}

#[test]
fn what_is_no_keyword_is_named() {
    for bad in ["", "a b", "ulw!", "a/b", "x.y", &"a".repeat(33)] {
        let error = Keywords::new(vec!["fine".into(), bad.to_owned()]).unwrap_err();
        assert_eq!(error, InvalidKeyword::Word(bad.to_owned()));
        assert!(
            error.to_string().starts_with(&format!("{bad:?}")),
            "{error}"
        );
    }
    assert_eq!(
        Keywords::new(vec!["a".into(); 17]),
        Err(InvalidKeyword::TooMany(17))
    );
    assert!(Keywords::new(vec!["é".repeat(32); 16]).is_ok());
}

//! Prompts that only say to stop, to wait, or no: `stop. do not continue.`, `기다려`.

use super::off_request::{is_foreign_stop, is_off_ending, is_polite, is_stop_verb, words_of};
use super::origin;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainStop {
    Stop,
    /// Waiting, no, or the end of something, which may answer a question.
    Wait,
    /// A stop with a reason or a request: `stop, wrong branch`.
    WithWords,
}

/// Maximum bytes; a longer prompt is never only a stop.
const MAX_BYTES: usize = 4_096;

/// The whole prompt of a person, or its first clause where that only says to stop; `None` for any other words.
pub fn read_plain_stop(prompt: &str) -> Option<PlainStop> {
    let text = origin::text_of_person(prompt)?.trim();
    if text.len() > MAX_BYTES || text.starts_with('/') {
        return None;
    }
    let lower = text.to_lowercase().replace('’', "'").replace(" - ", ", ");
    read_whole(&lower).or_else(|| names_stop(&lower).then_some(PlainStop::WithWords))
}

/// `true` for first clauses, or a last sentence, that only say to stop.
fn names_stop(lower: &str) -> bool {
    if lower.ends_with(['?', '？', '؟']) {
        return false;
    }
    let is_stop = |clauses: &str| {
        // `don't do that, do this` is a request alone.
        let forbids_one = words_of(clauses).iter().skip(1).any(|word| *word == "do");
        !forbids_one && read_whole(clauses) == Some(PlainStop::Stop)
    };
    let ends = lower.match_indices(CLAUSE_ENDS).filter(|(at, sign)| {
        // A dot within a word is a file's: `stop.sh`.
        let behind = lower.get(at + sign.len()..).unwrap_or_default();
        *sign != "." || behind.starts_with(char::is_whitespace)
    });
    let mut ends = ends.take(FIRST_CLAUSES);
    let begins = ends.any(|(at, _)| lower.get(..at).is_some_and(is_stop));
    let last = lower.rsplit_once(". ").or_else(|| lower.rsplit_once("! "));
    begins || last.is_some_and(|(_, sentence)| is_stop(sentence))
}

/// Clauses in which a stop with a reason is said: `no, hey, stop, …`.
const FIRST_CLAUSES: usize = 4;
const CLAUSE_ENDS: [char; 10] = [',', '.', '!', ';', '…', '—', '。', '，', '！', '；'];

fn read_whole(lower: &str) -> Option<PlainStop> {
    let asks = lower.ends_with(['?', '？', '؟']) && !lower.ends_with("!?");
    if asks
        && !lower.ends_with("please?")
        && ![
            "can you",
            "could you",
            "would you",
            "will you",
            "can we",
            "could we",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
    {
        return None;
    }
    let mut said = Said::default();
    for clause in lower.split(ends_clause) {
        said.read_clause(&words_of(clause))?;
    }
    match said {
        Said {
            owes_verb: true, ..
        } => None,
        Said { stop: true, .. } => Some(PlainStop::Stop),
        Said { wait: true, .. } => Some(PlainStop::Wait),
        // `no, now` asks for work.
        Said { no: true, .. } if !said.names_time => Some(PlainStop::Wait),
        _ => None,
    }
}

fn ends_clause(char: char) -> bool {
    ",.;:!?\n()…—–。，、！？；：؟".contains(char)
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Default)]
struct Said {
    stop: bool,
    wait: bool,
    no: bool,
    names_time: bool,
    /// Words such as `i want you to` stand before a verb.
    owes_verb: bool,
}

impl Said {
    /// `None` for a clause that says anything else. An object, such as `that`, stands behind its
    /// verb: `no, work on that` asks for work.
    fn read_clause(&mut self, words: &[&str]) -> Option<()> {
        let mut rest = words;
        let mut has_verb = false;
        let mut denial = "";
        let mut previous = "";
        while let [first, others @ ..] = rest {
            let (meaning, taken) = meaning_of(rest)?;
            rest = rest.get(taken..).unwrap_or(others);
            match meaning {
                Meaning::Verb(_) if is_denied(denial, first, taken) => return None,
                // `hang on exit` and `pause while editing` say when.
                Meaning::Verb(_) if previous == "on" && is_stop_verb(first) => return None,
                _ if *first == "while" && !rest.is_empty() => return None,
                Meaning::Verb(_) if FORBIDS_ALL.contains(first) && forbids_part(rest) => {
                    return None;
                }
                Meaning::Verb(verb) => {
                    has_verb = true;
                    self.stop |= verb == PlainStop::Stop;
                    self.wait |= verb == PlainStop::Wait;
                }
                Meaning::No => self.no = true,
                Meaning::Joint => has_verb = false,
                Meaning::Object if !has_verb || *first == "on" && rest.is_empty() => return None,
                // `wait run it` and `a second run` name work.
                Meaning::Object
                    if *first == "run" && !is_stop_verb(previous) && holds(MOMENTS, previous) =>
                {
                    return None;
                }
                // `no need to stop` is the opposite.
                Meaning::Lead if !denial.is_empty() && *first == "need" => return None,
                Meaning::Lead | Meaning::Object | Meaning::Courtesy => {}
                Meaning::Time => self.names_time = true,
            }
            match meaning {
                Meaning::Lead => self.owes_verb = true,
                Meaning::Verb(_) | Meaning::No => self.owes_verb = false,
                _ => {}
            }
            match meaning {
                Meaning::No if holds(NEGATIONS, first) => denial = first,
                Meaning::Courtesy | Meaning::Time => {}
                _ => denial = "",
            }
            previous = words
                .get(words.len() - rest.len() - 1)
                .copied()
                .unwrap_or_default();
        }
        Some(())
    }
}

#[derive(Clone, Copy)]
enum Meaning {
    Verb(PlainStop),
    No,
    Joint,
    /// Words before a verb, as in `i want you to stop`.
    Lead,
    /// Words behind a verb, as in `stop doing that`.
    Object,
    Courtesy,
    /// Words such as `now`, which ask for work behind a `no`.
    Time,
}

/// The meaning of the first words, and their number.
fn meaning_of(words: &[&str]) -> Option<(Meaning, usize)> {
    let phrase = PHRASES.iter().find_map(|(meaning, phrases)| {
        let found = phrases.split('|').find(|phrase| {
            let count = phrase.split(' ').count();
            phrase.split(' ').eq(words.iter().copied().take(count))
        })?;
        Some((*meaning, found.split(' ').count()))
    });
    if phrase.is_some() {
        return phrase;
    }
    let word = *words.first()?;
    let meaning = if words.len() == 1 && matches!(word, "don't" | "dont") {
        Meaning::Verb(PlainStop::Stop)
    } else if holds(OBJECTS, word) {
        Meaning::Object
    } else if holds(LEADS, word) {
        Meaning::Lead
    } else if holds(JOINTS, word) {
        Meaning::Joint
    } else if holds(TIMES, word) {
        Meaning::Time
    } else if word != "for" && is_polite(word) || holds(COURTESIES, word) {
        Meaning::Courtesy
    } else {
        meaning_of_core(word)?
    };
    Some((meaning, 1))
}

fn holds(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Scripts without blanks write `now`, `please` and the object into the word of the verb.
fn meaning_of_core(word: &str) -> Option<Meaning> {
    let (mut core, mut has_object) = (word, false);
    loop {
        if !holds(ENDS, core) && is_stop(core) {
            return Some(Meaning::Verb(PlainStop::Stop));
        }
        if holds(WAITS, core) || holds(ENDS, core) || is_stop_verb(core) {
            return Some(Meaning::Verb(PlainStop::Wait));
        }
        // `不工作` is "does not work".
        if holds(NOES, core) && !has_object {
            return Some(Meaning::No);
        }
        let affix = |list: &'static str| list.split_whitespace();
        let object = affix(OBJECTS_AFTER_CORE).find_map(|end| core.strip_suffix(end));
        has_object |= object.is_some();
        core = object
            .or_else(|| affix(BEFORE_CORE).find_map(|start| core.strip_prefix(start)))
            .or_else(|| affix(AFTER_CORE).find_map(|end| core.strip_suffix(end)))?;
    }
}

fn is_stop(word: &str) -> bool {
    matches!(word, "stop" | "halt" | "stopp")
        || is_foreign_stop(word)
        || is_off_ending(word)
        || holds(STOPS, word)
}

/// `no pare` is "do not stop", and `no stop` is "no, stop".
fn is_denied(before: &str, verb: &str, words: usize) -> bool {
    let is_english =
        is_stop_verb(verb) || holds("wait pause enough nevermind don't dont", verb) || words > 1;
    !(before.is_empty() || before == "no" && is_english)
}

/// Verbs of `don't do anything`; `don't do everything at once` asks for work.
const FORBIDS_ALL: [&str; 3] = ["don't", "do", "dont"];

fn forbids_part(objects: &[&str]) -> bool {
    objects
        .iter()
        .any(|word| holds("everything all once", word))
}

/// Last words of `wait` and `a second`.
const MOMENTS: &str = "wait on second sec minute moment";

/// Words that deny the verb behind them.
const NEGATIONS: &str = "no non não nao không 不 不要 不用";

/// Phrases of several words, in lower case, the longest first of those that begin alike.
const PHRASES: [(Meaning, &str); 5] = [
    (
        Meaning::Verb(PlainStop::Stop),
        "don't do|do not do|dont do|do nothing|do not continue|don't continue|dont continue|\
         do not proceed|don't proceed|dont proceed|do not go on|don't go on|dont go on|\
         do not keep going|don't keep going|that's enough|that is enough|knock it off|cut it out|\
         mach nicht weiter|nicht weiter|hör auf|hören sie auf|ne continuez pas|ne continue pas|\
         no continúes|no continues|no sigas|deja de|não continue|pare de|đừng tiếp tục|dừng lại|\
         계속하지 마세요|계속하지 마|진행하지 마세요|진행하지 마|하지 마세요|하지 마|작업하지 마|\
         hör bitte auf|hör jetzt auf",
    ),
    (
        Meaning::Verb(PlainStop::Wait),
        "never mind|hold on|hold up|hold it|hang on|not now|not yet|no more|one moment|one minute|\
         one second|one sec|a moment|a minute|a second|a sec|un momento|un instant|un attimo|\
         einen moment|eine minute|warte mal|forget it|forget about it|не надо",
    ),
    (Meaning::No, "leave it"),
    (
        Meaning::Object,
        "what you|what you're|what youre|whatever you|whatever you're|for a|for one|at this point",
    ),
    (
        Meaning::Courtesy,
        "i said|i say|i told you|i mean|i repeat|for now|for me|for today|at once|de suite",
    ),
];

/// Words that ask to stop, besides those that turn ultrawork off.
const STOPS: &str = "不要再做 不要再做了 何もしないで pára 停 停下 停下来 停下來 停一停 停手 住手 够了 不要继续 不要再继续 不要再继续了 别繼續 \
    别继续 别再继续 别继续了 别做 别做了 别再做了 不要做了 止めて やめて 止まって 止まれ 止めろ やめろ 中止 \
    中断 ストップ 続けないで 스톱 멈추 그만하 그만두 그만둬 정지 하지마 anhalten aufhören abbrechen basta \
    detente deténgase detenerse arrêtez arrete arretez ferma fermati cease freeze стоп стой \
    остановись остановитесь прекрати хватит unterbrechen stoppa";

/// Verbs of `disable`, `close` and `cancel`, which may be the answer to a question about something else.
const ENDS: &str = "关闭 關閉 关掉 關掉 取消 结束 結束 退出 désactive desactiva tắt 꺼 꺼줘 꺼주세요 끄기 꺼라 끄자 \
    취소 취소해 취소해줘 해제 해제해줘 オフ オフにして 終了 終了して キャンセル cancela annule annulez";

/// Words that ask to wait.
const WAITS: &str = "genug wait pause enough nevermind moment warte warten pausa espera esperen alto \
    attends attendez pare espere aspetta wacht đợi khoan подожди 잠깐 잠깐만 잠시만 기다려 기다리 待って \
    待て 一時停止 等等 等 稍等 暂停 暫停 一分钟";

const NOES: &str = "no nope nah nein non não nao nee không нет 아니 아니요 아니오 아니야 안돼 いいえ いや \
    だめ ダメ 不 不要 不行 不用";

const OBJECTS: &str = "a an one minute second sec bit while everything anything working work \
    doing running going coding editing changing trying on all of that this it the there here with \
    what you're youre are your run loop session task tasks current plan execution agent agents thing things \
    alone un peu tout tous ça cela todo eso esto isso tudo das damit alles tutto hacer \
    haciendo việc";

const LEADS: &str = "i i'd we let let's lets us said told asked want need like to have should must";

const JOINTS: &str = "and then but so";

/// Interjections, and words for `please`.
const COURTESIES: &str = "sorry oh oops well hmm actually already ya mal kurz bitte s'il te vous plaît svp \
    até mismo пожалуйста";

/// Words for `now`, `again` and `all of it`.
const TIMES: &str = "now again today right asap jetzt sofort immédiatement maintenant ahora \
    inmediatamente agora já imediatamente subito ora adesso ngay đi 지금 당장 바로 빨리 즉시 일단 \
    모두 전부 다 여기서 작업 작업을 실행 실행을 всё все это сейчас немедленно";

const BEFORE_CORE: &str = "请 請 先 现在 現在 马上 馬上 立刻 立即 赶快 快 给我 你 都 全部 今すぐ すぐに すぐ \
    今 もう ちょっと そこで ここで 一旦 とりあえず 作業を 処理を 実行を それを 지금";

const AFTER_CORE: &str = "ください 下さい くれ ほしい して しろ ね よ 一下 吧 啊 하세요 해주세요 해줘 해요 해라 하라고 \
    주세요 세요 줘요 줘 요 라 라고 -toi -vous";

const OBJECTS_AFTER_CORE: &str =
    "当前任务 當前任務 这个任务 這個任務 工作 任务 任務 运行 運行 执行 執行 操作 手头的 手上的";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_prompt_that_says_nothing_else_stops() {
        use PlainStop::{Stop, Wait, WithWords};
        for (prompt, expected) in [
            ("stop", Some(Stop)),
            ("Stop. Do not continue.", Some(Stop)),
            ("STOP!!!", Some(Stop)),
            ("please stop now", Some(Stop)),
            ("wait", Some(Wait)),
            ("hold on a second", Some(Wait)),
            ("ok, pause", Some(Wait)),
            ("no, stop", Some(Stop)),
            ("no", Some(Wait)),
            ("No, thanks.", Some(Wait)),
            ("don't continue", Some(Stop)),
            ("stop working on this", Some(Stop)),
            ("can you stop?", Some(Stop)),
            ("can you stop the server?", None),
            ("never mind", Some(Wait)),
            ("mach nicht weiter", Some(Stop)),
            ("ya basta", Some(Stop)),
            ("arrête tout, s'il te plaît", Some(Stop)),
            ("请停止", Some(Stop)),
            ("停一下", Some(Stop)),
            ("停止してください", Some(Stop)),
            ("그만하세요", Some(Stop)),
            ("wait for the build to finish", None),
            ("stop the server", None),
            ("no, use the other file", None),
            ("why did you stop?", None),
            ("stop?", None),
            ("pause between the retries", None),
            ("not that", None),
            ("and now", None),
            ("ok", None),
            ("", None),
            ("멈춰", Some(Stop)),
            ("잠깐만 기다려줘", Some(Wait)),
            ("아니요", Some(Wait)),
            ("待って", Some(Wait)),
            ("止めてください", Some(Stop)),
            ("停", Some(Stop)),
            ("等一下", Some(Wait)),
            ("不要", Some(Wait)),
            ("Stopp bitte", Some(Stop)),
            ("warte mal kurz", Some(Wait)),
            ("nein", Some(Wait)),
            ("para, por favor", Some(Stop)),
            ("arrête", Some(Stop)),
            ("dừng lại", Some(Stop)),
            ("don't stop", None),
            ("do not stop now", None),
            ("never stop", None),
            ("止めないで", None),
            ("/stop", None),
            ("stop what you are doing", Some(Stop)),
            ("Stop whatever you're doing right now!", Some(Stop)),
            ("stop doing that", Some(Stop)),
            ("quit doing that", Some(Wait)),
            ("stop the run", Some(Stop)),
            ("stop all of this", Some(Stop)),
            ("pause the run", Some(Wait)),
            ("cancel the task, please", Some(Wait)),
            ("I said stop", Some(Stop)),
            ("I said: stop!", Some(Stop)),
            ("stop, I told you", Some(Stop)),
            ("I want you to stop now", Some(Stop)),
            ("let's stop here", Some(Stop)),
            ("sorry, stop", Some(Stop)),
            ("don't do that", Some(Stop)),
            ("no, don't", Some(Stop)),
            ("no stop", Some(Stop)),
            ("stop for now", Some(Stop)),
            ("stop and wait", Some(Stop)),
            ("wait a minute", Some(Wait)),
            (&"stop ".repeat(21), Some(Stop)),
            ("para ahora mismo", Some(Stop)),
            ("arrête-toi tout de suite", Some(Stop)),
            ("停止工作", Some(Stop)),
            ("请马上停止执行", Some(Stop)),
            ("今すぐ止めて", Some(Stop)),
            ("作業を中止してください", Some(Stop)),
            ("지금 멈춰", Some(Stop)),
            ("작업을 멈춰 주세요", Some(Stop)),
            ("당장 그만하라고", Some(Stop)),
            ("no, work on that one", None),
            ("never mind that, work on all", None),
            ("stop. work on this now", Some(WithWords)),
            ("stop and work on all", None),
            ("stop - work on that", Some(WithWords)),
            ("leave it on", None),
            ("leave it running", None),
            ("it should stop", None),
            ("no, I want to", None),
            ("wait for the run", None),
            ("no one", None),
            ("non stop", None),
            ("no, everything", None),
            ("não pare", None),
            ("no pare", None),
            ("no, pare", Some(Wait)),
            ("non basta", None),
            ("không dừng lại", None),
            ("중단하지 마", None),
            ("계속하지 마", Some(Stop)),
            ("不工作", None),
            ("不要 停", None),
            ("no te para", None),
            ("Moment bitte", Some(Wait)),
            ("不要停止工作", None),
            ("今は止めないで", None),
            ("don't do that, do this", None),
            ("stop the server when it is done", None),
            ("stop doing X and instead do Y", None),
            ("no need to stop", None),
            ("nah, no need to wait", None),
            ("don't do everything at once", None),
            ("don't do it all at once", None),
            ("don't do anything", Some(Stop)),
            ("no, now", None),
            ("nein, jetzt", None),
            ("нет, сейчас", None),
            ("아니 지금 실행", None),
            ("no, please", Some(Wait)),
            ("no wait run it", None),
            ("a second run please", None),
            ("cancel the run now", Some(Wait)),
            ("关闭", Some(Wait)),
            ("désactive", Some(Wait)),
            ("취소해", Some(Wait)),
            ("forget it", Some(Wait)),
            ("stop the current task", Some(Stop)),
            ("stop!?", Some(Stop)),
            ("진행하지 마", Some(Stop)),
            ("不要再做了", Some(Stop)),
            ("停止当前任务", Some(Stop)),
            ("hör bitte auf", Some(Stop)),
            ("genug", Some(Wait)),
            ("何もしないで", Some(Stop)),
            ("не надо", Some(Wait)),
            ("stop, wrong branch", Some(WithWords)),
            ("stop! you are deleting my files", Some(WithWords)),
            ("wait, use the other file", None),
            ("stop, what is that?", None),
            ("no, stop, wrong branch", Some(WithWords)),
            ("hey, stop, that is wrong", Some(WithWords)),
            ("wrong branch. STOP", Some(WithWords)),
            ("stop.sh is broken, fix it", None),
            ("stop() never returns", None),
            ("stop: undefined method", None),
            ("halt.c leaks", None),
            ("stop\nstart\nrestart\nadd these", None),
            ("pause on exit", None),
            ("hang on exit", None),
            ("pause while editing", None),
            ("wait a while", Some(Wait)),
            ("can we stop here?", Some(Stop)),
            ("stop, please?", Some(Stop)),
        ] {
            assert_eq!(read_plain_stop(prompt), expected, "{prompt:?}");
        }
    }
}

//! Talk about the keyword in languages other than English: phrases directly before or after it.

use crate::keyword::sentence::WordContext;

/// Whether a phrase next to the keyword makes it talk.
pub(super) fn is_mention(around: &WordContext) -> bool {
    let before = around.before.trim_end();
    let after = around.after.trim_start();
    let attached = around.after.len() == after.len();
    before_phrase(before)
        || after_phrase(after)
        || attached && ATTACHED.iter().any(|particle| is_particle(after, particle))
}

fn before_phrase(before: &str) -> bool {
    phrases(&BEFORE).any(|phrase| {
        before.strip_suffix(phrase).is_some_and(|rest| {
            let own_letters = phrase.chars().next().is_some_and(is_spaced);
            !own_letters || !rest.ends_with(|char: char| char.is_alphanumeric())
        })
    })
}

fn after_phrase(after: &str) -> bool {
    let after = after.trim_start_matches([',', ':', '：', '，', '-', '—', ' ']);
    let after = ["모드", "モード", "模式", "mode"]
        .iter()
        .find_map(|noun| after.strip_prefix(noun))
        .unwrap_or(after)
        .trim_start();
    let bare = PARTICLES.iter().find_map(|particle| after.strip_prefix(particle)).unwrap_or(after).trim_start();
    phrases(&AFTER).any(|phrase| starts(after, phrase) || starts(bare, phrase))
}

fn phrases(table: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    table.iter().flat_map(|language| language.split('|'))
}

fn starts(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase).is_some_and(|rest| {
        let own_letters = phrase.chars().next_back().is_some_and(is_spaced);
        !own_letters || !rest.starts_with(|char: char| char.is_alphanumeric())
    })
}

/// Of a script whose words end at a blank.
fn is_spaced(char: char) -> bool {
    matches!(char, '\u{0}'..='\u{5ff}' | '\u{1e00}'..='\u{1eff}')
}

/// A particle that ends its word: `ulw가 뭐야`, not `ulw가능한지`.
fn is_particle(after: &str, particle: &str) -> bool {
    after.strip_prefix(particle).is_some_and(|rest| !rest.starts_with(|char: char| char.is_alphanumeric()))
}

/// Particles that say nothing by themselves; the phrase after them decides.
const PARTICLES: [&str; 12] = ["으로", "로", "을", "를", "은", "는", "이", "가", "を", "は", "が", "って"];

/// Particles and endings that make the keyword the subject.
const ATTACHED: [&str; 8] = ["가", "는", "란", "이란", "의", "랑", "라는", "라고"];

/// Phrases that end right before the keyword, by language.
const BEFORE: [&str; 8] = [
    // Chinese: questions, then negations.
    "什么是|什麼是|啥是|解释|解釋|解释一下|解釋一下|介绍|介紹|介绍一下|介紹一下|关于|關於|说明|說明|怎么用|怎麼用|怎么使用|如何使用|如何用|为什么|為什麼|\
     什么时候用|什么时候使用|要不要用|是否使用|该用|应该用",
    "不要用|不要使用|别用|別用|别使用|不用|不使用|不要|不要开|不要开启|别开|别|勿用|无需|無需|不需要|没有|沒有|而不是|不开启|禁用|不想用",
    // Korean and Japanese
    "왜|도대체|なぜ|どうして",
    // Spanish and Portuguese
    "qué es|que es|cómo funciona|como funciona|cómo uso|cómo usar|como usar|cuándo usar|para qué sirve|explica|explícame|explique|qué hace|que hace|sobre|\
     o que é|que faz|sin|sin usar|no uses|no usar|no use|no usas|sem|sem usar|não use|não usar",
    // German
    "was ist|was macht|was bedeutet|wie funktioniert|wie benutze ich|wie nutze ich|wozu dient|erkläre|erklär|erkläre mir|über|ohne|kein|nicht|kein bisschen|statt",
    // French
    "qu'est-ce que|qu'est-ce qu'|c'est quoi|comment fonctionne|comment marche|comment utiliser|que fait|explique|explique-moi|à quoi sert|sans|sans utiliser|\
     pas|n'utilise pas|n'utilisez pas",
    // Italian, Vietnamese and Indonesian
    "cos'è|che cos'è|cosa fa|come funziona|come si usa|spiega|senza|senza usare|non usare|không dùng|đừng dùng|không sử dụng|giải thích|apa itu|tanpa|jangan pakai",
    // Russian and Arabic
    "что такое|что делает|как работает|как использовать|объясни|зачем|без|не используй|не использовать|не надо|не нужен|ما هو|بدون",
];

/// Phrases that begin right after the keyword, its particle or its `mode`, by language.
const AFTER: [&str; 6] = [
    // Korean: questions and explanations, then negations.
    "뭐|뭔|뭘|무엇|무슨|란|이란|라는|이라는|설명|소개|사용법|사용 법|사용방법|사용 방법|쓰는 법|쓰는법|쓰는 방법|차이|의미|뜻|관련|에 대해|에 대한|에대해|대해|기능|원리|\
     어떻게 써|어떻게 쓰|어떻게 사용|어떻게 동작|어떻게 작동|어떻게 켜|어떻게 돼|언제 써|언제 쓰|언제 사용|왜 안|왜 자꾸|왜 켜|왜 써|써야|써도|필요한가|필요해?|필요한지|켜져|\
     켜진|꺼져|와 랄프|상태|발생했|쳤을|때문에|동작해|동작하|작동해|작동하|작동 안|동작 안|안 돼|안돼|안 됨|안됨",
    "없이|말고|빼고|제외|안 쓰|안쓰|안 써|안써|쓰지|사용하지|사용 안|켜지 마|켜지마|켜지 말|하지 마|하지마|하지 말|금지|돌리지|실행하지|필요 없|필요없",
    // Japanese
    "とは|って|何|の使い方|の意味|の説明|の違い|について|の仕組み|の機能|の状態|はどう|はいつ|は必要|はなぜ|が動|が起|どう使|どうやって使|使い方|説明して|説明を|\
     使うべき|使うと|いつ使|と違|なし|無し|使わ|使うな|ではなく|じゃなく|抜きで",
    // Chinese
    "是|什么意思|什麼意思|怎么用|怎麼用|怎么工作|怎么样|如何使用|如何工作|有什么|有什麼|有啥|的用|的意|的区|的區|的文档|的文檔|的功能|的原理|的状态|的问题|\
     和|与|跟|吗|嗎|为什么会|為什麼會|会不会|能不能用|该怎么|的作用|介绍|说明",
    // Thai, Hindi
    "คือ|ใช้ยังไง|ใช้งานยังไง|ใช้อย่างไร|ทำงานยังไง|क्या है",
    // Vietnamese, Turkish, German
    "là gì|hoạt động thế nào|dùng thế nào|nedir|ne demek|nicht",
];

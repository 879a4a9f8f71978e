//! Words such as `Task` or `Depends on` that plans use, in ten languages.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Task,
    Step,
    Files,
    Run,
    Expected,
    DependsOn,
    Nothing,
    Create,
    Modify,
    Test,
    Delete,
}

/// Placeholder of each word in a pattern, and its lower-case forms: a text for each language, with `|` between forms.
const TABLE: [(Word, &str, [&str; 10]); 11] = [
    (
        Word::Task,
        "{task}",
        [
            "task",
            "aufgabe",
            "tarea",
            "tarefa",
            "tâche|tache",
            "attività|compito",
            "задача",
            "任务|任務",
            "タスク",
            "작업",
        ],
    ),
    (
        Word::Step,
        "{step}",
        [
            "step",
            "schritt",
            "paso",
            "passo|etapa",
            "étape",
            "passaggio",
            "шаг",
            "步骤|步驟",
            "ステップ",
            "단계",
        ],
    ),
    (
        Word::Files,
        "{files}",
        [
            "files|file|file(s)|files to change|files to create|files to modify|files to create/modify|files changed|files touched|affected files|modified files|target files",
            "dateien|datei|betroffene dateien",
            "archivos|archivo|ficheros",
            "arquivos|arquivo",
            "fichiers|fichier",
            "file da modificare",
            "файлы|файл",
            "文件|涉及文件|修改文件|相关文件|檔案",
            "ファイル|対象ファイル",
            "파일|대상 파일",
        ],
    ),
    (
        Word::Run,
        "{run}",
        [
            "run|command|cmd|execute",
            "ausführen|befehl|kommando",
            "ejecutar|ejecuta|comando",
            "executar|execute|rodar",
            "exécuter|exécutez|commande|lancer",
            "eseguire|esegui|comando",
            "запустить|команда|выполнить",
            "运行|运行命令|執行|执行|命令|執行命令",
            "実行|コマンド|実行コマンド",
            "실행|명령|명령어",
        ],
    ),
    (
        Word::Expected,
        "{expected}",
        [
            "expected|expects|expect",
            "erwartet|erwartung|erwartetes ergebnis",
            "esperado|se espera|resultado esperado",
            "resultado esperado|espera-se",
            "attendu|résultat attendu",
            "atteso|previsto|risultato atteso",
            "ожидается|ожидаемый результат|ожидание",
            "期望|预期|預期|预期结果|预期输出|期望输出",
            "期待|期待値|期待結果|期待される結果",
            "예상|기대|예상 결과",
        ],
    ),
    (
        Word::DependsOn,
        "{depends on}",
        [
            "depends on|dependencies|dependency",
            "hängt ab von|abhängig von|abhängigkeiten",
            "depende de|dependencias",
            "dependências",
            "dépend de|dépendances",
            "dipende da|dipendenze",
            "зависит от|зависимости",
            "依赖于|依赖|依賴|前置任务",
            "依存|依存関係",
            "의존성|의존",
        ],
    ),
    (
        Word::Nothing,
        "{nothing}",
        [
            "none|nothing|null|not|no|n/a|nil|na",
            "keine|nichts",
            "ninguna|ninguno|nada",
            "nenhuma|nenhum",
            "aucune|aucun|rien",
            "nessuna|nessuno",
            "нет",
            "无|無|没有",
            "なし",
            "없음",
        ],
    ),
    (
        Word::Create,
        "{create}",
        [
            "create|creates|add|new",
            "erstellen|neu|anlegen",
            "crear|nuevo",
            "criar|novo",
            "créer|nouveau",
            "creare|nuovo",
            "создать",
            "新建|创建|建立|新增",
            "作成",
            "생성",
        ],
    ),
    (
        Word::Modify,
        "{modify}",
        [
            "modify|edit|update|change|rename|move|extend|replace",
            "ändern|bearbeiten",
            "modificar|editar",
            "alterar",
            "modifier",
            "modificare",
            "изменить",
            "修改|更新|变更",
            "変更",
            "수정",
        ],
    ),
    (
        Word::Test,
        "{test}",
        [
            "test|tests",
            "testen",
            "probar",
            "testar",
            "tester",
            "testare",
            "тест",
            "测试|測試",
            "テスト",
            "테스트",
        ],
    ),
    (
        Word::Delete,
        "{delete}",
        [
            "delete|remove",
            "löschen|entfernen",
            "eliminar|borrar",
            "excluir|remover",
            "supprimer",
            "eliminare|rimuovere",
            "удалить",
            "删除|刪除",
            "削除",
            "삭제",
        ],
    ),
];

impl Word {
    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        let rows = TABLE.iter().filter(move |(word, ..)| *word == self);
        rows.flat_map(|(.., languages)| languages)
            .flat_map(|words| words.split('|'))
    }

    pub(crate) fn is(self, lower: &str) -> bool {
        self.words().any(|word| word == lower)
    }

    /// Alternatives of a regular expression, the longest first; a capital may stand in place of the first letter.
    fn alternatives(self) -> String {
        let mut words: Vec<&str> = self.words().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let written = words.iter().map(|word| {
            let escaped = regex::escape(word).replace(' ', "[ \\t]+");
            let first = word.chars().next().filter(|first| !first.is_ascii());
            match first.and_then(|first| Some((first, escaped.strip_prefix(first)?))) {
                Some((first, rest)) => format!("[{first}{}]{rest}", first.to_uppercase()),
                None if word.is_ascii() => format!("(?i-u:{escaped})"),
                None => {
                    let (head, rest) = escaped.split_at(1);
                    format!("[{head}{}]{rest}", head.to_ascii_uppercase())
                }
            }
        });
        written.collect::<Vec<_>>().join("|")
    }
}

pub(crate) fn fill_placeholders(pattern: &str) -> String {
    TABLE
        .iter()
        .fold(pattern.to_owned(), |text, (word, name, _)| {
            if text.contains(name) {
                text.replace(name, &word.alternatives())
            } else {
                text
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_in_each_language_and_with_a_capital() {
        let pattern = regex::Regex::new(&fill_placeholders("^(?:{step})$")).unwrap();
        for step in [
            "step", "STEP", "Schritt", "Étape", "étape", "Шаг", "步骤", "단계",
        ] {
            assert!(pattern.is_match(step), "{step}");
        }
        assert!(
            !pattern.is_match("stepping")
                && Word::Files.is("対象ファイル")
                && !Word::Files.is("Files")
        );
    }
}

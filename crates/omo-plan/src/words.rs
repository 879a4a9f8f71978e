//! The words that plans are written with, by language.

/// A word of a plan, by what it means.
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

/// The words of a language in small letters, those of one meaning apart by `|`.
struct Language {
    task: &'static str,
    step: &'static str,
    files: &'static str,
    run: &'static str,
    expected: &'static str,
    depends_on: &'static str,
    nothing: &'static str,
    create: &'static str,
    modify: &'static str,
    test: &'static str,
    delete: &'static str,
}

/// English, German, Spanish, Portuguese, French, Italian, Russian, Chinese, Japanese and Korean.
const LANGUAGES: [Language; 10] = [
    Language {
        task: "task",
        step: "step",
        files: "files|file|file(s)|files to change|files to create|files to modify|files to create/modify|files changed|files touched|affected files|modified files|target files",
        run: "run|command|cmd|execute",
        expected: "expected|expects|expect",
        depends_on: "depends on|dependencies|dependency",
        nothing: "none|nothing|null|not|no|n/a|nil|na",
        create: "create|creates|add|new",
        modify: "modify|edit|update|change|rename|move|extend|replace",
        test: "test|tests",
        delete: "delete|remove",
    },
    Language {
        task: "aufgabe",
        step: "schritt",
        files: "dateien|datei|betroffene dateien",
        run: "ausführen|befehl|kommando",
        expected: "erwartet|erwartung|erwartetes ergebnis",
        depends_on: "hängt ab von|abhängig von|abhängigkeiten",
        nothing: "keine|nichts",
        create: "erstellen|neu|anlegen",
        modify: "ändern|bearbeiten",
        test: "testen",
        delete: "löschen|entfernen",
    },
    Language {
        task: "tarea",
        step: "paso",
        files: "archivos|archivo|ficheros",
        run: "ejecutar|ejecuta|comando",
        expected: "esperado|se espera|resultado esperado",
        depends_on: "depende de|dependencias",
        nothing: "ninguna|ninguno|nada",
        create: "crear|nuevo",
        modify: "modificar|editar",
        test: "probar",
        delete: "eliminar|borrar",
    },
    Language {
        task: "tarefa",
        step: "passo|etapa",
        files: "arquivos|arquivo",
        run: "executar|execute|rodar",
        expected: "resultado esperado|espera-se",
        depends_on: "dependências",
        nothing: "nenhuma|nenhum",
        create: "criar|novo",
        modify: "alterar",
        test: "testar",
        delete: "excluir|remover",
    },
    Language {
        task: "tâche|tache",
        step: "étape",
        files: "fichiers|fichier",
        run: "exécuter|exécutez|commande|lancer",
        expected: "attendu|résultat attendu",
        depends_on: "dépend de|dépendances",
        nothing: "aucune|aucun|rien",
        create: "créer|nouveau",
        modify: "modifier",
        test: "tester",
        delete: "supprimer",
    },
    Language {
        task: "attività|compito",
        step: "passaggio",
        files: "file da modificare",
        run: "eseguire|esegui|comando",
        expected: "atteso|previsto|risultato atteso",
        depends_on: "dipende da|dipendenze",
        nothing: "nessuna|nessuno",
        create: "creare|nuovo",
        modify: "modificare",
        test: "testare",
        delete: "eliminare|rimuovere",
    },
    Language {
        task: "задача",
        step: "шаг",
        files: "файлы|файл",
        run: "запустить|команда|выполнить",
        expected: "ожидается|ожидаемый результат|ожидание",
        depends_on: "зависит от|зависимости",
        nothing: "нет",
        create: "создать",
        modify: "изменить",
        test: "тест",
        delete: "удалить",
    },
    Language {
        task: "任务|任務",
        step: "步骤|步驟",
        files: "文件|涉及文件|修改文件|相关文件|檔案",
        run: "运行|运行命令|執行|执行|命令|執行命令",
        expected: "期望|预期|預期|预期结果|预期输出|期望输出",
        depends_on: "依赖于|依赖|依賴|前置任务",
        nothing: "无|無|没有",
        create: "新建|创建|建立|新增",
        modify: "修改|更新|变更",
        test: "测试|測試",
        delete: "删除|刪除",
    },
    Language {
        task: "タスク",
        step: "ステップ",
        files: "ファイル|対象ファイル",
        run: "実行|コマンド|実行コマンド",
        expected: "期待|期待値|期待結果|期待される結果",
        depends_on: "依存|依存関係",
        nothing: "なし",
        create: "作成",
        modify: "変更",
        test: "テスト",
        delete: "削除",
    },
    Language {
        task: "작업",
        step: "단계",
        files: "파일|대상 파일",
        run: "실행|명령|명령어",
        expected: "예상|기대|예상 결과",
        depends_on: "의존성|의존",
        nothing: "없음",
        create: "생성",
        modify: "수정",
        test: "테스트",
        delete: "삭제",
    },
];

impl Word {
    /// Each meaning with the name that stands for its words in a pattern: `{task}`.
    const NAMES: [(Self, &str); 11] = [
        (Self::Task, "{task}"),
        (Self::Step, "{step}"),
        (Self::Files, "{files}"),
        (Self::Run, "{run}"),
        (Self::Expected, "{expected}"),
        (Self::DependsOn, "{depends on}"),
        (Self::Nothing, "{nothing}"),
        (Self::Create, "{create}"),
        (Self::Modify, "{modify}"),
        (Self::Test, "{test}"),
        (Self::Delete, "{delete}"),
    ];

    fn of(self, language: &Language) -> &'static str {
        match self {
            Self::Task => language.task,
            Self::Step => language.step,
            Self::Files => language.files,
            Self::Run => language.run,
            Self::Expected => language.expected,
            Self::DependsOn => language.depends_on,
            Self::Nothing => language.nothing,
            Self::Create => language.create,
            Self::Modify => language.modify,
            Self::Test => language.test,
            Self::Delete => language.delete,
        }
    }

    /// The words of this meaning in all languages.
    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        LANGUAGES.iter().flat_map(move |language| self.of(language).split('|'))
    }

    /// Whether a text in small letters is one of them.
    pub(crate) fn is(self, lower: &str) -> bool {
        self.words().any(|word| word == lower)
    }

    /// The words as alternatives of a pattern, the longer ones first, in small letters or with a capital.
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

/// A pattern with the words that its names stand for.
pub(crate) fn with_words(pattern: &str) -> String {
    Word::NAMES.iter().fold(pattern.to_owned(), |text, (word, name)| {
        if text.contains(name) { text.replace(name, &word.alternatives()) } else { text }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_in_each_language_and_with_a_capital() {
        let pattern = regex::Regex::new(&with_words("^(?:{step})$")).unwrap();
        for step in ["step", "STEP", "Schritt", "Étape", "étape", "Шаг", "步骤", "단계"] {
            assert!(pattern.is_match(step), "{step}");
        }
        assert!(!pattern.is_match("stepping") && Word::Files.is("対象ファイル") && !Word::Files.is("Files"));
    }
}

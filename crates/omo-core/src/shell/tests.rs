//! Shell text and its commands.

use super::reader::MAX_DEPTH;
use super::*;

/// One line: words parted by `_`, then inputs, then written files behind `>`, and groups in parentheses; with their
/// joints, and with a mark for what expands, where `is_whole`.
fn shown(parts: &[Part], is_whole: bool) -> String {
    let mut line = String::new();
    for (place, part) in parts.iter().enumerate() {
        let inner = |inner: &[Part]| shown(inner, is_whole);
        let words = match &part.kind {
            PartKind::Command(words) => words.join("_"),
            PartKind::Group(parts) if is_whole => format!("{{{}}}", inner(parts)),
            PartKind::Inner(parts) if is_whole => format!("$({})", inner(parts)),
            PartKind::Subshell(parts) | PartKind::Group(parts) | PartKind::Inner(parts) => {
                format!("({})", inner(parts))
            }
        };
        let inputs = part.inputs.iter().map(|input| {
            if is_whole {
                format!("<{input}")
            } else {
                input.clone()
            }
        });
        let targets = part.written_files.iter().map(|target| format!(">{target}"));
        let words = (!words.is_empty()).then_some(words);
        line.push_str(
            &words
                .into_iter()
                .chain(inputs)
                .chain(targets)
                .collect::<Vec<_>>()
                .join("_"),
        );
        line.push_str(if is_whole && part.expands { "*" } else { "" });
        line.push_str(match part.joint {
            Joint::And if is_whole => " && ",
            Joint::Or if is_whole => " || ",
            Joint::Pipe if is_whole => " | ",
            Joint::Background if is_whole => " & ",
            _ if place + 1 < parts.len() => "; ",
            _ => "",
        });
    }
    line
}

#[test]
fn a_command_line_is_parted_as_a_shell_does_it() {
    for (text, expected) in [
        ("a b", "a_b"),
        ("a  'b c'\t\"d e\" f\\ g", "a_b c_d e_f g"),
        ("g'i't st\"as\"h", "git_stash"),
        ("a && b || c; d & e | f\ng", "a; b; c; d; e; f; g"),
        ("a '' \"\"", "a__"),
        ("$'git' $\"push\" \"$\"", "git_push_$"),
        (
            "echo $'\\''; git push; echo $'\\''",
            "echo_'; git_push; echo_'",
        ),
        ("$'\\x67it' $'\\160ush' $'\\u0067'", "git_push_g"),
        ("a \\\n b", "a_b"),
        ("(a; b) && c", "(a; b); c"),
        ("a $(b c) d", "(b_c); a_$()_d"),
        ("a \"x $(b \"y)z\") w\"", "(b_y)z); a_x $() w"),
        ("a `b \\`c\\``", "((c); b_$()); a_$()"),
        ("a '$(b)' \"\\$(b)\"", "a_$(b)_$(b)"),
        ("a $HOME/x ${y}", "a_$HOME/x_${y}"),
        ("a # b; c\nd #e", "a; d"),
        ("a b#c", "a_b#c"),
        ("a > f 2>&1 >>g &> h", "a_>f_>g_>h"),
        ("a >&2 b 2>&- c >& d", "a_b_c_>d"),
        ("x=$((1 << 2))\na", "((1_2)); x=$(); a"),
        ("((x <<= 2))\na", "((x_=_2)); a"),
        ("a $(pwd)/b `pwd`", "(pwd); (pwd); a_$PWD/b_$PWD"),
        (
            "cat <<'EOF' | bash -s | c\ngit push\nEOF\nd",
            "cat; bash_-s; c; (git_push); d",
        ),
        ("echo 'git push' | sh", "echo_git push; (git_push); sh"),
        (
            "printf 'a\\ngit push\\n' | bash -e",
            "printf_a\\ngit push\\n; (a; git_push); bash_-e",
        ),
        ("echo a; b | sh", "echo_a; b; sh"),
        ("echo 'git push' || sh", "echo_git push; sh"),
        ("cat <<'EOF' || bash\ngit push\nEOF\nd", "cat; bash; d"),
        ("a 2>/dev/null b", "a_b_>/dev/null"),
        ("a '2'>f", "a_2_>f"),
        ("a < f <<< 'x y'", "a_f_x y"),
        ("cat <<EOF\ngit push $(b)\nEOF\nc", "cat; ((b)); c"),
        ("cat <<'EOF' > f; d\ngit push $(b)\nEOF\nc", "cat_>f; d; c"),
        ("bash <<-EOF\n\tgit push\n\tEOF\nc", "bash; (git_push); c"),
        (
            "git commit -m \"$(cat <<'EOF'\nIt's \"git push\"\n\nEOF\n)\" && d",
            "(cat); git_commit_-m_$(); d",
        ),
        ("if a; then b; fi", "if_a; then_b; fi"),
        ("'", ""),
        ("a 'b", "a_b"),
        ("\\", ""),
        (")", ""),
    ] {
        assert_eq!(
            shown(&parse_shell(text).unwrap(), false),
            expected,
            "{text}"
        );
    }
}

#[test]
fn what_is_nested_too_deeply_is_not_read() {
    let nested = |depth: usize| format!("{}git push{}", "$(".repeat(depth), ")".repeat(depth));
    assert!(parse_shell(&nested(MAX_DEPTH)).is_some());
    assert_eq!(parse_shell(&nested(MAX_DEPTH + 1)), None);
    assert_eq!(parse_shell(&"(".repeat(1_000_000)), None);
    assert_eq!(parse_shell(&"\"$(".repeat(1_000_000)), None);
}

fn words(line: &str) -> String {
    let commands = split_commands(line);
    commands
        .iter()
        .map(|words| words.join("·"))
        .collect::<Vec<_>>()
        .join(" ; ")
}

#[test]
fn a_line_is_read_as_its_commands() {
    for (line, expected) in [
        ("cargo test", "cargo·test"),
        ("CI=1 npm run x", "npm·run·x"),
        ("a&&b || c;d & e\nf|g", "a ; b ; c ; d ; e ; f ; g"),
        ("bash -c \"make check\"", "bash·-c·make check"),
        ("sh -c 'a \"b\"' x", "sh·-c·a \"b\"·x"),
        (r#"echo "a \"b\" \n" c\ d"#, r#"echo·a "b" \n·c d"#),
        ("if ! test -f x; then { sh y; }; fi", "test·-f·x ; sh·y"),
        ("(cd a && b) > out.log 2>&1", "cd·a ; b"),
        ("a >> x b &> y", "a·b"),
        (
            "sh $(dirname $0)/check.sh x",
            "dirname·$0 ; sh·$()/check.sh·x",
        ),
        ("sh `cat name`.sh", "cat·name ; sh·$().sh"),
        ("x=$(a b) c", "a·b ; c"),
        ("a # b; c\nd", "a ; d"),
        ("a#b", "a#b"),
        (r".\check.cmd x", r".\check.cmd·x"),
        (r"C:\ci\check.cmd x", r"C:\ci\check.cmd·x"),
        (r"sh ./c\heck.sh", "sh·./check.sh"),
        ("sh $'check.sh'", "sh·check.sh"),
        (
            "cd \"$(git rev-parse --show-toplevel)\" && a",
            "git·rev-parse·--show-toplevel ; cd·$() ; a",
        ),
        ("sh \"`pwd`/a b\" c", "pwd ; sh·$PWD/a b·c"),
        ("a \"x $(b \"c d\") y\" e", "b·c d ; a·x $() y·e"),
        ("bash <(cat x)", "cat·x ; bash·$()"),
        ("sh ${D:-a b}/c", "sh·${D:-a b}/c"),
        ("a ${D:-b; c} d; e", "a·${D:-b; c}·d ; e"),
        ("a ${D:-$(b c)} d", "b·c ; a·${D:-$()}·d"),
        ("a ${D:-'}'}; b", "a·${D:-}} ; b"),
        ("a ${ b c; } d", "b·c ; a·$()·d"),
        ("a \"x ${| b; c; } y\" d", "b ; c ; a·x $() y·d"),
        ("a ${ b; ${ c; }; }", "b ; c ; $() ; a·$()"),
        ("a $$ b$$; c", "a·$·b$ ; c"),
        ("a > x.$$; b \"$$\"", "a ; b·$$"),
        ("a >(b c) < <(d)", "b·c ; d ; a·$()"),
        (
            "case $x in a) b;; (c) d;; esac; e",
            "$x·in·a ; b ; c ; d ; e",
        ),
        ("a 'open", "a·open"),
        ("a $(open", "open ; a·$()"),
        ("", ""),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn no_line_takes_more_than_its_length() {
    for part in ["$(", "`a ", "(a", "{ a;", "a \"$(", "case a in b) "] {
        assert!(
            split_commands(&part.repeat(20_000)).len() <= 40_000,
            "{part}"
        );
    }
}

/// Commands of the kinds that plans hold: a mark `*` behind one that expands, `<` before an input.
#[test]
fn commands_of_plans_are_read_whole() {
    for (text, expected) in [
        (
            "pnpm --filter @shop/api test -- --run",
            "pnpm_--filter_@shop/api_test_--_--run",
        ),
        (
            "go vet ./... && go test -race ./internal/...",
            "go_vet_./... && go_test_-race_./internal/...",
        ),
        (
            "uv run pytest tests/cart -q 2>&1 | tail -20",
            "uv_run_pytest_tests/cart_-q | tail_-20",
        ),
        (
            "cd services/mail && make lint || exit 1",
            "cd_services/mail && make_lint || exit_1",
        ),
        (
            "CI=1 NODE_ENV=test yarn workspace web vitest run",
            "CI=1_NODE_ENV=test_yarn_workspace_web_vitest_run",
        ),
        (
            "docker compose -f dev.yml up -d && sleep 3; curl -fsS localhost:8080/ready",
            "docker_compose_-f_dev.yml_up_-d && sleep_3; curl_-fsS_localhost:8080/ready",
        ),
        (
            "npx tsc --noEmit > types.log 2>&1",
            "npx_tsc_--noEmit_>types.log",
        ),
        (
            "bundle exec rspec spec/models/*_spec.rb",
            "bundle_exec_rspec_spec/models/*_spec.rb*",
        ),
        (
            "mix format --check-formatted;mix test --cover",
            "mix_format_--check-formatted; mix_test_--cover",
        ),
        (
            "test -f dist/app.js -a -s dist/app.js",
            "test_-f_dist/app.js_-a_-s_dist/app.js",
        ),
        (
            "[ \"$(git rev-parse --abbrev-ref HEAD)\" = main ]",
            "$(git_rev-parse_--abbrev-ref_HEAD); [_$()_=_main_]*",
        ),
        (
            "! rg -n 'FIXME' src --glob '!*.snap'",
            "!_rg_-n_FIXME_src_--glob_!*.snap",
        ),
        (
            "(cd web && npm ci && npm run build) >/dev/null",
            "(cd_web && npm_ci && npm_run_build)_>/dev/null",
        ),
        (
            "{ cargo fmt --check; cargo clippy -- -D warnings; } 2>lint.txt || true",
            "{cargo_fmt_--check; cargo_clippy_--_-D_warnings}_>lint.txt || true",
        ),
        (
            "set -euo pipefail\nterraform init\nterraform validate",
            "set_-euo_pipefail; terraform_init; terraform_validate",
        ),
        (
            "bash -lc 'source .venv/bin/activate && pytest'",
            "bash_-lc_source .venv/bin/activate && pytest",
        ),
        (
            "sh -c \"./gradlew :core:test --tests '*Cart*'\"",
            "sh_-c_./gradlew :core:test --tests '*Cart*'",
        ),
        ("eval \"$(ssh-agent -s)\"", "$(ssh-agent_-s); eval_$()*"),
        (
            "timeout -k 5 120 ./scripts/smoke.sh --base-url=http://127.0.0.1:3000",
            "timeout_-k_5_120_./scripts/smoke.sh_--base-url=http://127.0.0.1:3000",
        ),
        (
            "kubectl get pods -o json | jq -r '.items[].metadata.name' | sort -u | wc -l",
            "kubectl_get_pods_-o_json | jq_-r_.items[].metadata.name | sort_-u | wc_-l",
        ),
        (
            "psql \"$DATABASE_URL\" -c 'select count(*) from carts;'",
            "psql_$DATABASE_URL_-c_select count(*) from carts;*",
        ),
        (
            "psql <<SQL > rows.txt\nselect $COLUMN from carts;\nSQL",
            "psql_>rows.txt; $()",
        ),
        (
            "python3 - <<'PY'\nimport json; print(json.load(open('a.json'))['id'])\nPY\necho ok",
            "python3_-; echo_ok",
        ),
        (
            "cat > Dockerfile <<-\"EOF\"\n\tFROM alpine\n\tRUN apk add $(cat packages)\n\tEOF\ndocker build .",
            "cat_>Dockerfile; docker_build_.",
        ),
        (
            "bash -s <<EOF\ncd /srv && ./deploy\nEOF",
            "bash_-s; $(cd_/srv && ./deploy)",
        ),
        (
            "ssh build@host 'cd app; git pull' </dev/null",
            "ssh_build@host_cd app; git pull_</dev/null",
        ),
        ("sh <<< 'make check'", "$(make_check); sh_<make check"),
        ("cat <<< \"$VERSION\"", "cat_<$VERSION*"),
        (
            "echo 'go test ./...' | bash",
            "echo_go test ./... | $(go_test_./...); bash",
        ),
        (
            "printf 'npm test\\nnpm run lint\\n' | sh -e",
            "printf_npm test\\nnpm run lint\\n | $(npm_test; npm_run_lint); sh_-e",
        ),
        (
            "diff <(sort a.txt) <(sort -u b.txt)",
            "$(sort_a.txt); $(sort_-u_b.txt); diff_$()_$()",
        ),
        (
            "cargo run 2> >(tee errors.log) | grep -c ready",
            "$(tee_errors.log); cargo_run_>$() | grep_-c_ready",
        ),
        ("node server.mjs & wait $!", "node_server.mjs & wait_$!*"),
        (
            "nohup ./watch.sh >/dev/null 2>&1 &",
            "nohup_./watch.sh_>/dev/null & ",
        ),
        (
            "git add -A && git commit -m \"feat: don't $(echo shout)\"",
            "git_add_-A && $(echo_shout); git_commit_-m_feat: don't $()*",
        ),
        (
            "git log --format='%h %s' -n 5 -- ':!vendor'",
            "git_log_--format=%h %s_-n_5_--_:!vendor",
        ),
        (
            "for f in src/**/*.ts; do npx eslint \"$f\"; done",
            "for_f_in_src/**/*.ts*; do_npx_eslint_$f*; done",
        ),
        (
            "if [ -d build ]; then rm -rf build; else mkdir build; fi",
            "if_[_-d_build_]; then_rm_-rf_build; else_mkdir_build; fi",
        ),
        (
            "while ! nc -z localhost 5432; do sleep 1; done",
            "while_!_nc_-z_localhost_5432; do_sleep_1; done",
        ),
        (
            "case $TARGET in web) yarn web;; *) yarn all;; esac",
            "case_$TARGET_in_web*; yarn_web; **; yarn_all; esac",
        ),
        (
            "check() { npm test; }\ncheck",
            "check; (); {npm_test}; check",
        ),
        (
            "function up { docker compose up -d; }",
            "function_up_{_docker_compose_up_-d; }",
        ),
        (
            "echo ${VERSION:-$(git describe --tags)}/bin",
            "$(git_describe_--tags); echo_${VERSION:-$()}/bin*",
        ),
        (
            "rm -f \"${OUT%/}\"/report.{json,xml}",
            "rm_-f_${OUT%/}/report.{json,xml}*",
        ),
        (
            "echo \"costs \\$5\" 'and $6' \\#7",
            "echo_costs $5_and $6_#7",
        ),
        (
            "echo `date +%F` done # not a command; exit 1",
            "$(date_+%F); echo_$()_done*",
        ),
        (
            "x=$((3 * (4 + 1))) && test $x -eq 15",
            "$((3_**; (4_+_1))); x=$()* && test_$x_-eq_15*",
        ),
        ("(( count > 3 )) && exit 1", "((count_>3)) && exit_1"),
        (
            "[[ $name == *.md && ! -e $name ]]",
            "[[_$name_==_*.md* && !_-e_$name_]]*",
        ),
        (
            "find . -name '*.pyc' -exec rm {} \\; -o -print",
            "find_._-name_*.pyc_-exec_rm_{}_;_-o_-print",
        ),
        (
            "find docs -name '*.md' -print0 | xargs -0 -n1 npx markdownlint",
            "find_docs_-name_*.md_-print0 | xargs_-0_-n1_npx_markdownlint",
        ),
        (
            "curl -s 'http://localhost/a?b=1&c=2' |& grep -q \"<title>\"",
            "curl_-s_http://localhost/a?b=1&c=2 | grep_-q_<title>",
        ),
        (
            "cargo test \\\n  --workspace \\\n  --locked",
            "cargo_test_--workspace_--locked",
        ),
        (
            "npm run dev -- --port 4000 >& dev.log",
            "npm_run_dev_--_--port_4000_>dev.log",
        ),
        ("exec 3<input.txt 4>&1 5<&-", "exec_<input.txt"),
        (
            "sqlite3 app.db '.tables' >| tables.txt",
            "sqlite3_app.db_.tables_>tables.txt",
        ),
        ("ls -la; ;; pwd", "ls_-la; pwd"),
        ("a && \n\n b | \n c", "a && b | c"),
        ("echo $'tab\\there' $\"hi\"", "echo_tab here_hi"),
        ("echo 'unclosed && ls", "echo_unclosed && ls"),
        ("echo \"unclosed $(ls", "$(ls); echo_unclosed $()*"),
        (
            "env -u HOME sudo -E nice -n 5 make -j\"$(nproc)\" all",
            "$(nproc); env_-u_HOME_sudo_-E_nice_-n_5_make_-j$()_all*",
        ),
        (
            "dotnet test --filter 'Category!=Slow' --logger \"trx;LogFileName=out.trx\"",
            "dotnet_test_--filter_Category!=Slow_--logger_trx;LogFileName=out.trx",
        ),
        (
            "swift test --filter 'Cart(Tests|Specs)'",
            "swift_test_--filter_Cart(Tests|Specs)",
        ),
        (
            "wget -qO- https://a.example/x.sh | sudo bash -s -- --yes",
            "wget_-qO-_https://a.example/x.sh | sudo_bash_-s_--_--yes",
        ),
        (
            "grep -E '^(a|b)$' <in.txt >out.txt 2>>err.txt",
            "grep_-E_^(a|b)$_<in.txt_>out.txt_>err.txt",
        ),
    ] {
        assert_eq!(shown(&parse_shell(text).unwrap(), true), expected, "{text}");
    }
}

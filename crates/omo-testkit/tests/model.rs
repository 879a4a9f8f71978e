//! The scripted model over a plain connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use omo_testkit::model::RequestKind;
use omo_testkit::{MockModel, ModelScript, ModelTurn};
use serde_json::{Value, json};

/// Sends one request and reads until the other side closes.
fn send(model: &MockModel, method: &str, path: &str, body: &Value) -> std::io::Result<String> {
    let address = model.url().replace("http://", "");
    let mut connection = TcpStream::connect(&address)?;
    let body = body.to_string();
    write!(
        connection,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}

fn main_body(text: &str, stream: bool) -> Value {
    json!({
        "model": "m",
        "stream": stream,
        "tools": [{"name": "Bash"}],
        "messages": [{"role": "user", "content": text}],
    })
}

#[test]
fn answers_in_order_then_by_default() {
    let script = ModelScript::new()
        .say("first")
        .when("magic", ModelTurn::text("out of order"))
        .error(529, "overloaded_error", "busy");
    let model = MockModel::start(script).unwrap();
    let ask = |text| {
        send(
            &model,
            "POST",
            "/v1/messages?beta=true",
            &main_body(text, false),
        )
        .unwrap()
    };

    assert!(ask("a magic word").contains("out of order"));
    assert!(ask("magic again").contains("\"first\""));
    let busy = ask("x");
    assert!(busy.starts_with("HTTP/1.1 529"), "{busy}");
    assert!(busy.contains("overloaded_error"), "{busy}");
    assert_eq!(model.unscripted(), 0);
    assert!(ask("x").contains("Unscripted answer."));
    assert_eq!(model.unscripted(), 1);
    model.push(ModelTurn::computed(|request| {
        ModelTurn::text(format!("you said {}", request.last_user_text()))
    }));
    assert!(ask("echo").contains("you said echo"));
}

#[test]
fn streams() {
    let turn = ModelTurn::text("hello")
        .tool("Bash", json!({"command": "ls"}))
        .stream_chunks(5, Duration::from_millis(1));
    let model = MockModel::start(ModelScript::new().turn(turn)).unwrap();
    let answer = send(&model, "POST", "/v1/messages", &main_body("x", true)).unwrap();
    assert_eq!(answer.matches("text_delta").count(), 5);
    assert!(answer.contains("event: message_stop"), "{answer}");
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[test]
fn gives_each_subagent_its_own_turns() {
    let script =
        ModelScript::new().agent("REVIEW", [ModelTurn::text("one"), ModelTurn::text("two")]);
    let model = MockModel::start(script).unwrap();
    let address = model.url().replace("http://", "");
    let ask = |agent: &str| {
        let body = main_body("REVIEW this", false).to_string();
        let mut connection = TcpStream::connect(&address).unwrap();
        write!(
            connection,
            "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
             x-claude-code-agent-id: {agent}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask("a1").contains("\"one\""));
    assert!(ask("a2").contains("\"one\""));
    assert!(ask("a1").contains("\"two\""));
    assert_eq!(model.requests_of(RequestKind::Agent).len(), 3);
    assert_eq!(model.unscripted(), 0);
}

#[test]
fn serves_the_small_addresses() {
    let model = MockModel::start(ModelScript::new()).unwrap();
    let status = |method: &str, path: &str| {
        let answer = send(&model, method, path, &json!({})).unwrap();
        answer.get(9..12).unwrap().to_owned()
    };
    assert_eq!(status("HEAD", "/"), "200");
    assert_eq!(status("GET", "/v1/models?limit=1"), "200");
    assert_eq!(status("POST", "/v1/messages/count_tokens"), "200");
    assert_eq!(status("POST", "/v1/else"), "404");
    assert_eq!(model.unscripted(), 0);
}

#[test]
fn waits_and_ends_without_waiting_for_a_slow_turn() {
    let model = MockModel::start(ModelScript::new().turn(ModelTurn::hang())).unwrap();
    let address = model.url().replace("http://", "");
    let body = main_body("x", true).to_string();
    let mut connection = TcpStream::connect(address).unwrap();
    write!(
        connection,
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    model.wait_for_requests(RequestKind::Main, 1).unwrap();
    let start = Instant::now();
    drop(model);
    assert!(start.elapsed() < Duration::from_secs(5));
}

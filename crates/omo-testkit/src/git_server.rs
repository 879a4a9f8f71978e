//! A git repository served over HTTP on loopback, as a marketplace is: the client clones from
//! nowhere else.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use omo_scripted_model::LoopbackServer;
use tiny_http::{Header, Request, Response};

/// A folder of repositories, for reading. Its server ends when it is dropped.
pub struct GitServer {
    server: LoopbackServer,
}

impl GitServer {
    /// Serves every repository in a folder.
    pub fn start(folder: &Path) -> Result<Self> {
        let folder = folder.to_owned();
        let server = LoopbackServer::start(move |request| serve(request, &folder));
        Ok(Self {
            server: server.map_err(anyhow::Error::msg)?,
        })
    }

    /// The address of the repository in a subfolder.
    pub fn url(&self, repository: &str) -> String {
        format!("{}/{repository}", self.server.url())
    }
}

/// Answers one request; the client may be gone, which is no error of the server.
fn serve(mut request: Request, folder: &Path) {
    let answer = ask_git(&mut request, folder);
    let (head, body) = answer
        .unwrap_or_else(|error| ("Status: 500".to_owned(), format!("{error:#}").into_bytes()));
    let fields = || head.lines().filter_map(|line| line.split_once(": "));
    let status = fields().find(|(name, _)| *name == "Status");
    let status = status
        .and_then(|(_, value)| value.split(' ').next()?.parse::<u16>().ok())
        .unwrap_or(200);
    let mut response = Response::from_data(body).with_status_code(status);
    for (name, value) in fields() {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    request.respond(response).ok();
}

fn ask_git(request: &mut Request, folder: &Path) -> Result<(String, Vec<u8>)> {
    let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
    let mut git = Command::new("git");
    git.arg("http-backend")
        .env("GIT_PROJECT_ROOT", folder)
        .env("GIT_HTTP_EXPORT_ALL", "1");
    git.env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", request.method().as_str());
    for (variable, field) in [
        ("CONTENT_TYPE", "Content-Type"),
        ("HTTP_CONTENT_ENCODING", "Content-Encoding"),
        ("GIT_PROTOCOL", "Git-Protocol"),
    ] {
        let header = request
            .headers()
            .iter()
            .find(|header| header.field.as_str().as_str().eq_ignore_ascii_case(field));
        if let Some(header) = header {
            git.env(variable, header.value.as_str());
        }
    }
    let mut body = Vec::new();
    request.as_reader().read_to_end(&mut body)?;
    git.env("CONTENT_LENGTH", body.len().to_string());
    let mut git = git
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = git.stdin.take().context("no stdin")?;
    // A request is short, and git reads it whole before it answers.
    stdin.write_all(&body)?;
    drop(stdin);
    let answer = git.wait_with_output()?.stdout;
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .context("git answered without a head")?;
    let (head, body) = answer.split_at(end);
    Ok((
        String::from_utf8_lossy(head).into_owned(),
        body.get(4..).unwrap_or_default().to_vec(),
    ))
}

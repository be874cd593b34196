//! Requests to services (adapters.md section 7).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod service;
mod setup;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use kontext_engine::driver::MOST_READ;
use kontext_engine::driver::http::{Answer, HttpDriver};
use kontext_engine::secrets::Redactor;
use kontext_engine::{Fault, FaultKind, request};
use serde_json::json;
use service::{Reply, Seen, Service, answer, head};
use setup::{adapter_in, inputs, op};

const LONG: Duration = Duration::from_secs(60);
const TOKEN: &str = "tok-123456";

/// An adapter with a credential in each place, for the service at that port.
async fn call_at(
    driver: &HttpDriver,
    port: u16,
    op_fields: &str,
    timeout: Duration,
) -> Result<Answer, Fault> {
    let text = format!(
        r#"
[adapters.a]
driver = "http"
base_url = "http://127.0.0.1:{port}/?key={{{{env.KEY}}}}"
headers = {{ PRIVATE-TOKEN = "{{{{env.TOK}}}}", Authorization = "Bearer {{{{env.TOK}}}}", X-Trace = "kontext" }}
[adapters.a.ops.search]
{op_fields}
"#
    );
    let env = [("TOK", TOKEN), ("KEY", "key-ABCDEF")];
    let (adapter, ctx) = adapter_in(&text, &env, Path::new("/"));
    let given = inputs(json!({ "query": "red panda", "limit": 7 }));
    let request = request::http(&adapter, op(&adapter, "search"), &ctx, &given).unwrap();
    let redactor = Redactor::new(&adapter, &ctx);
    let result = driver.call(&request, timeout, &redactor).await;
    if let Err(fault) = &result {
        let words = format!("{fault} {fault:?}");
        for secret in [TOKEN, "key-ABCDEF"] {
            assert!(!words.contains(secret), "{words}");
        }
    }
    result
}

/// The status that the path of a request begins with.
fn status_in(seen: &Seen) -> String {
    seen.target.chars().skip(1).take(3).collect()
}

async fn call(service: &Service, op_fields: &str) -> Result<Answer, Fault> {
    call_at(&HttpDriver::new(), service.port, op_fields, LONG).await
}

async fn text_of(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Result<Answer, Fault> {
    let service = Service::start(move |_, _| reply()).await;
    call(&service, "").await
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_request_as_it_arrives() {
    let service = Service::start(|_, _| answer("200 OK", &[], "ok")).await;
    let fields = "path = \"/s\"\nquery = { q = \"{{query}}\" }\nbody = { n = \"{{limit}}\" }";
    let driver = HttpDriver::new();
    for _ in 0..2 {
        let answer = call_at(&driver, service.port, fields, LONG).await.unwrap();
        assert_eq!((answer.status, answer.text.as_str()), (200, "ok"));
    }
    let Seen {
        method,
        target,
        headers,
        body,
    } = service.seen().remove(1);
    assert_eq!(
        (method.as_str(), target.as_str(), body.as_str()),
        ("POST", "/s?key=key-ABCDEF&q=red%20panda", "{\"n\":7}")
    );
    assert_eq!(headers["authorization"], format!("Bearer {TOKEN}"));
    assert_eq!(headers["private-token"], TOKEN);
    assert_eq!(headers["content-type"], "application/json");
    assert!(headers["user-agent"].starts_with("kontext-ls/"));
    assert_eq!(
        service.connections.load(Ordering::SeqCst),
        1,
        "the connection is used again"
    );
}

#[tokio::test]
async fn user_and_password_in_the_url() {
    let service =
        Service::start(|seen, _| answer("200 OK", &[], &seen.headers["authorization"])).await;
    let text = format!(
        "[adapters.a]\ndriver = \"http\"\nbase_url = \"http://ana:p%40ss@127.0.0.1:{}\"\n[adapters.a.ops.search]\n",
        service.port
    );
    let (adapter, ctx) = adapter_in(&text, &[], Path::new("/"));
    let none = inputs(json!({}));
    let request = request::http(&adapter, op(&adapter, "search"), &ctx, &none).unwrap();
    let redactor = Redactor::new(&adapter, &ctx);
    let answer = HttpDriver::new().call(&request, LONG, &redactor).await;
    assert_eq!(answer.unwrap().text, "Basic YW5hOnBAc3M=");
}

#[tokio::test]
async fn bodies_in_every_packing() {
    let chunked = || {
        let mut bytes = head("200 OK", &[("Transfer-Encoding", "chunked")]);
        bytes.extend_from_slice(b"3\r\none\r\n5;x=y\r\n two \r\n0\r\nT: 1\r\n\r\n");
        Reply::Bytes(bytes)
    };
    assert_eq!(text_of(chunked).await.unwrap().text, "one two ");
    let packed = || answer("200 OK", &[("Content-Encoding", "gzip")], gzip(b"packed"));
    assert_eq!(text_of(packed).await.unwrap().text, "packed");
    let until_end = || {
        let mut bytes = head("200 OK", &[("Connection", "close")]);
        bytes.extend_from_slice(b"to the end");
        Reply::Last(bytes)
    };
    assert_eq!(text_of(until_end).await.unwrap().text, "to the end");
    let nothing = text_of(|| Reply::Bytes(head("204 No Content", &[])))
        .await
        .unwrap();
    assert_eq!((nothing.status, nothing.text.as_str()), (204, ""));
    let empty = text_of(|| answer("200 OK", &[], "")).await.unwrap();
    assert_eq!((empty.text.as_str(), empty.content_type), ("", None));
}

#[tokio::test]
async fn charsets() {
    for (kind, bytes, expected) in [
        ("text/plain; charset=iso-8859-2", &b"\xbelu\xbb"[..], "žluť"),
        (
            "text/plain; Charset=\"windows-1250\"",
            b"\x9elu\x9d",
            "žluť",
        ),
        (
            "application/json",
            "{\"a\":\"ž\"}".as_bytes(),
            "{\"a\":\"ž\"}",
        ),
        ("text/plain; charset=utf-8", b"a\xffb", "a\u{fffd}b"),
        ("text/plain; charset=nonsense", "ž".as_bytes(), "ž"),
        ("text/plain", b"\xff\xfea\0\x7e\x01", "až"),
        ("application/json", b"\xef\xbb\xbf{}", "{}"),
    ] {
        let reply = move || answer("200 OK", &[("Content-Type", kind)], bytes);
        let answer = text_of(reply).await.unwrap();
        assert_eq!(answer.text, expected, "{kind}");
        assert_eq!(answer.content_type.as_deref(), Some(kind));
    }
}

#[tokio::test]
async fn half_a_body_is_no_answer() {
    let half = || {
        let mut bytes = head("200 OK", &[("Content-Length", "100")]);
        bytes.extend_from_slice(b"{\"a\":");
        Reply::Last(bytes)
    };
    let fault = text_of(half).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable);
    assert!(
        fault.message().contains("broke off after 5 bytes"),
        "{fault}"
    );
    let broken = || answer("200 OK", &[("Content-Encoding", "gzip")], "not gzip at all");
    let fault = text_of(broken).await.unwrap_err();
    assert!(
        fault.message().contains("broke off after 0 bytes"),
        "{fault}"
    );
    let nothing = text_of(|| Reply::Last(Vec::new())).await.unwrap_err();
    assert_eq!(nothing.kind, FaultKind::Unreachable);
    let garbage = text_of(|| Reply::Last(b"SSH-2.0-x\r\n".to_vec()))
        .await
        .unwrap_err();
    assert_eq!(garbage.kind, FaultKind::Unreachable);
    assert!(garbage.message().starts_with("127.0.0.1:"), "{garbage}");
}

#[tokio::test]
async fn large_bodies_are_not_read_on() {
    let chunk = vec![b'x'; 64 * 1024];
    let mut piece = format!("{:x}\r\n", chunk.len()).into_bytes();
    piece.extend_from_slice(&chunk);
    piece.extend_from_slice(b"\r\n");
    let service = Service::start(move |_, _| {
        let head = head("200 OK", &[("Transfer-Encoding", "chunked")]);
        Reply::Endless(head, piece.clone())
    })
    .await;
    let fault = call(&service, "").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::TooLarge);
    assert!(fault.message().contains("larger than 8 MiB"), "{fault}");

    let announced = || Reply::Stall(head("200 OK", &[("Content-Length", "209715200")]));
    assert_eq!(
        text_of(announced).await.unwrap_err().kind,
        FaultKind::TooLarge
    );

    let bomb = gzip(&vec![0; MOST_READ + 1]);
    assert!(bomb.len() < 200_000);
    let unpacked = move || answer("200 OK", &[("Content-Encoding", "gzip")], &bomb);
    assert_eq!(
        text_of(unpacked).await.unwrap_err().kind,
        FaultKind::TooLarge
    );

    let most = vec![b' '; MOST_READ];
    let fits = text_of(move || answer("200 OK", &[], &most)).await.unwrap();
    assert_eq!(fits.text.len(), MOST_READ);
}

#[tokio::test]
async fn statuses_that_are_errors() {
    let service = Service::start(|seen, _| {
        let status = seen
            .target
            .trim_start_matches('/')
            .split('?')
            .next()
            .unwrap();
        let echo = format!("{{\"error\":\"no {TOKEN}\",\n \"key\":\"key-ABCDEF\"}}");
        answer(
            &format!("{status} Some"),
            &[("Content-Type", "application/json")],
            echo,
        )
    })
    .await;
    for (status, kind) in [
        (400, FaultKind::Failed),
        (401, FaultKind::Failed),
        (404, FaultKind::NotFound),
        (410, FaultKind::NotFound),
        (418, FaultKind::Failed),
        (500, FaultKind::Failed),
        (304, FaultKind::Failed),
    ] {
        let fields = format!("path = \"/{status}\"");
        let fault = call(&service, &fields).await.unwrap_err();
        assert_eq!(fault.kind, kind, "{status}");
        let start = format!(
            "http://127.0.0.1:{}/{status} answered with HTTP {status} ",
            service.port
        );
        assert!(fault.message().starts_with(&start), "{fault}");
        let echo = "{\"error\":\"no ‹env.TOK›\", \"key\":\"‹env.KEY›\"}";
        assert!(status == 304 || fault.message().ends_with(echo), "{fault}");
    }
}

#[tokio::test]
async fn an_error_shows_a_little_of_its_body() {
    let page = "<html><style>b{}</style><script>alert(1)</script><h1>Gone\u{202e} away</h1></html>";
    let html = move || {
        answer(
            "500 X",
            &[("Content-Type", "text/html; charset=utf-8")],
            page,
        )
    };
    let fault = text_of(html).await.unwrap_err();
    assert!(fault.message().ends_with("Error: Gone away"), "{fault}");

    // A secret across the cut.
    let body = format!("{}{TOKEN}{}", "x".repeat(295), "y".repeat(500));
    let fault = text_of(move || answer("500 X", &[], &body))
        .await
        .unwrap_err();
    let shown = fault.message().split_once("Error: ").unwrap().1;
    assert_eq!(shown.chars().count(), 300);
    assert!(!shown.contains("tok"), "{shown}");

    let endless = || Reply::Endless(head("500 X", &[("Connection", "close")]), vec![b'z'; 4096]);
    let fault = text_of(endless).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Failed);
}

#[tokio::test]
async fn redirects_within_an_origin_keep_everything() {
    let service = Service::start(|seen, _| match seen.target.split('?').next().unwrap() {
        "/307" | "/308" | "/303" => {
            let status = format!("{} Away", status_in(seen));
            answer(&status, &[("Location", "/end?x=1")], "moved")
        }
        _ => answer("200 OK", &[], "end"),
    })
    .await;
    for (status, method, body) in [
        (307, "POST", "{\"q\":1}"),
        (308, "POST", "{\"q\":1}"),
        (303, "GET", ""),
    ] {
        let fields = format!("path = \"/{status}\"\nbody = {{ q = 1 }}");
        assert_eq!(call(&service, &fields).await.unwrap().text, "end");
        let last = service.seen().pop().unwrap();
        assert_eq!((last.method.as_str(), last.body.as_str()), (method, body));
        assert_eq!(last.target, "/end?x=1");
        assert_eq!(last.headers["private-token"], TOKEN);
        assert_eq!(last.headers.contains_key("content-type"), status != 303);
    }
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let other = Service::start(|_, _| answer("200 OK", &[], "other")).await;
    let port = other.port;
    let service = Service::start(move |seen, _| {
        let status = format!("{} Away", status_in(seen));
        let to = format!("http://127.0.0.1:{port}/there");
        answer(&status, &[("Location", &to)], "")
    })
    .await;
    for (status, fields) in [
        (301, ""),
        (302, ""),
        (303, "body = { q = 1 }"),
        (302, "body = { t = \"{{env.TOK}}\" }"),
        (307, ""),
        (308, ""),
    ] {
        let fields = format!("path = \"/{status}\"\n{fields}");
        assert_eq!(call(&service, &fields).await.unwrap().text, "other");
        let last = other.seen().pop().unwrap();
        assert_eq!((last.method.as_str(), last.body.as_str()), ("GET", ""));
        assert_eq!(last.target, "/there");
        let configured = [
            "authorization",
            "private-token",
            "x-trace",
            "content-type",
            "referer",
        ];
        for name in configured {
            assert!(!last.headers.contains_key(name), "{status} {name}");
        }
        assert!(!format!("{last:?}").contains(TOKEN));
    }
    let before = other.seen().len();
    for fields in [
        "path = \"/307\"\nbody = { q = \"{{query}}\" }",
        "path = \"/308\"\nbody = { q = \"{{query}}\" }",
        "path = \"/302\"\nmethod = \"PUT\"\nbody = { q = 1 }",
        "path = \"/307\"\nmethod = \"DELETE\"",
    ] {
        let fault = call(&service, fields).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Failed);
        let target = format!("to 127.0.0.1:{port} (HTTP 30");
        assert!(fault.message().contains(&target), "{fault}");
    }
    assert_eq!(other.seen().len(), before, "nothing was sent there");
}

#[tokio::test]
async fn credentials_do_not_come_back_either() {
    // There and back: the way back was chosen by the other origin.
    let home_port = Arc::new(AtomicU16::new(0));
    let back = Arc::clone(&home_port);
    let other = Service::start(move |_, _| {
        let to = format!("http://127.0.0.1:{}/back", back.load(Ordering::SeqCst));
        answer("302 Away", &[("Location", &to)], "")
    })
    .await;
    let other_port = other.port;
    let home = Service::start(move |seen, _| {
        if seen.target == "/back" {
            return answer("200 OK", &[], "home");
        }
        let to = format!("http://127.0.0.1:{other_port}/");
        answer("302 Away", &[("Location", &to)], "")
    })
    .await;
    home_port.store(home.port, Ordering::SeqCst);
    assert_eq!(call(&home, "").await.unwrap().text, "home");
    let seen = home.seen();
    assert!(seen[0].headers.contains_key("authorization"));
    assert!(!seen[1].headers.contains_key("authorization"));
}

#[tokio::test]
async fn redirects_end() {
    let service = Service::start(|_, _| answer("302 Again", &[("Location", "/x")], "")).await;
    let fault = call(&service, "").await.unwrap_err();
    assert!(
        fault.message().starts_with("more than 5 redirects"),
        "{fault}"
    );
    assert_eq!(service.seen().len(), 6);
    let five = Service::start(|_, count| match count {
        0..5 => answer("302 Again", &[("Location", "/x")], ""),
        _ => answer("200 OK", &[], "there"),
    })
    .await;
    assert_eq!(call(&five, "").await.unwrap().text, "there");
    for (location, expected) in [
        ("file:///etc/passwd", "neither `http` nor `https`"),
        ("javascript:alert(1)", "neither `http` nor `https`"),
        ("http://[", "not a URL"),
    ] {
        let reply = move || answer("302 Away", &[("Location", location)], "");
        let fault = text_of(reply).await.unwrap_err();
        assert!(fault.message().contains(expected), "{fault}");
    }
    let nowhere = text_of(|| answer("302 Away", &[], "")).await.unwrap_err();
    assert!(
        nowhere.message().contains("which leads nowhere"),
        "{nowhere}"
    );
}

#[tokio::test]
async fn a_service_that_asks_to_wait_is_asked_once_more() {
    for (status, value) in [
        ("429 Slow", "0"),
        ("503 Later", "0"),
        ("503 Later", "Wed, 21 Oct 2015 07:28:00 GMT"),
        ("429 Slow", "1"),
    ] {
        let service = Service::start(move |_, count| match count {
            0 => answer(status, &[("Retry-After", value)], "wait"),
            _ => answer("200 OK", &[], "now"),
        })
        .await;
        let again = call(&service, "body = { q = 1 }").await.unwrap();
        assert_eq!(again.text, "now", "{status} {value}");
        assert_eq!(service.seen()[1].body, "{\"q\":1}");
    }
    let always = Service::start(|_, _| answer("429 Slow", &[("Retry-After", "0")], "wait")).await;
    let fault = call(&always, "").await.unwrap_err();
    assert_eq!((fault.kind, always.seen().len()), (FaultKind::Failed, 2));

    // Without a moment, or with one out of reach: not at all.
    for headers in [
        &[][..],
        &[("Retry-After", "3600")],
        &[("Retry-After", "soon")],
    ] {
        let service = Service::start(move |_, _| answer("503 Later", headers, "")).await;
        let fault = call(&service, "").await.unwrap_err();
        assert_eq!(service.seen().len(), 1);
        let waits = fault.message().contains("asks to wait 3600 s");
        assert_eq!(waits, headers.contains(&("Retry-After", "3600")), "{fault}");
    }
}

#[tokio::test]
async fn the_limit_covers_the_whole_call() {
    let slow_head = || Reply::Stall(Vec::new());
    let slow_body = || Reply::Stall(head("200 OK", &[("Content-Length", "5")]));
    for reply in [slow_head, slow_body] {
        let service = Service::start(move |_, _| reply()).await;
        let limit = Duration::from_millis(200);
        let fault = call_at(&HttpDriver::new(), service.port, "path = \"/s\"", limit)
            .await
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::TimedOut);
        assert_eq!(
            fault.message(),
            format!(
                "no answer from http://127.0.0.1:{}/s within 200 ms; raise `timeout_ms` if it needs longer",
                service.port
            )
        );
    }
}

#[tokio::test]
async fn an_error_is_told_even_where_its_body_is_late() {
    let service = Service::start(|_, _| {
        let mut bytes = head("500 X", &[("Content-Length", "50")]);
        bytes.extend_from_slice(b"half a ");
        Reply::Stall(bytes)
    })
    .await;
    let limit = Duration::from_millis(1000);
    let fault = call_at(&HttpDriver::new(), service.port, "", limit).await;
    let fault = fault.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Failed);
    assert!(fault.message().ends_with("Error: half a"), "{fault}");
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    let service =
        Service::start(|_, _| Reply::Stall(head("200 OK", &[("Content-Length", "5")]))).await;
    let left = Arc::clone(&service.left);
    let port = service.port;
    let running = tokio::spawn(async move {
        let driver = HttpDriver::new();
        call_at(&driver, port, "", LONG).await
    });
    while service.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    running.abort();
    left.notified().await;
}

#[tokio::test]
async fn a_service_that_is_not_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let fault = call_at(&HttpDriver::new(), port, "path = \"/s\"", LONG)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable);
    assert_eq!(
        fault.message(),
        format!(
            "cannot connect to 127.0.0.1:{port}: the connection was refused; is the service running there?"
        )
    );
    // Plain where encryption is expected.
    let plain = Service::start(|_, _| Reply::Last(b"HTTP/1.1 400 Bad\r\n\r\n".to_vec())).await;
    let (adapter, ctx) = adapter_in(
        &format!(
            "[adapters.a]\ndriver = \"http\"\nurl = \"https://127.0.0.1:{}\"\n[adapters.a.ops.search]\n",
            plain.port
        ),
        &[],
        Path::new("/"),
    );
    let none = inputs(json!({}));
    let request = request::http(&adapter, op(&adapter, "search"), &ctx, &none).unwrap();
    let redactor = Redactor::new(&adapter, &ctx);
    let fault = HttpDriver::new()
        .call(&request, LONG, &redactor)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable);
    assert!(
        fault
            .message()
            .starts_with("no encrypted connection to 127.0.0.1:"),
        "{fault}"
    );
}

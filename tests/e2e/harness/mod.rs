//! What end-to-end tests are written with: a language client, an agent, and a place to work in.
//!
//! ```ignore
//! #[tokio::test]
//! async fn a_misspelt_field_is_marked() {
//!     let place = Fixture::new(&[(".kontext/adapters.toml", "[adapters.a]\ndrivr = 1\n")]);
//!     let mut client = Client::spawn(&place);             // the real binary on stdio
//!     client.initialize(json!({"rootUri": place.uri("")})).await;
//!     let uri = place.uri(".kontext/adapters.toml");
//!     client.open(&uri, &place.read(".kontext/adapters.toml"));     // version 1
//!     let seen = client.diagnostics(&uri, 1).await;       // waits for the event, no sleep
//!     let version = client.replace(&uri, "drivr", "driver"); // incremental
//!     assert!(client.diagnostics(&uri, version).await.is_empty());
//!     assert_eq!(client.quit().await, Some(0));
//! }
//! ```
//!
//! * `Client::in_memory(service, socket, options)` speaks to a service in the same process.
//! * Server requests are answered with `null` unless [`Client::answer`] says otherwise.
//! * Everything waits for an event, up to [`PATIENCE`], and then panics with what was received
//!   and what the server wrote to standard error. A test never sleeps.
//! * A child gets a clean environment: `PATH`, and `HOME`, `XDG_*`, `KONTEXT_CONFIG_DIR` inside
//!   the fixture. [`Fixture::env`] adds to it.

mod client;
mod fixture;
mod mcp;
pub mod pair;
mod peer;
mod text;
mod view;

pub use client::Client;
pub use fixture::{Fixture, uri_of};
pub use mcp::McpClient;
pub use peer::{Answer, PATIENCE, Received};
pub use text::{Encoding, apply_edits, offset_at, position_at};
pub use view::{codes, faults, labels, messages, spans};

//! The one task that writes.

use std::io;

use futures_util::{Stream, StreamExt};
use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tower_lsp::jsonrpc::{Request, Response};

use super::frame::write_frame;

/// How much is gathered, in bytes, before a write.
const GATHERED: usize = 64 << 10;

/// Writes replies and our own requests as frames until all who send replies are gone.
///
/// # Errors
/// The first failure to write: the client is gone.
pub(super) async fn write<O, R>(
    output: O,
    mut replies: mpsc::Receiver<Response>,
    requests: R,
) -> io::Result<()>
where
    O: AsyncWrite + Unpin,
    R: Stream<Item = Request> + Unpin,
{
    let mut output = output;
    let mut requests = requests.fuse();
    let mut buffer = Vec::new();
    let mut open = true;
    while open {
        // In order of preference: our own notifications first, so that what a handler said
        // before it answered is not overtaken by the answer.
        tokio::select! {
            biased;
            Some(request) = requests.next() => encode(&mut buffer, &request),
            reply = replies.recv() => match reply {
                Some(reply) => encode(&mut buffer, &reply),
                None => open = false,
            },
        }
        while buffer.len() < GATHERED {
            tokio::select! {
                biased;
                Some(request) = requests.next() => encode(&mut buffer, &request),
                Some(reply) = replies.recv() => encode(&mut buffer, &reply),
                () = std::future::ready(()) => break,
            }
        }
        output.write_all(&buffer).await?;
        output.flush().await?;
        buffer.clear();
    }
    output.shutdown().await
}

fn encode(buffer: &mut Vec<u8>, message: &impl Serialize) {
    match serde_json::to_vec(message) {
        Ok(body) => write_frame(buffer, &body),
        // Only a map with keys that are no strings could come here.
        Err(error) => tracing::error!(%error, "a message could not be written"),
    }
}

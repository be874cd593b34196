//! What stands between a handler and the wire: panics, and answers that are out of date.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tower::Service;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

/// Asked once when an answer is ready that had to wait: does it still stand?
pub type StillFresh = Box<dyn FnOnce() -> bool + Send>;

/// Asked for each request that has to wait, before any later message is looked at: how to find out
/// at the end whether the answer still stands. `None`: it always does.
///
/// A server gives here a closure that notes the version of the document the request is about. The
/// answer to a request that did not have to wait is never out of date.
pub type Freshness = Arc<dyn Fn(&Request) -> Option<StillFresh> + Send + Sync>;

/// Shown every request and notification before its handler is made, as it came.
pub type Heard = Arc<dyn Fn(&Request) + Send + Sync>;

/// A handler on its way to a reply; never panics. `None`: nothing to send.
pub(super) type Reply = BoxFuture<'static, Option<Response>>;

/// Starts the handler of `request`.
///
/// Nothing of the handler has run yet when this returns.
pub(super) fn call<S>(service: &mut S, request: Request) -> Reply
where
    S: Service<Request, Response = Option<Response>>,
    S::Error: std::fmt::Display,
    S::Future: Send + 'static,
{
    let method = request.method().to_owned();
    let id = request.id().cloned();
    // Parameters are decoded inside `call`, so that can panic as well.
    match std::panic::catch_unwind(AssertUnwindSafe(|| service.call(request))) {
        Err(panic) => std::future::ready(panicked(&method, id, &*panic)).boxed(),
        Ok(handler) => async move {
            match AssertUnwindSafe(handler).catch_unwind().await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => {
                    tracing::debug!(%method, %error, "not handled");
                    id.map(|id| Response::from_error(id, Error::invalid_request()))
                }
                Err(panic) => panicked(&method, id, &*panic),
            }
        }
        .boxed(),
    }
}

/// Replaces an answer that no longer stands. Errors go through as they are.
pub(super) fn fresh(response: Response, still: Option<StillFresh>) -> Response {
    if response.is_error() || still.is_none_or(|still| still()) {
        return response;
    }
    Response::from_error(response.id().clone(), Error::content_modified())
}

fn panicked(method: &str, id: Option<Id>, panic: &(dyn Any + Send)) -> Option<Response> {
    let what = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    tracing::error!(%method, "a handler panicked: {what}");
    let message = format!("Internal error: {method} failed; the server goes on, see its log");
    id.map(|id| super::message::failure(id, ErrorCode::InternalError, message))
}

//! What the server of an adapter is started with.

use crate::driver::mcp::{ServerSpec, TransportSpec};
use crate::driver::process::Spawn;
use crate::fault::Fault;
use crate::plan::Planned;
use crate::request;

/// What to start, or where to connect to: rendered now, for as long as the server lives.
///
/// # Errors
/// A template cannot be rendered: a variable of the environment is not set, variables go round in
/// a circle.
pub(crate) fn spec(planned: &Planned) -> Result<ServerSpec, Fault> {
    let (adapter, context) = (&*planned.adapter, &planned.context);
    let transport = if adapter.url.is_some() {
        let endpoint = request::endpoint(adapter, context)?;
        TransportSpec::Http {
            url: endpoint.url,
            headers: endpoint.headers,
        }
    } else {
        let line = request::server(adapter, context)?;
        let env = line.environment(&context.facts.env);
        TransportSpec::Stdio(Spawn {
            argv: line.argv,
            cwd: line.cwd,
            env,
            stdin: true,
            may_start: context.may_start.clone(),
        })
    };
    Ok(ServerSpec {
        name: adapter.name.clone(),
        transport,
        timeout: planned.timeout(),
        root: planned.root.to_path_buf(),
        redactor: planned.redactor().clone(),
    })
}

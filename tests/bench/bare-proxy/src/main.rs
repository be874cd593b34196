//! `bare-proxy COMMAND ARGS…`: starts an MCP server and passes `tools/list` and `tools/call` on.

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceError, ServiceExt};
use rmcp::transport::{TokioChildProcess, stdio_pipes};

struct Proxy {
    child: Peer<RoleClient>,
}

fn failed(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

impl ServerHandler for Proxy {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.child.list_tools(request).await.map_err(failed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = self.child.call_tool(request).await.map_err(failed)?;
        Ok(result.into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut command = tokio::process::Command::new(words.next().ok_or("a command is needed")?);
    command.args(words);
    let child = ().serve(TokioChildProcess::new(command)?).await?;
    let proxy = Proxy {
        child: child.peer().clone(),
    };
    proxy.serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}

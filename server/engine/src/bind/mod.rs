//! Filling the parameters of an MCP tool from its schema (adapters.md section 6).

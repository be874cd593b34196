//! Reading what came back: payload, items, hits, text (adapters.md section 5).

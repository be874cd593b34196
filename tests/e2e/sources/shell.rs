//! What the shell starts ends with it.

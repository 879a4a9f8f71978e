//! Bad input: every refusal says which session, task or file it is about, and changes nothing.

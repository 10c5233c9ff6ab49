//! The kernel IR with its text form, verifier and slow reference evaluator; plans and the Backend trait.

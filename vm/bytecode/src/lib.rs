//! The opcode table, and what derives from it: encoder, decoder, assembler, disassembler, verifier, .gbc files.

// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// What oracles sign together. Field order is part of its EIP-712 type.
struct Execution {
    /// Names the fact that is settled; a fact takes effect once.
    bytes32 idempotencyKey;
    /// Each a word that tells its kind, then its fields, ABI-encoded flat.
    bytes[] actions;
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Actions that oracles sign together. The order of fields is part of its EIP-712 type.
struct Execution {
    /// Identifies the fact that is settled. Each fact takes effect only once.
    bytes32 idempotencyKey;
    /// Each is a word with its kind, followed by its fields as ABI-encoded words.
    bytes[] actions;
}

export * from "./eip712.ts";
export * from "./gas.ts";
export * from "./permit2.ts";
export * from "./transfer-errors.ts";

export * from "./generated/allocator.ts";
export * from "./generated/approval-proxy.ts";
export * from "./generated/deposit-address.ts";
export * from "./generated/deposit-address-factory.ts";
export * from "./generated/depository.ts";
export * from "./generated/generic-mapping.ts";
export * from "./generated/hub.ts";
export * from "./generated/hub-setup.ts";
export * from "./generated/multicall3.ts";
export * from "./generated/oracle.ts";
export * from "./generated/oracle-multisig.ts";
export * from "./generated/receiver.ts";
export * from "./generated/request-attestation-verifier.ts";
export * from "./generated/router.ts";
export * from "./generated/token-probe.ts";

// For tests of what calls do.
export * from "./generated/failures.ts";
export * from "./generated/origin-taker.ts";
export * from "./generated/origin-token.ts";
export * from "./generated/signed-batch.ts";
export * from "./generated/taker.ts";
export * from "./generated/test-kinds.ts";
export * from "./generated/test-piece.ts";

// Tokens for tests and the local system.
export * from "./generated/blocks-recipient.ts";
export * from "./generated/fee-on-transfer.ts";
export * from "./generated/permit-token.ts";
export * from "./generated/refuses-approval-change.ts";
export * from "./generated/returns-false.ts";
export * from "./generated/returns-nothing.ts";
export * from "./generated/test-token.ts";
export * from "./generated/test-usd.ts";
export * from "./generated/wrapped-ether.ts";

import { z } from "zod";
import { answerHash32, answerHex, digits, evmAddress } from "../scalars.ts";

/** An oracle's signature of a message: EIP-191 over the 32 raw bytes of the message's id. */
export const messageSignature = z
  .object({ oracle: evmAddress.describe("Address of the signer."), signature: answerHex })
  .meta({ id: "MessageSignature" });

/** An oracle's EIP-712 signature of an execution for the contract that will run it. */
export const executionSignature = z
  .object({
    oracleChainId: digits.describe("Chain id of the hub."),
    oracleContract: evmAddress.describe("`verifyingContract` of the signed domain."),
    oracleSigner: evmAddress,
    signature: answerHex,
  })
  .meta({ id: "ExecutionSignature" });

/** A change to the hub's state, which the hub executes once enough oracles have signed it. */
export const execution = z
  .object({
    idempotencyKey: answerHash32.describe("The hub runs one execution per key."),
    actions: z.array(answerHex).min(1).describe("ABI-encoded actions, executed together."),
    metadata: z
      .array(
        z.object({
          hubTokenId: digits,
          origin: z.object({ address: z.string(), chainId: z.string(), family: z.string() }),
          oracleChainId: digits,
          oracleContract: evmAddress,
        }),
      )
      .optional()
      .describe("Origin of the hub tokens; not signed."),
    signatures: z.array(executionSignature).min(1).describe("Sorted by signer, ascending."),
  })
  .meta({ id: "Execution" });

/** An oracle's EIP-712 signature that a withdrawal may be submitted to the allocator. */
export const payloadSignature = z
  .object({
    allocatorSpenderChainId: digits,
    allocatorSpenderContract: evmAddress,
    oracleSigner: evmAddress,
    signature: answerHex,
  })
  .meta({ id: "PayloadSignature" });

/** How an answer was aggregated; not part of what is signed. */
export const quorum = z
  .object({
    signers: z
      .int()
      .nonnegative()
      .describe("Number of distinct signers in this response that count toward the threshold."),
    threshold: z
      .int()
      .nonnegative()
      .describe("Number of signers required (`ORACLE_SIGNERS_THRESHOLD`); 1 if `ORACLE_SIGNERS` is not set."),
    local: z
      .enum(["ok", "failed", "mismatch", "pending"])
      .describe(
        "This oracle's own attestation: `ok`: its result matches this response. `failed`: it failed. `mismatch`: it has a different result. `pending`: it is not finished.",
      ),
  })
  .meta({ id: "Quorum" });

/** Fields that every attestation answer has in addition to its payload. */
export const answerExtras = {
  quorum: quorum.optional(),
  shadow: z.literal(true).optional().describe("This oracle runs in shadow mode: do not count its signature."),
};

/** The signatures of one message. */
export const messageSignatures = {
  signature: messageSignature
    .optional()
    .describe(
      "The signature of the oracle that responds or, if it did not sign, the first of `signatures`. Absent if `signatures` is empty.",
    ),
  signatures: z.array(messageSignature).describe("Sorted by signer, ascending."),
};

export type MessageSignature = z.infer<typeof messageSignature>;
export type ExecutionSignature = z.infer<typeof executionSignature>;
export type Execution = z.infer<typeof execution>;
export type PayloadSignature = z.infer<typeof payloadSignature>;
export type Quorum = z.infer<typeof quorum>;

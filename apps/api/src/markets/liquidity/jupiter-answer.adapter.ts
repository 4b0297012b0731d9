import type { ProposedSwap } from "@causeway/chains";
import { BPS } from "@causeway/domain";
import { z } from "zod";

/** A transaction cannot name more accounts. */
const MAX_ACCOUNTS = 256;
const MAX_INSTRUCTIONS = 16;
const U64_MAX = 2n ** 64n - 1n;

const u64 = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)
  .refine((amount) => amount <= U64_MAX);
const key = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);

const quote = z.object({
  inputMint: key,
  outputMint: key,
  inAmount: u64,
  outAmount: u64,
  otherAmountThreshold: u64,
  swapMode: z.enum(["ExactIn", "ExactOut"]),
  slippageBps: z.int(),
  platformFee: z.object({ feeBps: z.number().optional() }).nullish(),
  /** A share of one. */
  priceImpactPct: z.coerce.number().catch(0),
});

const instruction = z
  .object({
    programId: key,
    accounts: z
      .array(z.object({ pubkey: key, isSigner: z.boolean(), isWritable: z.boolean() }))
      .max(MAX_ACCOUNTS),
    data: z.base64().max(4_096),
  })
  .transform(({ programId, accounts, data }): ProposedSwap["swap"] => ({
    programId,
    keys: accounts,
    data: `0x${Buffer.from(data, "base64").toString("hex")}`,
  }));
const instructions = z.array(instruction).max(MAX_INSTRUCTIONS);

const proposal = z.object({
  tokenLedgerInstruction: instruction.nullish(),
  computeBudgetInstructions: instructions,
  setupInstructions: instructions,
  swapInstruction: instruction,
  cleanupInstruction: instruction.nullish(),
  otherInstructions: instructions.nullish(),
  addressLookupTableAddresses: z.array(key).max(MAX_INSTRUCTIONS),
});

/** What was asked: an answer about anything else is rejected. */
export interface JupiterQuestion {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly mode: "ExactIn" | "ExactOut";
  readonly amount: bigint;
  readonly slippageBps: number;
}

/** Amounts that the user's transaction enforces, base units. */
export interface JupiterQuote {
  /** The most that the swap takes. */
  readonly maxInput: bigint;
  /** The least that it brings. */
  readonly minOutput: bigint;
  /** What `maxInput` would buy without any price impact. */
  readonly spotOut: bigint;
}

/** @throws ZodError, RangeError when it does not answer the question */
export function readJupiterQuote(json: unknown, question: JupiterQuestion): JupiterQuote {
  const read = quote.parse(json);
  const { inAmount, outAmount, otherAmountThreshold: threshold } = read;
  const { inputMint, outputMint, mode, amount } = question;
  if (read.inputMint !== inputMint || read.outputMint !== outputMint)
    throw new RangeError("the response has other tokens than requested");
  if (read.swapMode !== mode || (mode === "ExactIn" ? inAmount : outAmount) !== amount)
    throw new RangeError("the response has another amount than requested");
  if (read.slippageBps !== question.slippageBps)
    throw new RangeError("the response has another slippage than requested");
  if ((read.platformFee?.feeBps ?? 0) !== 0)
    throw new RangeError("the response charges a platform fee that was not requested");
  if (inAmount === 0n || outAmount === 0n) throw new RangeError("the response has no amounts");
  const slippage = BigInt(question.slippageBps);
  const maxInput =
    mode === "ExactIn" ? inAmount : larger(threshold, (inAmount * (BPS + slippage) + BPS - 1n) / BPS);
  const minOutput =
    mode === "ExactOut" ? outAmount : smaller(threshold, (outAmount * (BPS - slippage)) / BPS);
  if (minOutput === 0n || maxInput > U64_MAX) throw new RangeError("the response has no usable amounts");
  const impact = BigInt(Math.round(1e6 * Math.min(Math.max(read.priceImpactPct, 0), 0.999)));
  const spotOut = (outAmount * maxInput * 1_000_000n) / (inAmount * (1_000_000n - impact));
  return { maxInput, minOutput, spotOut: larger(spotOut, minOutput) };
}

/** @throws ZodError for anything but instructions */
export function readJupiterProposal(json: unknown): ProposedSwap {
  const read = proposal.parse(json);
  const { tokenLedgerInstruction, cleanupInstruction, otherInstructions } = read;
  return {
    computeBudget: read.computeBudgetInstructions,
    setup: read.setupInstructions,
    swap: read.swapInstruction,
    others: [tokenLedgerInstruction, ...(otherInstructions ?? []), cleanupInstruction].filter(
      (one) => one !== undefined && one !== null,
    ),
    lookupTables: read.addressLookupTableAddresses,
  };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

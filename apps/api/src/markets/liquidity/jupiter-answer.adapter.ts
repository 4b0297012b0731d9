import type { ProposedSwap } from "@causeway/chains";
import { BPS } from "@causeway/domain";
import { z } from "zod";

/** A transaction cannot have more accounts. */
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
  /** A fraction: 0.01 means 1 %. */
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

/** The requested swap; an answer about any other swap is rejected. */
export interface JupiterQuestion {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly mode: "ExactIn" | "ExactOut";
  readonly amount: bigint;
  readonly slippageBps: number;
}

/** Amounts that the user's transaction enforces, base units. */
export interface JupiterQuote {
  /** The maximum that the swap takes. */
  readonly maxInput: bigint;
  /** The minimum that the swap yields. */
  readonly minOutput: bigint;
  /** The output of `maxInput` without any price impact. */
  readonly spotOut: bigint;
}

/** @throws ZodError for an invalid answer, RangeError when it does not answer the question */
export function readJupiterQuote(json: unknown, question: JupiterQuestion): JupiterQuote {
  const parsed = quote.parse(json);
  const { inAmount, outAmount, otherAmountThreshold: threshold } = parsed;
  const { inputMint, outputMint, mode, amount } = question;
  if (parsed.inputMint !== inputMint || parsed.outputMint !== outputMint)
    throw new RangeError("the response has different tokens than requested");
  if (parsed.swapMode !== mode || (mode === "ExactIn" ? inAmount : outAmount) !== amount)
    throw new RangeError("the response has a different amount than requested");
  if (parsed.slippageBps !== question.slippageBps)
    throw new RangeError("the response has a different slippage than requested");
  if ((parsed.platformFee?.feeBps ?? 0) !== 0)
    throw new RangeError("the response charges a platform fee that was not requested");
  if (inAmount === 0n || outAmount === 0n) throw new RangeError("the response has no amounts");
  const slippage = BigInt(question.slippageBps);
  const maxInput =
    mode === "ExactIn" ? inAmount : larger(threshold, (inAmount * (BPS + slippage) + BPS - 1n) / BPS);
  const minOutput =
    mode === "ExactOut" ? outAmount : smaller(threshold, (outAmount * (BPS - slippage)) / BPS);
  if (minOutput === 0n || maxInput > U64_MAX) throw new RangeError("the response has no usable amounts");
  const impact = BigInt(Math.round(1e6 * Math.min(Math.max(parsed.priceImpactPct, 0), 0.999)));
  const spotOut = (outAmount * maxInput * 1_000_000n) / (inAmount * (1_000_000n - impact));
  return { maxInput, minOutput, spotOut: larger(spotOut, minOutput) };
}

/** @throws ZodError for an invalid answer */
export function readJupiterProposal(json: unknown): ProposedSwap {
  const parsed = proposal.parse(json);
  const { tokenLedgerInstruction, cleanupInstruction, otherInstructions } = parsed;
  return {
    computeBudget: parsed.computeBudgetInstructions,
    setup: parsed.setupInstructions,
    swap: parsed.swapInstruction,
    others: [tokenLedgerInstruction, ...(otherInstructions ?? []), cleanupInstruction].filter(
      (candidate) => candidate !== undefined && candidate !== null,
    ),
    lookupTables: parsed.addressLookupTableAddresses,
  };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

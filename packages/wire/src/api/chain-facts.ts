import { z } from "zod";
import { decimal, digits, numberOrDigits } from "../scalars.ts";

/** Query of `GET /chains/liquidity` and `GET /chains/health`. */
export const oneChainQuery = z.object({ chainId: numberOrDigits("a chain id") });

export const chainLiquidityAnswer = z
  .object({
    liquidity: z.array(
      z.object({
        chainId: z.int(),
        currencyId: z.string().describe("Same value for the same asset on every chain."),
        symbol: z.string(),
        address: z.string(),
        decimals: z.int().nonnegative(),
        balance: digits.describe("What the solver has free for new fills, smallest units."),
        amountUsd: decimal.describe("The same in USD, six decimals."),
      }),
    ),
  })
  .meta({ id: "ChainLiquidity" });

export const chainHealthAnswer = z
  .object({
    healthy: z.boolean().describe("Blocks come, they are read, and new quotes are given."),
    chainId: z.int(),
    disabled: z.boolean().describe("No new quotes from or to this chain (incident)."),
    blockProductionLagging: z
      .boolean()
      .describe(
        "No block came for 10 block times and at least 30 seconds (chains that are not EVM chains: a minute), so an outage shows only after that time.",
      ),
    pricesGas: z.boolean().describe("What quotes need of the chain was read recently."),
    blockNumber: digits.nullable().describe("Newest block heard of; null before the first."),
    blockAgeMs: z.int().nonnegative().nullable().describe("Since that block was heard of."),
    scannedBlockNumber: digits
      .nullable()
      .describe("Newest block that was scanned for deposits; null before the first scan."),
    scanLagBlocks: z
      .int()
      .nonnegative()
      .nullable()
      .describe("Blocks after it, up to the newest; null when either is unknown."),
    scanLagSeconds: z
      .int()
      .nonnegative()
      .nullable()
      .describe(
        "The same in seconds, by the blocks' timestamps. The chain is not healthy above 10 block times and 30 seconds.",
      ),
    effects: z
      .enum(["traced", "simulated", "unseen"])
      .nullable()
      .describe(
        "How the chain's node tells what a call would do; null before it was asked. While it is `unseen`, quotes whose fill swaps or makes calls and `POST /execute` are refused.",
      ),
    nodeLatencyMs: z
      .int()
      .nonnegative()
      .nullable()
      .describe(
        "Median time of the newest calls to the chain's node; null before there were ten. Above a second, bridges take long.",
      ),
  })
  .meta({ id: "ChainHealth" });

export type ChainLiquidityAnswer = z.infer<typeof chainLiquidityAnswer>;
export type ChainHealthAnswer = z.infer<typeof chainHealthAnswer>;

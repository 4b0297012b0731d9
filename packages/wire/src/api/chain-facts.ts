import { z } from "zod";
import { decimal, digits, numberOrDigits } from "../scalars.ts";

/** Query of `GET /chains/liquidity` and `GET /chains/health`. */
export const oneChainQuery = z.object({ chainId: numberOrDigits("a chain id") });

export const chainLiquidityAnswer = z
  .object({
    liquidity: z.array(
      z.object({
        chainId: z.int(),
        currencyId: z.string().describe("The same for the same asset on every chain."),
        symbol: z.string(),
        address: z.string(),
        decimals: z.int().nonnegative(),
        balance: digits.describe("Solver balance available for new fills, in base units."),
        amountUsd: decimal.describe("Value of `balance` in USD, six decimals."),
      }),
    ),
  })
  .meta({ id: "ChainLiquidity" });

export const chainHealthAnswer = z
  .object({
    healthy: z.boolean().describe("Whether blocks arrive and are scanned, and new quotes are available."),
    chainId: z.int(),
    disabled: z
      .boolean()
      .describe("Whether the operator has stopped new quotes from and to this chain (incident)."),
    blockProductionLagging: z
      .boolean()
      .describe(
        "Whether no new block arrived for at least 10 block times and at least 30 seconds (on non-EVM chains at least one minute).",
      ),
    pricesGas: z.boolean().describe("Whether the chain's fee data, which quotes need, is current."),
    blockNumber: digits.nullable().describe("Newest block received from the node; null before the first."),
    blockAgeMs: z
      .int()
      .nonnegative()
      .nullable()
      .describe("Milliseconds since the newest block (`blockNumber`) was received."),
    scannedBlockNumber: digits
      .nullable()
      .describe("Newest block scanned for deposits; null before the first scan."),
    scanLagBlocks: z
      .int()
      .nonnegative()
      .nullable()
      .describe("Number of blocks between the scanned block and the newest one; null if either is unknown."),
    scanLagSeconds: z
      .int()
      .nonnegative()
      .nullable()
      .describe(
        "Scan lag in seconds, by block timestamps. The chain is unhealthy if it is more than one block behind and the lag exceeds both 10 block times and 30 seconds.",
      ),
    effects: z
      .enum(["traced", "simulated", "unseen"])
      .nullable()
      .describe(
        "How the chain's node shows what a simulated call would do: by a trace (`traced`), by `eth_simulateV1` (`simulated`), or not at all (`unseen`). Null before the first check. While it is `unseen`, `POST /execute`, `POST /execute/permits` and quotes whose fill swaps, makes calls or tops up gas are refused.",
      ),
    nodeLatencyMs: z
      .int()
      .nonnegative()
      .nullable()
      .describe(
        "Median duration of the most recent calls to the chain's node; null until there are ten. Above one second, requests are slow.",
      ),
    endpoints: z
      .array(
        z.object({
          host: z.string().describe("Host and port of its URL."),
          state: z
            .enum(["ok", "lagging", "ahead", "slow", "paused", "failing", "wrongChain"])
            .describe(
              "`lagging` or `ahead`: its newest block is below or above the one that enough endpoints have reached. `slow`: its newest calls took more than a second. `paused`: it rate-limited the service. `failing`: most recent calls got no answer. `wrongChain`: it serves another chain and is not used.",
            ),
          lead: z.boolean().describe("Whether ordinary reads are sent to it first."),
          blockNumber: digits.nullable().describe("Newest block that it announced; null before the first."),
          latencyMs: z
            .int()
            .nonnegative()
            .nullable()
            .describe("Average duration of the most recent calls; null before the first."),
        }),
      )
      .describe("The endpoints that the chain is read from; empty for non-EVM chains."),
  })
  .meta({ id: "ChainHealth" });

export type ChainLiquidityAnswer = z.infer<typeof chainLiquidityAnswer>;
export type ChainHealthAnswer = z.infer<typeof chainHealthAnswer>;

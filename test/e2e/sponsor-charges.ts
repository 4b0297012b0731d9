import { fillGas } from "@causeway/contracts";
import { readFile } from "node:fs/promises";
import { parseUnits } from "viem";
import type { FeatureOutcome } from "./feature-request.ts";
import { evmClient, type FeatureWorld } from "./feature-world.ts";

/** Dollars per token, as in `configs/prices.local.json`. */
const DOLLARS: Readonly<Record<string, string>> = { USDC: "1", TST: "0.5", BTC: "60000", ETH: "2500" };
/** USD with 18 decimals that one base unit of the sponsor's USDC is worth: a millionth of a dollar. */
const MICRO_DOLLAR = 10n ** 12n;
/** When pricing a fill, the service may still use a block this much older than its node's newest block. */
const OLDER_BLOCKS = 3n;

/**
 * The amounts that the sponsor of a request may have been charged, in base units of USDC. There is one
 * possible amount, except for a fixed rate to an EVM chain: that is charged at the gas price of the fill
 * (docs/FEES.md), so there is one amount for each block from the quote to the fill.
 */
export async function sponsorCharges(
  world: Pick<FeatureWorld, "system">,
  { request, quote, fillBlocks }: Pick<FeatureOutcome, "request" | "quote" | "fillBlocks">,
): Promise<ReadonlySet<bigint>> {
  if (request.isRefunded === true) return new Set([0n]);
  const { subsidized, relayerGas } = quote.fees;
  const { symbol, decimals } = subsidized.currency;
  const charge = (amount: bigint): bigint =>
    divideUp((amount * priceOf(symbol)) / 10n ** BigInt(decimals), MICRO_DOLLAR);
  const quoted = BigInt(subsidized.amount);
  if (fillBlocks === undefined) return new Set([charge(quoted)]);
  // Only the execution fee changes. The rate and all other fees stay the same.
  const otherFees = quoted - BigInt(relayerGas.amount);
  const usd = await executionFees(world, request.to.chain, fillBlocks);
  const inDeposit = (fee: bigint): bigint => divideUp(fee * 10n ** BigInt(decimals), priceOf(symbol) * WEI);
  return new Set(usd.map((fee) => charge(otherFees + inDeposit(fee))));
}

const WEI = 10n ** 18n;
/** The gas price follows from the median of the tips of this many blocks. */
const TIP_BLOCKS = 10;

/** The cost of the execution at the gas price of each block, in USD with 36 decimals. */
async function executionFees(
  world: Pick<FeatureWorld, "system">,
  chain: string,
  { quoted, filled }: NonNullable<FeatureOutcome["fillBlocks"]>,
): Promise<readonly bigint[]> {
  const { flatUsd, gasMarginBps, minPriorityFeeGwei } = await localFees(chain);
  const minTip = parseUnits(minPriorityFeeGwei, 9);
  const from = quoted > OLDER_BLOCKS ? quoted - OLDER_BLOCKS : 0n;
  const blocks = Array.from({ length: Number(filled - from) }, (_, at) => from + BigInt(at));
  return await Promise.all(
    blocks.map(async (blockNumber) => {
      const reads = evmClient(world, chain);
      // Anvil's fee history of an older block ends with the current base fee, so that fee is read from the
      // block.
      const [{ baseFeePerGas }, { reward = [] }] = await Promise.all([
        reads.getBlock({ blockNumber: blockNumber + 1n }),
        reads.getFeeHistory({ blockCount: TIP_BLOCKS, rewardPercentiles: [50], blockNumber }),
      ]);
      const tips = reward
        .map(([tip = 0n]) => (tip > minTip ? tip : minTip))
        .toSorted((a, b) => (a < b ? -1 : 1));
      const tip = tips[Math.floor(tips.length / 2)] ?? minTip;
      const wei = fillGas.erc20 * ((baseFeePerGas ?? 0n) + tip);
      const withMargin = divideUp(wei * BigInt(10_000 + gasMarginBps), 10_000n);
      return withMargin * priceOf("ETH") + parseUnits(flatUsd, 18) * WEI;
    }),
  );
}

interface LocalFees {
  readonly flatUsd: string;
  readonly gasMarginBps: number;
  readonly minPriorityFeeGwei: string;
}

async function localFees(chain: string): Promise<LocalFees> {
  const file = new URL("../../configs/chains.local.json", import.meta.url);
  const chains = JSON.parse(await readFile(file, "utf8")) as ReadonlyArray<{
    readonly id: string;
    readonly fees: LocalFees;
  }>;
  const found = chains.find(({ id }) => id === chain);
  if (found === undefined) throw new RangeError(`${chain} is not in configs/chains.local.json`);
  return found.fees;
}

/** The price of a token in USD with 18 decimals. */
function priceOf(symbol: string): bigint {
  const dollars = DOLLARS[symbol];
  if (dollars === undefined) throw new RangeError(`no local price of ${symbol} is known`);
  return parseUnits(dollars, 18);
}

const divideUp = (amount: bigint, by: bigint): bigint => (amount + by - 1n) / by;

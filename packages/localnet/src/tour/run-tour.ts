import type { WireChain } from "@causeway/wire";
import { formatUnits, parseUnits, type Hex } from "viem";
import { createApiClient } from "../api-client.ts";
import { familyChains } from "../families/family-plan.ts";
import type { FamilyWallet } from "./family-wallet.ts";
import type { TourStop, TourLeg } from "./legs.ts";

export interface TourOptions {
  readonly apiUrl: string;
  readonly legs: readonly TourLeg[];
  /** Wallets by chain name. */
  readonly wallets: ReadonlyMap<string, FamilyWallet>;
  /** Watches the solver's credit on the hub for deposits of this currency. Called before the leg starts. */
  readonly watchHub: (stop: TourStop, currency: string) => Promise<HubWatch>;
  readonly print: (line: string) => void;
  readonly deadlineMs: number;
}

export interface HubWatch {
  /**
   * Waits until the credit has grown by at least this amount; returns how many oracles signed.
   *
   * @throws Error if the deadline passes first
   */
  waitForGrowth(amount: bigint, deadline: AbortSignal): Promise<number>;
}

/** Outcome of one leg according to the chains and the hub, regardless of what the API reports. */
export interface LegResult {
  readonly leg: TourLeg;
  readonly minimumOut: bigint;
  readonly received: bigint;
  /** Decimals of the received currency. */
  readonly decimals: number;
  readonly filledMs: number;
  readonly settledMs: number;
  readonly signers: number;
  readonly reason: string | undefined;
}

/** Runs all legs in sequence, and stops at the first that does not arrive. */
export async function runTour(options: TourOptions): Promise<readonly LegResult[]> {
  const chains = await createApiClient(options.apiUrl).chains();
  const results: LegResult[] = [];
  for (const leg of options.legs) {
    const result = await runLeg(options, chains, leg);
    results.push(result);
    options.print(lineOf(result));
    if (result.reason !== undefined) break;
  }
  return results;
}

async function runLeg(
  { apiUrl, wallets, watchHub, deadlineMs }: TourOptions,
  chains: readonly WireChain[],
  leg: TourLeg,
): Promise<LegResult> {
  const api = createApiClient(apiUrl);
  const [origin, destination] = [leg.from, leg.to].map((stop) => resolveStop(chains, wallets, stop)) as [
    ResolvedStop,
    ResolvedStop,
  ];
  const deadline = AbortSignal.timeout(deadlineMs);
  const before = await destination.wallet.balanceOf(destination.currency);
  const hub = await watchHub(leg.from, origin.currency);
  const startedAtMs = performance.now();
  const amount = parseUnits(leg.amount, origin.decimals);
  let minimumOut = 0n;
  let received = 0n;
  const legResult = (facts: Partial<LegResult> & Pick<LegResult, "reason">): LegResult => ({
    leg,
    minimumOut,
    received,
    decimals: destination.decimals,
    filledMs: 0,
    settledMs: 0,
    signers: 0,
    ...facts,
  });
  try {
    const quote = await api.quote({
      user: origin.wallet.address,
      recipient: destination.wallet.address,
      refundTo: origin.wallet.address,
      originChainId: origin.chainId,
      destinationChainId: destination.chainId,
      originCurrency: origin.currency,
      destinationCurrency: destination.currency,
      amount: amount.toString(),
      tradeType: "EXACT_INPUT",
      ...(leg.from.chain === familyChains.hyperliquid && { protocolVersion: "v2" }),
    });
    minimumOut = BigInt(quote.details.currencyOut.minimumAmount);
    await origin.wallet.execute(quote.steps);
    const end = await api.waitUntilEnded(quote.requestId as Hex, deadline);
    const filledMs = performance.now() - startedAtMs;
    received = (await destination.wallet.balanceOf(destination.currency)) - before;
    if (end.status !== "success" || received < minimumOut)
      return legResult({ filledMs, reason: `request ended with ${end.status} (${end.failReason})` });
    const signers = await hub.waitForGrowth(amount, deadline);
    return legResult({ filledMs, settledMs: performance.now() - startedAtMs, signers, reason: undefined });
  } catch (error) {
    return legResult({ reason: error instanceof Error ? error.message : String(error) });
  }
}

interface ResolvedStop {
  readonly chainId: number;
  readonly currency: string;
  readonly decimals: number;
  readonly wallet: FamilyWallet;
}

function resolveStop(
  chains: readonly WireChain[],
  wallets: ReadonlyMap<string, FamilyWallet>,
  { chain: name, symbol }: TourStop,
): ResolvedStop {
  const chain = chains.find((candidate) => candidate.name === name);
  const wallet = wallets.get(name);
  if (chain === undefined || wallet === undefined) throw new Error(`GET /chains lists no chain ${name}`);
  const currency = [chain.currency, ...chain.erc20Currencies].find(
    (candidate) => candidate.symbol === symbol,
  );
  if (currency?.address === undefined || currency.decimals === undefined)
    throw new Error(`GET /chains lists no ${symbol} on ${name}`);
  return { chainId: chain.id, currency: currency.address, decimals: currency.decimals, wallet };
}

const COLUMNS = [34, 22, 22, 9, 10, 10] as const;

/** Header of the table that {@link runTour} prints. */
export const tourHead: string = row(["leg", "paid", "received", "filled", "settled", "attested by"]);

function lineOf({ leg, received, decimals, filledMs, settledMs, signers, reason }: LegResult): string {
  const where = `${leg.from.chain} -> ${leg.to.chain}`;
  if (reason !== undefined) return `${where.padEnd(COLUMNS[0])} did not arrive: ${reason}`;
  return row([
    where,
    `${leg.amount} ${leg.from.symbol}`,
    `${formatUnits(received, decimals)} ${leg.to.symbol}`,
    seconds(filledMs),
    seconds(settledMs),
    `${signers} oracles`,
  ]);
}

function row(cells: readonly string[]): string {
  return cells
    .map((cell, index) => cell.padEnd(COLUMNS[index] ?? 0))
    .join("  ")
    .trimEnd();
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

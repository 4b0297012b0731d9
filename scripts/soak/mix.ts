import { seededRandom, type Random } from "./random.ts";

export type TradeType = "EXACT_INPUT" | "EXPECTED_OUTPUT" | "EXACT_OUTPUT";
/**
 * `send`: straight to the recipient; `swap`: two assets on one chain, by the solver; `bridge`: two chains.
 */
export type PlanKind = "bridge" | "swap" | "send";
export type Receiver = "self" | "fresh" | "other";

/** A currency of the plans; the same on both chains. */
export interface SoakCurrency {
  readonly symbol: string;
  /** Zero address for the native one. */
  readonly address: `0x${string}`;
  readonly decimals: number;
  /** Price of a whole unit, in cents of a USD. */
  readonly usdCents: bigint;
}

/** One planned request. Chains are 0 and 1. */
export interface RequestPlan {
  readonly index: number;
  readonly startAfterMs: number;
  /**
   * The user who pays. A user has at most one request on each chain, so that two never share an allowance.
   */
  readonly user: number;
  readonly kind: PlanKind;
  readonly origin: 0 | 1;
  readonly destination: 0 | 1;
  readonly pay: SoakCurrency;
  readonly receive: SoakCurrency;
  readonly tradeType: TradeType;
  /** In base units of `pay` for EXACT_INPUT, of `receive` otherwise. */
  readonly amount: bigint;
  readonly explicitDeposit: boolean;
  readonly receiver: Receiver;
  /** Whether the client reports its deposit to the service, or lets the watcher find it. */
  readonly reports: boolean;
}

export interface MixOptions {
  readonly requests: number;
  readonly seed: number;
  /** All start within this time, spread evenly. */
  readonly spreadMs: number;
  readonly currencies: readonly SoakCurrency[];
}

const tradeTypes: readonly TradeType[] = ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"];

/** Value ranges in USD cents, with weights: their deposits need one, two and four confirmations. */
const valueBands = [
  { from: 500, to: 90_000, weight: 85 },
  { from: 110_000, to: 900_000, weight: 10 },
  { from: 1_100_000, to: 3_000_000, weight: 5 },
] as const;

/** The requests of a run; the same seed yields the same ones. */
export function planMix(options: MixOptions): RequestPlan[] {
  const random = seededRandom(options.seed);
  const users = usersOf(options.requests);
  const firstChains = Array.from({ length: users }, () => (random.chance(0.5) ? 0 : 1));
  return Array.from({ length: options.requests }, (_, index) => {
    const user = index % users;
    const first = firstChains[user] === 1;
    const origin = index < users === first ? 1 : 0;
    return planOne(random, options, { index, user, origin });
  });
}

/** The number of users for this many requests. */
export function usersOf(requests: number): number {
  return Math.ceil(requests / 2);
}

function planOne(
  random: Random,
  { requests, spreadMs, currencies }: MixOptions,
  { index, user, origin }: { index: number; user: number; origin: 0 | 1 },
): RequestPlan {
  const kind = (["bridge", "send", "swap"] as const)[random.weighted([86, 10, 4])] ?? "bridge";
  const pay = random.pick(currencies);
  const others = currencies.filter(({ symbol }) => symbol !== pay.symbol);
  const isSame = kind === "send" || (kind === "bridge" && random.chance(0.6));
  const receive = isSame ? pay : random.pick(others);
  const tradeType = random.pick(tradeTypes);
  const band = valueBands[random.weighted(valueBands.map(({ weight }) => weight))] ?? valueBands[0];
  // Odd amounts: rounding must hold for them too.
  const nanoUsd = BigInt(random.int(band.from, band.to)) * 10_000_000n + BigInt(random.int(0, 9_999_999));
  const isNative = /^0x0{40}$/.test(pay.address);
  return {
    index,
    startAfterMs: requests < 2 ? 0 : Math.floor((index * spreadMs) / requests),
    user,
    kind,
    origin,
    destination: kind === "bridge" ? (origin === 0 ? 1 : 0) : origin,
    pay,
    receive,
    tradeType,
    amount: amountWorth(nanoUsd, tradeType === "EXACT_INPUT" ? pay : receive),
    explicitDeposit: isNative || kind === "send" || !random.chance(0.35),
    receiver: random.pick<Receiver>(
      kind === "send" ? ["fresh", "other"] : ["self", "fresh", "fresh", "other"],
    ),
    reports: random.chance(0.5),
  };
}

/** @param nanoUsd 10^-9 USD */
function amountWorth(nanoUsd: bigint, currency: SoakCurrency): bigint {
  return (nanoUsd * 10n ** BigInt(currency.decimals)) / (currency.usdCents * 10_000_000n);
}

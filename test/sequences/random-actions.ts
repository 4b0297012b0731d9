import fc from "fast-check";
import {
  assets,
  currencyLists,
  extras,
  fates,
  moments,
  payments,
  recipients,
  ruleChanges,
  traded,
  type Action,
  type Asset,
  type Extra,
} from "./action.ts";
import { troubles } from "./troubles.ts";

/** An index into a list that counts from the newest entry. */
const index = fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 5);
/** The solver has none of the last two, so quotes swap them. */
const someAssets: readonly Asset[] = ["usdc", "usdc", "eth", "eth", "tst", "tst", ...assets];
const dollars = fc.constantFrom(1, 6, 50, 400, 900, 2_000, 12_000);

/** How much more frequent the actions in a run's focus are. */
const FOCUSED = 6;

function createArbitraries(focus: ReadonlySet<string>) {
  const oneOf = <T extends string | undefined>(...values: readonly T[]): fc.Arbitrary<T> =>
    fc.constantFrom(
      ...values.flatMap((value) =>
        value !== undefined && focus.has(value) ? Array.from({ length: FOCUSED }, () => value) : [value],
      ),
    );
  /** True once in `others + 1` times, or every second time if `name` is in the focus. */
  const rarely = (name: string, falseWeight: number): fc.Arbitrary<boolean> =>
    focus.has(name)
      ? fc.boolean()
      : fc.constantFrom(...Array.from({ length: falseWeight }, () => false), true);
  return {
    quote: fc.record({
      kind: fc.constant("quote" as const),
      user: fc.nat(2),
      from: oneOf(...someAssets),
      to: oneOf(...someAssets),
      isReversed: fc.boolean(),
      usd: dollars,
      tradeType: oneOf("EXACT_INPUT", "EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"),
      recipient: oneOf("fresh", "fresh", ...recipients),
      refundTo: oneOf("user", "user", "other"),
      ttl: fc.constantFrom(undefined, undefined, 120, 900),
      slippage: fc.constantFrom(undefined, undefined, 0, 300),
      forceRefund: rarely("forceRefund", 6),
      explicitDeposit: fc.constantFrom(true, true, false),
      app: fc.constantFrom(undefined, 0, 1),
      extra: oneOf<Extra>("none", "none", "none", "none", "address", ...extras),
      isFastFilled: rarely("fastFilled", 3),
      paid: oneOf(undefined, undefined, ...payments),
    }),
    pay: fc.record({
      kind: fc.constant("pay" as const),
      quote: index,
      way: oneOf(...payments),
      isReported: fc.boolean(),
    }),
    blocks: fc.record({ kind: fc.constant("blocks" as const), count: fc.integer({ min: 1, max: 5 }) }),
    wait: fc.record({
      kind: fc.constant("wait" as const),
      seconds: fc.constantFrom(30, 70, 600, 1_900, 90_000),
    }),
    reorg: fc.record({
      kind: fc.constant("reorg" as const),
      chain: fc.constantFrom(0 as const, 1 as const),
      depth: fc.integer({ min: 1, max: 5 }),
      fate: oneOf(...fates),
    }),
    price: fc.record({
      kind: fc.constant("price" as const),
      asset: oneOf("eth", "tst"),
      percent: fc.constantFrom(-40, -8, -2, 2, 8, 40),
    }),
    gas: fc.record({
      kind: fc.constant("gas" as const),
      chain: fc.constantFrom(0 as const, 1 as const),
      gwei: fc.constantFrom(1, 1, 5, 30),
    }),
    topUp: fc.record({
      kind: fc.constant("topUp" as const),
      app: fc.nat(1),
      asset: oneOf("usdc", "usdc", "eth"),
      usd: fc.constantFrom(20, 1_000, 20_000),
    }),
    claim: fc.record({
      kind: fc.constant("claim" as const),
      app: fc.nat(1),
      asset: oneOf("usdc", "usdc", "eth"),
      part: fc.constantFrom(30, 100),
    }),
    fastFill: fc.record({
      kind: fc.constant("fastFill" as const),
      quote: index,
      app: fc.nat(1),
      part: fc.constantFrom(100, 100, 98),
      isNamed: fc.boolean(),
    }),
    execute: fc.record({
      kind: fc.constant("execute" as const),
      app: fc.nat(1),
      chain: fc.constantFrom(0 as const, 1 as const),
      target: oneOf("sink", "burner", "mint", "steal", "steal", "deposit"),
      isSubsidized: fc.boolean(),
      quote: index,
    }),
    meddle: fc.record({
      kind: fc.constant("meddle" as const),
      quote: index,
      how: oneOf("dust", "sweepStrict", "recover"),
    }),
    report: fc.record({ kind: fc.constant("report" as const), quote: index, transaction: index }),
    loseJobs: fc.record({ kind: fc.constant("loseJobs" as const) }),
    rotate: fc.record({
      kind: fc.constant("rotate" as const),
      role: oneOf("solver", "solver", "executor", "operator"),
      isKept: fc.boolean(),
    }),
    crash: fc.record({
      kind: fc.constant("crash" as const),
      moment: oneOf(...moments),
      skipped: fc.nat(40),
      during: oneOf("work", "work", "call"),
    }),
    trade: fc.record({
      kind: fc.constant("trade" as const),
      chain: fc.constantFrom(0 as const, 1 as const),
      asset: oneOf(...traded),
      isBuying: fc.boolean(),
      usd: fc.constantFrom(2_000, 20_000, 200_000),
    }),
    node: fc.record({
      kind: fc.constant("node" as const),
      chain: fc.constantFrom(0 as const, 1 as const),
      trouble: oneOf(...troubles),
      extent: fc.integer({ min: 1, max: 5 }),
      rounds: fc.integer({ min: 1, max: 4 }),
    }),
    rules: fc.record({
      kind: fc.constant("rules" as const),
      app: fc.nat(1),
      change: oneOf(...ruleChanges),
    }),
    currencies: fc.record({
      kind: fc.constant("currencies" as const),
      list: oneOf(...currencyLists),
    }),
    twoWorkers: fc.record({ kind: fc.constant("twoWorkers" as const), blocks: fc.nat(2) }),
  } as const;
}

const weights: Readonly<Record<Action["kind"], number>> = {
  quote: 9,
  pay: 9,
  blocks: 9,
  wait: 3,
  reorg: 3,
  price: 3,
  gas: 1,
  topUp: 3,
  claim: 2,
  fastFill: 10,
  execute: 3,
  meddle: 2,
  report: 1,
  loseJobs: 1,
  rotate: 1,
  crash: 3,
  trade: 1,
  node: 2,
  rules: 1,
  currencies: 1,
  twoWorkers: 1,
};

/** Names that a run may focus on: kinds of actions, and options of quotes, payments and reorgs. */
export const focusNames: readonly string[] = [
  ...Object.keys(weights),
  ...[extras, payments, recipients, assets, fates, ruleChanges, currencyLists, troubles].flat(),
  "fastFilled",
  "forceRefund",
];

/**
 * A random sequence. It begins with a quote, because most actions need one.
 * @param focus names from {@link focusNames} that occur more often
 */
export function sequences(
  maxLength: number,
  focus: ReadonlySet<string> = new Set(),
): fc.Arbitrary<readonly Action[]> {
  const kinds = createArbitraries(focus);
  const action = fc.oneof(
    ...Object.entries(kinds).map(([kind, arbitrary]) => ({
      weight: weights[kind as Action["kind"]] * (focus.has(kind) ? FOCUSED : 1),
      arbitrary: arbitrary as fc.Arbitrary<Action>,
    })),
  );
  return fc
    .tuple(kinds.quote, fc.array(action, { minLength: 2, maxLength, size: "max" }))
    .map(([first, rest]) => [first as Action, ...rest]);
}

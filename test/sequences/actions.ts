import { sweepCall } from "@causeway/chains";
import { depositAddressFactoryAbi } from "@causeway/contracts";
import type { Address, DepositAddressKey, Hex, RequestId, TxHash } from "@causeway/domain";
import { ServiceError, depositErc20Calldata, depositNativeCalldata } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import type { QuoteInput } from "@causeway/wire";
import fc from "fast-check";
import { encodeFunctionData, erc20Abi, parseUnits } from "viem";
import type { ApiKeyIdentity } from "../../apps/api/src/http/api-keys.port.ts";
import { requestFastFill } from "../../apps/api/src/executions/request-fast-fill.ts";
import { executeCalls } from "../../apps/api/src/executions/execute-calls.ts";
import { indexTransaction } from "../../apps/api/src/deposits/index-transaction.ts";
import { offerClaim } from "../../apps/api/src/balances/offer-claim.ts";
import { acceptClaim } from "../../apps/api/src/balances/accept-claim.ts";
import { listCurrencies, rotateExecutor, rotateOperator, rotateSolver } from "./operate.ts";
import { BURNER, FICKLE, SINK } from "./memory-contracts.ts";
import { swapCall } from "./memory-dex.ts";
import { isNodeFault } from "./node-trouble.ts";
import { troubles, type Trouble } from "./troubles.ts";
import { NATIVE, lower } from "./memory-evm.ts";
import { FIRST_CONFIGURATION, OUR_KEYS } from "./keys.ts";
import { isCrash } from "../fakes/crashing-services.ts";
import { TOP_UP_TAIL, type Quoted, type SequenceWorld } from "./world.ts";

/**
 * Everything that can happen in a sequence, as plain data: a sequence is a list of these, printed when it
 * fails.
 */

const assets = ["usdc", "eth", "tst", "weth", "odd"] as const;
/** The tokens that pairs trade for USDC. */
const traded = ["tst", "weth", "odd"] as const;
type Asset = (typeof assets)[number];
type PaymentWay = "exact" | "less" | "more" | "dust" | "wrongCurrency" | "stranger" | "unknownOrder";
const payments: readonly PaymentWay[] = [
  "exact",
  "exact",
  "exact",
  "exact",
  "less",
  "more",
  "dust",
  "wrongCurrency",
  "stranger",
  "unknownOrder",
];
/** What a quote requests beyond a plain bridge. */
const extras = [
  "none",
  "harmlessCalls",
  "burningCalls",
  "appFees",
  "sponsored",
  "sponsoredAppFees",
  "topupGas",
  "address",
  "strictAddress",
  "sameChain",
  "solverOnSameChain",
  "paidCalls",
  "topupMoreGas",
  "fixedRate",
  "boundedSponsorship",
  "trueExactOutput",
] as const;
type Extra = (typeof extras)[number];
const recipients = ["fresh", "user", "fickle", "contract"] as const;
/** Prefixes of the names of moments at which a process may die. */
const moments = ["", "before commit", "after commit", "before broadcast", "after broadcast"] as const;
const ruleChanges = ["loose", "loose", "tight", "nothing", "revoked"] as const;
const currencyLists = ["all", "usdc", "withoutTst", "withoutUsdc"] as const;
/** `signedAgain`: wallets send what a reorg dropped again, in other transactions. */
const fates = ["minedAgain", "pooled", "droppedUsers", "dropped", "signedAgain"] as const;

export type Action =
  | {
      readonly kind: "quote";
      readonly user: number;
      readonly from: Asset;
      readonly to: Asset;
      readonly reverse: boolean;
      readonly usd: number;
      readonly tradeType: "EXACT_INPUT" | "EXPECTED_OUTPUT" | "EXACT_OUTPUT";
      readonly recipient: (typeof recipients)[number];
      readonly refundTo: "user" | "other";
      readonly ttl: number | undefined;
      readonly slippage: number | undefined;
      readonly forceRefund: boolean;
      readonly explicitDeposit: boolean;
      readonly app: number | undefined;
      readonly extra: Extra;
      /** The first app fast fills it at once. */
      readonly fronted: boolean;
      /** Whether and how it is paid at once. */
      readonly paid: PaymentWay | undefined;
    }
  | { readonly kind: "pay"; readonly quote: number; readonly way: PaymentWay; readonly reported: boolean }
  | { readonly kind: "blocks"; readonly count: number }
  | { readonly kind: "wait"; readonly seconds: number }
  | {
      readonly kind: "reorg";
      readonly chain: 0 | 1;
      readonly depth: number;
      readonly fate: (typeof fates)[number];
    }
  | { readonly kind: "price"; readonly asset: Asset; readonly percent: number }
  | { readonly kind: "gas"; readonly chain: 0 | 1; readonly gwei: number }
  | { readonly kind: "topUp"; readonly app: number; readonly asset: "usdc" | "eth"; readonly usd: number }
  | { readonly kind: "claim"; readonly app: number; readonly asset: "usdc" | "eth"; readonly part: number }
  | {
      readonly kind: "fastFill";
      readonly quote: number;
      readonly app: number;
      readonly part: number;
      readonly named: boolean;
    }
  | {
      readonly kind: "execute";
      readonly app: number;
      readonly chain: 0 | 1;
      readonly target: "sink" | "burner" | "mint" | "steal" | "deposit";
      readonly subsidized: boolean;
      readonly quote: number;
    }
  | { readonly kind: "meddle"; readonly quote: number; readonly how: "dust" | "sweepStrict" | "recover" }
  | { readonly kind: "report"; readonly quote: number; readonly transaction: number }
  | { readonly kind: "loseJobs" }
  | {
      readonly kind: "rotate";
      readonly role: "solver" | "executor" | "operator";
      /** Whether the old solver key stays in the configuration. */
      readonly kept: boolean;
    }
  | {
      readonly kind: "die";
      readonly moment: (typeof moments)[number];
      readonly skipped: number;
      readonly at: "work" | "call";
    }
  | {
      /** A trade moves the price of a pair. */
      readonly kind: "trade";
      readonly chain: 0 | 1;
      readonly asset: (typeof traded)[number];
      readonly buys: boolean;
      readonly usd: number;
    }
  | {
      readonly kind: "node";
      readonly chain: 0 | 1;
      readonly trouble: Trouble["kind"];
      readonly extent: number;
      readonly rounds: number;
    }
  | { readonly kind: "rules"; readonly app: number; readonly change: (typeof ruleChanges)[number] }
  | { readonly kind: "currencies"; readonly list: (typeof currencyLists)[number] }
  | { readonly kind: "twoWorkers"; readonly blocks: number };

/** Counts from the newest. */
const index = fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 5);
/** The last two are swapped: the solver has none of them. */
const someAssets: readonly Asset[] = ["usdc", "usdc", "eth", "eth", "tst", "tst", ...assets];
const dollars = fc.constantFrom(1, 6, 50, 400, 900, 2_000, 12_000);

/** How much more frequent the actions in a run's focus are. */
const FOCUSED = 6;

/** @param focus names of {@link focusNames} */
function actionKinds(focus: ReadonlySet<string>) {
  const some = <T extends string | undefined>(...values: readonly T[]): fc.Arbitrary<T> =>
    fc.constantFrom(
      ...values.flatMap((value) =>
        value !== undefined && focus.has(value) ? Array.from({ length: FOCUSED }, () => value) : [value],
      ),
    );
  /** Once in `others` times, in the focus every other time. */
  const rarely = (name: string, others: number): fc.Arbitrary<boolean> =>
    focus.has(name) ? fc.boolean() : fc.constantFrom(...Array.from({ length: others }, () => false), true);
  return {
    quote: fc.record({
      kind: fc.constant("quote" as const),
      user: fc.nat(2),
      from: some(...someAssets),
      to: some(...someAssets),
      reverse: fc.boolean(),
      usd: dollars,
      tradeType: some("EXACT_INPUT", "EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"),
      recipient: some("fresh", "fresh", ...recipients),
      refundTo: some("user", "user", "other"),
      ttl: fc.constantFrom(undefined, undefined, 120, 900),
      slippage: fc.constantFrom(undefined, undefined, 0, 300),
      forceRefund: rarely("forceRefund", 6),
      explicitDeposit: fc.constantFrom(true, true, false),
      app: fc.constantFrom(undefined, 0, 1),
      extra: some<Extra>("none", "none", "none", "none", "address", ...extras),
      fronted: rarely("fronted", 3),
      paid: some(undefined, undefined, ...payments),
    }),
    pay: fc.record({
      kind: fc.constant("pay" as const),
      quote: index,
      way: some(...payments),
      reported: fc.boolean(),
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
      fate: some(...fates),
    }),
    price: fc.record({
      kind: fc.constant("price" as const),
      asset: some("eth", "tst"),
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
      asset: some("usdc", "usdc", "eth"),
      usd: fc.constantFrom(20, 1_000, 20_000),
    }),
    claim: fc.record({
      kind: fc.constant("claim" as const),
      app: fc.nat(1),
      asset: some("usdc", "usdc", "eth"),
      part: fc.constantFrom(30, 100),
    }),
    fastFill: fc.record({
      kind: fc.constant("fastFill" as const),
      quote: index,
      app: fc.nat(1),
      part: fc.constantFrom(100, 100, 98),
      named: fc.boolean(),
    }),
    execute: fc.record({
      kind: fc.constant("execute" as const),
      app: fc.nat(1),
      chain: fc.constantFrom(0 as const, 1 as const),
      target: some("sink", "burner", "mint", "steal", "steal", "deposit"),
      subsidized: fc.boolean(),
      quote: index,
    }),
    meddle: fc.record({
      kind: fc.constant("meddle" as const),
      quote: index,
      how: some("dust", "sweepStrict", "recover"),
    }),
    report: fc.record({ kind: fc.constant("report" as const), quote: index, transaction: index }),
    loseJobs: fc.record({ kind: fc.constant("loseJobs" as const) }),
    rotate: fc.record({
      kind: fc.constant("rotate" as const),
      role: some("solver", "solver", "executor", "operator"),
      kept: fc.boolean(),
    }),
    die: fc.record({
      kind: fc.constant("die" as const),
      moment: some(...moments),
      skipped: fc.nat(40),
      at: some("work", "work", "call"),
    }),
    trade: fc.record({
      kind: fc.constant("trade" as const),
      chain: fc.constantFrom(0 as const, 1 as const),
      asset: some(...traded),
      buys: fc.boolean(),
      usd: fc.constantFrom(2_000, 20_000, 200_000),
    }),
    node: fc.record({
      kind: fc.constant("node" as const),
      chain: fc.constantFrom(0 as const, 1 as const),
      trouble: some(...troubles),
      extent: fc.integer({ min: 1, max: 5 }),
      rounds: fc.integer({ min: 1, max: 4 }),
    }),
    rules: fc.record({
      kind: fc.constant("rules" as const),
      app: fc.nat(1),
      change: some(...ruleChanges),
    }),
    currencies: fc.record({
      kind: fc.constant("currencies" as const),
      list: some(...currencyLists),
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
  die: 3,
  trade: 1,
  node: 2,
  rules: 1,
  currencies: 1,
  twoWorkers: 1,
};

/** What a run may focus on, by name: kinds of actions, and the options of quotes, payments and reorgs. */
export const focusNames: readonly string[] = [
  ...Object.keys(weights),
  ...[extras, payments, recipients, assets, fates, ruleChanges, currencyLists, troubles].flat(),
  "fronted",
  "forceRefund",
];

/**
 * One random sequence. It begins with a quote, without which little can happen.
 * @param focus what is more frequent, names of {@link focusNames}
 */
export function sequences(
  maxLength: number,
  focus: ReadonlySet<string> = new Set(),
): fc.Arbitrary<readonly Action[]> {
  const kinds = actionKinds(focus);
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

const homeOf = (world: SequenceWorld) => world.chains[0];

function currencyAt(world: SequenceWorld, chain: 0 | 1, asset: Asset): Address {
  const found = [world.chains[chain].chain.native, ...world.chains[chain].chain.tokens].find(
    ({ id }) => id === asset,
  );
  if (found === undefined) throw new Error(`no ${asset}`);
  return found.address;
}

/** Base units that are worth this many dollars now. */
function worth(world: SequenceWorld, chain: 0 | 1, asset: Asset, dollarsWorth: number): bigint {
  const currency = world.currencyOf(world.chains[chain].chain.id, currencyAt(world, chain, asset));
  const price = world.services.prices.usd(currency);
  if (typeof price !== "bigint") throw new Error("invariant violated: a price is not in memory");
  return (parseUnits(String(dollarsWorth), 18) * 10n ** BigInt(currency.decimals)) / price;
}

/** A revoked key is not accepted. */
function keyOf(world: SequenceWorld, app: number): ApiKeyIdentity | undefined {
  const key = world.apps[app];
  return key !== undefined && world.revoked.has(key.id) ? undefined : key;
}

export type Outcome = "done" | "refused" | "skipped";

/** Performs one action. Refusals of the service are outcomes; any other error is a failure of the test. */
export async function perform(world: SequenceWorld, action: Action): Promise<Outcome> {
  switch (action.kind) {
    case "quote":
      return await refusable(world, async () => await quote(world, action));
    case "pay":
      return await pay(world, action);
    case "blocks":
      await world.round(action.count);
      return "done";
    case "wait":
      // Chains and workers continue meanwhile: a block may leave out a new transaction, and the next one
      // includes it.
      await world.round(2);
      world.forward(action.seconds * 1000);
      await world.act();
      await world.round(1);
      return "done";
    case "reorg":
      await reorg(world, action);
      world.forward(2_000);
      await world.act();
      return "done";
    case "gas":
      await world.chains[action.chain].memory.setBaseFee(BigInt(action.gwei) * 10n ** 9n);
      return "done";
    case "topUp":
      return await topUp(world, action.app, action.asset, worth(world, 0, action.asset, action.usd));
    case "claim":
      return await refusable(world, async () => await claim(world, action));
    case "fastFill":
      return await refusable(world, async () => await fastFill(world, action));
    case "execute":
      return await refusable(world, async () => await execute(world, action));
    case "meddle":
      return await meddle(world, action);
    case "report":
      return await refusable(world, async () => await report(world, action));
    case "loseJobs":
      await world.loseJobs();
      return "done";
    case "rotate":
      return await rotate(world, action);
    case "die":
      // Commits and broadcasts are rare among all moments.
      world.scheduleDeath({
        moment: action.moment,
        skipped: action.moment === "" ? action.skipped * 7 : action.skipped % 8,
      });
      if (action.at === "call") return "done";
      return await dies(world, async () => await world.round());
    case "trade":
      return await trade(world, action);
    case "node":
      return world.trouble(action.chain, { kind: action.trouble, extent: action.extent }, action.rounds)
        ? "done"
        : "skipped";
    case "rules":
      if (action.change === "revoked") await world.revoke(action.app);
      else await world.setRules(action.app, rulesOf[action.change]);
      return "done";
    case "currencies":
      await listCurrencies(world, listOf[action.list]);
      return "done";
    case "twoWorkers":
      await world.mine(action.blocks);
      await world.act(2);
      return "done";
    case "price":
      // The runner moves prices, because it keeps the books of what they change.
      return "skipped";
    default:
      return action satisfies never;
  }
}

async function refusable(world: SequenceWorld, work: () => Promise<Outcome | void>): Promise<Outcome> {
  try {
    return (await work()) ?? "done";
  } catch (error) {
    if (isCrash(error)) {
      await world.recover();
      return "refused";
    }
    if (world.isTroubled() && isNodeFault(error)) return "refused";
    if (error instanceof ServiceError && !error.code.startsWith("UNKNOWN")) return "refused";
    throw error;
  }
}

function pick<T>(list: readonly T[], at: number): T | undefined {
  // Prefers the newest: small numbers count from the end.
  return list.length === 0 ? undefined : list[list.length - 1 - (at % list.length)];
}

type ActionOf<Kind extends Action["kind"]> = Extract<Action, { readonly kind: Kind }>;

async function quote(world: SequenceWorld, action: ActionOf<"quote">): Promise<void> {
  const [origin, other] = action.reverse ? ([1, 0] as const) : ([0, 1] as const);
  const isOnOneChain = action.extra === "sameChain" || action.extra === "solverOnSameChain";
  const destination = isOnOneChain ? origin : other;
  const user = world.users[action.user] ?? NATIVE;
  // An open address accepts any amount, so an exact output cannot be quoted for it.
  const tradeType =
    action.extra === "address"
      ? "EXACT_INPUT"
      : action.extra === "trueExactOutput"
        ? "EXACT_OUTPUT"
        : action.tradeType;
  // On one chain a payment to the user could be either a fill or a refund.
  const recipient =
    action.recipient === "fresh" || isOnOneChain
      ? world.freshAddress()
      : action.recipient === "user"
        ? user
        : action.recipient === "fickle"
          ? FICKLE
          : SINK;
  const input: QuoteInput = {
    user,
    originChainId: world.chains[origin].chain.id,
    destinationChainId: world.chains[destination].chain.id,
    originCurrency: currencyAt(world, origin, action.from),
    destinationCurrency: currencyAt(world, destination, action.to),
    amount: (tradeType === "EXACT_INPUT"
      ? worth(world, origin, action.from, action.usd)
      : worth(world, destination, action.to, action.usd)
    ).toString(),
    tradeType,
    recipient,
    explicitDeposit: action.explicitDeposit,
    ...(action.refundTo === "other" && { refundTo: world.freshAddress() }),
    ...(action.ttl !== undefined && { ttl: action.ttl }),
    ...(action.slippage !== undefined && { slippageTolerance: action.slippage }),
    ...(action.forceRefund && { referrer: "debug-force-refund" }),
  };
  const asked = { ...input, ...extraOf(world, action, user) };
  const isSponsored = asked.subsidizeFees === true;
  const app = isSponsored ? (action.app ?? 0) : action.app;
  await world.quote(asked, app === undefined ? undefined : keyOf(world, app));
  if (action.fronted)
    await refusable(world, async () => {
      await fastFill(world, { kind: "fastFill", quote: 0, app: 0, part: 100, named: false });
    });
  if (action.paid !== undefined)
    // The wallet reports a payment on one chain, because there is no deposit to detect.
    await pay(world, {
      kind: "pay",
      quote: 0,
      way: action.paid,
      reported: action.extra === "sameChain",
    });
}

function extraOf(
  world: SequenceWorld,
  { extra, app }: ActionOf<"quote">,
  user: Address,
): Partial<QuoteInput> {
  // A sponsor that paid itself would lose nothing.
  const other = world.apps[(app ?? 0) === 0 ? 1 : 0];
  const appFees = [{ recipient: other?.fundingAddress ?? user, fee: "900" }];
  const call = (to: Address) => ({ to, value: "0", data: "0x12345678" as const });
  switch (extra) {
    case "none":
    case "sameChain":
      return {};
    case "solverOnSameChain":
      return { forceSolverExecution: true };
    case "paidCalls":
      return { txs: [{ ...call(SINK), value: "1000" }] };
    case "topupMoreGas":
      return { topupGas: true, topupGasAmount: "9000000" };
    case "fixedRate":
      return { subsidizeFees: true, fixedRate: "1:1" };
    case "boundedSponsorship":
      return { subsidizeFees: true, appFees, maxSubsidizationAmount: "30000" };
    case "trueExactOutput":
      return { tradeType: "EXACT_OUTPUT", enableTrueExactOutput: true };
    case "harmlessCalls":
      return { txs: [call(SINK)] };
    case "burningCalls":
      return { txs: [call(BURNER)] };
    case "appFees":
      return { appFees };
    case "sponsored":
      return { subsidizeFees: true };
    case "sponsoredAppFees":
      return { subsidizeFees: true, appFees };
    case "topupGas":
      return { topupGas: true };
    case "address":
      return { useDepositAddress: true, recoveryAddress: user, refundTo: user };
    case "strictAddress":
      return { useDepositAddress: true, strict: true, recoveryAddress: user, refundTo: user };
    default:
      return extra satisfies never;
  }
}

const transferData = (to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });

async function pay(world: SequenceWorld, { quote: at, way, reported }: ActionOf<"pay">): Promise<Outcome> {
  const quoted = pick(world.quotes, at);
  if (quoted === undefined) return "skipped";
  const { terms } = quoted;
  const { memory, chain } = world.chainOf(terms.origin.chainId);
  if (terms.depositAddress !== undefined) {
    const { currency, amount } = sumOf(quoted, way, world);
    const from = way === "stranger" ? (world.users[2] ?? NATIVE) : terms.user;
    await sendTo(world, terms.origin.chainId, from, terms.depositAddress.address, currency, amount);
    return "done";
  }
  if (terms.kind !== "bridge" && way !== "exact" && way !== "stranger" && way !== "unknownOrder")
    return "skipped";
  const calls =
    way === "exact" || way === "stranger"
      ? transactionsOf(quoted.answer.steps).map((step) => ({
          to: lower(step.to as string),
          data: step.data as Hex,
          value: BigInt(step.value),
        }))
      : [
          terms.kind === "bridge"
            ? depositOf(quoted, way, chain.contracts.depository, world)
            : paymentWithoutId(quoted),
        ];
  let hash: TxHash | undefined;
  for (const call of calls)
    hash = await memory.send(way === "stranger" ? (world.users[2] ?? NATIVE) : terms.user, call);
  if (reported && hash !== undefined)
    return await refusable(world, async () => {
      await indexTransaction(world.api, { chainId: chain.id, txHash: hash, requestId: terms.requestId });
    });
  return "done";
}

/** The amount of a payment that differs from the agreed one. */
function sumOf(
  { terms }: Quoted,
  way: PaymentWay,
  world: SequenceWorld,
): { readonly currency: Address; readonly amount: bigint } {
  const { amount, currency, chainId } = terms.origin;
  if (way === "wrongCurrency") {
    const side = chainId === world.chains[0].chain.id ? 0 : 1;
    const asset = currency === NATIVE ? "usdc" : "eth";
    return { currency: currencyAt(world, side, asset), amount: worth(world, side, asset, 10) };
  }
  const sums = {
    exact: amount,
    stranger: amount,
    unknownOrder: amount,
    less: amount / 2n,
    more: amount + amount / 10n,
  };
  return { currency, amount: way === "dust" ? 1n : sums[way] };
}

/** The quoted payment on one chain without the request's id, so that it could be for anything. */
function paymentWithoutId({ terms: { origin, recipient } }: Quoted): {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
} {
  const { currency, amount } = origin;
  return currency === NATIVE
    ? { to: recipient, data: "0x", value: amount }
    : { to: currency, data: transferData(recipient, amount), value: 0n };
}

/** A deposit that differs from the agreed one. */
function depositOf(
  quoted: Quoted,
  way: PaymentWay,
  depository: Address,
  world: SequenceWorld,
): { readonly to: Address; readonly data: Hex; readonly value: bigint } {
  const { user, orderId } = quoted.terms;
  const { currency, amount } = sumOf(quoted, way, world);
  const id = way === "unknownOrder" ? world.bytes32() : orderId;
  return currency === NATIVE
    ? { to: depository, data: depositNativeCalldata(user, id), value: amount }
    : { to: depository, data: depositErc20Calldata(user, currency, amount, id), value: 0n };
}

async function sendTo(
  world: SequenceWorld,
  chainId: number,
  from: Address,
  to: Address,
  currency: Address,
  amount: bigint,
): Promise<void> {
  const { memory } = world.chainOf(chainId);
  if (currency === NATIVE) await memory.send(from, { to, value: amount });
  else await memory.send(from, { to: currency, data: transferData(to, amount) });
}

/** A call that the service sends for a user, with gas paid by an app. */
async function execute(world: SequenceWorld, action: ActionOf<"execute">): Promise<Outcome> {
  const key = keyOf(world, action.app);
  const quoted = pick(world.quotes, action.quote);
  if (key === undefined) return "skipped";
  const { chain } = world.chains[action.chain];
  const call = callOf(world, action, quoted);
  if (call === undefined) return "skipped";
  const outcome = await executeCalls(
    { ...world.api, random: { bytes32: () => world.bytes32() } },
    key,
    {
      executionKind: "rawCalls",
      data: { chainId: call.chainId ?? chain.id, to: call.to, data: call.data, value: call.value.toString() },
      executionOptions: { referrer: "", subsidizeFees: action.subsidized || call.requestId === undefined },
      ...(call.requestId !== undefined && { requestId: call.requestId }),
    },
    undefined,
  );
  if (outcome.kind !== "accepted") return "refused";
  await world.act();
  return "done";
}

interface ExecutedCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly chainId?: number;
  readonly requestId?: RequestId;
}

function callOf(
  world: SequenceWorld,
  { target, chain: at }: ActionOf<"execute">,
  quoted: Quoted | undefined,
): ExecutedCall | undefined {
  const { chain } = world.chains[at];
  switch (target) {
    case "sink":
      return { to: SINK, data: "0x12345678", value: 0n };
    case "burner":
      return { to: BURNER, data: "0x12345678", value: 0n };
    case "mint":
      return { to: SINK, data: "0x", value: 10n ** 15n };
    case "steal": {
      // A victim's money at a deposit address, deposited for an order of the thief.
      const victim = world.quotes.find(({ terms }) => terms.depositAddress !== undefined);
      const thief = world.quotes.findLast(({ terms }) => terms.depositAddress === undefined);
      const factory = chain.contracts.depositAddressFactory;
      if (victim === undefined || thief === undefined || factory === undefined) return undefined;
      const { depositAddress, origin, user, orderId } = victim.terms;
      if (depositAddress === undefined) return undefined;
      const key: DepositAddressKey = {
        id: orderId,
        depositor: user,
        recovery: depositAddress.recovery,
        strict: depositAddress.strict,
      };
      return {
        ...sweepCall(factory, key, origin.currency, [
          { amount: origin.amount, orderId: thief.terms.orderId },
        ]),
        chainId: origin.chainId,
      };
    }
    case "deposit": {
      // The quote's own step; the executor has none of the tokens, so that only what fails or costs nothing
      // succeeds.
      if (quoted === undefined) return undefined;
      const [step] = transactionsOf(quoted.answer.steps);
      if (step === undefined) return undefined;
      return {
        to: lower(step.to as string),
        data: step.data as Hex,
        value: BigInt(step.value),
        chainId: quoted.terms.origin.chainId,
        requestId: quoted.requestId,
      };
    }
    default:
      return target satisfies never;
  }
}

/** What a stranger or the holder of the recovery key does at a deposit address. */
async function meddle(world: SequenceWorld, { quote: at, how }: ActionOf<"meddle">): Promise<Outcome> {
  const withAddress = world.quotes.filter(({ terms }) => terms.depositAddress !== undefined);
  const quoted = pick(withAddress, at);
  if (quoted?.terms.depositAddress === undefined) return "skipped";
  const { origin, user, orderId, depositAddress } = quoted.terms;
  const { chain, memory } = world.chainOf(origin.chainId);
  const mallory = world.users[2] ?? NATIVE;
  const { depositAddressFactory: factory } = chain.contracts;
  if (factory === undefined) return "skipped";
  const key = {
    id: orderId,
    depositor: user,
    recovery: depositAddress.recovery,
    strict: depositAddress.strict,
  };
  if (how === "dust")
    await sendTo(world, origin.chainId, mallory, depositAddress.address, origin.currency, 1n);
  else
    await memory.send(how === "recover" ? user : mallory, {
      to: factory,
      data: encodeFunctionData({
        abi: depositAddressFactoryAbi,
        functionName: how === "recover" ? "recover" : "sweepStrict",
        args: [key, origin.currency],
      }),
    });
  return "done";
}

/** Any client reports any transaction for any request. */
async function report(
  world: SequenceWorld,
  { quote: at, transaction }: ActionOf<"report">,
): Promise<Outcome> {
  const quoted = pick(world.quotes, at);
  if (quoted === undefined) return "skipped";
  const { memory, chain } = world.chainOf(quoted.terms.origin.chainId);
  const known = [
    ...memory.blocks.flatMap(({ transactions }) => transactions.map((one) => one.transaction)),
    ...memory.pool,
  ];
  const reported = pick(known, transaction);
  if (reported === undefined) return "skipped";
  await indexTransaction(world.api, {
    chainId: chain.id,
    txHash: reported.hash,
    requestId: quoted.requestId,
  });
  return "done";
}

async function reorg(world: SequenceWorld, { chain, depth, fate }: ActionOf<"reorg">): Promise<void> {
  const { memory } = world.chains[chain];
  const isOurs = (sender: Address): boolean => OUR_KEYS.includes(sender);
  if (fate !== "signedAgain") return await memory.reorg(depth, fate, isOurs);
  const { length } = memory.blocks;
  const dropped = memory.blocks
    .slice(length - depth)
    .flatMap(({ transactions }) => transactions.map(({ transaction }) => transaction))
    .filter(({ from }) => !isOurs(from));
  await memory.reorg(depth, "droppedUsers", isOurs);
  for (const { from, to, input: data, value } of dropped) await memory.send(from, { to, data, value });
}

async function trade(world: SequenceWorld, { chain, asset, buys, usd }: ActionOf<"trade">): Promise<Outcome> {
  if (world.services.liquidity.sources(world.chains[chain].chain.id).length === 0) return "skipped";
  const paid = buys ? "usdc" : asset;
  const path = [currencyAt(world, chain, paid), currencyAt(world, chain, buys ? asset : "usdc")];
  const trader = world.users[2] ?? NATIVE;
  const amount = worth(world, chain, paid, usd);
  await world.chains[chain].memory.send(
    trader,
    swapCall({ exactIn: true, path, amount, limit: 0n, to: trader }),
  );
  return "done";
}

const ONE_USD = 10n ** 18n;
const rulesOf = {
  loose: { maxCallValueUsd: 10n ** 20n, allowUnsubmitted: true },
  tight: {
    maxCallValueUsd: ONE_USD,
    maxHoldsUsd: 100n * ONE_USD,
    maxFastFillUsd: 60n * ONE_USD,
    dailyUsd: ONE_USD,
  },
  nothing: { maxCallValueUsd: 0n, maxHoldsUsd: 0n, maxFastFillUsd: 0n, dailyUsd: 0n },
} as const;
const listOf = {
  all: FIRST_CONFIGURATION.balanceCurrencies,
  usdc: ["usdc"],
  withoutTst: ["usdc", "eth"],
  withoutUsdc: ["eth", "tst", "weth", "odd"],
} as const;

async function dies(world: SequenceWorld, work: () => Promise<void>): Promise<Outcome> {
  const before = world.deaths;
  await work();
  return world.deaths > before ? "done" : "skipped";
}

async function rotate(world: SequenceWorld, { role, kept }: ActionOf<"rotate">): Promise<Outcome> {
  const rotated =
    role === "solver"
      ? await rotateSolver(world, kept)
      : role === "executor"
        ? await rotateExecutor(world)
        : await rotateOperator(world);
  return rotated === true ? "done" : "skipped";
}

/** An app sends money to the solver, marked as its own. */
export async function topUp(
  world: SequenceWorld,
  app: number,
  asset: "usdc" | "eth",
  amount: bigint,
): Promise<Outcome> {
  const { memory } = homeOf(world);
  const wallet = world.apps[app]?.fundingAddress;
  if (wallet === undefined) return "skipped";
  if (asset === "eth")
    await memory.send(wallet, { to: world.solver, data: `0x${TOP_UP_TAIL}`, value: amount });
  else
    await memory.send(wallet, {
      to: currencyAt(world, 0, asset),
      data: `${transferData(world.solver, amount)}${TOP_UP_TAIL}`,
    });
  return "done";
}

async function claim(world: SequenceWorld, { app, asset, part }: ActionOf<"claim">): Promise<Outcome> {
  const wallet = world.apps[app]?.fundingAddress;
  if (wallet === undefined) return "skipped";
  const random = { bytes32: () => world.bytes32() };
  const question = {
    wallet,
    chainId: homeOf(world).chain.id,
    currency: currencyAt(world, 0, asset),
    recipient: wallet,
  };
  const whole = await offerClaim({ ...world.api, random }, { ...question, amount: undefined });
  const chosen =
    part === 100
      ? whole
      : await offerClaim(
          { ...world.api, random },
          { ...question, amount: (whole.amount * BigInt(part)) / 100n },
        );
  await acceptClaim({ ...world.api, signatures: { isSignedBy: async () => true } }, chosen.claimId, "0x");
  return "done";
}

async function fastFill(
  world: SequenceWorld,
  { quote: at, app, part, named }: ActionOf<"fastFill">,
): Promise<Outcome> {
  const quoted = pick(world.quotes, at);
  const key = keyOf(world, app);
  if (quoted === undefined || key === undefined) return "skipped";
  const { memory } = world.chainOf(quoted.terms.origin.chainId);
  const origin = memory.pool.find(({ input }) => input.includes(quoted.terms.orderId.slice(2)));
  await requestFastFill(world.api, {
    key,
    requestId: quoted.requestId as RequestId,
    ...(part < 100 && { inputAmount: (quoted.terms.origin.amount * BigInt(part)) / 100n }),
    ...(named && origin !== undefined && { txHash: origin.hash }),
  });
  await world.act();
  return "done";
}

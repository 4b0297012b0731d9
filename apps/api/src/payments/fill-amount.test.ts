import type { RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  aChain,
  aQuoteInput,
  DESTINATION,
  lockedOn,
  market,
  NOW_MS,
  ORIGIN,
  quoteWorld,
  rareOn,
  usdcOn,
  wethOn,
} from "../../../../test/fakes/quote-world.ts";
import type { QuoteWorld, QuoteWorldOptions } from "../../../../test/fakes/quote-world.ts";
import { aConnectedNonEvmChain, hyperliquid } from "../../../../test/fakes/non-evm-chains.ts";
import { createQuote } from "../quotes/create-quote.ts";
import { fillSwapQuoter } from "./fill-swap.ts";
import type { FillSwapQuoter } from "./fill-swap.ts";
import { amountToPay } from "./fill-amount.ts";
import type { AmountDue, RequestEnds } from "./fill-amount.ts";

/** A quote for the locked token, which is swapped before its deposit. */
async function quoteAndStore(
  world: QuoteWorldOptions = {},
): Promise<{ services: QuoteWorld; terms: RequestTerms }> {
  const services = quoteWorld({ pools: market(), ...world });
  await createQuote(
    services,
    aQuoteInput({
      originCurrency: lockedOn(ORIGIN),
      destinationCurrency: rareOn(DESTINATION),
      amount: (200n * 10n ** 18n).toString(),
    }),
  );
  return { services, terms: services.stored[0]! };
}

function swapQuoterOf(
  { liquidity, quotePolicy: { gas } }: QuoteWorld,
  { destination: { paidFrom, currency } }: RequestTerms,
  { destination: { chain } }: RequestEnds,
): FillSwapQuoter | undefined {
  return paidFrom && fillSwapQuoter(liquidity, chain, { paidFrom, currency }, gas.routed);
}

/** The amount due for a deposit of this amount. */
async function amountDueFor(
  { services, terms }: Awaited<ReturnType<typeof quoteAndStore>>,
  amount: bigint,
  ends: RequestEnds = {
    origin: services.chains.get(ORIGIN)!,
    destination: services.chains.get(DESTINATION)!,
  },
): Promise<AmountDue> {
  return await amountToPay(
    services as unknown as Parameters<typeof amountToPay>[0],
    { terms },
    { kind: "deposit", deposit: { amount, seenAtMs: NOW_MS } },
    ends,
    { toContract: false, execution: undefined, swapQuoter: swapQuoterOf(services, terms, ends) },
  );
}

test("pays in proportion for a deposit above the expected swap output, up to the limit of one request", async () => {
  const world = await quoteAndStore();
  const { origin, destination } = world.terms;
  expect(origin.currency).toBe(usdcOn(ORIGIN));
  expect(origin.minimumAmount).toBeLessThan(origin.amount);
  const quoted = await amountDueFor(world, origin.amount);
  expect(quoted).toMatchObject({ kind: "pay", amount: destination.expectedAmount });
  // One request gets at most 1,000 of the rare token at $5: a user's own deposit looks like a swap's output.
  expect(await amountDueFor(world, 4_900n * 10n ** 6n)).toMatchObject({ kind: "pay" });
  expect(await amountDueFor(world, 5_100n * 10n ** 6n)).toEqual({
    kind: "refund",
    reason: "SOLVER_CAPACITY_EXCEEDED",
  });
});

test.each(["origin", "destination"] as const)(
  "refuses a larger deposit when the %s limits the value of requests",
  async (side) => {
    // $2,000 of native tokens.
    const world = await quoteAndStore({ [side]: { partialDisableLimit: 10n ** 18n } });
    expect(await amountDueFor(world, 1_900n * 10n ** 6n)).toMatchObject({ kind: "pay" });
    expect(await amountDueFor(world, 2_100n * 10n ** 6n)).toMatchObject({
      reason: "SOLVER_CAPACITY_EXCEEDED",
    });
  },
);

test("includes the activation fee that Hyperliquid charges for this recipient", async () => {
  let cost = 0n;
  const connection = aConnectedNonEvmChain("hypevm", { connection: { paymentCost: async () => cost } });
  const services = quoteWorld({ nonEvmChains: [connection] });
  await createQuote(
    services,
    aQuoteInput({
      originCurrency: usdcOn(ORIGIN),
      destinationChainId: connection.chain.id,
      destinationCurrency: hyperliquid.perps,
      recipient: `0x${"5a".repeat(20)}`,
      amount: "10000000",
    }),
  );
  const terms = services.stored[0]!;
  const due = async () =>
    await amountDueFor({ services, terms }, terms.origin.amount, {
      origin: services.chains.get(ORIGIN)!,
      destination: connection,
    });
  expect(await due()).toEqual(
    expect.objectContaining({ kind: "pay", amount: terms.destination.expectedAmount }),
  );
  // A dollar of ten is more than the solver covers.
  cost = 100_000_000n;
  expect(await due()).toMatchObject({ kind: "refund" });
});

test("does not make a firm same-asset quote an option on the intermediate asset", async () => {
  const origin = aChain(ORIGIN);
  const tokens = origin.tokens.map((token) => ({
    ...token,
    supportsBridging: token.address === wethOn(ORIGIN),
  }));
  const native = { ...origin.native, supportsBridging: false };
  const prices: Record<string, bigint> = {};
  const services = quoteWorld({ pools: market(), origin: { tokens, native } });
  const usd = services.prices.usd;
  services.prices.usd = (currency) => prices[currency.priceId] ?? usd(currency);
  await createQuote(services, aQuoteInput({ destinationCurrency: usdcOn(DESTINATION) }));
  const terms = services.stored[0]!;
  expect(terms).toMatchObject({ pairClass: "sameAsset", origin: { currency: wethOn(ORIGIN) } });
  const due = async (priceUsd: bigint) => {
    prices["ethereum"] = (priceUsd * 10n ** 18n) / 100n;
    const amountDue = await amountDueFor({ services, terms }, terms.origin.amount);
    return amountDue.kind === "pay" ? amountDue.amount : undefined;
  };
  const { expectedAmount } = terms.destination;
  expect(await due(199_950n)).toBe(expectedAmount);
  // Half a percent less: within the tolerance for one asset, beyond the fee of such a pair.
  expect(await due(199_000n)).toBeLessThan((expectedAmount * 9_960n) / 10_000n);
});

test("pays out unspent origin gas as far as the fill's pools allow", async () => {
  const services = quoteWorld({ pools: market() });
  const amount = (1_000_000n * 10n ** 6n).toString();
  const input = aQuoteInput({
    destinationCurrency: lockedOn(DESTINATION),
    amount,
    overridePriceImpact: true,
  });
  await createQuote(services, input);
  // A tenth of a large deposit was for a transaction that the user then sent themselves.
  const quoted = services.stored[0]!;
  const destination = { ...quoted.destination, minimumAmount: 1n };
  const terms = { ...quoted, destination, originGasUsd: 100_000n * 10n ** 18n };
  const due = await amountDueFor({ services, terms }, terms.origin.amount);
  if (due.kind !== "pay" || due.budget === undefined) throw new Error("expected a fill that swaps");
  const cost = await services.liquidity.exactOut(
    {
      chainId: DESTINATION,
      tokenIn: usdcOn(DESTINATION),
      tokenOut: lockedOn(DESTINATION),
      included: undefined,
      excluded: new Set(),
      maxHops: 3,
      shouldQueryExternal: false,
    },
    due.amount,
  );
  expect(cost!.amountIn).toBeLessThanOrEqual(due.budget.planned);
  expect(cost!.amountIn).toBeGreaterThan((due.budget.planned * 998n) / 1_000n);
});

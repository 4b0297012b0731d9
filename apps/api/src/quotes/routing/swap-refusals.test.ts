import type { ErrorCode } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import { answerFor } from "@causeway/service-kit";
import type { QuoteInput } from "@causeway/wire";
import { expect, test } from "vitest";
import {
  aChain,
  aQuoteInput,
  DESTINATION,
  foreignOn,
  lockedOn,
  lonelyOn,
  market,
  ORIGIN,
  PAIRS,
  quoteWorld,
  rareOn,
  SMALL_PAIRS,
  strangeOn,
  usdcOn,
  user,
  wethOn,
} from "../../../../../test/fakes/quote-world.ts";
import type { QuoteWorldOptions } from "../../../../../test/fakes/quote-world.ts";
import { createQuote } from "../create-quote.ts";

const recipient = "0x2222222222222222222222222222222222222222";
const sameChain = { originChainId: ORIGIN, destinationChainId: ORIGIN };
const locked = { originCurrency: lockedOn(ORIGIN), amount: (200n * 10n ** 18n).toString() };

interface RefusalAnswer {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly data: unknown;
}

async function refusalOf(input: Partial<QuoteInput>, world: QuoteWorldOptions = {}): Promise<RefusalAnswer> {
  const services = quoteWorld({ pools: market(), ...world });
  const thrown: unknown = await createQuote(services, aQuoteInput(input)).then(
    () => "quoted",
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ServiceError);
  expect(services.stored, "a refused quote must not be stored").toEqual([]);
  const { status, body } = answerFor(thrown);
  return { status, code: body.errorCode, message: body.message, data: body.errorData };
}

test("distinguishes an address that is not a token from a token without a pool", async () => {
  expect(await refusalOf({ originCurrency: user })).toEqual({
    status: 400,
    code: "INVALID_INPUT_CURRENCY",
    message: `Invalid input or output currency: originCurrency ${user} is not a token contract on Chain ${ORIGIN}`,
    data: { field: "originCurrency" },
  });
  expect(await refusalOf({ destinationCurrency: user })).toMatchObject({
    status: 400,
    code: "INVALID_OUTPUT_CURRENCY",
    data: { field: "destinationCurrency" },
  });
  const noRoute = { status: 400, code: "NO_SWAP_ROUTES_FOUND", message: "No routes found", data: undefined };
  expect(await refusalOf({ originCurrency: lonelyOn(ORIGIN) })).toEqual(noRoute);
  expect(await refusalOf({ destinationCurrency: lonelyOn(DESTINATION) })).toEqual(noRoute);
  expect(await refusalOf({ ...sameChain, originCurrency: lonelyOn(ORIGIN) })).toEqual(noRoute);
});

test("without pools, only configured currencies exist and only held ones are bridged", async () => {
  const withoutPools = { origin: { liquidity: undefined } };
  expect((await refusalOf({ originCurrency: foreignOn(ORIGIN) }, withoutPools)).code).toBe(
    "INVALID_INPUT_CURRENCY",
  );
  expect(await refusalOf(locked, withoutPools)).toEqual({
    status: 400,
    code: "UNSUPPORTED_CURRENCY",
    message:
      "originCurrency LOCKED cannot be bridged from or to Chain 72001; use a currency that GET /chains lists with supportsBridging",
    data: { field: "originCurrency" },
  });
});

test("refuses swaps that cost too much of the value, unless the client allows them", async () => {
  // Half of the pool.
  const huge = {
    ...locked,
    amount: (500_000n * 10n ** 18n).toString(),
    destinationCurrency: usdcOn(DESTINATION),
  };
  const refused = await refusalOf(huge);
  expect(refused).toEqual({
    status: 400,
    code: "SWAP_IMPACT_TOO_HIGH",
    message: "Swap impact is 3346 bps (maximum 1500); lower amount, or set overridePriceImpact",
    data: { field: "amount", swapImpactBps: 3_346, maxSwapImpactBps: 1_500 },
  });
  const services = quoteWorld({ pools: market() });
  const { details } = await createQuote(services, aQuoteInput({ ...huge, overridePriceImpact: true }));
  expect(Number(details.swapImpact.percent)).toBeCloseTo(-33.5, 0);
  expect((await refusalOf({ ...huge, ...sameChain, destinationCurrency: usdcOn(ORIGIN) })).code).toBe(
    "SWAP_IMPACT_TOO_HIGH",
  );
});

test("refuses a pool far off known prices even if it has enough liquidity", async () => {
  const offPrice = market().map((pair) =>
    pair.tokens[0] === lockedOn(ORIGIN)
      ? { ...pair, reserves: [10n ** 24n, 2n * 10n ** 12n] as const }
      : pair,
  );
  expect(
    (await refusalOf({ ...locked, destinationCurrency: usdcOn(DESTINATION) }, { pools: offPrice })).code,
  ).toBe("SWAP_IMPACT_TOO_HIGH");
});

test("distinguishes a source that is unreachable from one without an answer", async () => {
  const fault = new ServiceError("RPC_HTTP_ERROR", "Pools could not be read");
  const poolsAre = { fails: () => fault };
  const unavailable = {
    status: 503,
    code: "RPC_HTTP_ERROR",
    message: "Pools could not be read",
    data: undefined,
  };
  expect(await refusalOf(locked, { poolBehavior: poolsAre })).toEqual(unavailable);
  expect(await refusalOf({ ...sameChain, ...locked }, { poolBehavior: poolsAre })).toEqual(unavailable);
  expect(await refusalOf({ destinationCurrency: lockedOn(DESTINATION) }, { poolBehavior: poolsAre })).toEqual(
    unavailable,
  );
  // A currency that the solver holds needs no source.
  const services = quoteWorld({ pools: market(), poolBehavior: poolsAre });
  await expect(createQuote(services, aQuoteInput({ ...sameChain }))).resolves.toBeDefined();
});

test("when only external sources could have a route, the error tells the client how to allow them", async () => {
  const world = { external: [PAIRS] };
  expect(await refusalOf({ ...locked, useExternalLiquidity: false }, world)).toEqual({
    status: 400,
    code: "NO_INTERNAL_SWAP_ROUTES_FOUND",
    message: "No routes found in the liquidity of this service; try useExternalLiquidity",
    data: { field: "useExternalLiquidity" },
  });
  const services = quoteWorld({ pools: market(), ...world });
  await expect(createQuote(services, aQuoteInput(locked))).resolves.toBeDefined();
});

test("never guarantees a fill that only an aggregator could swap", async () => {
  const world = { external: [PAIRS] };
  const bought = { destinationCurrency: lockedOn(DESTINATION) };
  for (const change of [{}, { useExternalLiquidity: true }, { includedDestinationSwapSources: [PAIRS] }])
    expect((await refusalOf({ ...bought, ...change }, world)).code).toBe("NO_SWAP_ROUTES_FOUND");
});

test.each([
  "includedSwapSources",
  "excludedSwapSources",
  "includedOriginSwapSources",
  "includedDestinationSwapSources",
] as const)("names an unknown source in %s", async (field) => {
  const refused = await refusalOf({ [field]: [PAIRS, "nobody's"] });
  expect(refused).toMatchObject({
    status: 400,
    code: "INVALID_REQUEST",
    message: `${field}: unknown swap sources nobody's; GET /swap-sources lists the supported ones`,
    data: { field, unknown: ["nobody's"] },
  });
});

test("limits on sources or path length may leave no route", async () => {
  const toForeign = { destinationCurrency: foreignOn(DESTINATION) };
  expect((await refusalOf({ ...toForeign, includedSwapSources: [SMALL_PAIRS] })).code).toBe(
    "NO_SWAP_ROUTES_FOUND",
  );
  // From the locked token to the foreign one there are three pools: LOCKED, USDC, WETH.
  const threePools = { ...sameChain, ...locked, destinationCurrency: foreignOn(ORIGIN) };
  expect((await refusalOf({ ...threePools, maxRouteLength: "2" })).code).toBe("NO_SWAP_ROUTES_FOUND");
  await expect(
    createQuote(quoteWorld({ pools: market() }), aQuoteInput({ ...threePools, maxRouteLength: "3" })),
  ).resolves.toBeDefined();
});

test("the solver buys no untrusted tokens, but users may buy them and pay with them", async () => {
  const strange = strangeOn(ORIGIN);
  const refused = {
    status: 400,
    code: "UNSUPPORTED_ROUTE",
    message: expect.stringContaining(
      "destinationCurrency FOR is not in a token list of this service; quote it from a currency on the same chain",
    ) as string,
    data: { field: "destinationCurrency" },
  };
  expect(await refusalOf({ destinationCurrency: strangeOn(DESTINATION) })).toEqual(refused);
  const swap = { ...sameChain, originCurrency: usdcOn(ORIGIN), destinationCurrency: strange };
  expect(await refusalOf({ ...swap, forceSolverExecution: true })).toEqual(refused);
  const world = { pools: market() };
  for (const change of [swap, { originCurrency: strange, amount: "1000000000000" }]) {
    const services = quoteWorld(world);
    await createQuote(services, aQuoteInput(change));
    expect(services.stored).toHaveLength(1);
  }
});

test("without origin swaps, only currencies that the solver holds are accepted as input", async () => {
  expect((await refusalOf({ ...locked, disableOriginSwaps: true })).code).toBe("NO_SWAP_ROUTES_FOUND");
  expect((await refusalOf({ ...sameChain, ...locked, disableOriginSwaps: true })).code).toBe(
    "NO_SWAP_ROUTES_FOUND",
  );
});

test("an input below the fees is refused with the minimum in the user's currency", async () => {
  const refused = await refusalOf({
    ...locked,
    amount: "1000000000000",
    destinationCurrency: usdcOn(DESTINATION),
  });
  expect(refused).toMatchObject({ status: 400, code: "AMOUNT_TOO_LOW" });
  const { minimumAmount } = refused.data as { minimumAmount: string };
  const quote = async (amount: bigint) =>
    await createQuote(
      quoteWorld({ pools: market() }),
      aQuoteInput({
        ...locked,
        amount: amount.toString(),
        destinationCurrency: usdcOn(DESTINATION),
        overridePriceImpact: true,
      }),
    );
  await expect(quote(BigInt(minimumAmount))).resolves.toBeDefined();
  // The inverse of the pool's formula may be one unit too high.
  await expect(quote((BigInt(minimumAmount) * 99n) / 100n)).rejects.toMatchObject({ code: "AMOUNT_TOO_LOW" });
});

test("refuses a one-chain swap that is worth almost nothing", async () => {
  const dust = {
    ...sameChain,
    ...locked,
    destinationCurrency: usdcOn(ORIGIN),
    amount: (9n * 10n ** 15n).toString(),
  };
  expect(await refusalOf(dust)).toEqual({
    status: 400,
    code: "AMOUNT_TOO_LOW",
    message:
      "amount: the input of a swap on one chain must be worth at least $0.05, which is 10000000000000000 (0.01 LOCKED), got $0.045000",
    data: { field: "amount" },
  });
  // Without a price source, pools determine the value.
  const foreignDust = {
    ...sameChain,
    originCurrency: foreignOn(ORIGIN),
    destinationCurrency: usdcOn(ORIGIN),
  };
  expect((await refusalOf({ ...foreignDust, amount: (4n * 10n ** 9n).toString() })).code).toBe(
    "AMOUNT_TOO_LOW",
  );
});

test("reports insufficient liquidity, not a missing route, when the solver's balances are too low", async () => {
  expect(await refusalOf({ destinationCurrency: lockedOn(DESTINATION) }, { inventory: 10n })).toMatchObject({
    status: 400,
    code: "INSUFFICIENT_LIQUIDITY",
    data: { field: "amount" },
  });
  const capped = { origin: { partialDisableLimit: 10n ** 15n } };
  expect(await refusalOf({ ...locked, destinationCurrency: usdcOn(DESTINATION) }, capped)).toMatchObject({
    status: 400,
    code: "ROUTE_TEMPORARILY_RESTRICTED",
  });
  expect((await refusalOf({ ...sameChain, ...locked }, capped)).code).toBe("ROUTE_TEMPORARILY_RESTRICTED");
});

test("finds no route for an output that no pool can pay", async () => {
  const tooLarge = {
    ...sameChain,
    ...locked,
    destinationCurrency: usdcOn(ORIGIN),
    tradeType: "EXACT_OUTPUT",
    amount: (10n ** 14n).toString(),
  } as const;
  expect((await refusalOf(tooLarge)).code).toBe("NO_SWAP_ROUTES_FOUND");
});

test("refuses the bought token and the wrapped native token as the recipient", async () => {
  const trapped = { status: 400, code: "INVALID_RECIPIENT" };
  expect(
    await refusalOf({ destinationCurrency: foreignOn(DESTINATION), recipient: foreignOn(DESTINATION) }),
  ).toMatchObject({ ...trapped, data: { field: "recipient" } });
  const tokens = aChain(DESTINATION).tokens.filter(({ id }) => id !== "weth");
  expect(await refusalOf({ recipient: wethOn(DESTINATION) }, { destination: { tokens } })).toMatchObject(
    trapped,
  );
});

test("requires a price for the deposited currency, but not for one that is only swapped", async () => {
  const services = quoteWorld({ pools: market() });
  const usd = async (currency: { readonly priceId: string }): Promise<bigint> => {
    if (currency.priceId === "rare") throw new ServiceError("PRICE_FETCH_FAILED", "no fresh price");
    return currency.priceId === "ethereum" ? 2_000n * 10n ** 18n : 10n ** 18n;
  };
  const quote = async (input: Partial<QuoteInput>) =>
    await createQuote({ ...services, prices: { usd } }, aQuoteInput(input));
  const { details } = await quote({ ...locked, destinationCurrency: usdcOn(DESTINATION) });
  expect(Number(details.currencyIn.amountUsd)).toBeCloseTo(997, 0);
  await expect(quote({ originCurrency: rareOn(ORIGIN) })).rejects.toMatchObject({
    code: "PRICE_FETCH_FAILED" satisfies ErrorCode,
  });
});

test("shows a currency without a price as unpriced, and never as a loss", async () => {
  const pools = [
    {
      chainId: ORIGIN,
      source: PAIRS,
      tokens: [foreignOn(ORIGIN), lonelyOn(ORIGIN)] as const,
      reserves: [10n ** 18n, 10n ** 18n] as const,
    },
  ];
  const { details } = await createQuote(
    quoteWorld({ pools }),
    aQuoteInput({
      ...sameChain,
      originCurrency: foreignOn(ORIGIN),
      destinationCurrency: lonelyOn(ORIGIN),
      amount: "1000000000",
      recipient,
    }),
  );
  expect(details.currencyOut.amountUsd).toBe("0");
  expect(details.totalImpact).toEqual({ usd: "0.000000", percent: "0.00" });
  expect(details.currencyIn.currency.address).not.toBe(NATIVE_CURRENCY);
});

import type { Address, ErrorCode } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import { quoteAnswer } from "@causeway/wire";
import type { QuoteInput } from "@causeway/wire";
import { expect, test } from "vitest";
import {
  aChain,
  aQuoteInput,
  DESTINATION,
  lockedOn,
  market,
  ORIGIN,
  quoteWorld,
  strangeOn,
  usdcOn,
  user,
} from "../../../../../test/fakes/quote-world.ts";
import {
  type AppBalances,
  aPayingAppKey,
  sponsor,
  withAppBalances,
} from "../../../../../test/fakes/paying-app.ts";
import type { QuoteWorld, QuoteWorldOptions } from "../../../../../test/fakes/quote-world.ts";
import type { QuoteKey } from "../../balances/sponsors.port.ts";
import { createQuote } from "../create-quote.ts";
import { priceIntent } from "../price-intent.ts";

const USD = 10n ** 18n;
const app: Address = "0x8888888888888888888888888888888888888888";
const otherRecipient: Address = "0x7777777777777777777777777777777777777777";

const feeWorld = (world: QuoteWorldOptions = {}, balances?: AppBalances): QuoteWorld =>
  withAppBalances(quoteWorld(world), balances);

/** 100 USDC between two chains: the deposit pays $0.02 and gas. */
const aBridge = (change: Partial<QuoteInput> = {}): QuoteInput =>
  aQuoteInput({ destinationCurrency: usdcOn(DESTINATION), ...change });

async function refusalOf(
  input: QuoteInput,
  { key, services = feeWorld() }: { readonly key?: QuoteKey; readonly services?: QuoteWorld } = {},
): Promise<{ code: ErrorCode; field: string | undefined; data: unknown }> {
  const error: unknown = await createQuote(services, input, key?.id, key).then(
    () => "quoted",
    (refusal: unknown) => refusal,
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect(services.stored, "a refused quote must not be stored").toEqual([]);
  const { code, facts } = error as ServiceError;
  return { code, field: facts.field, data: facts.data };
}

test("app fees appear in the fees, the impact and the terms, and reduce the output", async () => {
  const plain = await createQuote(feeWorld(), aBridge());
  const services = feeWorld();
  const answer = await createQuote(
    services,
    aBridge({
      appFees: [
        { recipient: app, fee: "25" },
        { recipient: otherRecipient, fee: 0 },
        { recipient: otherRecipient, fee: 5 },
        { recipient: app, fee: 10 },
      ],
    }),
  );
  expect(answer.fees.app.amount).toBe("400000");
  expect(answer.details.expandedPriceImpact.app).toEqual({ usd: "-0.400000" });
  expect(BigInt(answer.details.currencyOut.amount)).toBe(BigInt(plain.details.currencyOut.amount) - 400_000n);
  expect(services.stored[0]).toMatchObject({
    appFeesUsd: (4n * USD) / 10n,
    appFees: {
      chainId: ORIGIN,
      currency: usdcOn(ORIGIN),
      fees: [
        { recipient: app, bps: 35, amount: 350_000n },
        { recipient: otherRecipient, bps: 5, amount: 50_000n },
      ],
    },
  });
});

test("credits app fees in the currency of app balances, at the quote's prices and rounded down", async () => {
  const services = feeWorld();
  await createQuote(
    services,
    aQuoteInput({
      originCurrency: NATIVE_CURRENCY,
      amount: "1000000000000000001",
      appFees: [{ recipient: app, fee: "7" }],
    }),
  );
  // 7 bps of 1 ETH at $2000.
  expect(services.stored[0]?.appFees?.fees).toEqual([{ recipient: app, bps: 7, amount: 1_400_000n }]);
});

test("refuses app fees that are invalid or could not be collected", async () => {
  const fees = (fee: string, recipient: string = app) => ({ appFees: [{ recipient, fee }] });
  const send = aQuoteInput({
    destinationChainId: ORIGIN,
    destinationCurrency: usdcOn(ORIGIN),
    recipient: otherRecipient,
    ...fees("10"),
  });
  expect(await refusalOf(send)).toMatchObject({ code: "UNSUPPORTED_EXECUTION_TYPE", field: "appFees" });
  expect(await refusalOf(aBridge(fees("10", "0x01")))).toMatchObject({
    code: "INVALID_ADDRESS",
    field: "appFees",
  });
  expect(await refusalOf(aBridge(fees("10", NATIVE_CURRENCY)))).toMatchObject({ code: "INVALID_ADDRESS" });
  expect(await refusalOf(aBridge(fees("5001")))).toMatchObject({ code: "INVALID_REQUEST", field: "appFees" });
  expect(await refusalOf(aBridge(fees("10")), { services: quoteWorld() })).toMatchObject({
    code: "UNSUPPORTED_EXECUTION_TYPE",
    field: "appFees",
  });
});

test("refuses sponsors and gas top-ups for payments that the user makes", async () => {
  const send = (fields: Partial<QuoteInput>) =>
    aQuoteInput({
      destinationChainId: ORIGIN,
      destinationCurrency: usdcOn(ORIGIN),
      recipient: otherRecipient,
      ...fields,
    });
  const code = "UNSUPPORTED_EXECUTION_TYPE";
  expect(await refusalOf(send({ subsidizeFees: true }), { key: aPayingAppKey() })).toMatchObject({
    code,
    field: "subsidizeFees",
  });
  expect(await refusalOf(send({ topupGas: true }))).toMatchObject({ code, field: "topupGas" });
});

test("has the solver fill a same-chain swap with app fees, so that the fees can be collected", async () => {
  const swap = aQuoteInput({ destinationChainId: ORIGIN, destinationCurrency: lockedOn(ORIGIN) });
  const withoutFees = feeWorld({ pools: market() });
  await createQuote(withoutFees, swap);
  expect(withoutFees.stored[0]?.kind).toBe("swap");
  const services = feeWorld({ pools: market() });
  const { fees } = await createQuote(services, { ...swap, appFees: [{ recipient: app, fee: "30" }] });
  expect(services.stored[0]?.kind).toBe("bridge");
  expect(fees.app.amount).toBe("300000");
});

test("a sponsor pays the destination's fees, and the output rises by the same amount", async () => {
  const services = feeWorld();
  const answer = await createQuote(services, aBridge({ subsidizeFees: true }), "key-1", aPayingAppKey());
  expect(quoteAnswer.safeParse(answer).error).toBeUndefined();
  const { details, fees, feeSponsorship } = answer;
  expect(details.currencyOut.amount).toBe("100000000");
  expect(fees.subsidized.amount).toBe(fees.relayer.amount);
  expect(details.totalImpact.usd).toBe("0.000000");
  expect(details.expandedPriceImpact.sponsored?.usd).toBe(fees.relayer.amountUsd);
  expect(feeSponsorship?.quoted).toMatchObject({
    selectedComponents: ["execution", "swap", "relay", "app"],
    capHit: false,
    components: {
      execution: {
        selected: true,
        sponsored: { usd: fees.relayer.amountUsd },
        userPays: { usd: "0.000000" },
      },
      rent: { selected: false, total: { usd: "0.000000" } },
    },
    sponsoredTotal: { usd: fees.relayer.amountUsd },
    userPaysTotal: { usd: "0.000000" },
  });
  expect(services.stored[0]).toMatchObject({
    keyId: "key-1",
    sponsorship: { wallet: sponsor, amount: BigInt(fees.relayer.amount) },
  });
});

test("charges the sponsor for submitting a permit and does not reduce the output", async () => {
  const sponsoredFees = async (change: Partial<QuoteInput>): Promise<bigint> => {
    const services = feeWorld({
      origin: { contracts: { ...aChain(ORIGIN).contracts, permit2: otherRecipient } },
    });
    const signing = {
      ...services,
      executor: { address: app },
      permitTokens: {
        permitsOf: () => ({
          domain: { name: "USD Coin", version: "2" },
          eip3009: true,
          eip2612: false,
        }),
        nonceOf: async () => 0n,
      },
    };
    const input = aBridge({ subsidizeFees: true, ...change });
    const { details } = await createQuote(signing, input, "key-1", aPayingAppKey());
    expect(details.currencyOut.amount).toBe("100000000");
    return services.stored[0]?.sponsorship?.usd ?? 0n;
  };
  const [plain, signed] = [await sponsoredFees({}), await sponsoredFees({ usePermit: true })];
  expect(signed).toBeGreaterThan(plain);
});

test("the user pays the fees above the sponsor's cap", async () => {
  const input = aBridge({
    subsidizeFees: true,
    maxSubsidizationAmount: "30000",
    appFees: [{ recipient: app, fee: "100" }],
  });
  const { details, fees, feeSponsorship } = await createQuote(feeWorld(), input, "key-1", aPayingAppKey());
  expect(fees.subsidized.amount).toBe("30000");
  const allFees = BigInt(fees.relayer.amount) + BigInt(fees.app.amount);
  expect(BigInt(details.currencyOut.amount)).toBe(100_000_000n - allFees + 30_000n);
  expect(feeSponsorship?.quoted).toMatchObject({
    capHit: true,
    maxSubsidizationAmount: "30000",
    sponsoredTotal: { usd: "0.030000" },
    components: { app: { sponsored: { usd: "0.000000" }, userPays: { usd: "1.000000" } } },
  });
});

test("sponsors only the named fees", async () => {
  const input = aBridge({
    subsidizeFees: true,
    sponsoredFeeComponents: ["app"],
    appFees: [{ recipient: app, fee: "100" }],
  });
  const { fees, feeSponsorship } = await createQuote(feeWorld(), input, "key-1", aPayingAppKey());
  expect(fees.subsidized.amount).toBe("1000000");
  expect(feeSponsorship?.quoted.selectedComponents).toEqual(["app"]);
  expect(feeSponsorship?.quoted.userPaysTotal.usd).toBe(fees.relayer.amountUsd);
});

test("the output trade types find the smallest input with a sponsor too", async () => {
  const sponsored = { subsidizeFees: true, maxSubsidizationAmount: "40000" };
  const fees = { appFees: [{ recipient: app, fee: "33" }] };
  for (const tradeType of ["EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const) {
    const change = { tradeType, amount: "49933041000000000", ...sponsored, ...fees };
    const { details } = await createQuote(feeWorld(), aQuoteInput(change), "key-1", aPayingAppKey());
    const bought = async (amount: bigint): Promise<bigint> => {
      const input = aQuoteInput({ amount: amount.toString(), ...sponsored, ...fees });
      const answer = await createQuote(feeWorld(), input, "key-1", aPayingAppKey());
      return BigInt(answer.details.currencyOut.amount);
    };
    const input = BigInt(details.currencyIn.amount);
    expect((await bought(input)) >= 49_933_041_000_000_000n).toBe(true);
    expect((await bought(input - 1n)) < 49_933_041_000_000_000n).toBe(true);
  }
});

test("sponsors the swap of the fill only for trusted tokens", async () => {
  const inputTo = (destinationCurrency: Address) =>
    aQuoteInput({ destinationCurrency, subsidizeFees: true, sponsoredFeeComponents: ["swap"] });
  const world = { pools: market() };
  const trusted = await createQuote(
    feeWorld(world),
    inputTo(lockedOn(DESTINATION)),
    "key-1",
    aPayingAppKey(),
  );
  expect(BigInt(trusted.fees.subsidized.amount)).toBeGreaterThan(0n);
  const plain = await createQuote(
    feeWorld(world),
    aQuoteInput({ destinationCurrency: lockedOn(DESTINATION) }),
  );
  expect(BigInt(trusted.details.currencyOut.amount)).toBeGreaterThan(
    BigInt(plain.details.currencyOut.amount),
  );
  // The makers of an untrusted token's pools would receive what the sponsor pays.
  const strange = createQuote(feeWorld(world), inputTo(strangeOn(DESTINATION)), "key-1", aPayingAppKey());
  await expect(strange).rejects.toMatchObject({ code: "UNSUPPORTED_ROUTE" });
});

test("requires a secret API key with a funding address as the sponsor", async () => {
  const input = aBridge({ subsidizeFees: true });
  expect(await refusalOf(input)).toMatchObject({ code: "UNAUTHORIZED", field: "subsidizeFees" });
  for (const change of [{ fundingAddress: undefined }, { origins: ["https://app.example"] }])
    expect(await refusalOf(input, { key: aPayingAppKey({}, change) })).toMatchObject({
      code: "FORBIDDEN",
      field: "subsidizeFees",
    });
});

test("refuses sponsor options without a sponsor, or on a service without sponsors", async () => {
  expect(await refusalOf(aBridge({ sponsoredFeeComponents: ["relay"] }))).toMatchObject({
    code: "INVALID_REQUEST",
    field: "sponsoredFeeComponents",
  });
  const key = aPayingAppKey();
  expect(
    await refusalOf(aBridge({ subsidizeFees: true, sponsoredFeeComponents: ["tips"] }), { key }),
  ).toMatchObject({ code: "INVALID_REQUEST", field: "sponsoredFeeComponents" });
  const send = aQuoteInput({
    destinationChainId: ORIGIN,
    destinationCurrency: usdcOn(ORIGIN),
    recipient: otherRecipient,
    subsidizeFees: true,
  });
  expect(await refusalOf(send, { key })).toMatchObject({
    code: "UNSUPPORTED_EXECUTION_TYPE",
    field: "subsidizeFees",
  });
});

test("refuses to sponsor the fees of deposit addresses", async () => {
  const input = aBridge({ useDepositAddress: true, subsidizeFees: true });
  expect(await refusalOf(input, { key: aPayingAppKey() })).toMatchObject({
    code: "UNSUPPORTED_EXECUTION_TYPE",
    field: "subsidizeFees",
  });
});

test("refuses a balance below the fees, naming both amounts; holds reduce only the part that is transferred to others", async () => {
  const input = aBridge({
    subsidizeFees: true,
    sponsoredFeeComponents: ["app"],
    appFees: [{ recipient: app, fee: "100" }],
  });
  const key = aPayingAppKey();
  expect(await refusalOf(input, { key, services: feeWorld({}, { balance: 999_999n }) })).toEqual({
    code: "INSUFFICIENT_FUNDS",
    field: "subsidizeFees",
    data: { availableUsd: "0.999999", requiredUsd: "1.000000" },
  });
  // An app fee goes to another wallet: like a claim, it must not use what fast fills hold.
  const worldWithHolds = () => feeWorld({}, { balance: 1_000_000n, heldUsd: 10n * USD });
  expect(await refusalOf(input, { key, services: worldWithHolds() })).toMatchObject({
    code: "INSUFFICIENT_FUNDS",
    data: { availableUsd: "0.000000", requiredUsd: "1.000000" },
  });
  const ownFees = aBridge({ subsidizeFees: true, sponsoredFeeComponents: ["relay"] });
  const services = worldWithHolds();
  await createQuote(services, ownFees, "key-1", key);
  expect(services.stored).toHaveLength(1);
});

test("the key's budgets also limit what it sponsors in quotes", async () => {
  const input = aBridge({
    subsidizeFees: true,
    sponsoredFeeComponents: ["app"],
    appFees: [{ recipient: app, fee: "100" }],
  });
  const spent = { todayUsd: 4n * USD };
  for (const rule of ["dailyUsd", "perUserDailyUsd"] as const) {
    const services = feeWorld({}, spent);
    await createQuote(services, input, "key-1", aPayingAppKey({ [rule]: 5n * USD }));
    expect(services.stored).toHaveLength(1);
    expect(
      await refusalOf(input, {
        key: aPayingAppKey({ [rule]: 5n * USD - 1n }),
        services: feeWorld({}, spent),
      }),
    ).toMatchObject({ code: "INVALID_REQUEST", field: "subsidizeFees", data: { rule } });
  }
});

test("a fixed rate guarantees the whole output, and the sponsor pays the difference", async () => {
  const services = feeWorld();
  const input = aBridge({ subsidizeFees: true, fixedRate: "1:1.001" });
  const { details, fees, feeSponsorship } = await createQuote(services, input, "key-1", aPayingAppKey());
  expect(details.currencyOut).toMatchObject({ amount: "100100000", minimumAmount: "100100000" });
  expect(details.isFixedRate).toBe(true);
  const paid = BigInt(fees.relayer.amount) + 100_000n;
  expect(fees.subsidized.amount).toBe(paid.toString());
  expect(details.fixedRateFee?.usd).toBe(fees.subsidized.amountUsd);
  expect(feeSponsorship?.quoted.components.swap).toMatchObject({ sponsored: { usd: "0.100000" } });
  expect(services.stored[0]?.sponsorship?.usd).toBe(paid * 10n ** 12n);
  const exact = aBridge({
    tradeType: "EXACT_OUTPUT",
    amount: "50000000",
    subsidizeFees: true,
    fixedRate: "1:1",
  });
  expect((await createQuote(feeWorld(), exact, "key-1", aPayingAppKey())).details.currencyIn.amount).toBe(
    "50000000",
  );
});

test("allows a fixed rate only between stable currencies, near their prices, within the sponsor's cap", async () => {
  const key = aPayingAppKey();
  const refusalWith = (change: Partial<QuoteInput>) =>
    refusalOf(aBridge({ subsidizeFees: true, fixedRate: "1:1", ...change }), { key });
  expect(await refusalWith({ destinationCurrency: NATIVE_CURRENCY })).toMatchObject({
    code: "UNSUPPORTED_ROUTE",
    field: "fixedRate",
  });
  for (const change of [
    { fixedRate: "1:1.06" },
    { fixedRate: "1:0.94" },
    { fixedRate: "0:1" },
    { maxSubsidizationAmount: "1000" },
  ])
    expect(await refusalWith(change)).toMatchObject({ code: "INVALID_REQUEST", field: "fixedRate" });
  expect(await refusalOf(aBridge({ fixedRate: "1:1" }))).toMatchObject({ field: "fixedRate" });
});

test("a price shows who would pay each fee, and stores nothing", async () => {
  const services = feeWorld();
  const input = aBridge({ subsidizeFees: true });
  const price = await priceIntent(services, input, "key-1", aPayingAppKey());
  const quote = await createQuote(feeWorld(), input, "key-1", aPayingAppKey());
  expect(price.feeSponsorship).toEqual(quote.feeSponsorship);
  expect(services.stored).toEqual([]);
});

test("does not read balances when the quote has no fee options", async () => {
  const services = feeWorld();
  const unreadable: QuoteWorld = {
    ...services,
    sponsors: {
      book: async () => Promise.reject(new Error("asked")),
      spending: async () => Promise.reject(new Error("asked")),
    },
  };
  const answer = await createQuote(unreadable, aBridge(), "key-1", aPayingAppKey());
  expect(answer.feeSponsorship).toBeUndefined();
  expect(unreadable.stored[0]).toMatchObject({ user });
  expect(unreadable.stored[0]).not.toHaveProperty("sponsorship");
});

test("a gas top-up is paid from the input, shown in the quote, and a payment of the order", async () => {
  const plain = await createQuote(quoteWorld(), aBridge());
  const services = quoteWorld();
  const answer = await createQuote(services, aBridge({ topupGas: true }));
  expect(quoteAnswer.safeParse(answer).error).toBeUndefined();
  const { details, fees } = answer;
  // $2 of a native token at $2000.
  expect(details.currencyGasTopup).toMatchObject({ amount: "1000000000000000", amountUsd: "2.000000" });
  expect(details.currencyGasTopup?.currency).toMatchObject({
    address: NATIVE_CURRENCY,
    chainId: DESTINATION,
  });
  const extraCost = BigInt(fees.relayer.amount) - BigInt(plain.fees.relayer.amount);
  expect(extraCost, "the gas of paying both").toBeGreaterThan(0n);
  expect(BigInt(details.currencyOut.amount)).toBe(
    BigInt(plain.details.currencyOut.amount) - 2_000_000n - extraCost,
  );
  // The recipient receives the native token: it is not a loss.
  expect(details.totalImpact.usd).toBe(`-${fees.relayer.amountUsd}`);
  // With the fee of the pair with the native token, 6 bps.
  expect(services.stored[0]?.gasTopup).toEqual({ amount: 10n ** 15n, charged: 2_001_200n });
  expect(services.stored[0]?.order.output.payments[1]).toEqual({
    recipient: user,
    currency: NATIVE_CURRENCY,
    minimumAmount: 10n ** 15n,
    expectedAmount: 10n ** 15n,
  });
});

test("adds the gas top-up to the input of an exact output, and never charges it to the sponsor", async () => {
  const topup = { topupGas: true, topupGasAmount: "500000" };
  const exact = aBridge({ tradeType: "EXACT_OUTPUT", amount: "50000000", subsidizeFees: true, ...topup });
  const { details, fees } = await createQuote(feeWorld(), exact, "key-1", aPayingAppKey());
  expect(details.currencyIn.amount).toBe("50500000");
  expect(fees.subsidized.amount).toBe(fees.relayer.amount);
});

test("refuses a gas top-up that is not needed or cannot be paid", async () => {
  const inputWith = (change: Partial<QuoteInput> = {}) => aBridge({ topupGas: true, ...change });
  expect(await refusalOf(inputWith({ destinationCurrency: NATIVE_CURRENCY }))).toMatchObject({
    code: "INVALID_REQUEST",
    field: "topupGas",
  });
  expect(await refusalOf(inputWith(), { services: feeWorld({ recipientHasCode: true }) })).toMatchObject({
    code: "INVALID_RECIPIENT",
    field: "topupGas",
  });
  expect(await refusalOf(inputWith({ topupGasAmount: "100000001" }))).toMatchObject({
    code: "INVALID_REQUEST",
    field: "topupGasAmount",
  });
  expect(await refusalOf(inputWith(), { services: feeWorld({ nativeInventory: 10n ** 15n }) })).toMatchObject(
    {
      code: "INSUFFICIENT_LIQUIDITY",
      field: "topupGas",
    },
  );
  // Only the native token has enough liquidity to swap from.
  const poor = { services: feeWorld({ pools: market(), inventory: 0n, nativeInventory: 10n ** 24n }) };
  expect(await refusalOf(inputWith({ destinationCurrency: lockedOn(DESTINATION) }), poor)).toMatchObject({
    code: "UNSUPPORTED_ROUTE",
    field: "topupGas",
  });
  const services = quoteWorld();
  await createQuote(services, inputWith({ topupGasAmount: "0" }));
  expect(services.stored[0]).not.toHaveProperty("gasTopup");
});

test("refuses a gas top-up while the native token's price is disputed, and charges that pair's service fee", async () => {
  const disputed = quoteWorld();
  const prices: QuoteWorld["prices"] = {
    ...disputed.prices,
    reading: ({ priceId }) => ({
      ageMs: 0,
      volatilityBps: 0,
      ...(priceId === "ethereum" && { disputedBy: "second source" as const }),
    }),
  };
  const input = aBridge({ topupGas: true, topupGasAmount: "90000000" });
  expect(await refusalOf(input, { services: { ...disputed, prices } })).toMatchObject({
    code: "PRICE_FETCH_FAILED",
    data: { priceId: "ethereum" },
  });

  const undisputed = quoteWorld();
  const free = { ...undisputed.quotePolicy, serviceBps: { ...undisputed.quotePolicy.serviceBps, major: 0 } };
  const feeOf = async (services: QuoteWorld) =>
    BigInt((await createQuote(services, input)).fees.relayerGas.amount);
  // 6 bps of $90.
  expect((await feeOf(undisputed)) - (await feeOf({ ...undisputed, quotePolicy: free }))).toBe(54_000n);
});

test("counts a gas top-up against the limits of the native token and of a restricted chain", async () => {
  const input = aBridge({ topupGas: true, topupGasAmount: "90000000" });
  const native = { ...aChain(DESTINATION).native, maxFillAmount: 44n * 10n ** 15n };
  expect(await refusalOf(input, { services: quoteWorld({ destination: { native } }) })).toMatchObject({
    code: "INSUFFICIENT_LIQUIDITY",
    field: "topupGasAmount",
  });
  // The output of about 10 USDC alone is worth 0.005 ETH. The origin chain is not restricted.
  const restricted = { partialDisableLimit: 2n * 10n ** 16n };
  expect(await refusalOf(input, { services: quoteWorld({ destination: restricted }) })).toMatchObject({
    code: "ROUTE_TEMPORARILY_RESTRICTED",
    field: "destinationChainId",
  });
});

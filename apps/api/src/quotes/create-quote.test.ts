import type { ErrorCode } from "@causeway/domain";
import { NATIVE_CURRENCY, orderIdOf, ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import { quoteAnswer } from "@causeway/wire";
import { expect, test } from "vitest";
import { createQuote } from "./create-quote.ts";
import {
  aChain,
  aQuoteInput,
  DESTINATION,
  lockedOn,
  NOW_MS,
  ORIGIN,
  quoteWorld,
  rareOn,
  solver,
  usdcOn,
  user,
  wethOn,
} from "../../../../test/fakes/quote-world.ts";
import type { QuoteWorldOptions } from "../../../../test/fakes/quote-world.ts";

const recipient = "0x2222222222222222222222222222222222222222";

async function refusalOf(
  input: Partial<QuoteInput>,
  world: QuoteWorldOptions = {},
): Promise<{ code: ErrorCode; field: string | undefined }> {
  const services = quoteWorld(world);
  const refusal: unknown = await createQuote(services, aQuoteInput(input)).then(
    () => "quoted",
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(ServiceError);
  expect(services.stored, "a refused quote must not be stored").toEqual([]);
  const { code, facts } = refusal as ServiceError;
  return { code, field: facts.field };
}

test("a quote has steps, fees, details and an order in the documented shape", async () => {
  for (const input of [
    aQuoteInput(),
    aQuoteInput({ originCurrency: NATIVE_CURRENCY, amount: "1000000000000000000" }),
    aQuoteInput({ tradeType: "EXACT_OUTPUT", amount: "1000000000000000" }),
    aQuoteInput({ destinationChainId: ORIGIN, destinationCurrency: usdcOn(ORIGIN), recipient }),
  ])
    expect(quoteAnswer.safeParse(await createQuote(quoteWorld(), input)).error).toBeUndefined();
});

test("stores the terms that the quote shows", async () => {
  const services = quoteWorld();
  const answer = await createQuote(services, aQuoteInput({ recipient, refundTo: recipient }));
  const [terms, ...more] = services.stored;
  expect(more).toEqual([]);
  expect(terms).toMatchObject({
    requestId: answer.requestId,
    orderId: answer.protocol.v2.orderId,
    kind: "bridge",
    user,
    recipient,
    refundTo: recipient,
    inputUsd: 100n * 10n ** 18n,
    createdAtMs: NOW_MS,
    firmUntilMs: answer.expiresAt,
    fillDeadlineMs: NOW_MS + 7 * 24 * 3600 * 1000,
    quoted: {
      timeEstimateSeconds: answer.details.timeEstimate,
      slippageBps: Number(answer.details.slippageTolerance.total),
    },
  });
  expect(terms!.destination.expectedAmount.toString()).toBe(answer.details.currencyOut.amount);
  expect(terms!.destination.minimumAmount.toString()).toBe(answer.details.currencyOut.minimumAmount);
  expect(terms!.orderId).toBe(orderIdOf(terms!.order));
  expect(terms!.orderId).not.toBe(terms!.requestId);
});

test("answers only after the terms are stored", async () => {
  const services = quoteWorld();
  const insertQuoted = async () => Promise.reject(new Error("the database is gone"));
  await expect(createQuote({ ...services, requests: { insertQuoted } }, aQuoteInput())).rejects.toThrow(
    "gone",
  );
});

test("deducts the flat fee, gas with its margin and 6 bps from the input, and converts the rest", async () => {
  const { fees, details } = await createQuote(quoteWorld(), aQuoteInput());
  // 22280 gas at 1.1 gwei and 10 % margin is 0.0000269588 ETH, $0.0539176; the flat fee is $0.02.
  expect(fees.relayerGas.amount).toBe("73918");
  expect(fees.relayerService.amount).toBe("60000");
  expect(fees.relayer.amount).toBe("133918");
  expect(fees.app.amount).toBe("0");
  expect(fees.subsidized.amount).toBe("0");
  expect(details.currencyOut.amount).toBe("49933041000000000");
  expect(details.currencyOut.amountUsd).toBe("99.866082");
  expect(details.totalImpact).toEqual({ usd: "-0.133918", percent: "-0.13" });
  expect(details.expandedPriceImpact).toMatchObject({
    swap: { usd: "0.000000" },
    execution: { usd: "-0.073918" },
    service: { usd: "-0.060000" },
  });
  expect(details.rate).toBe("0.00049933041");
  expect(details.operation).toBe("swap");
});

test("counts the rounding remainder as execution fee when nothing is swapped", async () => {
  const { details } = await createQuote(
    quoteWorld(),
    aQuoteInput({
      originCurrency: NATIVE_CURRENCY,
      destinationCurrency: NATIVE_CURRENCY,
      amount: "50000000000000001",
    }),
  );
  expect(details.operation).toBe("bridge");
  expect(details.expandedPriceImpact.swap.usd).toBe("0.000000");
  expect(details.swapImpact).toEqual({ usd: "0.000000", percent: "0.00" });
});

test("warns only when a refund may cost the whole deposit", async () => {
  expect(await createQuote(quoteWorld(), aQuoteInput())).not.toHaveProperty("warnings");
  const expensive = { baseFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 0n, maxFeePerGas: 2n * 10n ** 12n };
  const input = aQuoteInput({ amount: "200000000" });
  const { details, warnings } = await createQuote(quoteWorld({ gasPrices: expensive }), input);
  expect(details.refundCurrency.minimumAmount).toBe("0");
  expect(warnings).toEqual([
    {
      code: "NO_REFUND_MINIMUM",
      field: "details.refundCurrency.minimumAmount",
      message: expect.stringContaining("no refund amount is guaranteed") as string,
    },
  ]);
});

test("adds the fees of both chains to the fee of the pair", async () => {
  const fees = { ...aChain(ORIGIN).fees, flatUsd: 0n, depositBps: 10, withdrawalBps: 20 };
  const answer = await createQuote(quoteWorld({ origin: { fees }, destination: { fees } }), aQuoteInput());
  expect(answer.fees.relayerService.amount).toBe("360000");
});

test("the user's gas includes the approval and is in the origin's native token", async () => {
  const { fees } = await createQuote(quoteWorld(), aQuoteInput());
  expect(fees.gas.currency.address).toBe(NATIVE_CURRENCY);
  expect(fees.gas.currency.chainId).toBe(ORIGIN);
  const approved = await createQuote(quoteWorld({ account: { allowance: 100_000_000n } }), aQuoteInput());
  expect(BigInt(fees.gas.amount) - BigInt(approved.fees.gas.amount)).toBe(46_316n * 1_100_000_000n);
});

test("both output trade types compute the smallest input that buys the amount", async () => {
  for (const tradeType of ["EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const) {
    const { details } = await createQuote(
      quoteWorld(),
      aQuoteInput({ tradeType, amount: "49933041000000000" }),
    );
    expect(details.currencyOut.amount).toBe("49933041000000000");
    expect(details.currencyIn.amount).toBe("100000000");
  }
});

test("the minimum output follows the client's slippage, the pair's automatic slippage, or none for an exact output", async () => {
  const quote = async (change: Partial<QuoteInput>) =>
    (await createQuote(quoteWorld(), aQuoteInput(change))).details;
  const automatic = await quote({});
  expect(automatic.slippageTolerance).toMatchObject({ total: "100", destination: { percent: "1.00" } });
  expect(automatic.currencyOut.minimumAmount).toBe("49433710590000000");
  const named = await quote({ slippageTolerance: "0" });
  expect(named.currencyOut.minimumAmount).toBe(named.currencyOut.amount);
  const exact = await quote({ tradeType: "EXACT_OUTPUT", amount: "1000000000", slippageTolerance: 500 });
  expect(exact.currencyOut.minimumAmount).toBe("1000000000");
  expect(exact.slippageTolerance).toMatchObject({ total: "0", destination: { value: "0" } });
});

test("the order contains the payment, the refund after gas, the output, and ascending deadlines", async () => {
  const { protocol } = await createQuote(quoteWorld(), aQuoteInput({ ttl: 60, recipient }));
  const { orderData, paymentDetails, hubType } = protocol.v2;
  expect(hubType).toBe("onchain");
  expect(orderData.solver).toBe(solver);
  expect(orderData.inputs).toHaveLength(1);
  const [input] = orderData.inputs;
  expect(input!.payment).toEqual({
    chainId: "chain-72001",
    currency: usdcOn(ORIGIN),
    amount: "100000000",
    weight: "1",
  });
  // 51982 gas at 1.1 gwei, times ten, is worth $1.143604.
  expect(input!.refunds).toMatchObject([
    { chainId: "chain-72001", recipient: user, minimumAmount: "98856396" },
  ]);
  const createdSeconds = Math.ceil(NOW_MS / 1000);
  // A fill that is broadcast in the last of the 60 seconds still has the grace period to be mined.
  expect(orderData.output.deadline).toBe(createdSeconds + 60 + 15 * 60);
  expect(input!.refunds[0]!.deadline).toBeGreaterThan(orderData.output.deadline);
  expect(orderData.output.payments).toMatchObject([
    { recipient, currency: NATIVE_CURRENCY, expectedAmount: "49933041000000000" },
  ]);
  expect(paymentDetails).toEqual({
    chainId: "chain-72001",
    depository: aChain(ORIGIN).contracts.depository,
    currency: usdcOn(ORIGIN),
    amount: "100000000",
  });
});

test("the ttl limits the time of the fill, and the firm price never lasts longer", async () => {
  const services = quoteWorld();
  const answer = await createQuote(services, aQuoteInput({ ttl: 5 }));
  expect(answer.fillDeadline).toBe(NOW_MS + 5_000);
  expect(answer.expiresAt).toBe(NOW_MS + 5_000);
  // The order must not expire before the firm price does.
  expect(services.stored[0]!.order.output.deadline * 1000).toBeGreaterThanOrEqual(NOW_MS + 5_000);
});

test("quotes for a placeholder user without funds, with new ids for every quote", async () => {
  const services = quoteWorld({ account: { balance: 0n } });
  const placeholder = aQuoteInput({ user: "0x000000000000000000000000000000000000dEaD" });
  const [a, b] = [await createQuote(services, placeholder), await createQuote(services, placeholder)];
  expect(a.details.userBalance).toBe("0");
  expect(new Set([a.requestId, b.requestId, a.protocol.v2.orderId, b.protocol.v2.orderId]).size).toBe(4);
});

test("sends one asset on one chain to another recipient directly and without fees", async () => {
  const services = quoteWorld({ inventory: 0n });
  const send = { destinationChainId: ORIGIN, destinationCurrency: usdcOn(ORIGIN), recipient };
  const { steps, fees, details } = await createQuote(services, aQuoteInput(send));
  expect(steps.map((step) => step.id)).toEqual(["send"]);
  expect(details).toMatchObject({ operation: "send", rate: "1", totalImpact: { usd: "0.000000" } });
  expect(details.currencyOut).toMatchObject({ amount: "100000000", minimumAmount: "100000000" });
  expect(fees.relayer.amount).toBe("0");
  expect(services.stored[0]).toMatchObject({ kind: "send" });
});

test("swaps two assets on one chain through the depository", async () => {
  const { steps, details } = await createQuote(quoteWorld(), aQuoteInput({ destinationChainId: ORIGIN }));
  expect(steps.map((step) => step.id)).toEqual(["approve", "deposit"]);
  expect(details.operation).toBe("swap");
});

test("bridges one asset between chains and wraps it without a service fee", async () => {
  const native = { originCurrency: NATIVE_CURRENCY, amount: "1000000000000000000" };
  const bridged = await createQuote(quoteWorld(), aQuoteInput(native));
  expect(bridged.details.operation).toBe("bridge");
  expect(bridged.fees.relayerService.amount).toBe("0");
  expect(bridged.steps.map((step) => step.id)).toEqual(["deposit"]);
  const wrapped = await createQuote(
    quoteWorld(),
    aQuoteInput({ ...native, destinationChainId: ORIGIN, destinationCurrency: wethOn(ORIGIN) }),
  );
  expect(wrapped.details.operation).toBe("wrap");
  expect(wrapped.fees.relayerService.amount).toBe("0");
});

test("the time estimate includes the confirmations that the amount needs", async () => {
  const small = await createQuote(quoteWorld(), aQuoteInput());
  const large = await createQuote(quoteWorld(), aQuoteInput({ amount: "5000000000" }));
  expect([small.details.timeEstimate, large.details.timeEstimate]).toEqual([3, 25]);
});

test("refuses a former depository as the recipient, because the fill would be read as a deposit", async () => {
  const former = `0x${"fd".repeat(20)}` as const;
  const { contracts } = aChain(DESTINATION);
  const replaced = quoteWorld({ destination: { contracts: { ...contracts, formerDepositories: [former] } } });
  const quote = createQuote(replaced, aQuoteInput({ recipient: former }));
  await expect(quote).rejects.toMatchObject({ code: "INVALID_RECIPIENT" });
});

test("forces a refund when the referrer requests it", async () => {
  const services = quoteWorld();
  await createQuote(services, aQuoteInput({ referrer: "debug-force-refund" }));
  await createQuote(services, aQuoteInput({ referrer: "somebody" }));
  expect(services.stored.map((terms) => terms.forceRefund)).toEqual([true, false]);
});

test.each<[string, Partial<QuoteInput>, ErrorCode, string]>([
  ["an invalid user address", { user: "0x12" }, "INVALID_ADDRESS", "user"],
  ["an invalid recipient address", { recipient: "vitalik.eth" }, "INVALID_ADDRESS", "recipient"],
  ["an invalid refund address", { refundTo: "0x" }, "INVALID_ADDRESS", "refundTo"],
  ["a token as the recipient", { recipient: usdcOn(DESTINATION) }, "INVALID_RECIPIENT", "recipient"],
  [
    "the depository as the recipient",
    { recipient: aChain(DESTINATION).contracts.depository },
    "INVALID_RECIPIENT",
    "recipient",
  ],
  ["the solver as the recipient", { recipient: solver }, "INVALID_RECIPIENT", "recipient"],
  ["the zero address as the recipient", { recipient: NATIVE_CURRENCY }, "INVALID_RECIPIENT", "recipient"],
  ["a token as the refund address", { refundTo: usdcOn(ORIGIN) }, "INVALID_RECIPIENT", "refundTo"],
  ["an unknown origin chain", { originChainId: 1 }, "UNSUPPORTED_CHAIN", "originChainId"],
  ["an unknown destination chain", { destinationChainId: 1 }, "UNSUPPORTED_CHAIN", "destinationChainId"],
  ["an unknown input currency", { originCurrency: user }, "INVALID_INPUT_CURRENCY", "originCurrency"],
  [
    "a malformed output currency",
    { destinationCurrency: "eth" },
    "INVALID_OUTPUT_CURRENCY",
    "destinationCurrency",
  ],
  [
    "a currency that cannot be bridged",
    { originCurrency: lockedOn(ORIGIN) },
    "UNSUPPORTED_CURRENCY",
    "originCurrency",
  ],
  ["an amount of zero", { amount: "0" }, "AMOUNT_TOO_LOW", "amount"],
  ["an amount that does not cover the fees", { amount: "73918" }, "AMOUNT_TOO_LOW", "amount"],
  ["an amount beyond 2^256", { amount: (2n ** 256n).toString() }, "INVALID_REQUEST", "amount"],
  [
    "a slippage above 10000",
    { slippageTolerance: "10001" },
    "INVALID_SLIPPAGE_TOLERANCE",
    "slippageTolerance",
  ],
  [
    "a slippage with a fraction",
    { slippageTolerance: "0.5" },
    "INVALID_SLIPPAGE_TOLERANCE",
    "slippageTolerance",
  ],
  [
    "a late slippage below zero",
    { latePaymentSlippageTolerance: -1 },
    "INVALID_SLIPPAGE_TOLERANCE",
    "latePaymentSlippageTolerance",
  ],
  ["a ttl of zero", { ttl: 0 }, "INVALID_REQUEST", "ttl"],
  ["a ttl beyond the longest", { ttl: 604_801 }, "INVALID_REQUEST", "ttl"],
  [
    "an output in the input currency for the same user",
    { destinationChainId: ORIGIN, destinationCurrency: usdcOn(ORIGIN) },
    "UNSUPPORTED_ROUTE",
    "destinationCurrency",
  ],
  [
    "an output above the maximum of one fill",
    { destinationCurrency: rareOn(DESTINATION), amount: "6000000000" },
    "INSUFFICIENT_LIQUIDITY",
    "amount",
  ],
  [
    "a swap worth less than five cents",
    { destinationChainId: ORIGIN, originCurrency: rareOn(ORIGIN), tradeType: "EXACT_OUTPUT", amount: "1" },
    "AMOUNT_TOO_LOW",
    "amount",
  ],
])("%s is refused", async (_case, input, code, field) => {
  const cheapGas = { baseFeePerGas: 1n, maxPriorityFeePerGas: 0n, maxFeePerGas: 2n };
  const fees = { ...aChain(ORIGIN).fees, flatUsd: 0n };
  const world = _case.startsWith("a swap worth") ? { gasPrices: cheapGas, origin: { fees } } : {};
  expect(await refusalOf(input, world)).toEqual({ code, field });
});

const authorization = { chainId: 1, address: recipient, nonce: 0, yParity: 0, r: "0x1", s: "0x1" };

test.each<[Partial<QuoteInput>, ErrorCode]>([
  [{ authorizationList: [authorization] }, "UNSUPPORTED_EXECUTION_TYPE"],
  [{ usePermit: true }, "UNSUPPORTED_EXECUTION_TYPE"],
  [{ useDepositAddress: true }, "UNSUPPORTED_EXECUTION_TYPE"],
  [{ appFees: [{ recipient, fee: "25" }] }, "UNSUPPORTED_EXECUTION_TYPE"],
  [{ topupGas: true }, "INVALID_REQUEST"],
  [{ subsidizeFees: true }, "UNAUTHORIZED"],
  [{ fixedRate: "1:1" }, "INVALID_REQUEST"],
])("refuses %o, which the quote would not honor, and names the field", async (input, code) => {
  expect(await refusalOf(input)).toEqual({ code, field: Object.keys(input)[0] });
});

test("accepts options that change nothing in the quote", async () => {
  const harmless = {
    txs: [],
    appFees: [{ recipient, fee: "0" }],
    usePermit: false,
    useFallbacks: true,
    forceSolverExecution: true,
    protocolVersion: "preferV2",
    originGasOverhead: "300000",
    somethingNew: { deeply: "unknown" },
  };
  await expect(createQuote(quoteWorld(), aQuoteInput(harmless))).resolves.toBeDefined();
});

test("refuses a disabled chain, a closed destination and an amount above the chain's cap", async () => {
  expect(await refusalOf({}, { origin: { disabled: true } })).toEqual({
    code: "CHAIN_DISABLED",
    field: "originChainId",
  });
  expect(await refusalOf({}, { destination: { depositEnabled: false } })).toEqual({
    code: "CHAIN_DISABLED",
    field: "destinationChainId",
  });
  // $100 is 0.05 of the native token at $2000.
  const cap = (limit: bigint) => ({ origin: { partialDisableLimit: limit } });
  expect((await refusalOf({}, cap(5n * 10n ** 16n - 1n))).code).toBe("ROUTE_TEMPORARILY_RESTRICTED");
  await expect(createQuote(quoteWorld(cap(5n * 10n ** 16n)), aQuoteInput())).resolves.toBeDefined();
});

test("refuses an output above the solver's free inventory, and a fill whose gas the solver cannot pay", async () => {
  const expected = 49_933_041_000_000_000n;
  const gas = 26_958_800_000_000n;
  expect((await refusalOf({}, { inventory: expected + gas - 1n })).code).toBe("INSUFFICIENT_LIQUIDITY");
  await expect(createQuote(quoteWorld({ inventory: expected + gas }), aQuoteInput())).resolves.toBeDefined();
  expect((await refusalOf({}, { inventory: expected + gas, reserved: 1n })).code).toBe(
    "INSUFFICIENT_LIQUIDITY",
  );
  const toToken = { destinationCurrency: rareOn(DESTINATION) };
  expect(await refusalOf(toToken, { nativeInventory: 0n })).toEqual({
    code: "INSUFFICIENT_LIQUIDITY",
    field: "destinationChainId",
  });
});

test("reports an unreachable chain as a retryable error of the service", async () => {
  const { code } = await refusalOf({}, { readerFails: true });
  expect(code).toBe("RPC_HTTP_ERROR");
});

test("refuses to quote without a price", async () => {
  const services = quoteWorld();
  const usd = async () => Promise.reject(new ServiceError("PRICE_FETCH_FAILED", "no fresh price"));
  await expect(createQuote({ ...services, prices: { usd } }, aQuoteInput())).rejects.toMatchObject({
    code: "PRICE_FETCH_FAILED",
  });
});

test("the age of a price costs a spread and is limited between two assets, but not within one", async () => {
  const services = quoteWorld();
  const aged = (ageMs: number) => ({
    ...services,
    prices: { ...services.prices, reading: () => ({ ageMs, volatilityBps: 0 }) },
  });
  const twoAssets = aQuoteInput();
  const output = async (ageMs: number) =>
    BigInt((await createQuote(aged(ageMs), twoAssets)).details.currencyOut.amount);
  const [fresh, older] = [await output(0), await output(60_000)];
  // Two standard deviations per minute: 16 bps of the input.
  expect(Number(((fresh - older) * 100_000n) / fresh)).toBeCloseTo(160, -1);
  await expect(createQuote(aged(90_001), twoAssets)).rejects.toMatchObject({
    code: "PRICE_FETCH_FAILED",
    message:
      "The price of ethereum is 90 s old; between different assets it must be at most 90 s old; try again",
  });
  const oneAsset = aQuoteInput({ destinationCurrency: usdcOn(DESTINATION) });
  await expect(createQuote(aged(250_000), oneAsset)).resolves.toBeDefined();
});

test("prices native payments to contracts through the router, and all others as direct transfers", async () => {
  const input = aQuoteInput({ destinationCurrency: NATIVE_CURRENCY, recipient });
  const direct = await createQuote(quoteWorld(), input);
  const routed = await createQuote(quoteWorld({ recipientHasCode: true }), input);
  const gas = (answer: typeof direct): bigint => BigInt(answer.fees.relayerGas.amount);
  expect(gas(routed)).toBeGreaterThan(2n * gas(direct));
});

test("adds the solver's signature over the order only on request", async () => {
  const plain = await createQuote(quoteWorld(), aQuoteInput());
  expect(plain.protocol.v2).not.toHaveProperty("orderSignature");
  const signed = await createQuote(quoteWorld(), aQuoteInput({ includeProtocolData: true }));
  expect(signed.protocol.v2.orderSignature).toBe(`${signed.protocol.v2.orderId}51`);
  expect(quoteAnswer.safeParse(signed).error).toBeUndefined();
});

test("the formatted relayer fee is the sum of its formatted parts", async () => {
  for (let amount = 1_000_003; amount < 1_000_040; amount++) {
    const { fees } = await createQuote(quoteWorld(), aQuoteInput({ amount: String(amount) }));
    const micro = (text: string) => BigInt(text.replace(".", ""));
    expect(micro(fees.relayer.amountUsd)).toBe(
      micro(fees.relayerGas.amountUsd) + micro(fees.relayerService.amountUsd),
    );
  }
});

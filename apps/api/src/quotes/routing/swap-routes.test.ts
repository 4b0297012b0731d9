import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import { priceInput, NATIVE_CURRENCY, orderIdOf, pairOutput, ServiceError } from "@causeway/domain";
import type { Address, Hex, RequestTerms } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import { quoteAnswer } from "@causeway/wire";
import { decodeFunctionData, hexToString } from "viem";
import { expect, test } from "vitest";
import { POOL_GAS, POOL_ROUTER, POOL_SLIPPAGE_BPS } from "../../../../../test/fakes/pair-liquidity.ts";
import {
  aChain,
  aQuoteInput,
  DESTINATION,
  foreignOn,
  lockedOn,
  market,
  ORIGIN,
  PAIRS,
  quoteWorld,
  SMALL_PAIRS,
  usdcOn,
  user,
  wethOn,
} from "../../../../../test/fakes/quote-world.ts";
import type { QuoteWorld, QuoteWorldOptions } from "../../../../../test/fakes/quote-world.ts";
import { createQuote } from "../create-quote.ts";
import { measuredQuoteGas } from "../quote-gas.ts";
import { readQuestion } from "../read-question.ts";
import { createMarket } from "../market.ts";
import { chooseRoute, type ValuedRoute } from "./choose-route.ts";
import type { BridgeRoute } from "./chosen-route.ts";

const recipient: Address = "0x2222222222222222222222222222222222222222";
const { router, approvalProxy, depository } = aChain(ORIGIN).contracts;
const sameChain = { originChainId: ORIGIN, destinationChainId: ORIGIN };

interface QuotedSwap {
  readonly answer: QuoteAnswer;
  readonly terms: RequestTerms;
  readonly services: QuoteWorld;
}

async function quoteSwap(input: Partial<QuoteInput>, world: QuoteWorldOptions = {}): Promise<QuotedSwap> {
  const services = quoteWorld({ pools: market(), ...world });
  const answer = await createQuote(services, aQuoteInput(input));
  expect(quoteAnswer.safeParse(answer).error).toBeUndefined();
  const terms = services.stored[0]!;
  expect(orderIdOf(terms.order)).toBe(terms.orderId);
  return { answer, terms, services };
}

const stepsOf = ({ steps }: QuoteAnswer) => steps.map(({ id }) => id);

interface DecodedRoute {
  readonly to: string;
  readonly value: string;
  readonly token: Address | undefined;
  readonly amount: bigint | undefined;
  readonly refundTo: string;
  readonly refundTokens: readonly string[];
  /** Calls of the router by name, calls of pools by their arguments. */
  readonly calls: readonly string[];
  readonly tail: string;
}

/** The transaction of the last step, decoded as the contracts read it. */
function decodeRoute(answer: QuoteAnswer): DecodedRoute {
  const { to, data, value } = transactionsOf(answer.steps).at(-1)!;
  const isPulled = to === approvalProxy;
  const decoded = decodeFunctionData({ abi: isPulled ? approvalProxyAbi : routerAbi, data: data as Hex });
  const args = [...(decoded.args as readonly unknown[])];
  const [calls, refundTo, refundTokens] = (isPulled ? args.slice(2) : args) as [
    { to: string; data: Hex; value: bigint; allowFailure: boolean }[],
    string,
    string[],
  ];
  return {
    to,
    value,
    token: isPulled ? ((args[0] as string).toLowerCase() as Address) : undefined,
    amount: isPulled ? (args[1] as bigint) : undefined,
    refundTo: refundTo.toLowerCase(),
    refundTokens: refundTokens.map((token) => token.toLowerCase()),
    calls: calls.map((call) => {
      expect(call).toMatchObject({ value: 0n, allowFailure: false });
      if (call.to.toLowerCase() === POOL_ROUTER) return hexToString(call.data);
      expect(call.to.toLowerCase()).toBe(router);
      const decodedCall = decodeFunctionData({ abi: routerAbi, data: call.data });
      return [decodedCall.functionName, ...((decodedCall.args ?? []) as readonly unknown[])]
        .map(String)
        .join(" ")
        .toLowerCase();
    }),
    tail: data.slice(-64),
  };
}

const locked = { originCurrency: lockedOn(ORIGIN), amount: (200n * 10n ** 18n).toString() };

test("a token that the solver does not hold is swapped and deposited in one transaction", async () => {
  const { answer, terms, services } = await quoteSwap({
    ...locked,
    destinationCurrency: usdcOn(DESTINATION),
  });
  expect(stepsOf(answer)).toEqual(["approve", "deposit"]);
  expect(services.spenders).toEqual([approvalProxy]);
  const [approval] = answer.steps;
  expect(approval!.items[0]!.data).toMatchObject({ to: lockedOn(ORIGIN) });
  expect(transactionsOf(answer.steps)[0]!.data).toContain(approvalProxy.slice(2));
  expect(approval!.items[0]).not.toHaveProperty("check");

  expect(terms).toMatchObject({
    kind: "bridge",
    input: { currency: lockedOn(ORIGIN), amount: 200n * 10n ** 18n },
    origin: { chainId: ORIGIN, currency: usdcOn(ORIGIN) },
    pairClass: "minor",
    explicitDeposit: true,
  });
  const { amount, minimumAmount } = terms.origin;
  expect(minimumAmount).toBeLessThan(amount);
  expect(decodeRoute(answer)).toMatchObject({
    to: approvalProxy,
    value: "0",
    token: lockedOn(ORIGIN),
    amount: 200n * 10n ** 18n,
    refundTo: user,
    calls: [
      `exactIn ${200n * 10n ** 18n} ${amount} ${minimumAmount} ${router}`,
      `depositbalance ${depository} ${user} ${usdcOn(ORIGIN)} ${minimumAmount} ${terms.orderId}`,
    ],
  });
  expect(answer.steps[1]!.items[0]!).toHaveProperty("check");
  // Settlement requires the minimum deposit.
  expect(terms.order.inputs[0]!.payment).toMatchObject({ currency: usdcOn(ORIGIN), amount: minimumAmount });
  expect(terms.order.inputs[0]!.refunds[0]).toMatchObject({ currency: usdcOn(ORIGIN), recipient: user });
});

test("the response shows the user's payment, the deposited currency, and where it is swapped", async () => {
  const { answer, terms } = await quoteSwap({ ...locked, destinationCurrency: usdcOn(DESTINATION) });
  const { details, fees, protocol } = answer;
  expect(details.currencyIn).toMatchObject({
    amount: locked.amount,
    amountUsd: "1000.000000",
    currency: { address: lockedOn(ORIGIN) },
  });
  expect(details.refundCurrency).toMatchObject({
    amount: terms.origin.amount.toString(),
    currency: { address: usdcOn(ORIGIN) },
  });
  expect(details.route.origin).toMatchObject({
    router: PAIRS,
    includedSwapSources: [PAIRS],
    inputCurrency: { amount: locked.amount },
    outputCurrency: { amount: terms.origin.amount.toString() },
  });
  expect(details.route.destination).toMatchObject({ router: "solver" });
  expect(fees.relayer.currency.address).toBe(usdcOn(ORIGIN));
  expect(fees.relayerService.amount).toBe(((terms.origin.amount * 15n + 9_999n) / 10_000n).toString());
  expect(protocol.v2.paymentDetails).toMatchObject({ currency: usdcOn(ORIGIN) });
  expect(details.operation).toBe("swap");
  expect(details.userBalance).toBe((10n ** 20n).toString());
  // 200 in a pool of a million at 30 bps: 0.3 % of fee and 0.02 % of impact.
  expect(Number(details.swapImpact.percent)).toBeCloseTo(-0.32, 2);
  expect(Number(details.swapImpact.usd)).toBeCloseTo(-3.2, 1);
});

test("the native token is swapped as its wrapped token and sent with the transaction", async () => {
  const { answer, terms, services } = await quoteSwap(
    {
      originCurrency: NATIVE_CURRENCY,
      amount: (10n ** 18n).toString(),
      destinationCurrency: usdcOn(DESTINATION),
    },
    { origin: { native: { ...aChain(ORIGIN).native, supportsBridging: false } } },
  );
  expect(stepsOf(answer)).toEqual(["deposit"]);
  expect(services.spenders).toEqual([depository]);
  const { minimumAmount } = terms.origin;
  const routed = decodeRoute(answer);
  expect(routed).toMatchObject({ to: router, value: (10n ** 18n).toString(), refundTo: user });
  // WETH is held, and wrapping loses nothing.
  expect(terms.origin).toEqual({
    chainId: ORIGIN,
    currency: wethOn(ORIGIN),
    amount: 10n ** 18n,
    minimumAmount: 10n ** 18n,
  });
  expect(routed.calls).toEqual([
    `wrapbalance ${wethOn(ORIGIN)}`,
    `depositbalance ${depository} ${user} ${wethOn(ORIGIN)} ${minimumAmount} ${terms.orderId}`,
  ]);
});

test("the fill buys a currency that the solver does not hold at the destination", async () => {
  const { answer, terms, services } = await quoteSwap({ destinationCurrency: lockedOn(DESTINATION) });
  expect(stepsOf(answer)).toEqual(["approve", "deposit"]);
  expect(services.spenders).toEqual([depository]);
  expect(terms).toMatchObject({
    kind: "bridge",
    origin: { currency: usdcOn(ORIGIN), amount: 100_000_000n },
    destination: { currency: lockedOn(DESTINATION), paidFrom: usdcOn(DESTINATION) },
    pairClass: "minor",
  });
  expect(terms.origin).not.toHaveProperty("minimumAmount");
  expect(terms).not.toHaveProperty("input");
  expect(answer.details.route.destination).toMatchObject({
    router: PAIRS,
    includedSwapSources: [PAIRS],
    inputCurrency: { currency: { address: usdcOn(DESTINATION) } },
    outputCurrency: { currency: { address: lockedOn(DESTINATION) } },
  });
  // The input pays the gas of the swap like that of any fill.
  const plain = await quoteSwap({ destinationCurrency: usdcOn(DESTINATION) });
  const gas = ({ fees }: QuoteAnswer) => BigInt(fees.relayerGas.amount);
  expect(gas(answer)).toBeGreaterThan(2n * gas(plain.answer));
});

test("tokens with a single pool on each side are bridged through a currency that the solver holds", async () => {
  const { answer, terms } = await quoteSwap({
    originCurrency: foreignOn(ORIGIN),
    destinationCurrency: foreignOn(DESTINATION),
    amount: (100_000n * 10n ** 9n).toString(),
  });
  expect(terms.input?.currency).toBe(foreignOn(ORIGIN));
  // WETH is adjacent: USDC would cost another pool.
  expect(terms.origin.currency).toBe(wethOn(ORIGIN));
  expect(terms.destination.paidFrom).toBe(wethOn(DESTINATION));
  // Without a price source, pools determine the value.
  expect(Number(answer.details.currencyIn.amountUsd)).toBeCloseTo(997, 0);
  expect(Number(answer.details.currencyOut.amountUsd)).toBeGreaterThan(990);
  expect(Number(answer.details.totalImpact.percent)).toBeLessThan(0);
});

test("takes the route with the highest output, regardless of the order in which routes are found", async () => {
  const [usdcWeth, lockedUsdc, ...otherPools] = market();
  const twoWays = [
    usdcWeth!,
    // Directly to WETH the locked token yields a tenth more than through USDC.
    {
      ...lockedUsdc!,
      tokens: [lockedOn(ORIGIN), wethOn(ORIGIN)] as const,
      reserves: [10n ** 24n, 2_750n * 10n ** 18n] as const,
    },
    lockedUsdc!,
    ...otherPools,
  ];
  for (const pools of [twoWays, twoWays.toReversed()]) {
    const { terms } = await quoteSwap(locked, { pools });
    expect(terms.origin.currency).toBe(wethOn(ORIGIN));
  }
  const { terms } = await quoteSwap(locked);
  expect(terms.origin.currency).toBe(usdcOn(ORIGIN));
});

test("on one chain the user trades in the pool directly and pays only the pool's fee", async () => {
  const { answer, terms, services } = await quoteSwap({
    ...sameChain,
    ...locked,
    destinationCurrency: usdcOn(ORIGIN),
    recipient,
  });
  expect(stepsOf(answer)).toEqual(["approve", "swap"]);
  expect(services.spenders).toEqual([approvalProxy]);
  expect(terms).toMatchObject({
    kind: "swap",
    recipient,
    origin: { currency: lockedOn(ORIGIN), amount: 200n * 10n ** 18n },
    destination: { currency: usdcOn(ORIGIN) },
  });
  expect(terms).not.toHaveProperty("input");
  const { expectedAmount, minimumAmount } = terms.destination;
  expect(minimumAmount).toBe((expectedAmount * BigInt(10_000 - POOL_SLIPPAGE_BPS) + 9_999n) / 10_000n);
  const routed = decodeRoute(answer);
  expect(routed).toMatchObject({ to: approvalProxy, token: lockedOn(ORIGIN), refundTo: user });
  expect(routed.calls).toEqual([
    `notebalance ${usdcOn(ORIGIN)} ${recipient}`,
    `exactIn ${200n * 10n ** 18n} ${expectedAmount} ${minimumAmount} ${recipient}`,
    `requirereceived ${usdcOn(ORIGIN)} ${recipient} ${minimumAmount}`,
  ]);
  expect(routed.tail).toBe(terms.requestId.slice(2));
  expect(answer.fees.relayer.amount).toBe("0");
  expect(answer.details).toMatchObject({
    operation: "swap",
    timeEstimate: 2,
    route: { origin: { router: PAIRS }, destination: { router: "direct" } },
    slippageTolerance: { total: String(POOL_SLIPPAGE_BPS), destination: { percent: "0.25" } },
  });
});

test("an exact output on one chain is bought exactly, within the slippage, and the rest is returned", async () => {
  const output = 500n * 10n ** 9n;
  const { answer, terms } = await quoteSwap({
    ...sameChain,
    originCurrency: NATIVE_CURRENCY,
    destinationCurrency: foreignOn(ORIGIN),
    tradeType: "EXACT_OUTPUT",
    amount: output.toString(),
    slippageTolerance: "100",
  });
  const input = BigInt(answer.details.currencyIn.amount);
  const maxInput = input + input / 100n;
  const routed = decodeRoute(answer);
  expect(routed).toMatchObject({ to: router, value: maxInput.toString() });
  expect(routed.calls).toEqual([
    `notebalance ${foreignOn(ORIGIN)} ${user}`,
    `wrapbalance ${wethOn(ORIGIN)}`,
    `exactOut ${input} ${output} ${maxInput} ${user}`,
    `requirereceived ${foreignOn(ORIGIN)} ${user} ${output}`,
    `unwrapbalance ${wethOn(ORIGIN)} 0`,
  ]);
  expect(terms.destination).toMatchObject({ expectedAmount: output, minimumAmount: output });
  expect(answer.details.slippageTolerance).toMatchObject({
    total: "100",
    origin: { value: (maxInput - input).toString(), percent: "1.00" },
    destination: { value: "0" },
  });
});

test("returns wrapped native tokens that a pool did not take, even if the swap should have taken all of them", async () => {
  const amount = (10n ** 18n).toString();
  const native = { originCurrency: NATIVE_CURRENCY, amount };
  const swap = await quoteSwap({ ...sameChain, ...native, destinationCurrency: foreignOn(ORIGIN) });
  const unheld = { origin: { native: { ...aChain(ORIGIN).native, supportsBridging: false } } };
  const wethUnheld = aChain(ORIGIN).tokens.map((token) => ({
    ...token,
    supportsBridging: token.address === usdcOn(ORIGIN),
  }));
  const deposit = await quoteSwap(
    { ...native, destinationCurrency: usdcOn(DESTINATION) },
    { origin: { ...unheld.origin, tokens: wethUnheld } },
  );
  for (const { answer } of [swap, deposit])
    expect(decodeRoute(answer)).toMatchObject({ to: router, refundTo: user, refundTokens: [wethOn(ORIGIN)] });
});

test("a bought native token is unwrapped and paid by the router", async () => {
  const { answer, terms } = await quoteSwap({ ...sameChain, ...locked, recipient });
  const { expectedAmount, minimumAmount } = terms.destination;
  expect(decodeRoute(answer).calls).toEqual([
    `exactIn ${200n * 10n ** 18n} ${expectedAmount} ${minimumAmount} ${router}`,
    `unwrapbalance ${wethOn(ORIGIN)} ${minimumAmount}`,
    `paybalance ${NATIVE_CURRENCY} ${recipient} ${minimumAmount}`,
  ]);
});

test("wraps and unwraps one for one, without a fee", async () => {
  const amount = (10n ** 18n).toString();
  const wrapped = await quoteSwap({
    ...sameChain,
    originCurrency: NATIVE_CURRENCY,
    destinationCurrency: wethOn(ORIGIN),
    amount,
    recipient,
  });
  expect(wrapped.answer.details).toMatchObject({
    operation: "wrap",
    currencyOut: { amount, minimumAmount: amount },
    totalImpact: { usd: "0.000000" },
    slippageTolerance: { total: "0" },
  });
  expect(stepsOf(wrapped.answer)).toEqual(["swap"]);
  expect(decodeRoute(wrapped.answer)).toMatchObject({
    to: router,
    value: amount,
    calls: [`wrapbalance ${wethOn(ORIGIN)}`, `paybalance ${wethOn(ORIGIN)} ${recipient} ${amount}`],
  });
  expect(wrapped.terms).toMatchObject({ kind: "swap" });
  const unwrapped = await quoteSwap({
    ...sameChain,
    originCurrency: wethOn(ORIGIN),
    amount,
    slippageTolerance: "50",
  });
  expect(unwrapped.answer.details).toMatchObject({
    operation: "unwrap",
    currencyOut: { amount, minimumAmount: amount },
  });
  expect(decodeRoute(unwrapped.answer)).toMatchObject({
    to: approvalProxy,
    calls: [`unwrapbalance ${wethOn(ORIGIN)} ${amount}`, `paybalance ${NATIVE_CURRENCY} ${user} ${amount}`],
  });
});

test("wraps even amounts that are worth almost nothing", async () => {
  const dust = {
    ...sameChain,
    originCurrency: NATIVE_CURRENCY,
    destinationCurrency: wethOn(ORIGIN),
    amount: "1",
  };
  expect((await quoteSwap(dust)).answer.details.operation).toBe("wrap");
});

test("a same-chain quote between held assets takes the better of pool and solver, or the solver on request", async () => {
  const input = { ...sameChain, destinationCurrency: NATIVE_CURRENCY, amount: "1000000000" };
  // The solver charges 6 bps and its gas, the pool 30 bps.
  const deposited = await quoteSwap(input);
  expect(deposited.terms.kind).toBe("bridge");
  expect(stepsOf(deposited.answer)).toEqual(["approve", "deposit"]);
  const betterPools = market().map((pair) =>
    pair.chainId === ORIGIN && pair.tokens[0] === usdcOn(ORIGIN)
      ? { ...pair, reserves: [pair.reserves[0], (pair.reserves[1] * 11n) / 10n] as const }
      : pair,
  );
  expect((await quoteSwap(input, { pools: betterPools })).terms.kind).toBe("swap");
  const forced = { ...input, forceSolverExecution: true };
  expect((await quoteSwap(forced, { pools: betterPools })).terms.kind).toBe("bridge");
  const throughSolver = await quoteSwap({ ...sameChain, ...locked, forceSolverExecution: true });
  expect(throughSolver.terms).toMatchObject({ kind: "bridge", input: { currency: lockedOn(ORIGIN) } });
});

test("buys a currency in the fill when the solver's balance of it is too low", async () => {
  const lowInventory = quoteWorld({ pools: market() });
  const [first, second] = lowInventory.chains.evmChains;
  const pulse = {
    ...second!.pulse,
    solverBalance: (currency: Address) => ({
      amount: currency === NATIVE_CURRENCY ? 10n ** 16n : 10n ** 24n,
      blockNumber: 1n,
    }),
  };
  const chains = {
    ...lowInventory.chains,
    get: (chainId: number) => (chainId === DESTINATION ? { ...second!, pulse } : first),
  };
  await createQuote({ ...lowInventory, chains }, aQuoteInput());
  expect(lowInventory.stored[0]!.destination).toMatchObject({
    currency: NATIVE_CURRENCY,
    paidFrom: wethOn(DESTINATION),
  });
});

test("the client's slippage is the maximum shortfall of both sides together", async () => {
  for (const slippageTolerance of ["0", "1", "50", "300"]) {
    const { answer, terms } = await quoteSwap({
      ...locked,
      destinationCurrency: foreignOn(DESTINATION),
      slippageTolerance,
    });
    const { expectedAmount, minimumAmount } = terms.destination;
    const allowed = 10_000n - BigInt(slippageTolerance);
    expect(minimumAmount).toBe((expectedAmount * allowed + 9_999n) / 10_000n);
    expect(answer.details.slippageTolerance.total).toBe(slippageTolerance);
    if (slippageTolerance === "0") expect(terms.origin.minimumAmount).toBe(terms.origin.amount);
    else if (slippageTolerance !== "1") expect(terms.origin.minimumAmount).toBeLessThan(terms.origin.amount);
  }
});

test("at unchanged prices the minimum deposit still buys the guaranteed output, even with a swap in the fill", async () => {
  for (const destinationCurrency of [NATIVE_CURRENCY, lockedOn(DESTINATION), foreignOn(DESTINATION)])
    for (const tradeType of ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const)
      for (const slippageTolerance of [undefined, "20", "1000"]) {
        const services = quoteWorld({ pools: market() });
        const amount = tradeType === "EXACT_INPUT" ? locked.amount : (10n ** 13n).toString();
        const input = aQuoteInput({ ...locked, destinationCurrency, tradeType, amount, slippageTolerance });
        await createQuote(services, input);
        const { origin, destination } = services.stored[0]!;
        const { route } = await routeFor(services, input);
        const { pricing, fillQuoter } = route as BridgeRoute;
        const paid = priceInput(origin.minimumAmount!, pricing.facts).output;
        const bought = fillQuoter === undefined ? paid : fillQuoter.exactIn(paid)!.amountOut;
        if (tradeType === "EXACT_OUTPUT") {
          // The pair is charged 15 bps, and the service covers as much.
          expect(bought * 10_000n >= destination.expectedAmount * 9_985n).toBe(true);
          expect(destination.minimumAmount).toBe(destination.expectedAmount);
        } else expect(bought >= destination.minimumAmount).toBe(true);
        expect(origin.minimumAmount! <= origin.amount).toBe(true);
      }
});

test("for both output trade types the input is minimal on every route: one unit less buys less", async () => {
  const from = [NATIVE_CURRENCY, usdcOn(ORIGIN), lockedOn(ORIGIN), foreignOn(ORIGIN)];
  const to = (chainId: number) => [
    NATIVE_CURRENCY,
    usdcOn(chainId),
    wethOn(chainId),
    lockedOn(chainId),
    foreignOn(chainId),
  ];
  const world = { pools: market() };
  let routes = 0;
  for (const destinationChainId of [ORIGIN, DESTINATION])
    for (const originCurrency of from)
      for (const destinationCurrency of to(destinationChainId)) {
        if (destinationChainId === ORIGIN && originCurrency === destinationCurrency) continue;
        const pair = { originCurrency, destinationCurrency, destinationChainId };
        const units = destinationCurrency === usdcOn(destinationChainId) ? 6n : 18n;
        const outputAmount =
          destinationCurrency === foreignOn(destinationChainId)
            ? 12_345_678_901n
            : (3n * 10n ** units) / 10n + 7n;
        const output = await quoteSwap(
          { ...pair, tradeType: "EXPECTED_OUTPUT", amount: outputAmount.toString() },
          world,
        );
        expect(output.answer.details.currencyOut.amount).toBe(outputAmount.toString());
        const input = BigInt(output.answer.details.currencyIn.amount);
        const bought = async (amount: bigint): Promise<bigint> =>
          await quoteSwap({ ...pair, amount: amount.toString() }, world).then(
            ({ terms }) => terms.destination.expectedAmount,
            () => 0n,
          );
        expect(await bought(input), `${originCurrency} ${destinationCurrency}`).toBeGreaterThanOrEqual(
          outputAmount,
        );
        expect(await bought(input - 1n), `${originCurrency} ${destinationCurrency}`).toBeLessThan(
          outputAmount,
        );
        routes++;
      }
  expect(routes).toBe(36);
});

test("uses, excludes and bounds sources per side as the client requests", async () => {
  const swap = { ...sameChain, destinationCurrency: wethOn(ORIGIN) };
  const routerWith = async (change: Partial<QuoteInput>): Promise<string | undefined> => {
    // Without the solver's own ETH and WETH only pools are left.
    const onlyUsdc = {
      origin: {
        tokens: aChain(ORIGIN).tokens.map((token) => ({ ...token, supportsBridging: token.id === "usdc" })),
      },
    };
    return (await quoteSwap({ ...swap, ...change }, onlyUsdc)).answer.details.route.origin.router;
  };
  expect(await routerWith({})).toBe(PAIRS);
  expect(await routerWith({ includedSwapSources: [SMALL_PAIRS] })).toBe(SMALL_PAIRS);
  expect(await routerWith({ excludedSwapSources: [PAIRS] })).toBe(SMALL_PAIRS);
  expect(await routerWith({ includedOriginSwapSources: [SMALL_PAIRS], includedSwapSources: [PAIRS] })).toBe(
    SMALL_PAIRS,
  );
  const fill = await quoteSwap({
    destinationCurrency: lockedOn(DESTINATION),
    includedDestinationSwapSources: [PAIRS],
    includedSwapSources: [SMALL_PAIRS],
  });
  expect(fill.answer.details.route.destination.includedSwapSources).toEqual([PAIRS]);
  const oneHop = await quoteSwap({
    ...sameChain,
    ...locked,
    destinationCurrency: usdcOn(ORIGIN),
    maxRouteLength: 1,
  });
  expect(oneHop.terms.kind).toBe("swap");
});

test("asks aggregators in addition to pools only when the client requests it", async () => {
  const world = { external: [SMALL_PAIRS] };
  const flags: boolean[] = [];
  const services = quoteWorld({ pools: market(), ...world });
  const liquidity = {
    ...services.liquidity,
    exactIn: (...args: Parameters<(typeof services.liquidity)["exactIn"]>) => {
      flags.push(args[0].shouldQueryExternal);
      return services.liquidity.exactIn(...args);
    },
  };
  const externalFlags = async (change: Partial<QuoteInput>): Promise<boolean[]> => {
    flags.length = 0;
    const input = aQuoteInput({ ...sameChain, ...locked, ...change });
    await createQuote({ ...services, liquidity }, input);
    return [...new Set(flags)];
  };
  expect(await externalFlags({})).toEqual([false]);
  expect(await externalFlags({ useExternalLiquidity: true })).toEqual([true]);
  expect(await externalFlags({ includedSwapSources: [PAIRS, SMALL_PAIRS] })).toEqual([true]);
  expect(await externalFlags({ useExternalLiquidity: false })).toEqual([false]);
});

test("without origin swaps, the fill may still swap, and wrapping still works", async () => {
  const fill = await quoteSwap({ destinationCurrency: lockedOn(DESTINATION), disableOriginSwaps: true });
  expect(fill.terms.destination.paidFrom).toBe(usdcOn(DESTINATION));
  const wrap = {
    ...sameChain,
    originCurrency: NATIVE_CURRENCY,
    destinationCurrency: wethOn(ORIGIN),
    amount: "1000",
  };
  expect((await quoteSwap({ ...wrap, disableOriginSwaps: true })).terms.kind).toBe("swap");
  const bridged = await quoteSwap({ ...sameChain, disableOriginSwaps: true });
  expect(bridged.terms.kind).toBe("bridge");
});

test("chooses the same route whether pools are in memory or answer later", async () => {
  const input = aQuoteInput({ ...locked, destinationCurrency: foreignOn(DESTINATION) });
  const { route } = await routeFor(quoteWorld({ pools: market() }), input);
  const later = await routeFor(quoteWorld({ pools: market(), poolBehavior: { later: true } }), input);
  expect(later.route.trade).toMatchObject({ input: route.trade.input, expected: route.trade.expected });
});

test("starts asynchronous requests together, and an error of one does not affect the others", async () => {
  const services = quoteWorld({ pools: market(), poolBehavior: { later: true } });
  const pools = services.liquidity;
  let [waiting, maxWaiting] = [0, 0];
  const liquidity: typeof pools = {
    ...pools,
    exactIn: async (question, amount) => {
      maxWaiting = Math.max(maxWaiting, ++waiting);
      await new Promise((resolve) => setTimeout(resolve, 1));
      waiting--;
      if (question.tokenOut === wethOn(ORIGIN)) throw new ServiceError("RPC_HTTP_ERROR", "gone");
      return await pools.exactIn(question, amount);
    },
  };
  await createQuote(
    { ...services, liquidity },
    aQuoteInput({ ...locked, destinationCurrency: usdcOn(DESTINATION) }),
  );
  expect(maxWaiting).toBeGreaterThan(1);
  expect(services.stored[0]!.origin.currency).toBe(usdcOn(ORIGIN));
});

test("a quote between currencies that the solver holds queries no pool", async () => {
  const { services } = await quoteSwap({});
  expect(services.liquidity.queries).toBe(0);
});

test("a route with two swaps queries pools only a few times", async () => {
  const { services } = await quoteSwap({
    originCurrency: foreignOn(ORIGIN),
    destinationCurrency: foreignOn(DESTINATION),
    amount: (100_000n * 10n ** 9n).toString(),
  });
  expect(services.liquidity.queries).toBeLessThan(16);
});

test("a sufficient allowance of the proxy needs no approval, and the quote shows the swap's gas", async () => {
  const { answer } = await quoteSwap(
    { ...sameChain, ...locked, destinationCurrency: usdcOn(ORIGIN) },
    { account: { allowance: 10n ** 30n } },
  );
  expect(stepsOf(answer)).toEqual(["swap"]);
  const { routed } = measuredQuoteGas;
  // Twice the measured gas; the pool states its own part.
  const gas = 2n * (routed.pulled + POOL_GAS + routed.pay);
  expect(transactionsOf(answer.steps)[0]!.gas).toBe(gas.toString());
});

test("the surplus of an exact output's deposit stays with the solver only on request", async () => {
  const exact = {
    ...locked,
    destinationCurrency: usdcOn(DESTINATION),
    tradeType: "EXACT_OUTPUT",
    amount: "1000000",
  } as const;
  expect((await quoteSwap(exact)).terms).not.toHaveProperty("surplusToSolver");
  const strict = await quoteSwap({ ...exact, enableTrueExactOutput: true });
  expect(strict.terms.surplusToSolver).toBe(true);
});

test("prices in the gas of the origin swap when the service sends the transaction", async () => {
  const swapInput = { ...locked, destinationCurrency: usdcOn(DESTINATION), originGasOverhead: 80_000 };
  const withoutSwap = await quoteSwap({
    destinationCurrency: usdcOn(DESTINATION),
    originGasOverhead: 80_000,
  });
  const { terms } = await quoteSwap(swapInput);
  expect(terms.originGasUsd!).toBeGreaterThan(withoutSwap.terms.originGasUsd!);
});

test("the expected output equals the output that pools and prices imply, to the unit", async () => {
  const { terms, answer } = await quoteSwap({ ...locked, destinationCurrency: usdcOn(DESTINATION) });
  const pool = market().find(({ tokens }) => tokens[0] === lockedOn(ORIGIN))!;
  const deposit = pairOutput(
    { reserve0: pool.reserves[0], reserve1: pool.reserves[1], feeBps: 30n },
    true,
    200n * 10n ** 18n,
  );
  expect(terms.origin.amount).toBe(deposit);
  const fees = BigInt(answer.fees.relayer.amount);
  expect(terms.destination.expectedAmount).toBe(deposit - fees);
});

async function routeFor(world: QuoteWorld, input: QuoteInput): Promise<ValuedRoute> {
  const services = { ...world, market: createMarket(world) };
  return await services.market.decide(() =>
    chooseRoute(services, readQuestion(services, input, undefined).question),
  );
}

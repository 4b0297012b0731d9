import { SwapRefused, type ProposedSwap, type UserDeposit } from "@causeway/chains";
import { ServiceError, type Currency, type Hex } from "@causeway/domain";
import { mismatch } from "@causeway/service-kit";
import { quoteAnswer, type QuoteInput } from "@causeway/wire";
import { expect, test } from "vitest";
import {
  aConnectedNonEvmChain,
  bytesOn,
  hyperliquid,
  solana,
} from "../../../../test/fakes/non-evm-chains.ts";
import { ORIGIN, quoteWorld, user, usdcOn } from "../../../../test/fakes/quote-world.ts";
import type { SwapQuestion } from "../markets/liquidity/liquidity.port.ts";
import { createQuote } from "./create-quote.ts";
import { foreignToken } from "../markets/tokens/foreign-token.adapter.ts";

// Quotes with a swap on Solana before the deposit. A fake aggregator sells two tokens for
// a dollar, less half a percent for slippage.

const SOLANA = 792_703_809;
const WILD = "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263";
const wild: Currency = foreignToken({
  chainId: SOLANA,
  address: bytesOn("svm", WILD),
  symbol: "WILD",
  name: WILD,
  decimals: 6,
  logoUri: undefined,
  verified: false,
});
const proposed: ProposedSwap = {
  computeBudget: [],
  setup: [],
  swap: { programId: solana.depository, keys: [], data: "0x" },
  others: [],
  lookupTables: [],
};

interface Scenario {
  readonly isConfigured?: boolean;
  readonly refusal?: SwapRefused;
  readonly balance?: bigint;
  readonly isUnavailable?: boolean;
}

function worldOf({ isConfigured = true, refusal, balance, isUnavailable = false }: Scenario = {}) {
  const queries: { method: string; question: SwapQuestion; amount: bigint }[] = [];
  const deposits: UserDeposit[] = [];
  const balances: Hex[] = [];
  const programs = [solana.depository];
  const svm = aConnectedNonEvmChain("svm", {
    ...(isConfigured && { chain: { swapAggregator: { url: "http://127.0.0.1:1", programs } } }),
    ...(balance !== undefined && { balance }),
    users: {
      balance: async (_user, currency) => {
        balances.push(currency);
        return 7n;
      },
      deposit: async (payment) => {
        deposits.push(payment);
        if (refusal !== undefined) throw refusal;
        return { data: { instructions: [], addressLookupTableAddresses: [WILD] }, fee: 5_000n };
      },
    },
  });
  const hypevm = aConnectedNonEvmChain("hypevm", {});
  const world = quoteWorld({ nonEvmChains: [svm, hypevm] });
  const answer = (method: string, question: SwapQuestion, amount: bigint) => {
    queries.push({ method, question, amount });
    if (isUnavailable)
      throw new ServiceError("SERVICE_UNAVAILABLE", "The swap aggregator did not respond; try again");
    // Only USDC is sold.
    const isExcluded = question.excluded.has("jupiter");
    if (isExcluded || question.tokenOut !== bytesOn("svm", solana.usdc)) return undefined;
    const slippage = BigInt(question.slippageBps ?? 50);
    const [amountIn, amountOut] =
      method === "exactIn"
        ? [amount, (amount * (10_000n - slippage)) / 20_000n]
        : [(amount * 2n * (10_000n + slippage)) / 10_000n, amount];
    return {
      source: "jupiter",
      path: [question.tokenIn, question.tokenOut],
      amountIn,
      amountOut,
      spotOut: amountIn / 2n,
      gas: 0n,
      slippageBps: 0,
      blockNumber: undefined,
      calls: () => [],
      propose: async () => proposed,
    };
  };
  const services = {
    ...world,
    tokens: {
      token: (chainId: number, address: Hex) =>
        chainId === SOLANA && address === wild.address ? wild : undefined,
    },
    liquidity: {
      ...world.liquidity,
      sources: (chainId: number) => (chainId === SOLANA && isConfigured ? ["jupiter"] : []),
      exactIn: (question: SwapQuestion, amount: bigint) => answer("exactIn", question, amount),
      exactOut: (question: SwapQuestion, amount: bigint) => answer("exactOut", question, amount),
    },
  };
  return { services, world, queries, deposits, balances };
}

const inputWith = (change: Partial<QuoteInput> = {}): QuoteInput => ({
  user: solana.user,
  originChainId: SOLANA,
  destinationChainId: ORIGIN,
  originCurrency: WILD,
  destinationCurrency: usdcOn(ORIGIN),
  recipient: user,
  amount: "200000000",
  tradeType: "EXACT_INPUT",
  ...change,
});

const refusalOf = async (change: Partial<QuoteInput>, scenario: Scenario = {}): Promise<ServiceError> => {
  const { services, world } = worldOf(scenario);
  const refusal: unknown = await createQuote(services, inputWith(change)).catch((error: unknown) => error);
  if (!(refusal instanceof ServiceError)) throw new Error("expected a refusal, got a quote");
  expect(world.stored).toEqual([]);
  return refusal;
};

test("an exact input deposits exactly the swap's minimum output, and the step says that the rest stays with the user", async () => {
  const { services, world, deposits, balances } = worldOf();
  const answer = await createQuote(services, inputWith());
  const [terms] = world.stored;
  expect(mismatch(quoteAnswer, answer)).toBeUndefined();
  expect(terms?.origin).toEqual({
    chainId: SOLANA,
    currency: bytesOn("svm", solana.usdc),
    amount: 99_500_000n,
  });
  expect(terms).toMatchObject({
    input: { currency: wild.address, amount: 200_000_000n },
    explicitDeposit: true,
  });
  expect(terms?.order.inputs[0]?.payment.amount).toBe(99_500_000n);
  expect(deposits).toMatchObject([
    {
      currency: bytesOn("svm", solana.usdc),
      amount: 99_500_000n,
      orderId: terms?.orderId,
      swap: { currency: wild.address, maxInput: 200_000_000n, programs: [solana.depository], proposed },
    },
  ]);
  expect(balances).toEqual([wild.address]);
  expect(answer.details).toMatchObject({
    currencyIn: { amount: "200000000", currency: { symbol: "WILD", address: WILD } },
    refundCurrency: { amount: "99500000", currency: { symbol: "USDC" } },
    route: { origin: { router: "jupiter", includedSwapSources: ["jupiter"] } },
    userBalance: "7",
  });
  expect(answer.steps.map(({ id, description }) => [id, description])).toEqual([
    [
      "deposit",
      "Swap at most 200 WILD and deposit 99.5 USDC to start the request; what the swap yields above 99.5 USDC stays in your wallet",
    ],
  ]);
});

test.each(["EXACT_OUTPUT", "EXPECTED_OUTPUT"] as const)(
  "an %s is bought for at most its input, with one query for each currency that could be deposited",
  async (tradeType) => {
    const { services, world, queries } = worldOf();
    const answer = await createQuote(services, inputWith({ tradeType, amount: "50000000" }));
    const [terms] = world.stored;
    const deposit = terms?.origin.amount ?? 0n;
    expect(terms?.origin.minimumAmount).toBeUndefined();
    expect(terms?.input?.amount).toBe((deposit * 2n * 10_050n) / 10_000n);
    expect(answer.details.currencyOut.amount).toBe("50000000");
    expect(queries.map(({ method }) => method)).toEqual(["exactOut", "exactOut"]);
  },
);

test("the client's slippage bounds the swap", async () => {
  const { services, world, queries } = worldOf();
  await createQuote(services, inputWith({ slippageTolerance: "200" }));
  expect(new Set(queries.map(({ question }) => question.slippageBps))).toEqual(new Set([200]));
  expect(world.stored[0]?.origin.amount).toBe(98_000_000n);
});

test("a swap on Solana pays for a transfer on Hyperliquid too", async () => {
  const { services, world } = worldOf();
  await createQuote(
    services,
    inputWith({ destinationChainId: 1_337, destinationCurrency: hyperliquid.perps, recipient: user }),
  );
  expect(world.stored[0]?.origin.amount).toBe(99_500_000n);
});

test("refuses currencies that cannot be swapped on Solana, with the reason and the remedy", async () => {
  const unconfigured = await refusalOf({}, { isConfigured: false });
  expect([unconfigured.code, unconfigured.facts.field]).toEqual(["INVALID_INPUT_CURRENCY", "originCurrency"]);
  expect(unconfigured.message).toContain(
    "must be the address of a currency that GET /chains lists for Solana: this service swaps no other tokens there",
  );
  const unknown = await refusalOf({ originCurrency: solana.solver });
  expect(unknown.message).toContain(`${solana.solver} is not a token on Solana`);
  const intoSolana = {
    user,
    originChainId: ORIGIN,
    originCurrency: usdcOn(ORIGIN),
    destinationChainId: SOLANA,
    recipient: solana.user,
    amount: "100000000",
  };
  const inFill = await refusalOf({ ...intoSolana, destinationCurrency: WILD });
  expect(inFill.code).toBe("INVALID_OUTPUT_CURRENCY");
  expect(inFill.message).toContain("fills on non-EVM chains are plain transfers");
  const local = await refusalOf({
    destinationChainId: SOLANA,
    destinationCurrency: solana.usdc,
    recipient: solana.user,
  });
  expect([local.code, local.facts.field]).toEqual(["UNSUPPORTED_CURRENCY", "originCurrency"]);
  for (const change of [{ disableOriginSwaps: true }, { excludedSwapSources: ["jupiter"] }]) {
    const filtered = await refusalOf(change, {});
    expect(filtered.code).toBe("NO_SWAP_ROUTES_FOUND");
  }
});

test("never swaps in a fill on Solana, even if the solver holds too little", async () => {
  const { services, queries } = worldOf({ balance: 1n });
  const input = inputWith({
    user,
    originChainId: ORIGIN,
    originCurrency: usdcOn(ORIGIN),
    destinationChainId: SOLANA,
    destinationCurrency: solana.usdc,
    recipient: solana.user,
    amount: "100000000",
  });
  await expect(createQuote(services, input)).rejects.toMatchObject({ code: "INSUFFICIENT_LIQUIDITY" });
  expect(queries).toEqual([]);
});

test("reports an invalid proposal as the aggregator's fault, never the client's", async () => {
  const hostile = await refusalOf({}, { refusal: new SwapRefused("aggregator", "it proposed to send SOL") });
  expect(hostile.code).toBe("SERVICE_UNAVAILABLE");
  expect(hostile.message).toBe(
    "The swap aggregator of Solana returned an unusable answer: it proposed to send SOL; try again, or use an originCurrency that GET /chains lists",
  );
  const large = await refusalOf({}, { refusal: new SwapRefused("size", "its transaction needs 1300 bytes") });
  expect([large.code, large.facts.field]).toEqual(["NO_SWAP_ROUTES_FOUND", "originCurrency"]);
  const taxed = await refusalOf({}, { refusal: new SwapRefused("currency", "token charges a transfer fee") });
  expect([taxed.code, taxed.facts.field]).toEqual(["UNSUPPORTED_CURRENCY", "originCurrency"]);
  expect((await refusalOf({}, { isUnavailable: true })).code).toBe("SERVICE_UNAVAILABLE");
});

test("deposits a currency that the solver holds without querying the aggregator", async () => {
  const { services, world, queries, deposits } = worldOf();
  await createQuote(services, inputWith({ originCurrency: solana.usdc, amount: "100000000" }));
  expect(queries).toEqual([]);
  expect(world.stored[0]?.input).toBeUndefined();
  expect(deposits[0]?.swap).toBeUndefined();
});

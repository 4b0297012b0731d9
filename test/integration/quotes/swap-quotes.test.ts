import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, TxHash } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordSingleTransaction } from "../../../apps/api/src/deposits/record-single-transaction.ts";
import type { QuotedRequest, QuoteOverrides } from "../../support/engine-world.ts";
import { startSwapWorld, type SwapWorld } from "../../support/swap-world.ts";
import type { TestChain } from "../../support/test-chain.ts";

// The user's transaction and the fill match the quote, with real pools and contracts.

let world: SwapWorld;
let currencies: readonly { readonly name: string; readonly address: Address; readonly some: bigint }[];

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 } });
  const { usdc, tst, odd, weth } = world;
  currencies = [
    { name: "native", address: NATIVE_CURRENCY, some: 2n * 10n ** 15n },
    { name: "USDC", address: usdc, some: 5_000_000n },
    { name: "TST", address: tst, some: 10n * 10n ** 18n },
    { name: "WETH", address: weth, some: 2n * 10n ** 15n },
    { name: "ODD", address: odd, some: 2n * 10n ** 18n },
  ];
}, 60_000);
afterAll(async () => await world.stop());

const TRADE_TYPES = ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const;

interface Case {
  readonly name: string;
  readonly ask: QuoteOverrides;
}

/** Every pair, with the three trade types in turn. */
function cases(from: TestChain, to: TestChain): Case[] {
  const found: Case[] = [];
  for (const paid of currencies)
    for (const wanted of currencies) {
      if (from === to && paid === wanted) continue;
      const tradeType = TRADE_TYPES[found.length % 3] ?? "EXACT_INPUT";
      const amount = tradeType === "EXACT_INPUT" ? paid.some : wanted.some;
      found.push({
        name: `${paid.name} to ${wanted.name}, ${tradeType}`,
        ask: {
          originChainId: from.chain.id,
          destinationChainId: to.chain.id,
          originCurrency: paid.address,
          destinationCurrency: wanted.address,
          recipient: world.anAddress(),
          tradeType,
          amount: amount.toString(),
        },
      });
    }
  return found;
}

/** Sends the steps as a wallet does, with the gas of each step as its limit. */
async function paid({ send }: TestChain, { answer }: QuotedRequest): Promise<TxHash> {
  let hash: TxHash = "0x";
  for (const data of transactionsOf(answer.steps))
    hash = await send(world.user, {
      to: data.to as Address,
      data: data.data as TxHash,
      value: BigInt(data.value),
      gas: BigInt(data.gas ?? 1_500_000),
    });
  return hash;
}

/** Executes the steps of a quote, and follows the request until it is final. */
async function runSteps(chain: TestChain, { name, ask }: Case): Promise<QuotedRequest> {
  const agreed = await world.quote(ask).catch((error: unknown) => {
    throw new Error(`${name} has no quote`, { cause: error });
  });
  if (ask.tradeType !== "EXACT_INPUT") await expectMinimal(name, ask, agreed);
  const hash = await paid(chain, agreed);
  await chain.mine();
  const receipt = await chain.client.getTransactionReceipt({ hash });
  expect(receipt.status, `${name} ${agreed.terms.kind}`).toBe("success");
  if (agreed.terms.kind === "swap")
    await recordSingleTransaction(world.services, {
      chainId: chain.chain.id,
      txHash: hash,
      requestId: agreed.requestId,
    });
  await world.watch(chain);
  return agreed;
}

/** Checks that the amount buys the requested output, and that one unit less does not. */
async function expectMinimal(name: string, ask: QuoteOverrides, { answer }: QuotedRequest): Promise<void> {
  const wanted = BigInt(ask.amount ?? 0);
  const input = BigInt(answer.details.currencyIn.amount);
  const bought = async (amount: bigint): Promise<bigint> => {
    const { terms } = await world.quote({ ...ask, tradeType: "EXACT_INPUT", amount: amount.toString() });
    return terms.destination.expectedAmount;
  };
  expect(await bought(input), name).toBeGreaterThanOrEqual(wanted);
  expect(await bought(input - 1n), name).toBeLessThan(wanted);
}

/**
 * Checks that the delivered amount is within the quote. An exact output must be exact, and the expected
 * output must arrive if no price moved.
 */
async function expectDelivered(to: TestChain, name: string, { terms }: QuotedRequest): Promise<void> {
  const received = await to.balance(terms.recipient, terms.destination.currency);
  const { expectedAmount, minimumAmount } = terms.destination;
  expect(received >= minimumAmount, `${name} brought ${received} of ${minimumAmount}`).toBe(true);
  if (terms.kind === "swap" || terms.tradeType !== "EXACT_OUTPUT")
    expect(received, name).toBeGreaterThanOrEqual(expectedAmount);
  else expect(received, name).toBe(expectedAmount);
}

async function nothingLeft({ chain, balance }: TestChain): Promise<void> {
  for (const { address } of currencies) expect(await balance(chain.contracts.router, address)).toBe(0n);
}

test("a user wraps and unwraps native tokens, to the unit", async () => {
  const { origin, user, weth } = world;
  const here = { originChainId: origin.chain.id, destinationChainId: origin.chain.id };
  const amount = (10n ** 18n).toString();
  const before = await origin.balance(user.address, weth);
  const wrap = { ...here, originCurrency: NATIVE_CURRENCY, destinationCurrency: weth, amount };
  const wrapped = await runSteps(origin, { name: "wrap", ask: wrap });
  expect(wrapped.terms.kind).toBe("swap");
  expect((await origin.balance(user.address, weth)) - before).toBe(10n ** 18n);
  const unwrap = {
    ...here,
    originCurrency: weth,
    destinationCurrency: NATIVE_CURRENCY,
    amount: (4n * 10n ** 17n).toString(),
    recipient: world.anAddress(),
  };
  const unwrapped = await runSteps(origin, { name: "unwrap", ask: unwrap });
  expect(unwrapped.answer.steps.map(({ id }) => id)).toEqual(["approve", "swap"]);
  expect(await origin.balance(unwrapped.terms.recipient, NATIVE_CURRENCY)).toBe(4n * 10n ** 17n);
});

test("on one chain, every pair is swapped as quoted, by the user's own transaction or by the solver", async () => {
  const { origin } = world;
  const kinds = new Set<string>();
  for (const swapCase of cases(origin, origin)) {
    const agreed = await runSteps(origin, swapCase);
    kinds.add(agreed.terms.kind);
    expect((await world.untilFinal(agreed.requestId, 1_000)).status, swapCase.name).toBe("success");
    await expectDelivered(origin, swapCase.name, agreed);
  }
  expect(kinds).toContain("swap");
  await nothingLeft(origin);
}, 120_000);

test("across chains every pair is swapped, deposited, filled and swapped as quoted", async () => {
  const { origin, destination } = world;
  const paidQuotes: { readonly name: string; readonly agreed: QuotedRequest }[] = [];
  for (const swapCase of cases(origin, destination))
    paidQuotes.push({ name: swapCase.name, agreed: await runSteps(origin, swapCase) });
  for (const { name, agreed } of paidQuotes) {
    const { status, failReason } = await world.untilFinal(agreed.requestId, 1_000);
    expect(`${status} ${failReason}`, name).toBe("success N/A");
    await expectDelivered(destination, name, agreed);
  }
  await nothingLeft(origin);
  await nothingLeft(destination);
}, 120_000);

test("reverts the user's transaction when a pool moved further than quoted, and the user keeps the tokens", async () => {
  const { origin, user, odd, usdc, trade, tst } = world;
  const ask = { originCurrency: odd, amount: (2n * 10n ** 18n).toString(), destinationCurrency: usdc };
  const agreed = await world.quote(ask);
  await trade(origin, odd, tst, 20_000n * 10n ** 18n);
  await origin.mine();
  const before = await origin.balance(user.address, odd);
  const hash = await paid(origin, agreed);
  await origin.mine();
  expect((await origin.client.getTransactionReceipt({ hash })).status).toBe("reverted");
  expect(await origin.balance(user.address, odd)).toBe(before);
});

import { encodeOrderCall } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import { aQuoteInput, quoteWorld } from "../../../../test/fakes/quote-world.ts";
import { createQuote } from "../quotes/create-quote.ts";
import { termsFromJson, termsToJson } from "./terms-json.postgres.ts";

async function someTerms(): Promise<RequestTerms> {
  const world = quoteWorld();
  await createQuote(world, aQuoteInput({ referrer: 'a "referrer"' }));
  const [terms] = world.stored;
  if (terms === undefined) throw new Error("the quote stored nothing");
  const fee = {
    recipientChainId: "a",
    recipient: terms.user,
    currencyChainId: "b",
    currency: terms.user,
    amount: 3n,
  };
  return { ...terms, order: { ...terms.order, fees: [fee] } };
}

test("terms are read back as they were written, with amounts of any size", async () => {
  const terms = await someTerms();
  const large = { ...terms, inputUsd: 2n ** 255n, origin: { ...terms.origin, amount: 0n } };
  for (const example of [terms, large]) expect(termsFromJson(termsToJson(example))).toEqual(example);
});

test("a permit is read back with its amounts", async () => {
  const address = "0x1111111111111111111111111111111111111111";
  const word = `0x${"12".repeat(32)}` as const;
  const terms: RequestTerms = {
    ...(await someTerms()),
    permit: {
      method: "permit2",
      token: address,
      amount: 2n ** 200n,
      deadline: 1_700_000_600,
      nonce: word,
      spender: address,
      domain: { name: 'Coin "quoted"', version: "2" },
      witness: {
        relayer: address,
        refundTo: address,
        refundTokens: [address],
        calls: [{ to: address, data: "0x1234", value: 7n }],
      },
      gasUnits: 150_000n,
    },
  };
  expect(termsFromJson(termsToJson(terms))).toEqual(terms);
});

test("calls of the fill are read back with their native tokens and authorizations", async () => {
  const address = "0x1111111111111111111111111111111111111111";
  const word = `0x${"12".repeat(32)}` as const;
  const terms: RequestTerms = {
    ...(await someTerms()),
    outputCalls: {
      calls: [{ to: address, data: "0x1234", value: 2n ** 200n }],
      gas: 150_000n,
      left: { expected: 7n, minimum: 0n },
      authorizationList: [{ chainId: 1, address, nonce: 0, yParity: 1, r: word, s: word }],
    },
  };
  expect(termsFromJson(termsToJson(terms))).toEqual(terms);
});

test("calls of the order are stored once", async () => {
  const plain = await someTerms();
  const calls = [1, 2].map((n) => ({
    to: `0x${"11".repeat(20)}` as const,
    data: `0x${`0${n}`.repeat(1_000)}` as const,
    value: BigInt(n),
  }));
  const { order } = plain;
  const terms: RequestTerms = {
    ...plain,
    outputCalls: { calls, gas: 150_000n, left: { expected: 7n, minimum: 0n } },
    order: { ...order, output: { ...order.output, calls: calls.map(encodeOrderCall) } },
  };
  const text = termsToJson(terms);
  expect(text.split("01".repeat(1_000))).toHaveLength(2);
  expect(termsFromJson(text)).toEqual(terms);
});

test("the origin begins with chain, currency and amount, in whatever order the terms have them", async () => {
  const terms = await someTerms();
  const { amount, currency, chainId } = terms.origin;
  const text = termsToJson({ ...terms, origin: { amount, minimumAmount: 1n, currency, chainId } });
  expect(text).toContain(
    `"origin":{"chainId":${chainId},"currency":"${currency}","amount":{"$n":"${amount}"},"minimumAmount"`,
  );
});

import type { QuoteAnswer } from "@causeway/wire";
import { afterAll, expect, test } from "vitest";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";

const { app } = await aServer();
afterAll(async () => await app.close());

/** The fields that the warnings of a quote and of a price name, each with its suggestion. */
async function warningsFor(fields: Readonly<Record<string, unknown>>): Promise<string[]> {
  const payload = { ...aQuoteBody, ...fields };
  const [quote, old, price] = await Promise.all(
    ["/quote/v2", "/quote", "/price"].map(async (url) => {
      const answer = await app.inject({ method: "POST", url, payload });
      expect(answer.statusCode, answer.body).toBe(200);
      return answer.json<Pick<QuoteAnswer, "warnings">>().warnings;
    }),
  );
  expect(old).toEqual(quote);
  expect(price).toEqual(quote);
  return (quote ?? []).map(({ code, field, message }) => {
    expect(code).toBe("UNKNOWN_FIELD");
    const [, name, meant] = /^Unknown field (\w+) was ignored; did you mean (\w+)\?$/.exec(message) ?? [];
    expect(name).toBe(field);
    return `${field} -> ${meant}`;
  });
}

test("warns about an ignored field whose name is close to one that affects money", async () => {
  for (const [field, meant] of [
    ["slippage", "slippageTolerance"],
    ["slipageTolerance", "slippageTolerance"],
    ["slippage_tolerance", "slippageTolerance"],
    ["tradetype", "tradeType"],
    ["destinationChain", "destinationChainId"],
    ["recipent", "recipient"],
    ["toAddress", "recipient"],
    ["refundAddress", "refundTo"],
    ["appFee", "appFees"],
    ["topUpGas", "topupGas"],
    ["subsidiseFees", "subsidizeFees"],
  ] as const)
    expect(await warningsFor({ [field]: "1" })).toEqual([`${field} -> ${meant}`]);
});

test("each near miss has its own warning", async () => {
  expect(await warningsFor({ slippage: 50, TTL: 5 })).toEqual([
    "slippage -> slippageTolerance",
    "TTL -> ttl",
  ]);
});

test("accepts known fields, fields without effect and fields of newer clients without a warning", async () => {
  for (const fields of [
    {},
    { slippageTolerance: "50", useFallbacks: true, refundOnOrigin: false },
    { source: "x", sponsorAddress: "0x", useSharedAccounts: true, subsidizeRent: true },
    { userOperationGasOverhead: 1, depositFeePayer: "x", includeComputeUnitLimit: true, refundType: "x" },
    { refundOnOrigins: true, usefallbacks: true },
  ])
    expect(await warningsFor(fields)).toEqual([]);
});

test("does not warn about the aliases of the chain fields", async () => {
  const { originChainId: fromChainId, destinationChainId: toChainId, ...body } = aQuoteBody;
  const payload = { ...body, fromChainId, toChainId };
  const answer = await app.inject({ method: "POST", url: "/quote/v2", payload });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).not.toHaveProperty("warnings");
});

test("inspects only part of a body with many unknown fields", async () => {
  const unknownFields = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`odd${n}`, n]));
  expect(await warningsFor({ ...unknownFields, slippage: 1 })).toEqual([]);
  expect(await warningsFor({ [`slippage${"x".repeat(1_000)}`]: 1 })).toEqual([]);
  const nearMisses = Object.fromEntries(
    Array.from({ length: 15 }, (_, n) => [`trade${"_".repeat(n)}type`, n]),
  );
  expect(await warningsFor(nearMisses)).toHaveLength(10);
});

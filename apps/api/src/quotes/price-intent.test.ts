import { expect, test } from "vitest";
import { aQuoteInput, quoteWorld } from "../../../../test/fakes/quote-world.ts";
import { createQuote } from "./create-quote.ts";
import { priceIntent } from "./price-intent.ts";

test("a price is what the quote of the same moment says", async () => {
  const { fees, details } = await createQuote(quoteWorld(), aQuoteInput());
  expect(await priceIntent(quoteWorld(), aQuoteInput())).toEqual({ fees, details });
});

test("nothing is stored and nothing is signed for a price", async () => {
  const world = quoteWorld();
  const signed: string[] = [];
  const services = {
    ...world,
    signOrder: async (orderId: string): Promise<`0x${string}`> => {
      signed.push(orderId);
      return await Promise.resolve("0x51");
    },
  };
  await priceIntent(services, aQuoteInput({ includeProtocolData: true }));
  expect(world.stored).toEqual([]);
  expect(signed).toEqual([]);
});

test("what no quote is given for has no price", async () => {
  await expect(priceIntent(quoteWorld(), aQuoteInput({ amount: "0" }))).rejects.toMatchObject({
    code: "AMOUNT_TOO_LOW",
  });
});

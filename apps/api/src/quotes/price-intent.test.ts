import { expect, test } from "vitest";
import { aQuoteInput, quoteWorld } from "../../../../test/fakes/quote-world.ts";
import { createQuote } from "./create-quote.ts";
import { priceIntent } from "./price-intent.ts";

test("a price equals a quote made at the same time", async () => {
  const { fees, details } = await createQuote(quoteWorld(), aQuoteInput());
  expect(await priceIntent(quoteWorld(), aQuoteInput())).toEqual({ fees, details });
});

test("pricing stores and signs nothing", async () => {
  const world = quoteWorld();
  const signed: unknown[] = [];
  const services = {
    ...world,
    signOrder: async (order: unknown) => {
      signed.push(order);
      return await Promise.resolve({ personal: "0x51", typed: "0x52" } as const);
    },
  };
  await priceIntent(services, aQuoteInput({ includeProtocolData: true }));
  expect(world.stored).toEqual([]);
  expect(signed).toEqual([]);
});

test("refuses to price an input that cannot be quoted", async () => {
  await expect(priceIntent(quoteWorld(), aQuoteInput({ amount: "0" }))).rejects.toMatchObject({
    code: "AMOUNT_TOO_LOW",
  });
});

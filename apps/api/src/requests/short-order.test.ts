import type { Order, RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import { aQuoteInput, quoteWorld } from "../../../../test/fakes/quote-world.ts";
import { createQuote } from "../quotes/create-quote.ts";
import { shortOrderJson, wholeOrder } from "./short-order.postgres.ts";
import { termsFromJson, termsToJson } from "./terms-json.postgres.ts";

async function someTerms(): Promise<RequestTerms> {
  const world = quoteWorld();
  await createQuote(
    world,
    aQuoteInput({ recipient: `0x${"ab".repeat(20)}`, refundTo: `0x${"cd".repeat(20)}` }),
  );
  const [terms] = world.stored;
  if (terms === undefined) throw new Error("the quote stored nothing");
  return terms;
}

test("the order of a quote is stored short and read back whole", async () => {
  const terms = await someTerms();
  const short = shortOrderJson(terms.order, terms);
  expect(short).toBeDefined();
  expect(wholeOrder(JSON.parse(short ?? "") as Order, terms)).toEqual(terms.order);
  expect(termsToJson(terms).length).toBeLessThan(1_500);
});

test("an order that differs from that in any one place is read back as it was, too", async () => {
  const terms = await someTerms();
  const { order: plain } = terms;
  const fee = {
    recipientChainId: "a",
    recipient: terms.user,
    currencyChainId: "b",
    currency: terms.user,
    amount: 3n,
  };
  const others = [
    ...changed(plain),
    { ...plain, fees: [fee] },
    { ...plain, output: { ...plain.output, calls: ["0xabcd"] } },
  ] as Order[];
  expect(others.length).toBeGreaterThan(25);
  for (const order of others) expect(termsFromJson(termsToJson({ ...terms, order })).order).toEqual(order);
});

test("terms that were stored with their whole order are read as ever", async () => {
  const terms = await someTerms();
  const text = JSON.stringify(terms, (_key, value: unknown) =>
    typeof value === "bigint" ? { $n: value.toString() } : value,
  );
  expect(termsFromJson(text)).toEqual(terms);
});

/**
 * The value with one leaf changed, for each of its leaves; lists once more without their items and once with
 * the first item twice.
 */
function* changed(value: unknown): Generator {
  if (typeof value === "bigint") yield value + 1n;
  else if (typeof value === "number") yield value + 1;
  else if (typeof value === "string") yield value === "v1" ? "v2" : `${value}00`;
  else if (Array.isArray(value)) {
    const items = value as unknown[];
    for (const [at, item] of items.entries()) for (const other of changed(item)) yield items.with(at, other);
    if (items.length > 0) yield* [[], [items[0], ...items]];
  } else if (typeof value === "object" && value !== null)
    for (const [name, field] of Object.entries(value))
      for (const other of changed(field)) yield { ...value, [name]: other };
}

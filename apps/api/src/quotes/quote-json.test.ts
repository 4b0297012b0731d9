import type { QuoteAnswer } from "@causeway/wire";
import { expect, test } from "vitest";
import { aQuoteInput, ORIGIN, quoteWorld, usdcOn, wethOn } from "../../../../test/fakes/quote-world.ts";
import { anAnswer } from "../../../../test/fakes/route-services.ts";
import { createQuote } from "./create-quote.ts";
import { quoteJson } from "./quote-json.route.ts";

test("a quote is written exactly as JSON.stringify would, whatever its form", async () => {
  const inputs = [
    aQuoteInput(),
    aQuoteInput({ originCurrency: usdcOn(ORIGIN), amount: "25000000" }),
    aQuoteInput({
      originCurrency: wethOn(ORIGIN),
      destinationChainId: ORIGIN,
      destinationCurrency: wethOn(ORIGIN),
      recipient: "0x2222222222222222222222222222222222222222",
    }),
  ];
  for (const input of inputs) {
    const answer = await createQuote(quoteWorld(), input);
    expect(quoteJson(answer)).toBe(JSON.stringify(answer));
    // Again: the currencies are now remembered.
    expect(quoteJson(answer)).toBe(JSON.stringify(answer));
  }
});

test("fields that may be absent are written when they are there, and texts are escaped", () => {
  const { details } = anAnswer;
  const { expiresAt: _, fillDeadline: __, ...bare } = anAnswer;
  const odd = { ...details.currencyIn.currency, name: 'The "\u2028\\ coin\n', symbol: "\ud800" };
  const answers: QuoteAnswer[] = [
    anAnswer,
    bare,
    { ...anAnswer, expiresAt: 1, fillDeadline: 2 },
    {
      ...anAnswer,
      details: {
        ...details,
        currencyGasTopup: details.currencyIn,
        fallbackType: 'a "fallback"',
        recipient: 'not an "address"',
        refundCurrency: { ...details.currencyIn, currency: odd },
        route: {
          origin: { ...details.route.origin, router: "\\", includedSwapSources: ["a", "b"] },
          destination: details.route.destination,
        },
      },
    },
  ];
  const nothing = {
    ...details.currencyIn,
    amount: "0",
    amountFormatted: "0",
    amountUsd: "0.000000",
    minimumAmount: "0",
  };
  for (const gas of [nothing, { ...nothing, minimumAmount: "1" }, { ...nothing, amountUsd: "0.000001" }])
    answers.push({ ...anAnswer, fees: { ...anAnswer.fees, gas } });
  for (const answer of answers)
    expect(JSON.parse(quoteJson(answer))).toEqual(JSON.parse(JSON.stringify(answer)));
});

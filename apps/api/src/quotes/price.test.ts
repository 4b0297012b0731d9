import { afterAll, expect, test } from "vitest";
import { anAnswer, failing } from "../../../../test/fakes/route-services.ts";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";

const { app } = await aServer();
const { app: refusing } = await aServer({
  priceIntent: failing("NO_QUOTES", "There is no route", { field: "amount" }),
});
afterAll(async () => {
  await Promise.all([app.close(), refusing.close()]);
});

test("a price has the costs and the output of a quote, and no steps that could be paid", async () => {
  const answer = await app.inject({ method: "POST", url: "/price", payload: { ...aQuoteBody, source: "x" } });
  expect(answer.statusCode).toBe(200);
  expect(Object.keys(answer.json()).sort()).toEqual(["deprecation", "details", "fees"]);
  expect(answer.json()).toMatchObject({ fees: anAnswer.fees, details: anAnswer.details });
  expect(answer.headers["deprecation"]).toBe("@1793491200");
  const { originChainId: fromChainId, destinationChainId: toChainId, ...body } = aQuoteBody;
  const aliased = await app.inject({
    method: "POST",
    url: "/price",
    payload: { ...body, fromChainId, toChainId },
  });
  expect(aliased.statusCode).toBe(200);
});

test("refuses a quote whose chain and alias differ", async () => {
  const answer = await app.inject({
    method: "POST",
    url: "/quote/v2",
    payload: { ...aQuoteBody, toChainId: aQuoteBody.destinationChainId + 1 },
  });
  expect([answer.statusCode, answer.json()]).toMatchObject([
    400,
    {
      message: "toChainId must name the same chain as destinationChainId; send only one of the two",
      errorData: { field: "toChainId" },
    },
  ]);
});

test("refuses a price with the same error as a quote", async () => {
  const invalid = await app.inject({
    method: "POST",
    url: "/price",
    payload: { ...aQuoteBody, slippageTolerance: "x" },
  });
  expect(invalid.statusCode).toBe(400);
  expect(invalid.json()).toMatchObject({
    errorCode: "INVALID_SLIPPAGE_TOLERANCE",
    message: "slippageTolerance must be a whole number of bps from 0 to 10000",
  });
  const noQuotes = await refusing.inject({ method: "POST", url: "/price", payload: aQuoteBody });
  expect(noQuotes.statusCode).toBe(400);
  expect(noQuotes.json()).toMatchObject({ errorCode: "NO_QUOTES", errorData: { field: "amount" } });
  expect(noQuotes.headers["sunset"]).toBe("Mon, 01 Nov 2027 00:00:00 GMT");
});

test("the older of the two quote routes points to the newer one", async () => {
  const post = async (url: string) => await app.inject({ method: "POST", url, payload: aQuoteBody });
  expect((await post("/quote")).headers).toMatchObject({
    deprecation: "@1793491200",
    link: expect.stringContaining('</quote/v2>; rel="successor-version"'),
  });
  expect((await post("/quote/v2")).headers).not.toHaveProperty("deprecation");
});

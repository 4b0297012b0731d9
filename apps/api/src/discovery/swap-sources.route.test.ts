import { ServiceError } from "@causeway/domain";
import { afterAll, expect, test } from "vitest";
import { aServer } from "../../../../test/support/route-server.ts";

const { app } = await aServer({
  swapSources: (chainId) => {
    if (chainId === 11) return { sources: ["uniswap-v3", "pairs"] };
    throw new ServiceError("UNSUPPORTED_CHAIN", `Chain ${chainId} is not supported`, { field: "chainId" });
  },
});
afterAll(() => app.close());

const get = async (query: string) => await app.inject({ method: "GET", url: `/swap-sources${query}` });

test("lists a chain's swap sources by name", async () => {
  const answer = await get("?chainId=11");
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ sources: ["uniswap-v3", "pairs"] });
});

test("refuses an unknown or missing chain with a message", async () => {
  const unknown = await get("?chainId=12");
  expect(unknown.statusCode).toBe(400);
  expect(unknown.json()).toMatchObject({
    message: "Chain 12 is not supported",
    errorCode: "UNSUPPORTED_CHAIN",
  });
  for (const query of ["", "?chainId=eleven"]) {
    const answer = await get(query);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ message: expect.any(String) });
  }
});

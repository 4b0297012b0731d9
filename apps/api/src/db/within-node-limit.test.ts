import { RateLimitShareExceeded } from "@causeway/chains";
import { answerFor } from "@causeway/service-kit";
import { expect, test } from "vitest";
import { aConnectedNonEvmChain, bytesOn, hyperliquid } from "../../../../test/fakes/non-evm-chains.ts";
import { quotedCostOfPaying } from "../payments/non-evm/cost-of-paying.ts";
import { withinNodeLimit } from "./within-node-limit.ts";

const refused = async () =>
  await Promise.reject(new RateLimitShareExceeded("txDetails", { perMinute: 300, waitMs: 3_500 }));

test("reports the limit and the retry time to a client beyond its share of the rate limit", async () => {
  const connected = aConnectedNonEvmChain("hypevm", { connection: { paymentCost: refused } });
  const account = bytesOn("hypevm", hyperliquid.solver);
  for (const call of [
    withinNodeLimit(connected.chain, "txHash", refused),
    quotedCostOfPaying(connected, connected.chain.native.address, account, "originChainId"),
  ]) {
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(answerFor(error)).toMatchObject({
      status: 503,
      headers: { "retry-after": "4" },
      body: {
        errorCode: "SERVICE_UNAVAILABLE",
        message: expect.stringContaining("rate limit (weight 300 per minute)"),
      },
    });
  }
});

import { afterAll, expect, test } from "vitest";
import { A_TX_HASH, KNOWN_REQUEST_ID } from "../../../../test/fakes/route-services.ts";
import { seededNumbers, rawBody } from "../../../../test/support/odd-bodies.ts";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";

const BODIES = 5000;
const SEED = Number(process.env["FUZZ_SEED"] ?? "20260"); // printed with every failure

const { app } = await aServer();
afterAll(() => app.close());

const valid: Readonly<Record<string, object>> = {
  "/quote/v2": {
    ...aQuoteBody,
    slippageTolerance: "50",
    txs: [{ to: "0x01", value: "1", data: "0x00" }],
    appFees: [{ recipient: "0x01", fee: "10" }],
    fixedRate: "1:1",
    ttl: 60,
  },
  "/quote": aQuoteBody,
  "/transactions/index": { txHash: A_TX_HASH, chainId: "11", requestId: KNOWN_REQUEST_ID },
  [`/app-fees/0x${"a1".repeat(20)}/claim`]: {
    chainId: 11,
    currency: `0x${"00".repeat(20)}`,
    recipient: `0x${"b2".repeat(20)}`,
    amount: "5",
  },
  "/execute/permits?signature=0xab": { kind: "claim", requestId: KNOWN_REQUEST_ID, api: "bridge" },
  "/requests/metadata": { requestId: KNOWN_REQUEST_ID, additionalMetadata: { moonPayId: "a" } },
  "/transactions/single": {
    tx: JSON.stringify({ txHash: A_TX_HASH }),
    chainId: 11,
    requestId: KNOWN_REQUEST_ID,
  },
};

test.for(Object.entries(valid))(
  `POST %s answers ${BODIES} random and mutated bodies with 200 or 400 and a message`,
  { timeout: 60_000 },
  async ([url, body]) => {
    const random = seededNumbers(SEED);
    const statuses = new Map<number, number>();
    for (let n = 0; n < BODIES; n++) {
      const payload = rawBody(body, random);
      const answer = await app.inject({
        method: "POST",
        url,
        payload,
        headers: { "content-type": "application/json" },
      });
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
      if (answer.statusCode === 200) continue;
      const { message, errorCode, statusCode } = answer.json();
      expect
        .soft(
          [answer.statusCode, statusCode, typeof message, errorCode !== "UNKNOWN_ERROR"],
          `seed ${SEED}, body ${n}: ${payload}`,
        )
        .toEqual([400, 400, "string", true]);
    }
    // The schema must have accepted some bodies and refused others.
    expect(statuses.get(200) ?? 0).toBeGreaterThan(BODIES / 100);
    expect(statuses.get(400) ?? 0).toBeGreaterThan(BODIES / 4);
  },
);

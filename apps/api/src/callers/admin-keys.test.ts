import { Secret } from "@causeway/config";
import { afterAll, expect, test } from "vitest";
import { anApiKey, fakeKeyAdmin } from "../../../../test/fakes/api-keys.ts";
import { seededNumbers, rawBody } from "../../../../test/support/odd-bodies.ts";
import { aServer } from "../../../../test/support/route-server.ts";
import type { ApiKeyRecord } from "./api-key-register.port.ts";

const BODIES = 1_500;
const SEED = Number(process.env["FUZZ_SEED"] ?? "20260"); // printed with every failure
const TOKEN = "0123456789abcdef0123456789abcdef";

const record: ApiKeyRecord = {
  ...anApiKey(),
  createdAtMs: 1,
  updatedAtMs: 1,
  revokedAtMs: undefined,
  previousUntilMs: undefined,
};
const issued = { key: "cwk_00112233445566aa_x", record };
const { app, lines } = await aServer({
  operatorToken: new Secret(TOKEN),
  keyAdmin: fakeKeyAdmin({
    create: async (settings) => ({ ...issued, record: { ...record, ...settings } }),
    change: async (_id, change) => ({ ...record, ...change }),
    rotate: async () => issued,
    challengeFundingAddress: async () => ({ message: "sign this", expiresAtMs: 1 }),
    linkFundingAddress: async (_id, fundingAddress) => ({ ...record, fundingAddress }),
  }),
});
afterAll(() => app.close());

const address = `0x${"Ab".repeat(20)}`;
const settings = {
  label: "backend",
  scopes: ["quote", "read"],
  referrers: ["app.example"],
  origins: ["https://app.example"],
  rules: {
    dailyUsd: "5",
    perTargetDailyUsd: { [address]: "1.25" },
    allowSelectors: ["0xa9059cbb", { selector: "0x095ea7b3", target: address }],
  },
  limits: { quotePerMinute: 5 },
};
const key = `/admin/keys/${record.id}`;

test.for([
  ["POST", "/admin/keys", settings],
  ["PATCH", key, settings],
  ["POST", `${key}/rotate`, { graceSeconds: 60 }],
  ["POST", `${key}/funding-address/challenge`, { address }],
  ["POST", `${key}/funding-address`, { address, signature: `0x${"ab".repeat(65)}` }],
] as const)(
  `%s %s answers ${BODIES} random and mutated bodies with 200 or 400 and a message`,
  { timeout: 60_000 },
  async ([method, url, body]) => {
    const random = seededNumbers(SEED);
    const statuses = new Map<number, number>();
    for (let n = 0; n < BODIES; n++) {
      const payload = rawBody(body, random);
      const answer = await app.inject({
        method,
        url,
        payload,
        headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
      });
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
      if (answer.statusCode === 200) continue;
      const { message, errorCode, statusCode } = answer.json();
      expect
        .soft(
          [answer.statusCode, statusCode, typeof message, errorCode],
          `seed ${SEED}, body ${n}: ${payload}`,
        )
        .toEqual([400, 400, "string", "INVALID_REQUEST"]);
    }
    expect(statuses.get(200) ?? 0).toBeGreaterThan(0);
    expect(statuses.get(400) ?? 0).toBeGreaterThan(BODIES / 4);
    expect(lines.join("")).toBe("");
  },
);

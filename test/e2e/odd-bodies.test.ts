import { startSystem, type System } from "@causeway/localnet";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededNumbers, rawBody } from "../support/odd-bodies.ts";
import { portBaseOf } from "./port-bases.ts";

const BODIES = 5_000;
const IN_FLIGHT = 16;
const SEED = Number(process.env["FUZZ_SEED"] ?? "20261");
/** One lane for each key (solver, executor, operator of deposit addresses) on each of two chains. */
const LANES = 6;
const TABLES = [
  "requests",
  "request_events",
  "deposits",
  "sends",
  "lanes",
  "slots",
  "attempts",
  "outbox",
] as const;

let system: System;
let database: pg.Client;

beforeAll(async () => {
  system = await startSystem({ env: {}, portBase: portBaseOf("odd-bodies"), oracles: 0, durable: false });
  database = new pg.Client({ connectionString: system.databaseUrl });
  await database.connect();
}, 60_000);
afterAll(async () => {
  await database.end();
  await system.stop();
});

async function rowCounts(): Promise<Record<string, number>> {
  const counted = TABLES.map((table) => `(select count(*) from ${table})::int as ${table}`).join(", ");
  const { rows } = await database.query<Record<string, number>>(`select ${counted}`);
  if (rows[0] === undefined) throw new Error("nothing was counted");
  return rows[0];
}

async function answersTo(path: string, body: object): Promise<Map<number, number>> {
  const random = seededNumbers(SEED);
  const statuses = new Map<number, number>();
  let remaining = BODIES;
  const worker = async (): Promise<void> => {
    while (remaining-- > 0) {
      const payload = rawBody(body, random);
      const answer = await fetch(`${system.endpoints.api.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: payload,
      });
      const text = await answer.text();
      if (answer.status >= 500) throw new Error(`${answer.status} for ${payload} (seed ${SEED}): ${text}`);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return statuses;
}

test("random and mutated bodies cause no 5xx from the real service, and only successful quotes are stored", async () => {
  const [origin, destination] = system.chains;
  const quote = {
    user: system.users[0]?.address,
    originChainId: origin?.id,
    destinationChainId: destination?.id,
    originCurrency: origin?.native.address,
    destinationCurrency: destination?.native.address,
    amount: "100000000000000000",
    tradeType: "EXACT_INPUT",
    slippageTolerance: "50",
    ttl: 60,
  };
  const hash = `0x${"ab".repeat(32)}`;
  const bodies: Readonly<Record<string, object>> = {
    "/quote/v2": quote,
    "/quote": quote,
    "/transactions/index": { txHash: hash, chainId: String(origin?.id), requestId: hash },
    "/transactions/single": { tx: JSON.stringify({ txHash: hash }), chainId: origin?.id, requestId: hash },
  };
  // The worker may open its lanes after the system is ready.
  await expect.poll(async () => (await rowCounts())["lanes"], { timeout: 30_000 }).toBe(LANES);
  const before = await rowCounts();
  let quoted = 0;
  for (const [path, body] of Object.entries(bodies)) {
    const statuses = await answersTo(path, body);
    expect(
      [...statuses.keys()].filter((status) => ![200, 400, 404].includes(status)),
      path,
    ).toEqual([]);
    if (path.startsWith("/quote")) quoted += statuses.get(200) ?? 0;
    else expect(statuses.get(200), path).toBeUndefined();
  }
  expect(quoted).toBeGreaterThan(BODIES / 100);
  expect(await rowCounts()).toEqual({ ...before, requests: (before["requests"] ?? 0) + quoted });
}, 120_000);

import { setTimeout as sleep } from "node:timers/promises";
import { arrangeSponsorship, fundLocal, localAccount, startSystem, type System } from "@causeway/localnet";
import pg from "pg";
import {
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  http,
  multicall3Abi,
  pad,
  parseAbiItem,
  parseUnits,
  toHex,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type Quote, type Status } from "./client.ts";
import { seededRandom } from "../../scripts/soak/random.ts";
import { portBaseOf } from "./port-bases.ts";

// Sends a thousand calls, most of them duplicates, to two APIs and two workers that are killed repeatedly.
// The apps' balances do not cover all calls.

const CALLS = 1_000;
const CONCURRENCY = 120;
const EXECUTIONS = 220;
const FAST_FILLS = 60;
const UNKEYED = 40;
/**
 * Initial balances of two apps. The first covers all executions but not all fast fills. The second does not
 * even cover all executions.
 */
const BALANCES = { rich: parseUnits("45", 6), poor: parseUnits("1", 6) };
const FILL = parseUnits("1", 6);

const forwarded = parseAbiItem("event NativeForwarded(address from, uint256 amount, bytes32 id)");
const random = seededRandom(20_260_717);

let system: System;
let db: pg.Pool;
type App = keyof typeof BALANCES;
let apiKeys: Readonly<Record<App, string>>;
let wallet: Address;

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("storm"),
    apis: 2,
    workers: 2,
    oracles: 0,
    mixedMining: true,
    users: 1,
  });
  db = new pg.Pool({ connectionString: system.databaseUrl, max: 2 });
  const [rich, poor] = [await anApp("rich", 1), await anApp("poor", 2)];
  apiKeys = { rich: rich.key, poor: poor.key };
  wallet = rich.wallet;
});
afterAll(async () => {
  await db.end();
  await system.stop();
});

/** Creates an app with a key and a balance. */
async function anApp(app: App, index: number): Promise<{ key: string; wallet: Address }> {
  const sponsor = localAccount("sponsor", index);
  const [node] = system.nodes;
  const { chain, usdc } = origin();
  if (node === undefined) throw new Error("the system has no chain");
  const amount = BALANCES[app];
  await fundLocal(node, [
    { address: sponsor.address, nativeWei: 10n ** 18n, tokens: [{ token: usdc, amount }] },
  ]);
  const { apiKey, funded } = await arrangeSponsorship({
    apiUrl: apiUrl(0),
    sponsor,
    solver: system.solver.address,
    home: { url: node.url, chainId: chain.id },
    token: usdc,
    amount,
  });
  await funded;
  return { key: apiKey.key, wallet: sponsor.address };
}

interface Call {
  readonly app: App;
  readonly path: "/execute" | "/fast-fill";
  readonly body: object;
  /** The value that all duplicates of a call share. */
  readonly subject: Hex;
  readonly idempotencyKey: string | undefined;
}

interface Answered {
  readonly call: Call;
  readonly status: number;
  readonly body: Record<string, unknown>;
}

test("the service runs each of a thousand calls at most once and overdraws no balance, even if processes are killed", async () => {
  const executions = Array.from({ length: EXECUTIONS + UNKEYED }, (_, n) => pad(toHex(n + 1)));
  const appOf = (id: Hex): App => (BigInt(id) % 2n === 0n ? "rich" : "poor");
  const quotes = await Promise.all(Array.from({ length: FAST_FILLS }, async () => await quote()));
  const calls = shuffled([
    ...executions
      .slice(0, EXECUTIONS)
      .flatMap((id) => Array.from({ length: 3 }, () => execution(appOf(id), id, `execution-${id}`))),
    ...executions
      .slice(EXECUTIONS)
      .flatMap((id) => Array.from({ length: 4 }, () => execution(appOf(id), id, undefined))),
    ...quotes.flatMap(({ requestId }) => [
      fastFill(requestId, `fill-${requestId}`),
      fastFill(requestId, `fill-${requestId}`),
      fastFill(requestId, undefined),
    ]),
  ]);
  expect(calls).toHaveLength(CALLS);

  let done = false;
  const killing = killRepeatedly(() => done);
  const answers = await sendAll(calls);
  done = true;
  await killing;

  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status !== 200);
  for (const [app, path] of [
    ["rich", "/execute"],
    ["poor", "/execute"],
    ["rich", "/fast-fill"],
  ] as const)
    expect(accepted.filter(({ call }) => call.app === app && call.path === path).length).toBeGreaterThan(5);
  const overdrawn = refused.filter(({ status }) => status === 400 || status === 403);
  expect(overdrawn.filter(({ call }) => call.path === "/execute").length).toBeGreaterThan(5);
  expect(overdrawn.filter(({ call }) => call.path === "/fast-fill").length).toBeGreaterThan(5);
  for (const answer of refused) expectDocumented(answer);
  await waitUntilIdle(accepted);

  // Every process must return the same answer for an idempotency key.
  for (const [, duplicates] of groupedBy(answers, ({ call }) => call.idempotencyKey)) {
    const settled = duplicates.filter(({ status }) => status !== 409 && status !== 429);
    expect(
      new Set(settled.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size,
    ).toBeLessThanOrEqual(1);
  }
  await expectExecutedOnce(answers, executions);
  await expectFilledOnce(answers, quotes);
  await expectBalancedBooks();
}, 240_000);

function origin(): { chain: System["chains"][number]; usdc: Address; receiver: Address } {
  const [chain] = system.chains;
  const usdc = chain?.tokens.find(({ symbol }) => symbol === "USDC");
  if (chain === undefined || usdc === undefined) throw new Error("the first local chain has no USDC");
  return { chain, usdc: usdc.address, receiver: chain.contracts.serviceReceiver };
}

function apiUrl(index: number): string {
  const api = system.apis[index];
  if (api === undefined) throw new Error(`there is no API ${index}`);
  return api.url;
}

/**
 * A call in which Multicall3 calls the receiver. The receiver emits the id once each time the call really
 * runs.
 */
function execution(app: App, id: Hex, idempotencyKey: string | undefined): Call {
  const { chain, receiver } = origin();
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [[{ target: receiver, allowFailure: false, callData: id }]],
  });
  return {
    app,
    path: "/execute",
    subject: id,
    idempotencyKey,
    body: {
      executionKind: "rawCalls",
      data: { chainId: chain.id, to: chain.contracts.multicall3, data, value: "0" },
      executionOptions: { referrer: "storm", subsidizeFees: true },
    },
  };
}

function fastFill(requestId: Hex, idempotencyKey: string | undefined): Call {
  return { app: "rich", path: "/fast-fill", subject: requestId, idempotencyKey, body: { requestId } };
}

interface QuotedFastFill {
  readonly requestId: Hex;
  readonly recipient: Address;
  readonly amount: bigint;
}

async function quote(): Promise<QuotedFastFill> {
  const [first, other] = system.chains;
  const usdcOf = (chain: typeof first): Address | undefined =>
    chain?.tokens.find(({ symbol }) => symbol === "USDC")?.address;
  const recipient = privateKeyToAddress(generatePrivateKey());
  const { code, body } = await createClient(apiUrl(0)).call<Quote>("/quote/v2", {
    user: privateKeyToAddress(generatePrivateKey()),
    recipient,
    originChainId: first?.id,
    originCurrency: usdcOf(first),
    destinationChainId: other?.id,
    destinationCurrency: usdcOf(other),
    amount: FILL.toString(),
    tradeType: "EXACT_INPUT",
  });
  expect(code).toBe(200);
  return { requestId: body.requestId, recipient, amount: BigInt(body.details.currencyOut.amount) };
}

async function sendAll(calls: readonly Call[]): Promise<Answered[]> {
  const answers: Answered[] = [];
  const queue = calls.values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async (_, worker) => {
      for (const call of queue) {
        const answer = await send(call, worker % 2);
        if (answer !== undefined) answers.push(answer);
      }
    }),
  );
  return answers;
}

/**
 * Acts like a careful client: retries an unanswered call at the other API with the same idempotency key.
 * Without a key, it gives up.
 */
async function send(call: Call, first: number): Promise<Answered | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(`${apiUrl((first + attempt) % 2)}${call.path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-api-key": apiKeys[call.app],
          ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey }),
        },
        body: JSON.stringify(call.body),
        signal: AbortSignal.timeout(60_000),
      });
      const body = (await response.json()) as Record<string, unknown>;
      const shouldRetry = response.status >= 500 || response.status === 409;
      if (shouldRetry && call.idempotencyKey !== undefined && attempt < 60) {
        await sleep(500);
        continue;
      }
      return { call, status: response.status, body };
    } catch (error) {
      if (call.idempotencyKey === undefined) return undefined;
      if (attempt > 240) throw error;
      await sleep(250);
    }
  }
}

/** Repeatedly sends SIGKILL to an API or worker. The process restarts immediately. */
async function killRepeatedly(isDone: () => boolean): Promise<void> {
  const victims = [...system.apis, ...system.workers];
  for (let kills = 0; kills < 6 && !isDone(); kills++) {
    await sleep(random.int(400, 1_600));
    const victim = random.pick(victims);
    victim.kill("SIGKILL");
    await victim.restart();
  }
}

/** Waits until every accepted request has completed and nothing is in progress. */
async function waitUntilIdle(accepted: readonly Answered[]): Promise<void> {
  const client = createClient(apiUrl(0));
  const ids = new Set(
    accepted.map(({ call, body }) => (body["requestId"] as Hex | undefined) ?? call.subject),
  );
  for (const id of ids)
    await expect
      .poll(async () => (await client.call<Status>(`/intents/status/v3?requestId=${id}`)).body.status, {
        timeout: 120_000,
        interval: 100,
      })
      .toMatch(/^(success|failure|refund)$/);
  // The charges follow once the blocks are final.
  await expect
    .poll(async () => await count("select count(*) as n from fee_reservations where state = 'open'"), {
      timeout: 120_000,
      interval: 250,
    })
    .toBe(0);
}

function expectDocumented({ call, status, body }: Answered): void {
  if (call.path === "/execute") {
    expect([400, 409, 429], JSON.stringify(body)).toContain(status);
    if (status === 400) expect(body).toEqual({ error: expect.stringMatching(/app balance/iu) });
    return;
  }
  expect([400, 403, 409, 429], JSON.stringify(body)).toContain(status);
  expect(body).toMatchObject({ message: expect.any(String), statusCode: status });
}

async function expectExecutedOnce(answers: readonly Answered[], ids: readonly Hex[]): Promise<void> {
  const { chain, receiver } = origin();
  const reads = createPublicClient({ transport: http(chain.rpcUrl) });
  const logs = await reads.getLogs({ address: receiver, event: forwarded, fromBlock: 0n, strict: true });
  const runCount = (id: Hex): number => logs.filter(({ args }) => args.id === id).length;
  const byId = groupedBy(
    answers.filter(({ call }) => call.path === "/execute"),
    ({ call }) => call.subject,
  );
  for (const id of ids) {
    const duplicates = byId.get(id) ?? [];
    const acceptedIds = new Set(
      duplicates.filter(({ status }) => status === 200).map(({ body }) => body["requestId"]),
    );
    if (duplicates.some(({ call }) => call.idempotencyKey !== undefined)) {
      expect(acceptedIds.size).toBeLessThanOrEqual(1);
      expect(runCount(id), id).toBe(acceptedIds.size);
    } else {
      // Each accepted call is separate. A call whose answer was lost with a process may have run too.
      expect(runCount(id)).toBeGreaterThanOrEqual(acceptedIds.size);
      expect(runCount(id)).toBeLessThanOrEqual(4);
    }
  }
  // Every call that ran is charged once, whether or not its answer arrived.
  expect(await count("select count(*) as n from ledger_movements where context = 'pay-fees'")).toBe(
    logs.length,
  );
}

async function expectFilledOnce(
  answers: readonly Answered[],
  quotes: readonly QuotedFastFill[],
): Promise<void> {
  const [, destination] = system.chains;
  const usdc = destination?.tokens.find(({ symbol }) => symbol === "USDC");
  if (destination === undefined || usdc === undefined) throw new Error("the second local chain has no USDC");
  const reads = createPublicClient({ transport: http(destination.rpcUrl) });
  let filled = 0;
  for (const { requestId, recipient, amount } of quotes) {
    const received = await reads.readContract({
      address: usdc.address,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [recipient],
    });
    const isAccepted = answers.some(({ call, status }) => call.subject === requestId && status === 200);
    expect([0n, amount]).toContain(received);
    if (isAccepted) expect(received, requestId).toBe(amount);
    if (received > 0n) filled++;
  }
  expect(await count("select count(*) as n from holds")).toBe(filled);
  expect(await count("select count(*) as n from holds where state = 'active'")).toBe(filled);
}

async function expectBalancedBooks(): Promise<void> {
  expect(
    await count(
      "select count(*) as n from (select 1 from ledger_entries group by chain_id, currency having sum(amount) <> 0) as unbalanced",
    ),
  ).toBe(0);
  expect(
    await count("select count(*) as n from ledger_entries where account <> 'owed' and balance_after < 0"),
  ).toBe(0);
  expect(
    await count(
      `select count(*) as n from (select wallet, account, chain_id, currency from ledger_entries where wallet is not null
         group by 1, 2, 3, 4 having sum(amount) <> (array_agg(balance_after order by seq desc))[1]) as drifted`,
    ),
  ).toBe(0);
  // At the acceptance of each fast fill, the balance covered its exposure.
  const { rows } = await db.query<{ held: string; balance: string }>(
    `select (select coalesce(sum(usd), 0) from holds where wallet = $1 and state = 'active')::text as held,
       (select coalesce(sum(amount), 0) from ledger_entries where wallet = $1 and account = 'balance' and amount > 0)::text as balance`,
    [wallet.toLowerCase()],
  );
  expect(BigInt(rows[0]?.held ?? 0)).toBeLessThanOrEqual(BigInt(rows[0]?.balance ?? 0) * 10n ** 12n);
}

async function count(sql: string): Promise<number> {
  const { rows } = await db.query<{ n: string }>(sql);
  return Number(rows[0]?.n);
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

function groupedBy<T, K>(list: readonly T[], keyOf: (value: T) => K | undefined): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of list) {
    const key = keyOf(value);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return groups;
}

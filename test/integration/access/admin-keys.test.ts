import { RpcFault } from "@causeway/chains";
import { Secret } from "@causeway/config";
import type { Address, Hex } from "@causeway/domain";
import { repositoryRoot, workspaceNode } from "@causeway/testkit";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type pg from "pg";
import { decodeFunctionData, hashMessage, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { accountSignatures } from "../../../apps/api/src/chains/signatures.adapter.ts";
import { knownKeys } from "../../../apps/api/src/callers/known-keys.adapter.ts";
import { apiKeyRegister } from "../../../apps/api/src/callers/api-key-register.postgres.ts";
import { createPool, sqlOn, type Sql } from "../../../apps/api/src/db/pool.postgres.ts";
import { storedKeys } from "../../../apps/api/src/callers/stored-keys.postgres.ts";
import { createSearchLimiter } from "../../../apps/api/src/requests/history/search-limiter.ts";
import { usageCounter, type UsageCounter } from "../../../apps/api/src/callers/usage-counter.postgres.ts";
import { pooledRandomBytes } from "../../../apps/api/src/db/pooled-bytes.adapter.ts";
import { runKeys } from "../../../apps/api/src/process/commands/keys-command.ts";
import type { KeyAdmin } from "../../../apps/api/src/callers/key-admin.port.ts";
import { keyAdmin } from "../../../apps/api/src/callers/key-admin.ts";
import { adjustableClock } from "../../fakes/adjustable-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { aServer } from "../../support/route-server.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const clock = adjustableClock();
let database: TestDatabase;
let pool: pg.Pool;
let usage: UsageCounter;
let keyAdministration: KeyAdmin;
let app: Awaited<ReturnType<typeof aServer>>["app"];
let lines: string[];
/** The return value of each contract call. */
let contract: (to: Address, data: Hex) => Promise<Hex | undefined> = async () => "0x";

/**
 * Counts the usage of one process. By default as if a chain confirmed the process's clock, so usage may be
 * deleted by age.
 */
const aCounter = (sql: Sql, mayDeleteByAge = async () => await Promise.resolve(true)): UsageCounter =>
  usageCounter(sql, {
    searches: { sql: sqlOn(pool), limiter: createSearchLimiter() },
    clock,
    mayDeleteByAge,
    onFault: () => undefined,
  });

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 5, statementTimeoutMs: 5_000, applicationName: "test" });
  const sql = sqlOn(pool);
  const read = storedKeys(sql);
  usage = aCounter(sql);
  keyAdministration = keyAdmin({
    register: apiKeyRegister(sql),
    clock,
    random: pooledRandomBytes(),
    signatures: accountSignatures({ ask: (to, data) => contract(to, data) }),
  });
  ({ app, lines } = await aServer({
    apiKeys: knownKeys(async (id) => (await read([id]))[0], { clock }),
    keyAdmin: keyAdministration,
    operatorToken: new Secret(TOKEN),
    usage,
    clock,
  }));
});
afterAll(async () => {
  await app.close();
  await usage.close();
  await pool.end();
  await database.drop();
});

type Method = "GET" | "POST" | "PATCH" | "DELETE";

async function admin(method: Method, url: string, payload?: object, authorization = `Bearer ${TOKEN}`) {
  const answer = await app.inject({
    method,
    url,
    headers: { authorization },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

async function aKey(change: object = {}): Promise<{ readonly key: string; readonly id: string }> {
  const { body } = await admin("POST", "/admin/keys", { label: "test", scopes: ["read"], ...change });
  return { key: body.key, id: body.apiKey.id };
}

const asKey = async (key: string) =>
  (await app.inject({ url: "/metrics/usage", headers: { "x-api-key": key } })).statusCode;

test("an operator creates a key, which is shown once, and changes, rotates and revokes it", async () => {
  const created = await admin("POST", "/admin/keys", {
    label: "backend",
    scopes: ["read", "execute"],
    rules: { dailyUsd: "12.5", perTargetDailyUsd: "1", denySelectors: ["0x23B872DD"] },
    limits: { otherPerMinute: 600 },
  });
  expect(created).toMatchObject({
    status: 200,
    body: {
      key: expect.stringMatching(/^cwk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/),
      apiKey: {
        label: "backend",
        scopes: ["read", "execute"],
        referrers: [],
        origins: [],
        fundingAddress: null,
        rules: {
          maxCallValueUsd: "0",
          dailyUsd: "12.5",
          perTargetDailyUsd: "1",
          denySelectors: ["0x23b872dd"],
        },
        limits: { otherPerMinute: 600 },
        revokedAt: null,
        previousSecretUntil: null,
      },
    },
  });
  const { key, apiKey } = created.body;
  expect(await asKey(key)).toBe(200);
  const url = `/admin/keys/${apiKey.id}`;

  const changed = await admin("PATCH", url, { label: "other", referrers: ["app.example"], rules: {} });
  expect(changed).toMatchObject({
    status: 200,
    body: {
      label: "other",
      referrers: ["app.example"],
      rules: { maxCallValueUsd: "0" },
      scopes: apiKey.scopes,
    },
  });
  expect(changed.body.rules).toEqual({ maxCallValueUsd: "0" });

  const rotated = await admin("POST", `${url}/rotate`, { graceSeconds: 60 });
  expect(rotated.body.key).not.toBe(key);
  expect(rotated.body.apiKey.previousSecretUntil).toBeGreaterThan(clock.nowMs() + 50_000);
  clock.forward(1_000);
  expect([await asKey(key), await asKey(rotated.body.key)]).toEqual([200, 200]);
  clock.forward(60_000);
  expect([await asKey(key), await asKey(rotated.body.key)]).toEqual([401, 200]);

  const list = await admin("GET", "/admin/keys");
  expect(JSON.stringify(list.body)).not.toContain(rotated.body.key.slice(-43));
  expect(list.body.apiKeys.map(({ id }: { id: string }) => id)).toContain(apiKey.id);

  expect(await admin("DELETE", url)).toMatchObject({ status: 200, body: { revokedAt: expect.any(Number) } });
  clock.forward(1_000);
  expect(await asKey(rotated.body.key)).toBe(401);
  for (const [method, path, body] of [
    ["PATCH", url, { label: "again" }],
    ["POST", `${url}/rotate`, {}],
    ["POST", `${url}/funding-address/challenge`, { address: `0x${"11".repeat(20)}` }],
    ["DELETE", "/admin/keys/0123456789abcdef", undefined],
  ] as const)
    expect([path, (await admin(method, path, body)).status]).toEqual([path, 404]);
});

test("refuses requests without the operator token, or with a wrong one", async () => {
  const { id } = await aKey();
  const calls: [Method, string, object | undefined][] = [
    ["GET", "/admin/keys", undefined],
    ["POST", "/admin/keys", { label: "mine", scopes: ["read"] }],
    ["PATCH", `/admin/keys/${id}`, { label: "mine" }],
    ["POST", `/admin/keys/${id}/rotate`, {}],
    ["DELETE", `/admin/keys/${id}`, undefined],
    ["POST", `/admin/keys/${id}/funding-address/challenge`, { address: `0x${"11".repeat(20)}` }],
    ["POST", `/admin/keys/${id}/funding-address`, { address: `0x${"11".repeat(20)}`, signature: "0x12" }],
  ];
  const before = await pool.query("select api_keys::text from api_keys order by id");
  for (const [method, url, body] of calls)
    for (const token of [
      "",
      "Bearer ",
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      `Basic ${TOKEN}`,
      TOKEN,
    ]) {
      const answer = await admin(method, url, body, token);
      expect([method, url, token, answer.status]).toEqual([method, url, token, 401]);
      expect(answer.body.errorCode).toBe("UNAUTHORIZED");
    }
  expect((await pool.query("select api_keys::text from api_keys order by id")).rows).toEqual(before.rows);
});

test("serves no admin routes without an operator token", async () => {
  const withoutToken = await aServer();
  for (const url of ["/admin/keys", "/admin/keys/0123456789abcdef/rotate"]) {
    const answer = await withoutToken.app.inject({
      method: "POST",
      url,
      headers: { authorization: "Bearer undefined" },
      payload: {},
    });
    expect([url, answer.statusCode, answer.json().errorCode]).toEqual([url, 404, "NOT_FOUND"]);
  }
  await withoutToken.app.close();
});

test.for([
  [{ label: "" }, "label must not be empty"],
  [{ scopes: [] }, "scopes must name at least one scope"],
  [{ scopes: ["admin"] }, "scopes[0] must be quote, execute, fast-fill or read"],
  [{ origins: ["https://app.example/"] }, "origins[0] must be an origin such as https://app.example"],
  [
    { origins: ["https://app.example"], scopes: ["execute"] },
    "scopes of an API key with origins must contain only quote and read",
  ],
  [
    { rules: { dailyUsd: -1 } },
    'rules.dailyUsd must be an amount of USD as a decimal string, such as "12.5"',
  ],
  [{ rules: { dailyUSD: "1" } }, "rules has unknown fields: dailyUSD"],
  [{ rules: { allowSelectors: ["0xa9059c"] } }, "must be a 4-byte selector"],
  [{ limits: { quotePerMinute: 0 } }, "limits.quotePerMinute must be at least 1"],
  [{ fundingAddress: `0x${"11".repeat(20)}` }, "has unknown fields: fundingAddress"],
] as const)("an invalid request is refused: %j", async ([change, reason]) => {
  const answer = await admin("POST", "/admin/keys", { label: "test", scopes: ["read"], ...change });
  expect([answer.status, answer.body.errorCode]).toEqual([400, "INVALID_REQUEST"]);
  expect(answer.body.message).toContain(reason);
});

async function challenge(id: string, address: string): Promise<string> {
  const { status, body } = await admin("POST", `/admin/keys/${id}/funding-address/challenge`, { address });
  expect(status).toBe(200);
  return body.message;
}
const link = async (id: string, address: string, signature: Hex) =>
  await admin("POST", `/admin/keys/${id}/funding-address`, { address, signature });

test("links a wallet by its signature over the challenge, and accepts each challenge once", async () => {
  const { id } = await aKey();
  const owner = privateKeyToAccount(generatePrivateKey());
  const message = await challenge(id, owner.address);
  expect(message).toContain(id);
  expect(message).toContain(owner.address.toLowerCase());
  const signature = await owner.signMessage({ message });
  const linked = await link(id, owner.address.toUpperCase().replace("0X", "0x"), signature);
  expect(linked).toMatchObject({ status: 200, body: { fundingAddress: owner.address.toLowerCase() } });
  expect((await link(id, owner.address, signature)).status).toBe(400);
});

test("refuses a signature by another wallet, for another key, for another challenge, or after expiry", async () => {
  const [first, second] = [await aKey(), await aKey()];
  const [owner, thief] = [1, 2].map(() => privateKeyToAccount(generatePrivateKey())) as [
    ReturnType<typeof privateKeyToAccount>,
    ReturnType<typeof privateKeyToAccount>,
  ];
  const message = await challenge(first.id, owner.address);
  const signature = await owner.signMessage({ message });
  const refusals = [
    await link(first.id, owner.address, await thief.signMessage({ message })),
    await link(first.id, thief.address, signature),
    await link(second.id, owner.address, signature),
    await link(first.id, owner.address, "0x1234"),
    await link(first.id, owner.address, `0x${"00".repeat(65)}`),
  ];
  // The second API key has its own challenge for this wallet, but the signature is over the first key's
  // challenge.
  await challenge(second.id, owner.address);
  refusals.push(await link(second.id, owner.address, signature));
  const newer = await challenge(first.id, owner.address);
  refusals.push(await link(first.id, owner.address, signature));
  clock.forward(15 * 60_000);
  refusals.push(await link(first.id, owner.address, await owner.signMessage({ message: newer })));
  expect(refusals.map(({ status, body }) => [status, body.errorCode])).toEqual(
    refusals.map(() => [400, "INVALID_REQUEST"]),
  );
  const { rows } = await pool.query(
    "select 1 from api_keys where id = any($1) and funding_address is not null",
    [[first.id, second.id]],
  );
  expect(rows).toEqual([]);
});

test("verifies a contract wallet's signature on chain, and does not report an unresponsive node as a wrong signature", async () => {
  const abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
  const { id } = await aKey();
  const wallet: Address = `0x${"c0".repeat(20)}`;
  const message = await challenge(id, wallet);
  const answers: [Awaited<ReturnType<typeof contract>> | Error, number][] = [
    ["0x", 400],
    [undefined, 400],
    [`0xffffffff${"00".repeat(28)}`, 400],
    ["0x1626ba7e", 400],
    [`0x${"00".repeat(28)}1626ba7e`, 400],
    [new RpcFault({ kind: "deadline", method: "eth_call", reason: "no answer" }), 503],
  ];
  for (const [answer, status] of answers) {
    contract = async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    };
    expect([answer, (await link(id, wallet, "0xabcd")).status]).toEqual([answer, status]);
  }
  contract = async (to, data) => {
    const { args } = decodeFunctionData({ abi, data });
    const isRight = to === wallet && args[0] === hashMessage(message) && args[1] === "0xabcd";
    return isRight ? `0x1626ba7e${"00".repeat(28)}` : `0x${"00".repeat(32)}`;
  };
  expect((await link(id, wallet, "0xabce")).status).toBe(400);
  expect(await link(id, wallet, "0xabcd")).toMatchObject({ status: 200, body: { fundingAddress: wallet } });
  contract = async () => "0x";
});

test("counts usage by minute, hour and day; a key sees only its own, and counts of two processes add up", async () => {
  const [mine, other] = [await aKey(), await aKey({ scopes: ["read", "quote"] })];
  const second = aCounter(sqlOn(pool));
  const dayMs = 24 * 3600_000;
  // The clock moves to 12:30 the next day, so that the next minutes are in the same hour.
  clock.forward(dayMs - (clock.nowMs() % dayMs) + dayMs / 2 + 30 * 60_000);
  const startMs = clock.nowMs() - (clock.nowMs() % 60_000);
  for (let call = 0; call < 3; call++)
    await app.inject({ url: "/chains", headers: { "x-api-key": mine.key } });
  await app.inject({ url: "/chains", headers: { "x-api-key": other.key } });
  for (let call = 0; call < 4; call++)
    second.note({ keyId: mine.id, endpoint: "GET /chains", status: 200, errorCode: "" });
  clock.forward(60_000);
  await app.inject({ method: "POST", url: "/quote/v2", headers: { "x-api-key": mine.key }, payload: {} });
  await Promise.all([usage.flush(), second.flush()]);
  await second.close();

  const ask = async (query: string) => {
    const answer = await app.inject({ url: `/metrics/usage?${query}`, headers: { "x-api-key": mine.key } });
    return { status: answer.statusCode, body: answer.json() };
  };
  const seconds = (ms: number): number => Math.floor(ms / 1000);
  const iso = (ms: number): string => new Date(ms).toISOString();
  const window = `startTimestamp=${seconds(startMs)}&endTimestamp=${seconds(startMs) + 3_600}`;
  const chains = { apiKey: mine.id, endpoint: "GET /chains", statusCode: 200, count: 7 };
  const refused = {
    apiKey: mine.id,
    endpoint: "POST /quote/v2",
    statusCode: 403,
    errorCode: "FORBIDDEN",
    count: 1,
  };
  expect(await ask(`granularity=minutely&${window}`)).toEqual({
    status: 200,
    body: {
      metrics: [
        { ...chains, timestamp: iso(startMs) },
        { ...refused, timestamp: iso(startMs + 60_000) },
      ],
    },
  });
  const hour = iso(startMs - (startMs % 3600_000));
  expect((await ask(window)).body.metrics).toEqual([
    { ...chains, timestamp: hour },
    { ...refused, timestamp: hour },
  ]);
  const day = iso(startMs - (startMs % dayMs));
  expect((await ask(`granularity=daily&apiKey=${mine.id}`)).body.metrics).toMatchObject([
    { ...chains, timestamp: day },
    { ...refused, timestamp: day },
  ]);
  expect((await ask(`apiKey=${other.id}`)).status).toBe(403);
  expect((await ask(`apiKey=${mine.id},${other.id}`)).status).toBe(403);
  for (const query of [
    `apiKey=${Array.from({ length: 51 }, () => mine.id).join(",")}`,
    "granularity=yearly",
    "startTimestamp=-1",
    "startTimestamp=10&endTimestamp=5",
    "granularity=minutely&startTimestamp=0&endTimestamp=1000000",
    "endTimestamp=9007199254740991",
  ])
    expect([query, (await ask(query)).status]).toEqual([query, 400]);
});

test("two processes aggregate usage to hours after two days and to days after sixty, delete usage older than 400 days, and lose no other call", async () => {
  const { id, key } = await aKey();
  const dayMs = 24 * 3600_000;
  const today = clock.nowMs() - (clock.nowMs() % dayMs);
  // One call per minute: 25,000 minutes before a day 70 days ago, 100 minutes before today, and 30,000
  // minutes before a day 401 days ago.
  await pool.query(
    `insert into api_usage (key_id, minute_ms, endpoint, status, error_code, count)
     select $1, $2::bigint - n * 60000, 'GET /x', 200, '', 1 from generate_series(1, 25000) n
     union all select $1, $3::bigint - n * 60000, 'GET /y', 200, '', 1 from generate_series(1, 100) n
     union all select $1, $4::bigint - n * 60000, 'GET /z', 200, '', 1 from generate_series(1, 30000) n`,
    [id, today - 70 * dayMs, today, today - 401 * dayMs],
  );
  const counters = [1, 2].map(() => aCounter(sqlOn(pool)));
  await Promise.all(counters.map(async (counter) => await counter.flush()));
  await Promise.all(counters.map(async (counter) => await counter.close()));
  const { rows } = await pool.query(
    "select endpoint, count(*)::int as rows, sum(count)::int as calls from api_usage where key_id = $1 group by 1 order by 1",
    [id],
  );
  expect(rows).toEqual([
    { endpoint: "GET /x", rows: 18, calls: 25_000 },
    { endpoint: "GET /y", rows: 100, calls: 100 },
  ]);
  const firstDay = `granularity=daily&startTimestamp=${(today - 71 * dayMs) / 1000}&endTimestamp=${(today - 70 * dayMs) / 1000}`;
  const day = await app.inject({ url: `/metrics/usage?${firstDay}`, headers: { "x-api-key": key } });
  expect(day.json().metrics).toMatchObject([{ endpoint: "GET /x", count: dayMs / 60_000 }]);
});

test("two processes that aggregate the same day do not deadlock, and count each call once", async () => {
  const { id } = await aKey();
  const hourMs = 3600_000;
  const today = clock.nowMs() - (clock.nowMs() % (24 * hourMs));
  const day = today - 70 * 24 * hourMs;
  // Rows of three hours, and one call in a later minute of each hour.
  await pool.query(
    `insert into api_usage (key_id, minute_ms, endpoint, status, error_code, count)
     select $1, $2::bigint + hour * ${hourMs} + late, 'GET /x', 200, '', 1 from unnest(array[0, 2, 5]) hour, unnest(array[0, 60000]) late`,
    [id, day],
  );
  const counters = [1, 2].map(() => aCounter(sqlOn(pool)));
  const blocker = await pool.connect();
  const locks = async (): Promise<number> =>
    (
      await pool.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      )
    ).rowCount ?? 0;
  try {
    await blocker.query("begin");
    await blocker.query("select from api_usage where key_id = $1 and minute_ms = $2 for update", [
      id,
      day + 2 * hourMs,
    ]);
    // The first counter processes the hours in order and waits at the second hour. The other counter
    // aggregates the day.
    const flushed: Promise<void>[] = [];
    for (const [index, counter] of counters.entries()) {
      flushed.push(counter.flush());
      await expect.poll(locks).toBe(index + 1);
    }
    await blocker.query("commit");
    expect((await Promise.allSettled(flushed)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
    ]);
  } finally {
    blocker.release(true);
    await Promise.all(counters.map(async (counter) => await counter.close()));
  }
  const { rows } = await pool.query("select minute_ms, count from api_usage where key_id = $1", [id]);
  expect(rows).toEqual([{ minute_ms: day, count: 6 }]);
});

test("usage is neither deleted nor aggregated while no chain confirms the clock", async () => {
  const { id } = await aKey();
  const dayMs = 24 * 3600_000;
  await pool.query(
    `insert into api_usage (key_id, minute_ms, endpoint, status, error_code, count)
     select $1, $2::bigint - day * 86400000 - 60000, 'GET /x', 200, '', 1 from unnest(array[3, 70, 401]::bigint[]) day`,
    [id, clock.nowMs() - (clock.nowMs() % dayMs)],
  );
  const minutes = async (): Promise<number[]> =>
    (
      await pool.query<{ minute_ms: number }>(
        "select minute_ms from api_usage where key_id = $1 and minute_ms % 3600000 <> 0 order by minute_ms",
        [id],
      )
    ).rows.map((row) => row.minute_ms);
  await aCounter(sqlOn(pool), async () => await Promise.resolve(false)).close();
  expect(await minutes()).toHaveLength(3);
  await aCounter(sqlOn(pool)).close();
  expect(await minutes()).toEqual([]);
});

test("retries counts that could not be written, and writes them once", async () => {
  const { id } = await aKey();
  let isDown = true;
  const sql = sqlOn(pool);
  const counter = aCounter({
    ...sql,
    query: async (statement, values) =>
      isDown ? Promise.reject(new Error("connection refused")) : await sql.query(statement, values),
  });
  const call = { keyId: id, endpoint: "GET /x", status: 200, errorCode: "" };
  counter.note(call);
  await expect(counter.flush()).rejects.toThrow("connection refused");
  counter.note(call);
  isDown = false;
  await counter.close();
  const nowMs = clock.nowMs();
  const counts = await counter.read(
    { keyId: id, fromMs: nowMs - 3600_000, toMs: nowMs + 60_000, bucketMs: 86_400_000, limit: 10 },
    { name: id, hasSecretKey: true },
  );
  expect(counts.map(({ count }) => count)).toEqual([2]);
});

/** Runs `operator keys` in this process, on the same database. */
async function operator(
  ...args: string[]
): Promise<{ code: number; errorText: string; rows: ReturnType<typeof linesOf> }> {
  let [output, errorText] = ["", ""];
  const out = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => ((output += String(text)), true));
  const err = vi
    .spyOn(process.stderr, "write")
    .mockImplementation((text) => ((errorText += String(text)), true));
  try {
    const code = await runKeys(args, () => ({ admin: keyAdministration, close: async () => undefined }));
    return { code, errorText, rows: linesOf(output) };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}

const linesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

test("`operator keys` manages the same keys as the admin routes", async () => {
  const run = async (...words: string[]) => {
    const { code, errorText, rows } = await operator(...words);
    expect([words, code, errorText]).toEqual([words, 0, ""]);
    return rows;
  };
  const [created] = await run(
    "create",
    "--label",
    "by hand",
    "--scopes",
    "read,execute",
    "--rules",
    '{"dailyUsd":"5"}',
  );
  expect(created.apiKey).toMatchObject({ label: "by hand", scopes: ["read", "execute"] });
  const { id } = created.apiKey;
  expect(await asKey(created.key)).toBe(200);
  expect(await run("rules", id)).toEqual([{ maxCallValueUsd: "0", dailyUsd: "5" }]);
  expect(await run("rules", id, "--rules", '{"maxHoldsUsd":"9.25"}')).toEqual([
    { maxCallValueUsd: "0", maxHoldsUsd: "9.25" },
  ]);
  expect(await run("change", id, "--referrers", "a, b", "--quote-per-minute", "9")).toMatchObject([
    { referrers: ["a", "b"], limits: { quotePerMinute: 9 }, label: "by hand" },
  ]);
  const owner = privateKeyToAccount(generatePrivateKey());
  const [offered] = await run("link", id, "--address", owner.address);
  const signature = await owner.signMessage({ message: offered.message });
  expect(await run("link", id, "--address", owner.address, "--signature", signature)).toMatchObject([
    { fundingAddress: owner.address.toLowerCase() },
  ]);
  const [rotated] = await run("rotate", id);
  clock.forward(1_000);
  expect([await asKey(created.key), await asKey(rotated.key)]).toEqual([401, 200]);
  await run("revoke", id);
  clock.forward(1_000);
  expect(await asKey(rotated.key)).toBe(401);
  expect((await run("list")).find((key) => key.id === id)).toMatchObject({ revokedAt: expect.any(Number) });
});

test("an invalid command prints the usage, a failing command prints only the reason, and neither changes a key", async () => {
  const { id } = await aKey();
  const before = await pool.query("select api_keys::text from api_keys order by id");
  const cases: [string[], number, string][] = [
    [[], 2, "keys requires a command"],
    [["make"], 2, "unknown command: keys make"],
    [["create", "--label", "x"], 2, "scopes is required"],
    [["create", "--label", "x", "--scopes", "all"], 2, "scopes.0 must be quote, execute, fast-fill or read"],
    [["create", "--label", "x", "--scopes", "read", "--rules", "{"], 2, "--rules: "],
    [["create", "--label", "x", "--scopes", "read", "--rules", "@/nonexistent"], 2, "--rules: "],
    [["create", "--label", "x", "--scopes", "read", "--secret", "x"], 2, "--secret"],
    [["rotate", id, "--grace", "soon"], 2, "graceSeconds must be a whole number of seconds"],
    [["rotate", id, "--label", "x"], 2, "--label is not an option of keys rotate"],
    [["revoke"], 2, "keys revoke requires exactly one key id"],
    [["revoke", "x"], 2, "id must be the id of a key"],
    [["change", id], 2, "keys change requires at least one option"],
    [["link", id, "--address", "0x12"], 2, "address must be a 20-byte address"],
    [
      ["link", id, "--address", `0x${"12".repeat(20)}`, "--signature", "0x12"],
      1,
      "No message for this address",
    ],
    [["revoke", "0123456789abcdef"], 1, "API key 0123456789abcdef not found or revoked"],
  ];
  for (const [args, code, reason] of cases) {
    const answer = await operator(...args);
    expect([args, answer.code, answer.rows]).toEqual([args, code, []]);
    expect(answer.errorText).toContain(reason);
    expect(answer.errorText.includes("usage:")).toBe(code === 2);
  }
  expect((await pool.query("select api_keys::text from api_keys order by id")).rows).toEqual(before.rows);
});

test("`operator keys` needs no setting but the database", async () => {
  const program = join(repositoryRoot, "apps/api/src/operator.ts");
  const { stdout } = await promisify(execFile)(
    workspaceNode,
    ["-C", "source", program, "keys", "create", "--label", "program", "--scopes", "read"],
    { cwd: repositoryRoot, env: { PATH: process.env["PATH"], DATABASE_URL: database.url } },
  );
  expect(await asKey(linesOf(stdout)[0].key)).toBe(200);
}, 60_000);

test("logs neither secrets of keys nor the operator token", async () => {
  const text = lines.join("");
  expect(text).not.toContain(TOKEN);
  expect(text).not.toMatch(/cwk_/);
});

import type { Address, Hex32 } from "@causeway/domain";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { knownKeys, type KnownKeys } from "../../../apps/api/src/callers/known-keys.adapter.ts";
import { apiKeyRegister } from "../../../apps/api/src/callers/api-key-register.postgres.ts";
import { listen } from "../../../apps/api/src/db/listen.postgres.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { API_KEYS_CHANNEL, storedKeys } from "../../../apps/api/src/callers/stored-keys.postgres.ts";
import { tickBatcher } from "../../../apps/api/src/db/tick-batcher.ts";
import type { ApiKeyRegister, ApiKeySettings } from "../../../apps/api/src/callers/api-key-register.port.ts";
import { changeKey, createKey, revokeKey, rotateKey } from "../../../apps/api/src/callers/manage-api-keys.ts";
import {
  challengeFundingAddress,
  linkFundingAddress,
} from "../../../apps/api/src/callers/link-funding-address.ts";
import { apiKeysContract } from "../../contracts/api-keys.ts";
import { adjustableClock } from "../../fakes/adjustable-clock.ts";
import { anApiKey, fakeApiKeys } from "../../fakes/api-keys.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let pool: pg.Pool;
let register: ApiKeyRegister;
const clock = adjustableClock();
const keyServices = () => ({ register, clock });

/** A process that reads keys, with its own pool and cache. */
interface KeyProcess {
  readonly keys: KnownKeys;
  /** The key ids of each query that reached Postgres. */
  readonly queries: string[][];
  stop(): Promise<void>;
}
const processes: KeyProcess[] = [];

async function aProcess({ isWithoutListener = false } = {}): Promise<KeyProcess> {
  const processPool = createPool(database.url, {
    max: 2,
    statementTimeoutMs: 5_000,
    applicationName: "test",
  });
  const queries: string[][] = [];
  const read = storedKeys(sqlOn(processPool));
  const keys = knownKeys(
    tickBatcher(
      async (ids: readonly string[]) => {
        queries.push([...ids]);
        return await read(ids);
      },
      { inFlight: 1, maxBatch: 500 },
    ),
    { clock },
  );
  const listening = Promise.withResolvers<void>();
  const listener = isWithoutListener
    ? undefined
    : listen(database.url, API_KEYS_CHANNEL, {
        onNotice: (id) => {
          if (id === undefined) keys.forgetAll();
          else keys.forget(id);
          listening.resolve();
        },
        onFault: listening.reject,
      });
  if (listener !== undefined) await listening.promise;
  const started = {
    keys,
    queries,
    stop: async () => {
      await listener?.close();
      await processPool.end();
    },
  };
  processes.push(started);
  return started;
}

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 5, statementTimeoutMs: 5_000, applicationName: "test" });
  register = apiKeyRegister(sqlOn(pool));
});
afterAll(async () => {
  await Promise.all(processes.map(({ stop }) => stop()));
  await pool.end();
  await database.drop();
});

const someSettings = (change: Partial<ApiKeySettings> = {}): ApiKeySettings => ({
  label: "backend",
  scopes: ["quote", "execute"],
  referrers: [],
  origins: [],
  rules: { maxCallValueUsd: 0n },
  limits: {},
  ...change,
});

apiKeysContract("fake API keys", async () => {
  const identity = anApiKey();
  const text = `cwk_${identity.id}_${"a".repeat(43)}`;
  return { keys: fakeApiKeys({ [text]: identity }), text, identity };
});
apiKeysContract("API keys in Postgres", async () => {
  const { keys } = await aProcess();
  const settings = someSettings();
  const { key, record } = await createKey(keyServices(), settings);
  return { keys, text: key, identity: { ...settings, id: record.id, fundingAddress: undefined } };
});

test("a key is found with all its fields, and its secret is not stored", async () => {
  const { keys } = await aProcess();
  const target: Address = `0x${"ab".repeat(20)}`;
  const settings = someSettings({
    scopes: ["execute", "fast-fill"],
    referrers: ["app.example"],
    rules: {
      dailyUsd: 10n ** 18n + 1n,
      perUserDailyUsd: 5n * 10n ** 17n,
      perTargetDailyUsd: new Map([[target, 3n * 10n ** 18n]]),
      allowTargets: [target],
      denyTargets: [`0x${"cd".repeat(20)}`],
      allowSelectors: [{ selector: "0xa9059cbb" }, { selector: "0x095ea7b3", target }],
      denySelectors: [{ selector: "0x23b872dd" }],
      maxCallValueUsd: 7n * 10n ** 18n,
      maxHoldsUsd: 100n * 10n ** 18n,
      maxFastFillUsd: 50n * 10n ** 18n,
      lowBalanceWarningUsd: 20n * 10n ** 18n,
    },
    limits: { quotePerMinute: 600 },
  });
  const { key, record } = await createKey(keyServices(), settings);
  expect(await keys.find(key)).toEqual({ ...settings, id: record.id, fundingAddress: undefined });
  const secret = key.slice(-43);
  const { rows } = await pool.query("select api_keys::text as row from api_keys");
  expect(rows.map(({ row }) => row).join()).not.toContain(secret);
  expect(rows.map(({ row }) => row).join()).not.toContain(Buffer.from(secret, "base64url").toString("hex"));
});

test("finds no key for a wrong secret, an unknown id or a malformed key", async () => {
  const { keys } = await aProcess();
  const { key, record } = await createKey(keyServices(), someSettings());
  const other = await createKey(keyServices(), someSettings());
  const wrong = [
    `${key.slice(0, -1)}${key.endsWith("A") ? "E" : "A"}`,
    `cwk_${record.id}_${other.key.slice(-43)}`,
    key.replace(record.id, "0123456789abcdef"),
    key.slice(0, -1),
    `${key}A`,
    ` ${key}`,
    key.toUpperCase(),
    "",
    "cwk__",
    "cwk_constructor_",
  ];
  for (const text of wrong) expect([text, await keys.find(text)]).toEqual([text, undefined]);
  expect(await keys.find(key)).toMatchObject({ id: record.id });
});

test("a revoked key is invalid in every process within a second, and stays so", async () => {
  const [first, second] = [await aProcess(), await aProcess()];
  const { key, record } = await createKey(keyServices(), someSettings());
  for (const { keys } of [first, second]) expect(await keys.find(key)).toBeDefined();
  await revokeKey(keyServices(), record.id);
  for (const { keys } of [first, second])
    await expect.poll(() => keys.find(key), { timeout: 1_000, interval: 5 }).toBeUndefined();
  await expect(changeKey(keyServices(), record.id, { label: "again" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  await expect(rotateKey(keyServices(), record.id, 60)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a process without notifications applies a revocation within a second, even while the key is in use", async () => {
  const { keys } = await aProcess({ isWithoutListener: true });
  const { key, record } = await createKey(keyServices(), someSettings());
  expect(await keys.find(key)).toBeDefined();
  await revokeKey(keyServices(), record.id);
  const revokedAtMs = Date.now();
  while ((await keys.find(key)) !== undefined) {
    expect(Date.now() - revokedAtMs).toBeLessThan(1_000);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

test("a change made directly in the table also sends a notification", async () => {
  const { keys } = await aProcess();
  const { key, record } = await createKey(keyServices(), someSettings());
  expect(await keys.find(key)).toMatchObject({ label: "backend" });
  await pool.query("update api_keys set label = 'by hand' where id = $1", [record.id]);
  await expect.poll(async () => (await keys.find(key))?.label, { timeout: 500, interval: 5 }).toBe("by hand");
});

test("accepts the old secret for the grace period after a rotation, and no earlier secret", async () => {
  const { keys } = await aProcess();
  const first = await createKey(keyServices(), someSettings());
  const id = first.record.id;
  const second = await rotateKey(keyServices(), id, 60);
  for (const { key } of [first, second]) await expect.poll(() => keys.find(key)).toMatchObject({ id });
  const third = await rotateKey(keyServices(), id, 60);
  await expect.poll(() => keys.find(third.key)).toMatchObject({ id });
  expect([await keys.find(first.key), (await keys.find(second.key))?.id]).toEqual([undefined, id]);
  clock.forward(60_000);
  expect([await keys.find(second.key), (await keys.find(third.key))?.id]).toEqual([undefined, id]);
  const fourth = await rotateKey(keyServices(), id, 0);
  await expect.poll(() => keys.find(third.key)).toBeUndefined();
  expect(await keys.find(fourth.key)).toMatchObject({ id });
});

test("a key in use causes at most two queries a second, however many concurrent requests it makes", async () => {
  const { keys, queries } = await aProcess({ isWithoutListener: true });
  const { key, record } = await createKey(keyServices(), someSettings());
  await Promise.all(Array.from({ length: 1_000 }, () => keys.find(key)));
  expect(queries).toEqual([[record.id]]);
  const endsAtMs = Date.now() + 1_000;
  while (Date.now() < endsAtMs) {
    await Promise.all(Array.from({ length: 20 }, () => keys.find(key)));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(queries.length).toBeLessThanOrEqual(4);
});

test("10,000 unknown keys cause at most 20 queries in sequence, and evict no valid key", async () => {
  const { keys, queries } = await aProcess();
  const { key, record } = await createKey(keyServices(), someSettings());
  await keys.find(key);
  const before = queries.length;
  const unknownKey = (index: number): string =>
    `cwk_${index.toString(16).padStart(16, "f")}_${"A".repeat(43)}`;
  let refused = 0;
  for (let wave = 0; wave < 10; wave++)
    await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => {
        const found = await keys.find(unknownKey(wave * 1_000 + index)).catch(() => (refused++, undefined));
        expect(found).toBeUndefined();
      }),
    );
  expect(queries.length - before).toBeLessThanOrEqual(20 + 1);
  expect(refused).toBe(0);
  expect(await keys.find(key)).toMatchObject({ id: record.id });
});

test("while Postgres is unavailable, no key is accepted and none is reported as wrong", async () => {
  const ownPool = createPool(database.url, { max: 1, statementTimeoutMs: 5_000, applicationName: "test" });
  const read = storedKeys(sqlOn(ownPool));
  const keys = knownKeys(async (id) => (await read([id]))[0], { clock });
  const { key } = await createKey(keyServices(), someSettings());
  expect(await keys.find(key)).toBeDefined();
  await ownPool.end();
  clock.forward(1_000);
  await expect(keys.find(key)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});

test("the database prevents a publishable key from spending", async () => {
  const { record } = await createKey(
    keyServices(),
    someSettings({ scopes: ["quote", "read"], origins: ["https://app.example"] }),
  );
  await expect(
    pool.query("update api_keys set scopes = '{quote,execute}' where id = $1", [record.id]),
  ).rejects.toThrow(/check constraint/);
  await expect(
    createKey(keyServices(), someSettings({ scopes: ["fast-fill"], origins: ["https://app.example"] })),
  ).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(changeKey(keyServices(), record.id, { scopes: ["execute"] })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
});

test("no key has both a wallet and origins, even if both are added concurrently", async () => {
  const wallet: Address = `0x${"13".repeat(20)}`;
  const origins = ["https://app.example"];
  const settings = someSettings({ scopes: ["read"] });
  const nonce = "n";
  const open = async (id: string): Promise<void> =>
    await register.openChallenge(id, wallet, { nonce, expiresAtMs: clock.nowMs() + 60_000 });
  const linkNow = async (id: string) => await register.link(id, wallet, nonce, clock.nowMs());

  const { record: published } = await createKey(keyServices(), { ...settings, origins });
  const challengeServices = { ...keyServices(), random: { bytes32: (): Hex32 => `0x${"00".repeat(32)}` } };
  await expect(challengeFundingAddress(challengeServices, published.id, wallet)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
  await open(published.id);
  const linkServices = { ...keyServices(), signatures: { isSignedBy: async () => true } };
  await expect(linkFundingAddress(linkServices, published.id, wallet, "0x")).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
  expect(await linkNow(published.id)).toBeUndefined();

  const { record: funded } = await createKey(keyServices(), settings);
  await open(funded.id);
  expect(await linkFundingAddress(linkServices, funded.id, wallet, "0x")).toMatchObject({
    fundingAddress: wallet,
  });
  await expect(changeKey(keyServices(), funded.id, { origins })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
  expect(await register.change(funded.id, { origins }, clock.nowMs())).toBeUndefined();
  expect(await changeKey(keyServices(), funded.id, { label: "other" })).toMatchObject({
    fundingAddress: wallet,
  });

  for (let round = 0; round < 10; round++) {
    const { record } = await createKey(keyServices(), settings);
    await open(record.id);
    await Promise.all([linkNow(record.id), register.change(record.id, { origins }, clock.nowMs())]);
    const after = await register.get(record.id);
    expect([after?.fundingAddress !== undefined, (after?.origins.length ?? 0) > 0].toSorted()).toEqual([
      false,
      true,
    ]);
  }
});

test("a change affects only the fields that it names", async () => {
  const { record } = await createKey(
    keyServices(),
    someSettings({ limits: { quotePerMinute: 5, otherPerMinute: 6 } }),
  );
  const changed = await changeKey(keyServices(), record.id, {
    label: "other",
    limits: { otherPerMinute: 7 },
  });
  expect(changed).toEqual({
    ...record,
    label: "other",
    limits: { otherPerMinute: 7 },
    updatedAtMs: changed.updatedAtMs,
  });
  expect((await register.list()).find(({ id }) => id === record.id)).toEqual(changed);
});

test("refuses the second of two answers to one challenge, and any answer to an expired or replaced challenge", async () => {
  const { record } = await createKey(keyServices(), someSettings());
  const wallet: Address = `0x${"12".repeat(20)}`;
  const atMs = clock.nowMs();
  await register.openChallenge(record.id, wallet, { nonce: "old", expiresAtMs: atMs + 1_000 });
  await register.openChallenge(record.id, wallet, { nonce: "new", expiresAtMs: atMs + 1_000 });
  expect(await register.link(record.id, wallet, "old", atMs)).toBeUndefined();
  expect(await register.link(record.id, wallet, "new", atMs + 1_000)).toBeUndefined();
  const answers = await Promise.all([1, 2].map(() => register.link(record.id, wallet, "new", atMs + 999)));
  expect(answers.map((linked) => linked?.fundingAddress).toSorted()).toEqual([wallet, undefined]);
});

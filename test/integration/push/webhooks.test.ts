import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { RequestTerms } from "@causeway/domain";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { webhookQueue } from "../../../apps/api/src/push/webhook-queue.postgres.ts";
import { idlePushContract } from "../../contracts/push-routes.ts";
import { emptyWebhookAdminContract } from "../../contracts/webhook-admin.ts";
import { anApiKey } from "../../fakes/api-keys.ts";
import { fakePush } from "../../fakes/push.ts";
import { fakeWebhooks } from "../../fakes/webhooks.ts";
import { depositSeen, startPushWorld, type PushWorld } from "../../support/push-world.ts";
import { isSigned, startWebhookReceiver, type WebhookReceiver } from "../../support/webhook-receiver.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

let world: PushWorld;
/** API keys whose text equals their id. If the id begins with `page`, the key is publishable. */
const identities = {
  find: async (text: string) =>
    anApiKey({ id: text, origins: text.startsWith("page") ? ["https://a.example"] : [] }),
  isKnown: () => true,
};
beforeAll(async () => {
  world = await startPushWorld({ routes: { apiKeys: identities } });
});
afterAll(async () => await world.close());

emptyWebhookAdminContract("fake webhooks", async () => ({ admin: fakeWebhooks(), keyId: "key" }));
emptyWebhookAdminContract("webhooks of the API", async () => ({
  admin: world.routes.webhooks,
  keyId: await world.aKey(),
}));
idlePushContract("fake push", async () => fakePush());
idlePushContract("push of the API", async () => world.routes.push);

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const calls = (keyId: string) => async (method: "GET" | "POST" | "DELETE", url: string, payload?: object) => {
  const answer = await world.app.inject({
    method,
    url,
    headers: { "x-api-key": keyId, ...(keyId.startsWith("page") ? { origin: "https://a.example" } : {}) },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, json: answer.json() };
};

interface Owner {
  readonly keyId: string;
  readonly call: ReturnType<typeof calls>;
  readonly receiver: WebhookReceiver;
  readonly webhook: string;
  readonly secret: string;
  aRequest(): Promise<RequestTerms>;
}

/** An owner: a key with a receiver for the key's requests. */
async function anOwner(more: object = {}): Promise<Owner> {
  const keyId = await world.aKey();
  const call = calls(keyId);
  const receiver = await startWebhookReceiver();
  endings.push(receiver.close);
  const { json } = await call("POST", "/webhooks", { url: receiver.url, ...more });
  return {
    keyId,
    call,
    receiver,
    webhook: json.webhook.id,
    secret: json.secret,
    aRequest: async () => await world.aRequest({ keyId, referrer: "app.example" }),
  };
}

function startDeliveries(): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = world.deliver();
  const once = (): Promise<void> => (stopping ??= stop());
  endings.push(once);
  return once;
}

/** Resolves when no delivery is due or in progress. */
async function untilQuiet(): Promise<void> {
  await expect
    .poll(
      async () => {
        await world.forward(0);
        const { rows } = await world.pool.query(
          `select 1 from webhook_deliveries d where state = 'waiting' and (next_at_ms <= $1 or lease_until_ms > $1)
             and not exists (select from webhook_deliveries p where p.endpoint_id = d.endpoint_id and p.request_id = d.request_id
               and p.seq < d.seq and p.state = 'waiting')`,
          [world.clock.nowMs()],
        );
        return rows.length;
      },
      { timeout: 10_000, interval: 5 },
    )
    .toBe(0);
}

const sequences = (receiver: WebhookReceiver, requestId: string): number[] =>
  receiver.accepted().flatMap((event) => (event.requestId === requestId ? [event.sequence] : []));

test("each change of a key's request is posted once, in order, signed, in the documented format", async () => {
  const owner = await anOwner({ headers: { authorization: "Bearer receiver-token" } });
  startDeliveries();
  const { requestId } = await owner.aRequest();
  const others = await world.aRequest();
  const txHash = await world.fill(requestId);
  await world.fill(others.requestId);
  await expect.poll(() => owner.receiver.received.length).toBe(3);
  await untilQuiet();
  expect(owner.receiver.received.map(({ status }) => status)).toEqual(["pending", "submitted", "success"]);
  const last = owner.receiver.received[2];
  if (last === undefined) throw new Error("expected three deliveries");
  expect(JSON.parse(last.body)).toEqual({
    event: "request.status.updated",
    timestamp: expect.any(Number),
    data: {
      status: "success",
      inTxHashes: [expect.any(String)],
      txHashes: [txHash],
      updatedAt: expect.any(Number),
      originChainId: 1,
      destinationChainId: 2,
      depositAddress: null,
      requestId,
      referrer: "app.example",
      details: null,
      failReason: "N/A",
      refundFailReason: "N/A",
      sequence: 3,
    },
  });
  expect(last.headers).toMatchObject({
    authorization: "Bearer receiver-token",
    "content-type": "application/json",
    "x-webhook-id": expect.stringMatching(/^\d+$/),
    "x-webhook-sequence": "3",
  });
  for (const delivery of owner.receiver.received) expect(isSigned(delivery, owner.secret)).toBe(true);
  expect(isSigned(last, "another")).toBe(false);
  // Finality is not posted to receivers that already know about the success.
  await world.applyEvent(requestId, { kind: "fillFinal" });
  await untilQuiet();
  expect(owner.receiver.received).toHaveLength(3);
});

test("a caller's own text is delivered unchanged, and delays no delivery", async () => {
  const [odd, other] = [await anOwner(), await anOwner()];
  const referrers = ["a\u0000b", "a\ud800b", "\\u0000", '","keyId":"', "\u202e🚀\n"];
  for (const referrer of referrers) {
    const { requestId } = await world.aRequest({ keyId: odd.keyId, referrer });
    await world.applyEvent(requestId, depositSeen());
  }
  const { requestId } = await other.aRequest();
  await world.applyEvent(requestId, depositSeen());
  startDeliveries();
  await expect.poll(() => sequences(other.receiver, requestId)).toEqual([1]);
  await expect.poll(() => odd.receiver.received.length).toBe(referrers.length);
  const delivered = odd.receiver.received.map(({ body }) => JSON.parse(body).data.referrer);
  expect(new Set(delivered)).toEqual(new Set(referrers));
  for (const delivery of odd.receiver.received) expect(isSigned(delivery, odd.secret)).toBe(true);
});

test("a receiver that is down for an hour and a worker that is killed lose and reorder nothing", async () => {
  const owner = await anOwner();
  const { receiver } = owner;
  const requests = await Promise.all([owner.aRequest(), owner.aRequest(), owner.aRequest()]);
  receiver.answer = () => 503;
  const stop = startDeliveries();
  for (const { requestId } of requests) await world.applyEvent(requestId, depositSeen());
  await untilQuiet();
  for (let minute = 0; minute < 30; minute++) {
    await world.forward(MINUTE_MS);
    await untilQuiet();
    if (minute === 10)
      for (const { requestId } of requests) await world.applyEvent(requestId, { kind: "fillPlanned" });
    if (minute === 20)
      for (const { requestId } of requests) await world.applyEvent(requestId, { kind: "fillBroadcast" });
  }
  await stop();
  await killWorkerWhileDelivering(receiver);
  receiver.answer = () => 503;
  startDeliveries();
  for (let minute = 30; minute < 60; minute++) {
    await world.forward(MINUTE_MS);
    await untilQuiet();
  }
  for (const { requestId } of requests) await world.applyEvent(requestId, { kind: "fillMined" });
  expect(receiver.accepted()).toEqual([]);
  receiver.answer = () => 200;
  for (let minute = 0; minute < 45; minute++) {
    await world.forward(MINUTE_MS);
    await untilQuiet();
  }
  for (const { requestId } of requests) {
    expect(sequences(receiver, requestId)).toEqual([1, 2, 3]);
    // No event was attempted before the receiver accepted the previous one.
    const attempts = receiver.received.filter((delivery) => delivery.requestId === requestId);
    for (const [index, { sequence }] of attempts.entries())
      expect(attempts.slice(0, index).filter(({ answerStatus: answered }) => answered === 200)).toHaveLength(
        sequence - 1,
      );
  }
  const { json } = await owner.call("GET", "/webhooks");
  expect(json.webhooks[0]).toMatchObject({ waiting: 0, failed: 0, failingSince: null });
});

/** Starts a worker process that claims due deliveries, and kills it before the receiver responds. */
async function killWorkerWhileDelivering(receiver: WebhookReceiver): Promise<void> {
  // Makes all deliveries due, regardless of their pauses.
  await world.pool.query("update webhook_deliveries set next_at_ms = 0 where state = 'waiting'");
  const before = receiver.received.length;
  receiver.answer = () => undefined;
  const root = join(import.meta.dirname, "../../..");
  const worker = spawn(process.execPath, ["-C", "source", join(root, "test/support/webhook-worker.ts")], {
    cwd: root,
    env: {
      ...process.env,
      DATABASE_URL: world.database.url,
      AHEAD_MS: String(world.clock.nowMs() - Date.now()),
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(worker, "exit");
  await expect.poll(() => receiver.received.length, { timeout: 15_000 }).toBeGreaterThan(before);
  worker.kill("SIGKILL");
  expect((await ended)[1]).toBe("SIGKILL");
}

test("after ten retries a delivery is abandoned and can be seen and replayed, and later ones continue", async () => {
  const owner = await anOwner();
  const { receiver } = owner;
  startDeliveries();
  const { requestId } = await owner.aRequest();
  receiver.answer = ({ sequence }) => (sequence === 1 ? 500 : 200);
  await world.fill(requestId);
  for (let retry = 0; retry < 10; retry++) {
    await untilQuiet();
    expect(receiver.received).toHaveLength(retry + 1);
    // The first step is too short, the second is long enough.
    await world.forward(0.8 * 5 * SECOND_MS * 2 ** retry);
    await untilQuiet();
    expect(receiver.received).toHaveLength(retry + 1);
    await world.forward(0.4 * 5 * SECOND_MS * 2 ** retry);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(retry + 1);
  }
  await untilQuiet();
  expect(receiver.received.map(({ sequence }) => sequence)).toEqual([...Array<number>(11).fill(1), 2, 3]);
  expect(new Set(receiver.received.slice(0, 11).map(({ headers }) => headers["x-webhook-id"])).size).toBe(1);
  const { json } = await owner.call("GET", `/webhooks/${owner.webhook}/deliveries?state=failed`);
  expect(json.deliveries).toMatchObject([{ requestId, sequence: 1, attempts: 11, nextAttemptAt: null }]);
  const path = `/webhooks/${owner.webhook}/deliveries/${json.deliveries[0].id}`;
  const log = await owner.call("GET", path);
  expect(log.json.log).toHaveLength(11);
  expect(log.json.log[0]).toMatchObject({ statusCode: 500, error: "HTTP status 500", response: "said 500" });
  receiver.answer = () => 200;
  expect((await owner.call("POST", `${path}/replay`)).json).toMatchObject({ state: "waiting" });
  await expect.poll(() => sequences(receiver, requestId)).toEqual([2, 3, 1]);
  await untilQuiet();
  expect((await owner.call("GET", path)).json).toMatchObject({ state: "delivered", attempts: 12 });
  // Pruning would delete the request with its events, and a delivery without its event could never be sent.
  await world.pool.query("delete from status_events where request_id = $1", [requestId]);
  expect((await owner.call("POST", `${path}/replay`)).json).toMatchObject({ state: "delivered" });
});

test("webhook deliveries of different requests and endpoints do not wait for each other", async () => {
  const [slow, other] = [await anOwner(), await anOwner()];
  startDeliveries();
  const [stuck, free] = [await slow.aRequest(), await slow.aRequest()];
  const elsewhere = await other.aRequest();
  slow.receiver.answer = ({ requestId }) => (requestId === stuck.requestId ? undefined : 200);
  await Promise.all([stuck, free, elsewhere].map(async ({ requestId }) => await world.fill(requestId)));
  await expect.poll(() => sequences(slow.receiver, free.requestId)).toEqual([1, 2, 3]);
  await expect.poll(() => sequences(other.receiver, elsewhere.requestId)).toEqual([1, 2, 3]);
  expect(sequences(slow.receiver, stuck.requestId)).toEqual([]);
  // An attempt that times out counts, and is reported as a failure.
  await expect
    .poll(async () => (await slow.call("GET", "/webhooks")).json.webhooks[0], { timeout: 3_000 })
    .toMatchObject({ lastError: "no response within 1000 ms", failingSince: expect.any(Number) });
});

test("a key whose receivers all hang does not delay deliveries for other keys", async () => {
  const hostile = await anOwner();
  hostile.receiver.answer = () => undefined;
  for (let more = 0; more < 9; more++) await hostile.call("POST", "/webhooks", { url: hostile.receiver.url });
  const requests = await Promise.all(Array.from({ length: 8 }, async () => await hostile.aRequest()));
  for (const { requestId } of requests) await world.applyEvent(requestId, depositSeen());
  startDeliveries();
  await expect.poll(() => hostile.receiver.received.length).toBeGreaterThan(10);
  const other = await anOwner();
  const { requestId } = await other.aRequest();
  await world.applyEvent(requestId, depositSeen());
  await expect.poll(() => sequences(other.receiver, requestId), { timeout: 500, interval: 10 }).toEqual([1]);
  const { rows } = await world.pool.query(
    `select count(*)::int as held from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
     where w.key_id = $1 and d.state = 'waiting' and d.lease_until_ms > $2`,
    [hostile.keyId, world.clock.nowMs()],
  );
  expect(rows[0].held).toBeLessThanOrEqual(16);
  for (const { id } of (await hostile.call("GET", "/webhooks")).json.webhooks)
    await hostile.call("DELETE", `/webhooks/${id}`);
});

/** Owners whose changes are a second apart, in this order. No other delivery is due until the test ends. */
async function ownersInSequence(
  ...changesOf: readonly ((owner: Owner) => Promise<unknown>)[]
): Promise<readonly string[]> {
  const forget = async (): Promise<void> => {
    await world.pool.query("delete from webhook_deliveries");
  };
  await forget();
  endings.push(forget);
  const webhooks: string[] = [];
  for (const changes of changesOf) {
    const owner = await anOwner();
    await changes(owner);
    world.clock.forward(SECOND_MS);
    webhooks.push(owner.webhook);
  }
  return webhooks;
}

const oneDeposit = async (owner: Owner): Promise<unknown> =>
  await world.applyEvent((await owner.aRequest()).requestId, depositSeen());

/** Claims one delivery, and returns its endpoint. */
async function claimOne(bounds: { readonly perEndpoint?: number; readonly perKey?: number } = {}) {
  const now = { nowMs: world.clock.nowMs(), leaseMs: MINUTE_MS };
  const [due] = await webhookQueue(sqlOn(world.pool)).claim({
    ...now,
    perEndpoint: 8,
    perKey: 16,
    limit: 1,
    ...bounds,
  });
  return due?.endpoint.id;
}

test("claims from the endpoint with the earliest delivery first, and from failing endpoints last", async () => {
  const [failing, first, second] = await ownersInSequence(oneDeposit, oneDeposit, oneDeposit);
  await world.pool.query("update webhook_endpoints set failing_since_ms = 1 where id = $1", [failing]);
  expect(await claimOne()).toBe(first);
  expect(await claimOne()).toBe(second);
  expect(await claimOne()).toBe(failing);
  expect(await claimOne()).toBeUndefined();
});

test("claims from other endpoints while the next delivery of the first endpoint waits for a delivery in progress", async () => {
  const fill = async (owner: Owner): Promise<unknown> => await world.fill((await owner.aRequest()).requestId);
  const [busy, other] = await ownersInSequence(fill, oneDeposit);
  expect(await claimOne()).toBe(busy);
  expect(await claimOne()).toBe(other);
});

test("claims from other endpoints while the first endpoint, or its key, has reached its limit", async () => {
  const twoDeposits = async (owner: Owner): Promise<void> => {
    await oneDeposit(owner);
    await oneDeposit(owner);
  };
  const [full, second, third] = await ownersInSequence(twoDeposits, oneDeposit, oneDeposit);
  expect(await claimOne()).toBe(full);
  expect(await claimOne({ perEndpoint: 1 })).toBe(second);
  expect(await claimOne({ perKey: 1 })).toBe(third);
  expect(await claimOne()).toBe(full);
});

test("a webhook text that the database cannot store is refused as invalid", async () => {
  const owner = await anOwner();
  for (const payload of [
    { url: owner.receiver.url, label: "a\u0000b" },
    { url: `${owner.receiver.url}/\u0000` },
  ])
    expect((await owner.call("POST", "/webhooks", payload)).status).toBe(400);
});

test("a redirect by the receiver counts as a failure and is not followed", async () => {
  const owner = await anOwner();
  startDeliveries();
  owner.receiver.answer = () => 302;
  const { requestId } = await owner.aRequest();
  await world.applyEvent(requestId, depositSeen());
  await untilQuiet();
  expect(owner.receiver.received).toHaveLength(1);
  expect((await owner.call("GET", "/webhooks")).json.webhooks[0]).toMatchObject({
    lastError: "HTTP status 302",
    waiting: 1,
  });
});

test("signs deliveries with both secrets during a rotation, and only with the new secret afterwards", async () => {
  const owner = await anOwner();
  const { receiver } = owner;
  startDeliveries();
  const { json } = await owner.call("POST", `/webhooks/${owner.webhook}/rotate`, { graceSeconds: 60 });
  expect(json.secret).not.toBe(owner.secret);
  await world.applyEvent((await owner.aRequest()).requestId, depositSeen());
  await expect.poll(() => receiver.received.length).toBe(1);
  await untilQuiet();
  await world.forward(61 * SECOND_MS);
  await world.applyEvent((await owner.aRequest()).requestId, depositSeen());
  await expect.poll(() => receiver.received.length).toBe(2);
  const [during, after] = receiver.received;
  if (during === undefined || after === undefined) throw new Error("expected two deliveries");
  expect(isSigned(during, json.secret)).toBe(true);
  expect(isSigned(during, owner.secret, "x-signature-sha256-previous")).toBe(true);
  expect(isSigned(after, json.secret)).toBe(true);
  expect(after.headers).not.toHaveProperty("x-signature-sha256-previous");
});

test("webhooks belong only to their key, and a publishable key has none", async () => {
  const owner = await anOwner();
  const stranger = calls(await world.aKey());
  const { requestId } = await owner.aRequest();
  await world.applyEvent(requestId, depositSeen());
  const listed = await owner.call("GET", `/webhooks/${owner.webhook}/deliveries?requestId=${requestId}`);
  const path = `/webhooks/${owner.webhook}`;
  const delivery = `${path}/deliveries/${listed.json.deliveries[0].id}`;
  expect((await stranger("GET", "/webhooks")).json).toEqual({ webhooks: [] });
  const refusals = await Promise.all([
    stranger("POST", `${path}/rotate`, {}),
    stranger("DELETE", path),
    stranger("GET", `${path}/deliveries`),
    stranger("GET", delivery),
    stranger("POST", `${delivery}/replay`),
  ]);
  expect(refusals.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  expect((await calls("page")("GET", "/webhooks")).status).toBe(403);
  const shown = JSON.stringify([
    await owner.call("GET", "/webhooks"),
    listed,
    await owner.call("GET", delivery),
  ]);
  expect(shown).not.toContain(owner.secret);
  const create = async () => (await owner.call("POST", "/webhooks", { url: owner.receiver.url })).status;
  for (let more = 0; more < 8; more++) expect(await create()).toBe(200);
  // Concurrent creations do not exceed the limit either.
  const together = await Promise.all(Array.from({ length: 5 }, create));
  expect(together.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
  const left = (await owner.call("GET", "/webhooks")).json.webhooks.length;
  expect(left).toBeLessThanOrEqual(10);
});

test("delivers nothing to a removed endpoint or for a revoked key", async () => {
  const [removed, revoked] = [await anOwner(), await anOwner()];
  const [first, second] = [await removed.aRequest(), await revoked.aRequest()];
  for (const { requestId } of [first, second]) await world.applyEvent(requestId, depositSeen());
  expect((await removed.call("DELETE", `/webhooks/${removed.webhook}`)).status).toBe(200);
  await world.pool.query("update api_keys set revoked_at_ms = 1 where id = $1", [revoked.keyId]);
  const stop = startDeliveries();
  for (const { requestId } of [first, second]) await world.applyEvent(requestId, { kind: "fillPlanned" });
  for (const { requestId } of [first, second]) await world.applyEvent(requestId, { kind: "fillBroadcast" });
  const witness = await anOwner();
  await world.applyEvent((await witness.aRequest()).requestId, depositSeen());
  await expect.poll(() => witness.receiver.received.length).toBe(1);
  await stop();
  expect([...removed.receiver.received, ...revoked.receiver.received]).toEqual([]);
});

test("a key creates at most 100 webhooks in 24 hours, including removed ones", async () => {
  const owner = await anOwner();
  const nowMs = world.clock.nowMs();
  await world.pool.query(
    `insert into webhook_endpoints (id, key_id, url, label, headers, secret, created_at_ms, updated_at_ms, deleted_at_ms)
     select $1::text || n, $1, 'https://a.example', '', '{}', 's', $2::bigint - 3600000 + n, $2, $2 from generate_series(1, 99) n`,
    [owner.keyId, nowMs],
  );
  const again = { url: owner.receiver.url };
  expect(await owner.call("POST", "/webhooks", again)).toMatchObject({
    status: 429,
    json: {
      errorCode: "RATE_LIMITED",
      message:
        "An API key may create at most 100 webhooks in 24 hours, including removed ones; to change a secret, use POST /webhooks/{id}/rotate",
    },
  });
  expect((await owner.call("POST", `/webhooks/${owner.webhook}/rotate`, {})).status).toBe(200);
  const another = await anOwner();
  expect((await another.call("POST", "/webhooks", { url: another.receiver.url })).status).toBe(200);
  world.clock.forward(23 * 3600 * SECOND_MS + 1);
  expect((await owner.call("POST", "/webhooks", again)).status).toBe(200);
});

test("a webhook is deleted with its unsent deliveries two weeks after its removal or its key's revocation", async () => {
  const owners = await Promise.all([anOwner(), anOwner(), anOwner()]);
  const [removed, revoked, living] = owners;
  for (const owner of owners) await world.applyEvent((await owner.aRequest()).requestId, depositSeen());
  const beforeRemovalMs = world.clock.nowMs();
  expect((await removed?.call("DELETE", `/webhooks/${removed.webhook}`))?.status).toBe(200);
  await world.pool.query("update api_keys set revoked_at_ms = $2 where id = $1", [
    revoked?.keyId,
    world.clock.nowMs(),
  ]);
  const queue = webhookQueue(sqlOn(world.pool));
  const left = async (): Promise<unknown[]> =>
    (
      await world.pool.query(
        `select w.id, count(d.id)::int as deliveries from webhook_endpoints w left join webhook_deliveries d on d.endpoint_id = w.id
         where w.id = any($1) group by w.id`,
        [owners.map(({ webhook }) => webhook)],
      )
    ).rows;
  await queue.prune(beforeRemovalMs, 100);
  expect(await left()).toHaveLength(3);
  await queue.prune(world.clock.nowMs() + 1, 100);
  expect(await left()).toEqual([{ id: living?.webhook, deliveries: 1 }]);
});

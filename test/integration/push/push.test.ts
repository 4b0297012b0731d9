import type { RequestId, TxHash } from "@causeway/domain";
import { mismatch } from "@causeway/service-kit";
import { socketEvent } from "@causeway/wire";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ApiKeyIdentity } from "../../../apps/api/src/http/api-keys.port.ts";
import { anApiKey, fakeApiKeys } from "../../fakes/api-keys.ts";
import { depositSeen, startPushWorld, type PushWorld } from "../../support/push-world.ts";
import { socketClient, type Frame, type SocketClient } from "../../support/socket-client.ts";
import { someHash } from "../../support/terms.ts";

const KEY = "cwk_reader";
const OWN_KEY_ID = "00112233445566aa";
const keys = fakeApiKeys({
  [KEY]: anApiKey({ id: OWN_KEY_ID, scopes: ["read"] }),
  cwk_quoter: anApiKey({ scopes: ["quote"] }),
  cwk_page: anApiKey({ scopes: ["quote", "read"], origins: ["https://app.example"] }),
});

let world: PushWorld;
beforeAll(async () => {
  world = await startPushWorld({ routes: { apiKeys: keys }, policy: { maxPerAddress: 40 } });
});
afterAll(async () => await world.close());

const statuses = (frames: readonly Frame[]): unknown[] =>
  frames.flatMap(({ event, data }) => (event === undefined ? [] : [data?.["status"]]));

/** A client that has received the current status of the request. */
async function aSubscriber(id: string): Promise<SocketClient> {
  const client = await socketClient(world.wsUrl);
  client.subscribe(id);
  await client.waitForFrames(3);
  return client;
}

test("a socket without a key receives a request's status, then every visible change in order", async () => {
  const { requestId, origin, destination } = await world.aRequest();
  const client = await socketClient(world.wsUrl);
  client.subscribe(requestId);
  const [ready, answer, snapshot] = await client.waitForFrames(3);
  expect(ready).toEqual({ type: "connection", status: "ready", data: { id: expect.any(String) } });
  expect(answer).toEqual({
    type: "subscribe",
    status: "success",
    data: { event: "request.status.updated", filters: { id: requestId } },
  });
  expect(snapshot).toMatchObject({
    event: "request.status.updated",
    data: {
      status: "waiting",
      requestId,
      inTxHashes: [],
      txHashes: [],
      updatedAt: expect.any(Number),
      originChainId: origin.chainId,
      destinationChainId: destination.chainId,
    },
    publishedAt: expect.any(Number),
  });
  const txHash = await world.fill(requestId);
  const frames = await client.waitForFrames(6);
  expect(statuses(frames)).toEqual(["waiting", "pending", "submitted", "success"]);
  expect(frames.map(({ data }) => data?.["sequence"]).slice(2)).toEqual([0, 1, 2, 3]);
  expect(frames.at(-1)?.data).toMatchObject({ txHashes: [txHash], failReason: "N/A" });
  for (const frame of frames.slice(2)) expect(mismatch(socketEvent, frame)).toBeUndefined();
  // Finality is not announced to clients that already know about the success.
  const successSeen = Promise.withResolvers<void>();
  await world.feed.follow(requestId, {
    changed: ({ sequence }) => sequence === 4 && successSeen.resolve(),
    lost: () => successSeen.reject(new Error("the feed is lost")),
  });
  await world.applyEvent(requestId, { kind: "fillFinal" });
  await successSeen.promise;
  client.send({ type: "unsubscribe", event: "request.status.updated", filters: { id: requestId } });
  expect((await client.waitForFrames(7)).at(-1)).toMatchObject({ type: "unsubscribe" });
  const other = await aSubscriber(requestId);
  expect(other.frames.at(-1)?.data).toMatchObject({ status: "success", sequence: 4 });
  for (const { socket } of [client, other]) socket.close();
});

test("subscribers of a refunded request receive the refund without an earlier failure", async () => {
  const { requestId } = await world.aRequest();
  const client = await aSubscriber(requestId);
  await world.applyEvent(requestId, depositSeen("7"));
  await world.applyEvent(requestId, { kind: "fillImpossible", reason: "SOLVER_CAPACITY_EXCEEDED" });
  const refundTxHashes = [someHash()];
  await world.applyEvent(requestId, { kind: "refundMined", depositId: "7" }, { refundTxHashes });
  const frames = await client.waitForFrames(6);
  expect(statuses(frames)).toEqual(["waiting", "pending", "pending", "refund"]);
  expect(frames.at(-1)?.data).toMatchObject({ failReason: "SOLVER_CAPACITY_EXCEEDED", refundTxHashes });
  client.socket.close();
});

test("an unpaid quote ends with a failure, which subscribers receive", async () => {
  const { requestId } = await world.aRequest();
  const client = await aSubscriber(requestId);
  await world.applyEvent(requestId, { kind: "deadlinePassed" });
  const frames = await client.waitForFrames(4);
  expect(statuses(frames)).toEqual(["waiting", "failure"]);
  client.socket.close();
});

test("a client that subscribes during changes gets each change once and ends with the last", async () => {
  const requests = await Promise.all(Array.from({ length: 12 }, () => world.aRequest()));
  const clients: SocketClient[] = [];
  await Promise.all(
    requests.map(async ({ requestId }, index) => {
      const filled = world.fill(requestId);
      await new Promise((resolve) => setTimeout(resolve, index));
      const client = await socketClient(world.wsUrl);
      clients.push(client);
      client.subscribe(requestId);
      await filled;
      await expect.poll(() => statuses(client.frames).at(-1), { timeout: 5_000 }).toBe("success");
      const sequences = client.frames.flatMap(({ data }) => (data?.["sequence"] as number | undefined) ?? []);
      const first = sequences[0] ?? -1;
      expect(sequences).toEqual(Array.from({ length: 4 - first }, (_, later) => first + later));
    }),
  );
  for (const { socket } of clients) socket.close();
});

test("subscribers receive no changes of a transaction that was rolled back", async () => {
  const { requestId } = await world.aRequest();
  const client = await aSubscriber(requestId);
  await world.uow
    .run(async (tx) => {
      const record = await tx.requests.lock(requestId);
      if (record === undefined) throw new Error("invariant violated: request is not stored");
      await tx.requests.save(requestId, { state: { ...record.state, name: "expired" } }, Date.now());
      throw new Error("no");
    })
    .catch(() => undefined);
  await world.applyEvent(requestId, depositSeen());
  expect(statuses(await client.waitForFrames(4))).toEqual(["waiting", "pending"]);
  client.socket.close();
});

test("a socket gets nothing after it has unsubscribed", async () => {
  const { requestId } = await world.aRequest();
  const [client, other] = [await aSubscriber(requestId), await aSubscriber(requestId)];
  client.send({ type: "unsubscribe", event: "request.status.updated", filters: { id: requestId } });
  expect((await client.waitForFrames(4)).at(-1)).toEqual({
    type: "unsubscribe",
    status: "success",
    data: { event: "request.status.updated", filters: { id: requestId } },
  });
  await world.fill(requestId);
  await other.waitForFrames(6);
  expect(client.frames).toHaveLength(4);
  for (const { socket } of [client, other]) socket.close();
});

test("answers a malformed frame with an error, and keeps the socket open", async () => {
  const { requestId } = await world.aRequest();
  const client = await socketClient(`${world.wsUrl}/ws`);
  const event = "request.status.updated";
  for (const frame of [
    "{",
    "[]",
    "null",
    { type: "subscribe" },
    { type: "subscribe", event: "something.else" },
    { type: "subscribe", event, filters: { id: "0x12" } },
    { type: "dance", event },
  ])
    client.send(frame);
  const frames = await client.waitForFrames(8);
  for (const frame of frames.slice(1))
    expect(frame).toEqual({ type: "error", errorCode: "INVALID_REQUEST", message: expect.any(String) });
  client.subscribe(requestId);
  expect(statuses(await client.waitForFrames(10))).toEqual(["waiting"]);
  client.socket.close();
});

test("refuses a subscription to an unknown request immediately", async () => {
  const client = await socketClient(world.wsUrl);
  client.subscribe(someHash());
  expect((await client.waitForFrames(2))[1]).toMatchObject({ type: "error", errorCode: "REQUEST_NOT_FOUND" });
  expect(await client.closed).toBe(1008);
});

test("only a key with the read scope receives changes of all its own requests", async () => {
  const stranger = await socketClient(world.wsUrl);
  stranger.subscribe();
  expect((await stranger.waitForFrames(2))[1]).toMatchObject({ type: "error", errorCode: "UNAUTHORIZED" });
  const quoter = await socketClient(`${world.wsUrl}?apiKey=cwk_quoter`);
  quoter.subscribe();
  expect((await quoter.waitForFrames(2))[1]).toMatchObject({ type: "error", errorCode: "FORBIDDEN" });
  const page = await socketClient(`${world.wsUrl}?apiKey=cwk_page`, { origin: "https://app.example" });
  page.subscribe();
  expect((await page.waitForFrames(2))[1]).toMatchObject({ type: "error", errorCode: "FORBIDDEN" });

  const owner = await socketClient(`${world.wsUrl}/?apiKey=${KEY}`);
  owner.subscribe();
  await owner.waitForFrames(2);
  const [own, others] = [await world.aRequest({ keyId: OWN_KEY_ID }), await world.aRequest({ keyId: "ff" })];
  await Promise.all([world.fill(own.requestId), world.fill(others.requestId)]);
  const frames = await owner.waitForFrames(5);
  expect(statuses(frames)).toEqual(["pending", "submitted", "success"]);
  expect(new Set(frames.slice(2).map(({ data }) => data?.["requestId"]))).toEqual(new Set([own.requestId]));
  for (const { socket } of [stranger, quoter, page, owner]) socket.close();
});

test("refuses a socket with an invalid key, or with a publishable key of another page", async () => {
  await expect(socketClient(`${world.wsUrl}?apiKey=nobody`)).rejects.toThrow("401");
  await expect(
    socketClient(`${world.wsUrl}?apiKey=cwk_page`, { origin: "https://evil.example" }),
  ).rejects.toThrow("403");
  await expect(socketClient(`${world.wsUrl}/chains`)).rejects.toThrow();
  await expect(socketClient(`${world.wsUrl}?apiKey=cwk_quoter`, { "x-api-key": KEY })).rejects.toThrow("401");
});

test("subscriptions per socket and sockets per address are limited, and closing one frees its place", async () => {
  const requests = await Promise.all(Array.from({ length: 11 }, () => world.aRequest()));
  const client = await socketClient(world.wsUrl);
  for (const { requestId } of requests) client.subscribe(requestId);
  await client.waitForFrames(22);
  expect(client.frames.filter(({ type }) => type === "error")).toMatchObject([{ errorCode: "RATE_LIMITED" }]);
  const opened = [client];
  const refused = async (): Promise<boolean> => {
    for (let more = 0; more < 50; more++) {
      const another = await socketClient(world.wsUrl).catch(() => undefined);
      if (another === undefined) return true;
      opened.push(another);
    }
    return false;
  };
  expect(await refused()).toBe(true);
  await expect(socketClient(world.wsUrl)).rejects.toThrow("429");
  opened[1]?.socket.close();
  await opened[1]?.closed;
  await expect
    .poll(
      async () =>
        await socketClient(world.wsUrl).then(
          () => true,
          () => false,
        ),
    )
    .toBe(true);
  for (const { socket } of opened) socket.terminate();
});

test("a frame that is too long closes the socket", async () => {
  const client = await socketClient(world.wsUrl);
  client.send("x".repeat(5_000));
  expect(await client.closed).toBe(1009);
});

test("answers a plain request that offers an upgrade like any other request", async () => {
  const { request } = await import("node:http");
  const status = await new Promise((resolve, reject) => {
    request(`${world.httpUrl}/chains`, { headers: { connection: "upgrade", upgrade: "h2c" } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on("error", reject)
      .end();
  });
  expect(status).toBe(200);
});

/** Reads a stream until it ends or until `enough` events have arrived. */
async function streamed(
  requestId: string,
  headers: Record<string, string> = {},
  enough = Infinity,
): Promise<{
  readonly status: number;
  readonly events: readonly Record<string, string>[];
  readonly head: Headers;
}> {
  const stopping = new AbortController();
  const answer = await fetch(`${world.httpUrl}/intents/status/v3/stream?requestId=${requestId}`, {
    headers,
    signal: stopping.signal,
  });
  let text = "";
  const events = (): Record<string, string>[] =>
    text
      .split("\n\n")
      .slice(0, -1)
      .filter((block) => block.startsWith("event:"))
      .map((block) => Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2))));
  if (answer.status === 200 && answer.body !== null)
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (events().length >= enough) break;
    }
  stopping.abort();
  return { status: answer.status, events: events(), head: answer.headers };
}

const statesIn = (events: readonly Record<string, string>[]): unknown[] =>
  events.map(({ id, data }) => [Number(id), JSON.parse(data ?? "").status, JSON.parse(data ?? "").final]);

test("a stream sends a request's status and every change, and ends after the last one", async () => {
  const { requestId } = await world.aRequest();
  const stream = streamed(requestId, { origin: "https://page.example" });
  await expect.poll(async () => await world.metric("causeway_push_streams")).toBe(1);
  await world.fill(requestId);
  await world.applyEvent(requestId, { kind: "fillFinal" });
  const { status, events, head } = await stream;
  expect(status).toBe(200);
  expect(head.get("content-type")).toContain("text/event-stream");
  expect(head.get("access-control-allow-origin")).toBe("*");
  expect(events[0]?.["event"]).toBe("request.status.updated");
  expect(statesIn(events)).toEqual([
    [0, "waiting", false],
    [1, "pending", false],
    [2, "submitted", false],
    [3, "success", false],
    [4, "success", true],
  ]);
  // One stream resumes from an event id, and one begins after the end.
  const { events: missed } = await streamed(requestId, { "last-event-id": "2" });
  expect(statesIn(missed)).toEqual([
    [3, "success", false],
    [4, "success", true],
  ]);
  expect((await streamed(requestId, { "last-event-id": "4" })).status).toBe(204);
  expect((await streamed(someHash())).status).toBe(404);
  expect((await streamed("0x12")).status).toBe(400);
});

test("a lost listener is recovered: subscribers of a request miss nothing, subscribers of a key are asked to reconnect", async () => {
  const { requestId } = await world.aRequest({ keyId: OWN_KEY_ID });
  const [client, owner] = [await aSubscriber(requestId), await socketClient(`${world.wsUrl}?apiKey=${KEY}`)];
  owner.subscribe();
  await owner.waitForFrames(2);
  await world.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'causeway_status listener' and datname = current_database()",
  );
  await world.fill(requestId);
  expect(await owner.closed).toBe(1011);
  expect(statuses(await client.waitForFrames(6))).toEqual(["waiting", "pending", "submitted", "success"]);
  client.socket.close();
});

test("a client that does not read is disconnected, and does not affect the others", async () => {
  const { requestId } = await world.aRequest();
  const [stalled, other] = [await aSubscriber(requestId), await aSubscriber(requestId)];
  // The client stops reading from the socket.
  stalled.socket.pause();
  const closed = async (): Promise<number> => await world.metric("causeway_push_closed_total");
  const before = await closed();
  for (let change = 0; change < 400 && (await closed()) === before; change++) {
    const received = other.frames.length;
    await hugeChange(requestId);
    await other.waitForFrames(received + 1);
  }
  expect(await closed()).toBe(before + 1);
  stalled.socket.terminate();
  other.socket.close();
}, 60_000);

/** A change whose message has several hundred thousand bytes. */
async function hugeChange(requestId: RequestId): Promise<void> {
  await world.uow.run(async (tx) => {
    const record = await tx.requests.lock(requestId);
    if (record === undefined) throw new Error("invariant violated: request is not stored");
    const txHashes = Array<TxHash>(2_000).fill(someHash());
    await tx.requests.save(requestId, { state: record.state, txHashes }, Date.now());
  });
}

test("a stopping process asks its clients to reconnect, and ends their streams", async () => {
  const stopping = await startPushWorld();
  const { requestId } = await stopping.aRequest();
  const client = await socketClient(stopping.wsUrl);
  client.subscribe(requestId);
  await client.waitForFrames(3);
  const stream = await fetch(`${stopping.httpUrl}/intents/status/v3/stream?requestId=${requestId}`);
  const [code, text] = await Promise.all([client.closed, stream.text(), stopping.close()]);
  expect(code).toBe(1012);
  expect(text).toContain('"status":"waiting"');
});

test("a socket that does not respond is closed", async () => {
  const shortHeartbeat = await startPushWorld({ policy: { heartbeatMs: 100 } });
  const { requestId } = await shortHeartbeat.aRequest();
  const [dead, alive] = [await socketClient(shortHeartbeat.wsUrl), await socketClient(shortHeartbeat.wsUrl)];
  for (const client of [dead, alive]) client.subscribe(requestId);
  await Promise.all([dead.waitForFrames(3), alive.waitForFrames(3)]);
  // The socket no longer answers pings.
  dead.socket.pause();
  await expect.poll(async () => await shortHeartbeat.metric("causeway_push_sockets")).toBe(1);
  expect(alive.socket.readyState).toBe(alive.socket.OPEN);
  dead.socket.terminate();
  alive.socket.close();
  await shortHeartbeat.close();
});

test("behind a trusted proxy the limit counts the client's address, not the proxy's", async () => {
  const proxied = await startPushWorld({ policy: { maxPerAddress: 1, trustProxy: ["127.0.0.1"] } });
  const from = (address: string) => ({ "x-forwarded-for": address });
  const first = await socketClient(proxied.wsUrl, from("192.0.2.1"));
  await expect(socketClient(proxied.wsUrl, from("192.0.2.1"))).rejects.toThrow("429");
  const second = await socketClient(proxied.wsUrl, from("192.0.2.2"));
  for (const { socket } of [first, second]) socket.close();
  await proxied.close();
});

test("a client whose socket is refused is disconnected, even if it does not hang up", async () => {
  const open = async (): Promise<number> =>
    await new Promise((resolve, reject) => {
      world.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
  const before = await open();
  const { port } = new URL(world.httpUrl);
  const refused = Array.from({ length: 5 }, () => {
    const socket = connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true });
    socket.on("error", () => undefined);
    socket.write(
      "GET /ws?apiKey=nobody HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    return socket;
  });
  const answers = await Promise.all(refused.map(async (socket) => String((await once(socket, "data"))[0])));
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  await expect.poll(open).toBe(before);
  for (const socket of refused) socket.destroy();
});

test("a subscriber of a superseded request receives the statuses of its replacement, before and after it is filled", async () => {
  const { requestId } = await world.aRequest();
  const early = await aSubscriber(requestId);
  const { requestId: replacement } = await world.aRequest();
  await world.uow.run(async (tx) => await tx.depositAddresses.supersede(requestId, replacement, 1));
  // Waits until the client follows the replacement, because an earlier fill would merge the first statuses.
  await early.waitForFrames(4);
  await world.fill(replacement);
  const frames = await early.waitForFrames(7);
  expect(new Set(statuses(frames))).toEqual(new Set(["waiting", "pending", "submitted", "success"]));
  expect(frames.at(-1)?.data).toMatchObject({ requestId, status: "success" });
  const late = await aSubscriber(requestId);
  expect((await late.waitForFrames(3)).at(-1)?.data).toMatchObject({ requestId, status: "success" });
});

test("sockets of one address share a quota of frames: too many close the socket that sends them", async () => {
  world.clock.forward(20_000);
  const clients = await Promise.all([1, 2, 3, 4, 5].map(async () => await socketClient(world.wsUrl)));
  // Each socket sends fewer frames than one socket may.
  const ask = ({ send }: SocketClient): void => {
    for (let frame = 0; frame < 450; frame++) send({ type: "unsubscribe", event: "request.status.updated" });
  };
  const last = clients.pop();
  // The clock stops, so that the quota's window does not end while the sockets send, even on a busy machine.
  const frozenClock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  try {
    for (const client of clients) ask(client);
    await Promise.all(clients.map(async (client) => await client.waitForFrames(451)));
    if (last === undefined) throw new Error("five sockets are open");
    ask(last);
    expect(await Promise.race([last.closed, last.waitForFrames(451).then(() => "all answered")])).toBe(1008);
  } finally {
    frozenClock.mockRestore();
  }
  for (const { socket } of clients) socket.close();
  world.clock.forward(20_000);
});

test("closes sockets of a rotated secret after its grace period, and of a key without the read scope, before the next heartbeat", async () => {
  const initialKeys = {
    cwk_old: anApiKey({ id: OWN_KEY_ID }),
    cwk_new: anApiKey({ id: OWN_KEY_ID }),
    cwk_other: anApiKey({ id: "aa00112233445566" }),
  };
  const currentKeys: Record<string, ApiKeyIdentity> = { ...initialKeys };
  // The address may have three sockets. A rotation uses no place, and only a closed socket frees its place.
  const rotating = await startPushWorld({
    routes: { apiKeys: fakeApiKeys(currentKeys) },
    policy: { maxPerAddress: 3 },
  });
  const at = async (key: string): Promise<SocketClient> =>
    await socketClient(`${rotating.wsUrl}?apiKey=${key}`);
  const [old, fresh, other] = [await at("cwk_old"), await at("cwk_new"), await at("cwk_other")];
  await expect(at("cwk_new")).rejects.toThrow("429");
  delete currentKeys["cwk_old"];
  expect(await old.closed).toBe(1008);
  const again = await at("cwk_new");
  currentKeys["cwk_other"] = { ...initialKeys.cwk_other, scopes: ["quote"] };
  expect(await other.closed).toBe(1008);
  expect([fresh, again].map(({ socket }) => socket.readyState)).toEqual([1, 1]);
  await rotating.close();
});

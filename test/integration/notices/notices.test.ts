import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { deliverNotices } from "../../../apps/api/src/notices/deliver-notices.ts";
import { foldNotices, WINDOW_MS } from "../../../apps/api/src/notices/fold-notices.ts";
import { noticeStore } from "../../../apps/api/src/notices/notice-store.postgres.ts";
import type { Channel, Finding } from "../../../apps/api/src/notices/notices.port.ts";
import { alarmInbox, withStoredAlarms } from "../../../apps/api/src/notices/stored-alarms.postgres.ts";
import { openPauses } from "../../../apps/api/src/process/pauses.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import { httpSender } from "../../../apps/api/src/push/http-sender.adapter.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let pool: pg.Pool;
let server: Server;
let nowMs = 1_000_000;
const clock = { nowMs: () => nowMs };
const received: Record<string, unknown>[] = [];
let status = 200;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 4, statementTimeoutMs: 10_000, applicationName: "test" });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push(JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>);
      response.writeHead(status, { location: "/elsewhere" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query("truncate notice_alarms, notice_states, notice_deliveries");
  received.length = 0;
  status = 200;
  nowMs += 10_000_000;
});

const channel = (): Channel => {
  const { port } = server.address() as AddressInfo;
  return { id: "one", url: `http://127.0.0.1:${port}/hook?token=secret`, format: "json" };
};

/** A process with its own memory. `findings` are the results of its checks. */
function process() {
  const inbox = alarmInbox(clock);
  const events = recordedEvents();
  const store = noticeStore(pool);
  const sender = httpSender({ allowPrivate: true, timeoutMs: 2_000 });
  const channels = [channel()];
  const stop = new AbortController();
  return {
    events,
    uow: postgresUnitOfWork(pool, events, undefined, undefined, inbox),
    alone: withStoredAlarms(events, inbox, sqlOn(pool)),
    fold: async (findings: readonly Finding[] = []) =>
      await store.fold(
        { findings, channels: channels.map(({ id }) => id), sinceMs: nowMs - WINDOW_MS, nowMs },
        (read) => foldNotices({ ...read, findings }, nowMs),
      ),
    deliver: async () =>
      await deliverNotices(
        { store, sender, clock, events, channels, environment: "test", chance: () => 0.5 },
        stop.signal,
      ),
  };
}

test("sends the notification of an alarm only if the alarm's transaction commits", async () => {
  const { uow, fold, deliver } = process();
  const aborted = uow.run(async (tx) => {
    tx.events.alarm("payment_unrecorded", { requestId: "0x01", chain: "base" });
    await Promise.reject(new Error("rolled back"));
  });
  await expect(aborted).rejects.toThrow("rolled back");
  await uow.run(async (tx) => {
    tx.events.alarm("payment_unrecorded", { requestId: "0x02", chain: "base" });
    await Promise.resolve();
  });
  await fold();
  await deliver();
  expect(received).toMatchObject([
    {
      event: "causeway.notice",
      rule: "payment_unrecorded",
      severity: "critical",
      subject: "requestId 0x02, chain base",
      status: "raised",
    },
  ]);
});

test("if a process crashes after the commit of an alarm, another process sends the notification once", async () => {
  await process().uow.run(async (tx) => {
    tx.events.alarm("fill_waits", { requestId: "0x03" });
    await Promise.resolve();
  });
  const [first, second] = [process(), process()];
  await Promise.all([first.fold(), second.fold()]);
  await Promise.all([first.deliver(), second.deliver()]);
  await first.deliver();
  expect(received).toHaveLength(1);
});

test("a refused message is retried until it is accepted, a redirect is not followed, and nothing logs the URL", async () => {
  const { uow, fold, deliver, events } = process();
  await uow.run(async (tx) => {
    tx.events.alarm("fill_waits", { requestId: "0x04" });
    await Promise.resolve();
  });
  await fold();
  status = 302;
  await deliver();
  await deliver();
  expect(received).toHaveLength(1);
  nowMs += 6_000;
  status = 200;
  await deliver();
  nowMs += 3_600_000;
  await deliver();
  expect(received).toHaveLength(2);
  expect(received[0]).toEqual(received[1]);
  expect(JSON.stringify(events)).not.toContain("secret");
});

test("outside of a transaction, repeated alarms about one subject are one message, and another subject gets its own message", async () => {
  const { alone, fold, deliver } = process();
  for (const chain of ["base", "base", "optimism"]) alone.alarm("node_slow", { chain, medianMs: 2_000 });
  await expect.poll(async () => (await pool.query("select from notice_alarms")).rowCount).toBe(3);
  await fold();
  await deliver();
  expect(received.map(({ subject }) => subject).toSorted()).toEqual(["chain base", "chain optimism"]);
});

test("the start and the end of a condition are each notified once across processes", async () => {
  const chainFault = (isOpen: boolean): Finding => ({
    rule: "node_away",
    subject: "base",
    severity: "critical",
    isOpen,
    text: isOpen ? "unavailable" : "recovered",
  });
  await process().fold([chainFault(true)]);
  nowMs += 30_000;
  await process().fold([chainFault(true)]);
  nowMs += 61_000;
  const last = process();
  await last.fold([chainFault(false)]);
  await last.fold([chainFault(false)]);
  await last.deliver();
  expect(received.map(({ status: deliveredStatus }) => deliveredStatus).toSorted()).toEqual([
    "raised",
    "resolved",
  ]);
});

test.each([
  [true, ["paused", "resumed"]],
  [false, []],
])("a pause by `operator pause` is notified by the service: %s", async (isNotified, expected) => {
  const { admin, close } = openPauses({
    DATABASE_URL: database.url,
    VAULT_SECRETS_DIR: "/nonexistent",
    ...(isNotified && { NOTIFY_URLS: channel().url }),
  });
  await admin.pause("all", "ann", "drill");
  await admin.resume("all");
  await close();
  const { rows } = await pool.query<{ rule: string }>("select rule from notice_alarms order by id");
  expect(rows.map(({ rule }) => rule)).toEqual(expected);
});

test.each([{ NOTIFY_URLS: "no URL" }, { NOTIFY_URLS_FILE: "/nonexistent/urls" }])(
  "`operator pause` pauses without a notice if the channels are invalid: %j",
  async (channels) => {
    const stderr = vi.spyOn(globalThis.process.stderr, "write").mockReturnValue(true);
    const env = { DATABASE_URL: database.url, VAULT_SECRETS_DIR: "/nonexistent", ...channels };
    const { admin, close } = openPauses(env);
    await admin.pause("all", "ann", "drill");
    expect((await admin.list()).map(({ scope }) => scope)).toEqual([{ kind: "all" }]);
    await admin.resume("all");
    await close();
    expect(stderr.mock.calls.join()).toContain("warning: no notice will be sent: NOTIFY_URLS");
    stderr.mockRestore();
    const { rows } = await pool.query("select rule from notice_alarms");
    expect(rows).toEqual([]);
  },
);

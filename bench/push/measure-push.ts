import { chooseServices, databaseUrl, repositoryRoot, stopTogether, workspaceNode } from "@causeway/testkit";
import type { RequestTerms } from "@causeway/domain";
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createPool, sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import { migrate } from "../../apps/api/src/migrate.ts";
import { transition } from "../../apps/api/src/requests/transition.ts";
import { percentilesOf, type Percentiles } from "../../scripts/soak/percentiles.ts";
import { noAppBalances } from "../../test/fakes/no-app-balances.ts";
import { recordedEvents } from "../../test/fakes/recorded-events.ts";
import { someHash, someTerms } from "../../test/support/terms.ts";
import { pin, type Cores } from "../cores.ts";
import { preciseNowMs } from "./precise-now.ts";

/** How long the last frame may take after the last commit. */
const LAST_FRAME_WITHIN_MS = 30_000;
/** Concurrent commits. */
const COMMITTERS = 8;
/** Warm-up requests, which are not counted. */
const WARM_UP = 200;

/** The delay from a commit to its clients. */
export interface PushFigures {
  readonly subscribers: number;
  /** From just before the commit to the client's frame, in ms. */
  readonly deliveryMs: Percentiles;
  readonly commitsPerSecond: number;
}

/**
 * Opens this many sockets on one process, each following its own request; then fills every request in a
 * commit of its own, as fast as the store accepts them.
 */
export async function measurePush(
  cores: Cores | undefined,
  { subscribers }: { readonly subscribers: number },
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<PushFigures> {
  const services = await chooseServices(env);
  const toStop: { stop(): Promise<void> }[] = [services];
  try {
    const database = `causeway_push_bench_${process.pid}`;
    const url = databaseUrl(services.databaseUrl, database);
    await onServer(services.databaseUrl, `create database ${database}`);
    toStop.push({
      stop: async () => await onServer(services.databaseUrl, `drop database ${database} with (force)`),
    });
    await migrate(url);
    const pool = createPool(url, {
      max: COMMITTERS + 2,
      statementTimeoutMs: 30_000,
      applicationName: "push bench",
    });
    toStop.push({ stop: async () => await pool.end() });
    const insert = groupedQuoteInserts(sqlOn(pool));
    const terms = Array.from({ length: subscribers + WARM_UP }, () => someTerms());
    await Promise.all(terms.map(async (request) => await insert(request)));
    await pool.query("update requests set state = 'submitted', deposit_id = 1");

    const server = start("./push-server.ts", [url, String(subscribers + WARM_UP + 100)], toStop, signal);
    const [{ port }] = (await once(server, "message", { signal })) as [{ port: number }];
    if (cores !== undefined && server.pid !== undefined) pin(server.pid, cores.server);
    const clients = start("./subscribers.ts", [], toStop, signal);
    const receivedAtMs: number[] = [];
    const received = followDeliveries(clients, receivedAtMs);
    clients.send({ url: `ws://127.0.0.1:${port}`, requestIds: terms.map(({ requestId }) => requestId) });
    await received.ready;

    const committedAtMs = await fillAll(pool, terms, signal);
    const endsAtMs = performance.now() + LAST_FRAME_WITHIN_MS;
    while (received.count() < terms.length && performance.now() < endsAtMs) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const measured = terms.flatMap((_, index) => {
      const [from, to] = [committedAtMs[index], receivedAtMs[index]];
      return index < WARM_UP || from === undefined || to === undefined ? [] : [to - from];
    });
    const deliveryMs = percentilesOf(measured);
    if (deliveryMs === undefined || measured.length < subscribers)
      throw new Error(`${subscribers - measured.length} subscribers were not notified of the end`);
    const tookMs = Math.max(...committedAtMs) - (committedAtMs[WARM_UP] ?? 0);
    return { subscribers, deliveryMs, commitsPerSecond: subscribers / (tookMs / 1_000) };
  } finally {
    for (const stoppable of toStop.toReversed()) await stopTogether([stoppable]);
  }
}

/** Fills each request in its own commit; returns the times just before the commits. */
async function fillAll(
  pool: pg.Pool,
  terms: readonly RequestTerms[],
  signal: AbortSignal,
): Promise<number[]> {
  const events = recordedEvents();
  const uow = postgresUnitOfWork(pool, events);
  const services = { ...noAppBalances, events, clock: { nowMs: () => Date.now() } };
  const committedAtMs: number[] = [];
  const fill = async (index: number, requestId: RequestTerms["requestId"]): Promise<void> => {
    await uow.run(async (tx) => {
      const record = await tx.requests.lock(requestId);
      if (record === undefined) throw new Error("invariant violated: request is not stored");
      const txHashes = [someHash()];
      await transition(services, tx, record, { kind: "fillMined" }, { txHashes });
      committedAtMs[index] = preciseNowMs();
    });
  };
  const remaining = terms.entries();
  const committers = Array.from({ length: COMMITTERS }, async () => {
    for (const [index, { requestId }] of remaining) {
      signal.throwIfAborted();
      await fill(index, requestId);
    }
  });
  await Promise.all(committers);
  return committedAtMs;
}

type Message =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly arrived: readonly (readonly [number, number])[] };

function followDeliveries(
  clients: ChildProcess,
  receivedAtMs: number[],
): { readonly ready: Promise<void>; count(): number } {
  let count = 0;
  const ready = Promise.withResolvers<void>();
  clients.once("exit", () => ready.reject(new Error("subscribers exited unexpectedly")));
  clients.on("message", (message: Message) => {
    if ("ready" in message) ready.resolve();
    else if ("failed" in message)
      ready.reject(new Error(`subscribers failed: ${message.failed}; is "ulimit -n" too low?`));
    else
      for (const [index, atMs] of message.arrived) {
        // A second notification would be a defect, and must not improve or worsen the figures.
        if (receivedAtMs[index] !== undefined) throw new Error("a client was notified of the same end twice");
        receivedAtMs[index] = atMs;
        count++;
      }
  });
  return { ready: ready.promise, count: () => count };
}

function start(
  file: string,
  args: readonly string[],
  toStop: { stop(): Promise<void> }[],
  signal: AbortSignal,
): ChildProcess {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [...args], {
    cwd: repositoryRoot,
    execPath: workspaceNode,
    execArgv: ["-C", "source"],
    detached: true,
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  toStop.push({
    async stop() {
      signal.removeEventListener("abort", kill);
      kill();
      await exited;
    },
  });
  return child;
}

async function onServer(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

import { rawKeySigner } from "@causeway/attest";
import type { BlockRef } from "@causeway/chains";
import { defaultFeePolicy } from "@causeway/domain";
import type { Address, RequestEvent, RequestId, RequestTerms } from "@causeway/domain";
import { localAccount } from "@causeway/localnet";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type pg from "pg";
import { chainProfiles } from "../../../apps/api/src/chains/directory.adapter.ts";
import { balanceReads } from "../../../apps/api/src/balances/balance-reads.postgres.ts";
import { depositAddressReads } from "../../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import type { Reads } from "../../../apps/api/src/db/reads.port.ts";
import type { Slot, SlotPlan } from "../../../apps/api/src/db/records.port.ts";
import type { NewDeposit, Tx, UnitOfWork } from "../../../apps/api/src/db/unit-of-work.port.ts";
import { measuredQuoteGas } from "../../../apps/api/src/quotes/quote-gas.ts";
import { pruneHistory } from "../../../apps/api/src/reconcile/prune-history.ts";
import { RETENTION_MS } from "../../../apps/api/src/reconcile/retention-times.ts";
import { reconcileRequests } from "../../../apps/api/src/reconcile/reconcile-requests.ts";
import { transition } from "../../../apps/api/src/requests/transition.ts";
import { noAppBalances } from "../../fakes/no-app-balances.ts";
import { noChains } from "../../fakes/no-chains.ts";
import { aChain } from "../../fakes/quote-world.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { enginePolicy } from "../../support/engine-policy.ts";
import { someAddress, someHash, someTerms } from "../../support/terms.ts";

const NOW_MS = 1_700_000_100_000;
let database: TestDatabase;
let pool: pg.Pool;
let uow: UnitOfWork;
let reads: Reads;
let insertQuoted: (terms: RequestTerms) => Promise<void>;
const services = { ...noAppBalances, events: recordedEvents(), clock: { nowMs: () => NOW_MS } };

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 20, statementTimeoutMs: 10_000, applicationName: "test" });
  uow = postgresUnitOfWork(pool, services.events);
  reads = postgresReads(sqlOn(pool));
  insertQuoted = groupedQuoteInserts(sqlOn(pool));
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Prunes while a chain confirms that the clock is right. */
async function pruneAt(nowMs: number): Promise<void> {
  const confirmed = { ...reads, newestBlocksMs: async () => await Promise.resolve([nowMs]) };
  await pruneHistory({ reads: confirmed, uow, events: services.events, clock: { nowMs: () => nowMs } });
}

async function aStoredRequest(change: Partial<RequestTerms> = {}): Promise<RequestTerms> {
  const terms = someTerms(change);
  await insertQuoted(terms);
  return terms;
}

const happens = async (terms: RequestTerms, event: RequestEvent) =>
  await uow.run(async (tx) => {
    const record = await tx.requests.lock(terms.requestId);
    if (record === undefined) throw new Error("invariant violated: request is not stored");
    return (await transition(services, tx, record, event)).decision.kind;
  });

const seen = (depositId: string): RequestEvent => ({
  kind: "depositSeen",
  depositId,
  verdict: { kind: "match" },
  confirmed: true,
  late: false,
});

function aDeposit(change: Partial<NewDeposit> = {}): NewDeposit {
  return {
    txHash: someHash(),
    ordinal: 0,
    blockNumber: 10n,
    blockHash: someHash(),
    confirmAtBlock: 12n,
    depositor: someAddress(),
    sender: someAddress(),
    currency: someAddress(),
    amount: 2n ** 200n,
    orderId: undefined,
    requestId: undefined,
    seenAtMs: NOW_MS,
    valueUsd: 0n,
    ...change,
  };
}

function aFill(requestId: RequestId): SlotPlan["leg"] {
  return { kind: "fill", id: requestId, requestId };
}

function aPlan(sender: string, leg: SlotPlan["leg"]): SlotPlan {
  return {
    chainId: 2,
    sender: sender as `0x${string}`,
    leg,
    call: { to: someAddress(), data: "0xabcd", value: 1n },
    gasLimit: 50_000n,
    maxFeePerGas: 3n,
    maxPriorityFeePerGas: 1n,
    outflow: { currency: "0x0000000000000000000000000000000000000000", amount: 5n },
    cancelAfterMs: NOW_MS,
  };
}

async function aSlot(tx: Tx, plan: SlotPlan): Promise<Slot> {
  const [slot] = await tx.lanes.reserve([plan], NOW_MS);
  if (slot === undefined) throw new Error("the leg is paid already");
  return slot;
}

async function aLane(firstNonce = 0): Promise<`0x${string}`> {
  const sender = someAddress();
  await uow.run(async (tx) => await tx.lanes.open(2, sender, firstNonce));
  return sender;
}

test("the stored terms of a quote are read unchanged, to the last unit", async () => {
  const terms = await aStoredRequest({
    origin: { chainId: 1, currency: someAddress(), amount: 2n ** 255n },
    referrer: `quote " \\ ' ; drop table requests; -- {"$n":"1"}`,
  });
  const record = await reads.request(terms.requestId);
  expect(record?.terms).toEqual(terms);
  expect((await reads.requestsByOrders([terms.orderId])).get(terms.orderId)?.terms).toEqual(terms);
});

test("if eight processes see the same event, one applies it and seven find it already applied", async () => {
  const terms = await aStoredRequest();
  const outcomes = await Promise.all(Array.from({ length: 8 }, async () => await happens(terms, seen("1"))));
  expect(outcomes.toSorted()).toEqual([...Array.from({ length: 7 }, () => "already"), "applied"]);
  const { rows } = await pool.query("select * from outbox where payload like '%' || $1 || '%'", [
    terms.requestId,
  ]);
  expect(rows, "one job").toHaveLength(1);
  const trace = await pool.query("select * from request_events where request_id = $1", [terms.requestId]);
  expect(trace.rows, "one line of trace").toHaveLength(1);
});

test("accepts one of eight concurrent deposits for one request and refunds seven", async () => {
  const terms = await aStoredRequest();
  const eight = Array.from({ length: 8 }, () => aDeposit());
  const ids = (await uow.run(async (tx) => await tx.deposits.record(1, eight))).map(({ id }) => id);
  await Promise.all(ids.map(async (id) => await happens(terms, seen(id))));
  const deposits = await Promise.all(ids.map(async (id) => await reads.deposit(id)));
  const dispositions = deposits.map((deposit) => deposit?.disposition);
  expect(dispositions.filter((disposition) => disposition === "accepted")).toHaveLength(1);
  expect(dispositions.filter((disposition) => disposition === "refund")).toHaveLength(7);
});

test("a transaction that fails leaves no state, job or trace", async () => {
  const terms = await aStoredRequest();
  await expect(
    uow.run(async (tx) => {
      const record = await tx.requests.lock(terms.requestId);
      if (record) await transition(services, tx, record, seen("1"));
      throw new Error("the process fails before its commit");
    }),
  ).rejects.toThrow("before its commit");
  expect((await reads.request(terms.requestId))?.state.name).toBe("quoted");
  for (const table of ["outbox where payload like '%' || $1 || '%'", "request_events where request_id = $1"])
    expect((await pool.query(`select 1 from ${table}`, [terms.requestId])).rows).toEqual([]);
});

test("raises a transaction's events once, in order, after its commit, and never after a rollback", async () => {
  const events = recordedEvents();
  const own = postgresUnitOfWork(pool, events);
  const raisedInside = await own.run(async (tx) => {
    tx.events.happened("deposit_seen", { n: 1 });
    tx.events.alarm("deposit_unattributed", { n: 2 });
    return events.all.length;
  });
  expect(raisedInside).toBe(0);
  expect(events.all.map(({ level, facts }) => [level, facts["n"]])).toEqual([
    ["happened", 1],
    ["alarm", 2],
  ]);
  await own
    .run(async (tx) => {
      tx.events.alarm("deposit_removed", { n: 3 });
      throw new Error("no");
    })
    .catch(() => undefined);
  expect(events.all).toHaveLength(2);
});

test("a transaction that continues after a failed statement reports that nothing was committed, and raises no events", async () => {
  const events = recordedEvents();
  const run = postgresUnitOfWork(pool, events).run(async (tx) => {
    tx.events.happened("deposit_seen", {});
    await tx.lanes.lockSlots(["not a number"]).catch((error: unknown) => {
      expect(error).toHaveProperty("code", "22P02");
    });
  });
  await expect(run).rejects.toThrow("invariant violated");
  expect(events.all).toEqual([]);
});

test("a transaction that awaits no write fails with the error of its first failed one, and commits nothing", async () => {
  const events = recordedEvents();
  const tooHigh = { number: 2n ** 64n, hash: someHash() };
  const block = { number: 1n, hash: someHash(), parentHash: someHash(), timestamp: 1n, baseFeePerGas: 1n };
  const outcomes = await Promise.allSettled([
    postgresUnitOfWork(pool, events).run(async (tx) => {
      tx.events.happened("deposit_seen", {});
      await tx.trail.setCursor(77, block);
      await tx.trail.beginAdvance(1, tooHigh, someHash());
    }),
    postgresUnitOfWork(pool, events).run(async (tx) => {
      await tx.trail.setCursor(78, block);
      await tx.trail.beginAdvance(1, tooHigh, someHash());
      // The statement fails because the transaction is aborted.
      await tx.trail.lockCursor(1);
    }),
  ]);
  expect(outcomes).toMatchObject([{ reason: { code: "22003" } }, { reason: { code: "22003" } }]);
  expect(events.all).toEqual([]);
  await postgresUnitOfWork(pool, events).run(async (tx) => {
    expect([await tx.trail.lockCursor(77), await tx.trail.lockCursor(78)]).toEqual([undefined, undefined]);
  });
});

test("a request that enters history in a transaction that fails is not listed", async () => {
  const terms = await aStoredRequest();
  const failed = uow.run(async (tx) => {
    const record = await tx.requests.lock(terms.requestId);
    if (record === undefined) throw new Error("invariant violated: request is not stored");
    // The save is not awaited, so the transaction fails before the save is answered.
    await transition(services, tx, record, seen("1"));
    throw new Error("the caller aborts");
  });
  await expect(failed).rejects.toThrow("the caller aborts");
  await sleep(200);
  const listed = "select 1 from request_history where request_id = $1";
  expect((await pool.query(listed, [terms.requestId])).rows).toEqual([]);
  await happens(terms, seen("1"));
  expect((await pool.query(listed, [terms.requestId])).rows).toHaveLength(1);
});

test("a request that is saved twice in one transaction enters history once, as saved last", async () => {
  const terms = await aStoredRequest();
  await uow.run(async (tx) => {
    const record = await tx.requests.lock(terms.requestId);
    if (record === undefined) throw new Error("invariant violated: request is not stored");
    const unconfirmed = { ...seen("1"), confirmed: false } as RequestEvent;
    const { record: next } = await transition(services, tx, record, unconfirmed);
    await transition(services, tx, next, { kind: "depositConfirmed", depositId: "1" });
  });
  const { rows } = await pool.query<{ state: string; status: string }>(
    "select r.state, h.status from request_history h join requests r using (request_id) where request_id = $1",
    [terms.requestId],
  );
  expect(rows).toEqual([{ state: "fillable", status: "pending" }]);
});

test("a transaction that is retried after a deadlock raises its events once", async () => {
  const events = recordedEvents();
  const own = postgresUnitOfWork(pool, events);
  const [first, second] = [await aStoredRequest(), await aStoredRequest()];
  const runs: string[] = [];
  const locked = { mine: Promise.withResolvers<void>(), yours: Promise.withResolvers<void>() };
  const survived = Promise.withResolvers<void>();
  const lockBoth = async (name: "mine" | "yours", from: RequestTerms, to: RequestTerms): Promise<void> => {
    await own.run(async (tx) => {
      // If the victim locked again while the other transaction holds its locks, it could become the victim
      // again.
      if (runs.includes(name)) await survived.promise;
      runs.push(name);
      await tx.requests.lock(from.requestId);
      tx.events.happened("deposit_seen", { name });
      locked[name].resolve();
      await Promise.all([locked.mine.promise, locked.yours.promise]);
      await tx.requests.lock(to.requestId);
    });
    survived.resolve();
  };
  await Promise.all([lockBoth("mine", first, second), lockBoth("yours", second, first)]);
  expect(runs.length, "one of them was the victim").toBe(3);
  expect(events.all.map(({ facts }) => facts["name"]).toSorted()).toEqual(["mine", "yours"]);
});

test("a cut connection fails only the transaction that uses it", async () => {
  const terms = await aStoredRequest();
  const cut = uow.run(async (tx) => {
    const record = await tx.requests.lock(terms.requestId);
    if (record) await transition(services, tx, record, seen("1"));
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    await sleep(50);
    await tx.requests.note(terms.requestId, NOW_MS, "settled", {});
  });
  await expect(cut).rejects.toThrow();
  expect((await reads.request(terms.requestId))?.state.name).toBe("quoted");
  expect(await happens(terms, seen("1"))).toBe("applied");
});

test("of two concurrent reservations of a fill for one request, one gets a nonce and the other finds the leg reserved", async () => {
  const [terms, sender] = [await aStoredRequest(), await aLane()];
  const leg = aFill(terms.requestId);
  const slots = await Promise.all(
    [1, 2].map(async () => await uow.run(async (tx) => await tx.lanes.reserve([aPlan(sender, leg)], NOW_MS))),
  );
  expect(slots.map(({ length }) => length).toSorted()).toEqual([0, 1]);
  expect(await reads.unsettledSlots(2, sender)).toHaveLength(1);
});

test("tracks open slots, and mined ones that are final or not in a canonical block", async () => {
  const [sender, canonical, orphaned] = [await aLane(), someHash(), someHash()];
  const hashes = new Map([[11n, canonical]]);
  const plans = Array.from({ length: 4 }, () => aPlan(sender, aFill(someTerms().requestId)));
  const outcome = { attempt: 0, status: "success", gasUsed: 1n, effectiveGasPrice: 1n } as const;
  await uow.run(async (tx) => {
    const [final, waiting, reorged] = await tx.lanes.reserve(plans, NOW_MS);
    const mined = [
      { slotId: final?.id ?? "", blockNumber: 10n, blockHash: someHash(), ...outcome },
      { slotId: waiting?.id ?? "", blockNumber: 11n, blockHash: canonical, ...outcome },
      { slotId: reorged?.id ?? "", blockNumber: 11n, blockHash: orphaned, ...outcome },
    ];
    await tx.lanes.setMined(mined, NOW_MS);
  });
  const noncesAt = async (finalBlock: bigint) =>
    (await reads.slotsToTrack(2, { finalBlock, hashes }))
      .filter((slot) => slot.sender === sender)
      .map(({ nonce }) => nonce);
  expect(await noncesAt(10n)).toEqual([0, 2, 3]);
  expect(await noncesAt(11n)).toEqual([0, 1, 2, 3]);
  expect((await reads.openSlots(2, sender)).map(({ nonce }) => nonce)).toEqual([3]);
});

test("a leg that occurs twice in one batch gets one nonce, and all other legs of the batch get a nonce each", async () => {
  const sender = await aLane(3);
  const [first, second] = [1, 2].map(() => aFill(someTerms().requestId));
  if (first === undefined || second === undefined) throw new Error("expected two legs");
  const plans = [first, first, second].map((leg) => aPlan(sender, leg));
  const slots = await uow.run(async (tx) => await tx.lanes.reserve(plans, NOW_MS));
  expect(slots.map(({ leg, nonce }) => [leg.requestId, nonce])).toEqual([
    [first.requestId, 3],
    [second.requestId, 4],
  ]);
});

test("the database refuses a second lane that pays the same leg", async () => {
  const terms = await aStoredRequest();
  const leg = aFill(terms.requestId);
  const senders = [await aLane(), await aLane()];
  const results = await Promise.allSettled(
    senders.map(async (sender) => await uow.run(async (tx) => await aSlot(tx, aPlan(sender, leg)))),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a leg can be paid again only after its nonce is dead", async () => {
  const [terms, sender] = [await aStoredRequest(), await aLane()];
  const leg = aFill(terms.requestId);
  const reserve = async () =>
    await uow.run(async (tx) => await tx.lanes.reserve([aPlan(sender, leg)], NOW_MS));
  const [first] = await reserve();
  if (first === undefined) throw new Error("the leg was never paid");
  await uow.run(async (tx) => await tx.lanes.setOpen(first.id));
  expect(await reserve()).toEqual([]);
  await uow.run(async (tx) => await tx.lanes.setFinal([first.id], NOW_MS));
  expect(await reserve()).toEqual([]);
  await uow.run(async (tx) => await tx.lanes.setDead(first.id, "TRANSACTION_REVERTED"));
  expect(await reserve()).toMatchObject([{ nonce: first.nonce + 1 }]);
});

test("50 concurrent reservations get 50 consecutive nonces, and a failing one uses none", async () => {
  const sender = await aLane(7);
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, async (_, at) => {
      const { requestId } = someTerms();
      return await uow.run(async (tx) => {
        const slot = await aSlot(tx, aPlan(sender, aFill(requestId)));
        if (at % 10 === 3) throw new Error("fails after the nonce was given");
        return slot;
      });
    }),
  );
  const nonces = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.nonce] : []));
  expect(nonces.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 45 }, (_, at) => 7 + at));
});

test("a lane's next nonce never decreases, and skips nonces that the key used elsewhere", async () => {
  const sender = await aLane(5);
  const next = async () => {
    const { requestId } = someTerms();
    const plan = aPlan(sender, aFill(requestId));
    return (await uow.run(async (tx) => await aSlot(tx, plan))).nonce;
  };
  expect(await next()).toBe(5);
  await uow.run(async (tx) => await tx.lanes.open(2, sender, 3));
  expect(await next()).toBe(6);
  await uow.run(async (tx) => await tx.lanes.open(2, sender, 20));
  expect(await next()).toBe(20);
});

test("the funds of an open payment stay reserved until a balance shows that they left", async () => {
  const sender = await aLane();
  const plan = aPlan(sender, aFill(someHash()));
  const { currency } = plan.outflow;
  const slot = await uow.run(async (tx) => await aSlot(tx, plan));
  const reservedAt = async (block: bigint): Promise<bigint> =>
    (await uow.run(async (tx) => await tx.lanes.reserved(2, sender, currency, block))).amount;
  expect(await reservedAt(100n)).toBe(5n);
  await uow.run(async (tx) => {
    const mined = {
      slotId: slot.id,
      attempt: 0,
      blockNumber: 50n,
      blockHash: someHash(),
      status: "success",
      gasUsed: 1n,
      effectiveGasPrice: 1n,
    } as const;
    await tx.lanes.setMined([mined], NOW_MS);
  });
  expect(await reservedAt(49n), "a balance read before the payment").toBe(5n);
  expect(await reservedAt(50n), "a balance that shows the payment").toBe(0n);
});

test("signed bytes are stored only for open slots, and those of a payment only while it is not canceled", async () => {
  const sender = await aLane(3);
  const [open, canceled, ended] = await uow.run(
    async (tx) =>
      await tx.lanes.reserve(
        [1, 2, 3].map(() => aPlan(sender, aFill(someHash()))),
        NOW_MS,
      ),
  );
  if (!open || !canceled || !ended) throw new Error("three slots");
  await uow.run(async (tx) => {
    await tx.lanes.cancel(canceled.id, "TRANSACTION_NOT_INCLUDED");
    await tx.lanes.setDead(ended.id, "TRANSACTION_NOT_INCLUDED");
  });
  const bytes = (kind: "pay" | "noop") => ({
    n: 0,
    kind,
    raw: "0xabcd" as const,
    txHash: someHash(),
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    createdAtMs: NOW_MS,
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
  });
  const store = async (kind: "pay" | "noop") =>
    await uow.run(
      async (tx) =>
        await tx.lanes.addAttempts(
          [open, canceled, ended].map(({ id }) => ({ slotId: id, attempt: bytes(kind) })),
        ),
    );
  expect([...(await store("pay"))]).toEqual([open.id]);
  expect([...(await store("noop"))]).toEqual([canceled.id]);
});

test("keeps the signed bytes of a payment until long after it became final", async () => {
  const sender = await aLane();
  const plan = aPlan(sender, aFill(someHash()));
  const signed = {
    n: 0,
    kind: "pay",
    raw: "0xabcd",
    txHash: someHash(),
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    createdAtMs: NOW_MS,
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
  } as const;
  const id = await uow.run(async (tx) => {
    const slot = await aSlot(tx, plan);
    await tx.lanes.addAttempts([{ slotId: slot.id, attempt: signed }]);
    return slot.id;
  });
  const finalAtMs = NOW_MS + 60_000;
  const after = async (atMs: number) => {
    await pruneAt(atMs + RETENTION_MS.attempts);
    return await reads.slot(id);
  };
  expect(await after(finalAtMs + 1)).toMatchObject({ state: "open", attempts: [{ raw: "0xabcd" }] });
  await uow.run((tx) => tx.lanes.setFinal([id], finalAtMs));
  expect(await after(finalAtMs)).toMatchObject({ state: "final", attempts: [{ raw: "0xabcd" }] });
  const emptied = { state: "final", attempts: [{ raw: "0x", txHash: signed.txHash }] };
  expect(await after(finalAtMs + 1)).toMatchObject(emptied);
});

test("reads a payment and its signed bytes from one snapshot", async () => {
  const plan = aPlan(await aLane(), aFill(someHash()));
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, createdAtMs: NOW_MS } as const;
  const attempt = { n: 0, kind: "pay", raw: "0xabcd", txHash: someHash(), ...fees } as const;
  const id = await uow.run(async (tx) => {
    const slot = await aSlot(tx, plan);
    const unsent = { ...attempt, broadcastAtMs: undefined, offeredSinceMs: undefined };
    await tx.lanes.addAttempts([{ slotId: slot.id, attempt: unsent }]);
    return slot.id;
  });
  const connection = await pool.connect();
  // The payment changes between two statements of the reader.
  const interrupted = new Proxy(connection, {
    get: (client, name) =>
      name === "query"
        ? async (...args: readonly unknown[]) => {
            const rows = await (Reflect.apply(client.query, client, args) as Promise<unknown>);
            await pool.query("update slots set state = 'final', final_at_ms = 0 where id = $1", [id]);
            await pool.query("update attempts set raw = '0x' where slot_id = $1", [id]);
            return rows;
          }
        : (Reflect.get(client, name) as unknown),
  });
  try {
    const slot = await postgresReads(sqlOn(interrupted)).slot(id);
    expect(slot).toMatchObject({ state: "open", attempts: [{ raw: "0xabcd" }] });
  } finally {
    connection.release();
  }
});

test("keeps a hub transaction's call, its bytes and the oracles' signatures until long after it is final", async () => {
  const key = someHash();
  const sender = await aLane();
  const stored = async () =>
    (
      await pool.query(
        `select s.call_data, a.raw, a.tx_hash, e.actions, e.signature from hub_executions e
           join slots s on s.id = e.slot_id join attempts a on a.slot_id = s.id
         where e.idempotency_key = $1`,
        [key],
      )
    ).rows as unknown[];
  await uow.run(async (tx) => {
    const signed = { idempotencyKey: key, kind: "fill", actions: ["0xac"], signature: "0x51" } as const;
    await tx.settlement.addExecutions([signed], NOW_MS);
  });
  const executionId = (
    await pool.query<{ id: number }>("select id from hub_executions where idempotency_key = $1", [key])
  ).rows.map((row) => String(row.id));
  const plan = aPlan(sender, { kind: "hub", id: someHash(), requestId: undefined });
  const attempt = {
    n: 0,
    kind: "pay",
    raw: "0xabcd",
    txHash: someHash(),
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    createdAtMs: NOW_MS,
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
  } as const;
  const slot = await uow.run(async (tx) => {
    const added = await aSlot(tx, { ...plan, call: { ...plan.call, data: "0xca11" } });
    await tx.settlement.markSubmitted(executionId, added.id);
    await tx.lanes.addAttempts([{ slotId: added.id, attempt }]);
    return added;
  });
  const whole = { raw: "0xabcd", tx_hash: attempt.txHash, actions: ["0xac"], signature: "0x51" };
  expect(await stored()).toEqual([{ call_data: "0xca11", ...whole }]);
  await uow.run(async (tx) => {
    await tx.lanes.setFinal([slot.id], NOW_MS);
    await tx.settlement.settle([key], NOW_MS);
  });
  await pruneAt(NOW_MS + RETENTION_MS.attempts);
  expect(await stored()).toEqual([{ call_data: "0xca11", ...whole }]);
  await pruneAt(NOW_MS + RETENTION_MS.attempts + 1);
  expect(await stored()).toEqual([
    { call_data: "", raw: "0x", tx_hash: attempt.txHash, actions: [], signature: "0x" },
  ]);
});

test("native tokens that a token payment carries are reserved in addition to its gas, and those of a native payment are reserved once", async () => {
  const native = "0x0000000000000000000000000000000000000000";
  const gasWeiOf = async (currency: Address): Promise<bigint> => {
    const sender = await aLane();
    const plan = aPlan(sender, aFill(someHash()));
    const carrying = { ...plan, call: { ...plan.call, value: 9n }, outflow: { currency, amount: 9n } };
    await uow.run(async (tx) => await aSlot(tx, carrying));
    const { gasWei } = await uow.run(async (tx) => await tx.lanes.reserved(2, sender, native, 100n));
    return gasWei - plan.gasLimit * plan.maxFeePerGas;
  };
  expect(await gasWeiOf("0x00000000000000000000000000000000000000aa")).toBe(9n);
  expect(await gasWeiOf(native)).toBe(0n);
});

test("reserves the gas of the plan, and after the first signature that of the most expensive signed attempt", async () => {
  const sender = await aLane();
  const plan = aPlan(sender, aFill(someHash()));
  const { currency } = plan.outflow;
  const reserved = async (): Promise<bigint> =>
    (await uow.run(async (tx) => await tx.lanes.reserved(2, sender, currency, 100n))).gasWei;
  const { id } = await uow.run(async (tx) => await aSlot(tx, plan));
  expect(await reserved()).toBe(150_000n);
  for (const [n, maxFeePerGas] of [3n, 8n, 5n].entries()) {
    const attempt = {
      n,
      kind: "pay",
      raw: "0xabcd",
      txHash: someHash(),
      maxFeePerGas,
      maxPriorityFeePerGas: 1n,
      createdAtMs: NOW_MS,
      broadcastAtMs: undefined,
      offeredSinceMs: undefined,
    } as const;
    await uow.run(async (tx) => await tx.lanes.addAttempts([{ slotId: id, attempt }]));
  }
  expect(await reserved()).toBe(400_000n);
});

test("if two processes sign for one nonce concurrently, the first bytes are kept", async () => {
  const sender = await aLane();
  const slot = await uow.run(async (tx) => await aSlot(tx, aPlan(sender, aFill(someHash()))));
  const results = await Promise.all(
    [1, 2, 3].map(async () => {
      const txHash = someHash();
      const attempt = {
        n: 0,
        kind: "pay",
        raw: txHash,
        txHash,
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
        createdAtMs: NOW_MS,
        broadcastAtMs: undefined,
        offeredSinceMs: undefined,
      } as const;
      const signed = [{ slotId: slot.id, attempt }];
      return { txHash, ours: (await uow.run(async (tx) => await tx.lanes.addAttempts(signed))).has(slot.id) };
    }),
  );
  const kept = results.filter(({ ours }) => ours);
  expect(kept).toHaveLength(1);
  expect((await reads.slot(slot.id))?.attempts.map(({ txHash }) => txHash)).toEqual([kept[0]?.txHash]);
});

test("two hundred simultaneous quotes are all stored, and a quote that is already stored is refused", async () => {
  const many = Array.from({ length: 200 }, () => someTerms());
  await Promise.all(many.map(async (terms) => await insertQuoted(terms)));
  const found = await Promise.all(many.map(async ({ requestId }) => await reads.status(requestId)));
  expect(found.map((record) => record?.requestId)).toEqual(many.map(({ requestId }) => requestId));
  await expect(insertQuoted(many[0] as RequestTerms)).rejects.toThrow(/duplicate/);
});

test("answers each of five hundred concurrent status requests with its own request", async () => {
  const many = await Promise.all(Array.from({ length: 20 }, async () => await aStoredRequest()));
  const requestIds = Array.from({ length: 500 }, (_, at) => many[at % 25]?.requestId ?? someHash());
  const answers = await Promise.all(requestIds.map(async (requestId) => await reads.status(requestId)));
  for (const [at, answer] of answers.entries())
    expect(answer?.requestId).toBe(many[at % 25] === undefined ? undefined : requestIds[at]);
});

test("a deposit that a reorg moves into another block keeps its row, in which only the block changes", async () => {
  const deposit = aDeposit();
  const put = async (change: Partial<NewDeposit> = {}) =>
    await uow.run(async (tx) => await tx.deposits.record(31, [{ ...deposit, ...change }]));
  const unrecorded = async () => await uow.run(async (tx) => await tx.deposits.unrecorded(31, [deposit]));
  expect(await unrecorded()).toEqual([deposit]);
  const [first] = await put();
  expect(first).toMatchObject({ canonical: true, amount: 2n ** 200n });
  expect(await put()).toEqual([]);
  expect(await unrecorded()).toEqual([]);
  const removed = await uow.run(async (tx) => await tx.deposits.removeOrphaned(31, 9n, 20n, [someHash()]));
  expect(removed.map(({ id }) => id)).toEqual([first?.id]);
  expect(await unrecorded()).toEqual([deposit]);
  expect(await uow.run(async (tx) => await tx.deposits.removeOrphaned(31, 9n, 20n, []))).toEqual([]);
  const block = { blockNumber: 11n, blockHash: someHash(), confirmAtBlock: 13n };
  expect(await put(block)).toMatchObject([{ id: first?.id, canonical: true, ...block }]);
  // Canonical blocks keep their deposits.
  const kept = await uow.run(async (tx) => await tx.deposits.removeOrphaned(31, 9n, 20n, [block.blockHash]));
  expect(kept).toEqual([]);
});

test("two deposits of one transaction are two rows", async () => {
  const deposit = aDeposit();
  const stored = await uow.run(
    async (tx) => await tx.deposits.record(1, [deposit, { ...deposit, ordinal: 1 }]),
  );
  expect(new Set(stored.map(({ id }) => id)).size).toBe(2);
});

test("the trail of scanned blocks drops blocks that are final or that a reorg replaced", async () => {
  const block = (number: bigint): BlockRef => ({
    number,
    hash: someHash(),
    parentHash: someHash(),
    timestamp: number,
    baseFeePerGas: undefined,
  });
  const chainId = 41;
  const old = Array.from({ length: 10 }, (_, at) => block(BigInt(at)));
  await uow.run(async (tx) => await tx.trail.replace(chainId, -1n, old, 6));
  expect(await reads.trail(chainId)).toEqual(old.slice(4));
  const fresh = [block(8n), block(9n), block(10n)];
  await uow.run(async (tx) => await tx.trail.replace(chainId, 7n, fresh, 6));
  expect(await reads.trail(chainId)).toEqual([...old.slice(5, 8), ...fresh]);
});

const quotePolicy = {
  ...defaultFeePolicy,
  gas: measuredQuoteGas,
  maxTtlSeconds: 3_600,
  solverChainName: "one",
};

test("the reconciler closes overdue requests and restores lost jobs, even if several processes run it", async () => {
  await pool.query("truncate requests, deposits, outbox, chain_blocks cascade");
  const lateMs = NOW_MS - enginePolicy.expiryGraceMs - 1;
  const overdue = await aStoredRequest({ fillDeadlineMs: lateMs });
  const lost = await aStoredRequest({ fillDeadlineMs: NOW_MS + 3_600_000 });
  const young = await aStoredRequest({ fillDeadlineMs: NOW_MS + 3_600_000 });
  await happens(lost, seen("1"));
  const later = (ms: number) => ({
    ...services,
    reads,
    balances: balanceReads(sqlOn(pool)),
    depositAddresses: depositAddressReads(sqlOn(pool)),
    uow,
    enginePolicy,
    quotePolicy,
    chains: { ...noChains, ...chainProfiles([aChain(overdue.origin.chainId)]) },
    signer: rawKeySigner(localAccount("solver").privateKey),
    clock: { nowMs: () => NOW_MS + ms },
  });
  await pool.query("truncate outbox");
  const readUpTo = async (timestampMs: number) =>
    await uow.run(async (tx) => {
      const timestamp = BigInt(Math.ceil(timestampMs / 1000));
      const hash = someHash();
      const { chainId } = overdue.origin;
      const block = { number: 1n, hash, parentHash: hash, timestamp, baseFeePerGas: 1n };
      await tx.trail.replace(chainId, 0n, [block], 10);
      await tx.trail.setCursor(chainId, block);
    });
  await readUpTo(lateMs - 5_000);
  await reconcileRequests(later(0));
  expect((await reads.request(overdue.requestId))?.state.name, "blocks of its time are still unread").toBe(
    "quoted",
  );
  await readUpTo(NOW_MS);
  await Promise.all([1, 2, 3].map(async () => await reconcileRequests(later(0))));
  expect((await reads.request(overdue.requestId))?.state).toMatchObject({
    name: "expired",
    failReason: "TTL_EXPIRED",
  });
  expect((await reads.request(young.requestId))?.state.name).toBe("quoted");
  expect((await pool.query("select 1 from outbox")).rows, "a recent job does not count as lost").toEqual([]);
  await reconcileRequests(later(enginePolicy.overdueAfterMs + 1));
  const { rows } = await pool.query("select job_name, payload from outbox");
  expect(rows).toEqual([
    { job_name: "fill", payload: JSON.stringify({ requestId: lost.requestId, rescue: 1 }) },
  ]);
});

import { rawKeySigner } from "@causeway/attest";
import { connectCalledChain, finalBlockReads, signTransaction } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import { createLocalClient, databaseUrl, startAnvil, type RunningAnvil } from "@causeway/testkit";
import { randomBytes } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { calledChain } from "../../../apps/api/src/chains/called-chain.adapter.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { migrate } from "../../../apps/api/src/migrate.ts";
import { advanceCalls } from "../../../apps/api/src/payments/contract-calls.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import { settlementReads } from "../../../apps/api/src/settlement/settlement-reads.postgres.ts";
import { adjustableClock } from "../../fakes/adjustable-clock.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { onServer } from "../../support/template-database.ts";
import { someAddress, someHash } from "../../support/terms.ts";
import { settlementPolicy } from "../settlement/settlement-world.ts";

// Upgrades a database from the version before hub transactions became slots. Transactions are in flight
// during the upgrade.

const shipped = resolve(import.meta.dirname, "../../../apps/api/migrations");
const CHAIN_ID = 412_346;
const solver = rawKeySigner(`0x${"d4".repeat(32)}`);
let node: RunningAnvil;
let name: string;
let folder: string;
let pool: pg.Pool;

beforeAll(async () => {
  node = await startAnvil({ chainId: CHAIN_ID, extraArgs: ["--no-mining"] });
  name = `causeway_test_${randomBytes(6).toString("hex")}`;
  await onServer(inject("databaseUrl"), `create database ${name}`);
  const url = databaseUrl(inject("databaseUrl"), name);
  folder = await mkdtemp(join(tmpdir(), "causeway-migrations-"));
  const isOlder = (path: string): boolean => !/^\d{4}_/.test(basename(path)) || basename(path) < "0006";
  await cp(shipped, folder, { recursive: true, filter: isOlder });
  await migrate(url, { folder });
  pool = createPool(url, { max: 4, statementTimeoutMs: 10_000, applicationName: "test" });
});
afterAll(async () => {
  await pool.end();
  await onServer(inject("databaseUrl"), `drop database ${name} with (force)`);
  await Promise.all([node.stop(), rm(folder, { recursive: true })]);
});

interface FormerTransaction {
  readonly nonce: number;
  readonly state: "open" | "final";
  readonly isNoop?: true;
  /** The bytes of the transaction's attempts. `pruned`: deleted after 30 days. */
  readonly attempts: readonly ("pay" | "noop" | "pruned")[];
}

/** Inserts a transaction with one execution into the tables of the former version. */
async function aFormerTransaction({
  nonce,
  state,
  isNoop,
  attempts,
}: FormerTransaction): Promise<{ key: Hex; hashes: Hex[] }> {
  const [to, key] = [someAddress(), someHash()];
  const { rows } = await pool.query<{ id: number }>(
    `insert into hub_transactions (sender, nonce, call_to, call_data, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, state,
       created_at_ms, is_noop, final_at_ms) values ($1, $2, $3, '0xca11', 100000, 5000000000, 1000000000, $4, 1000, $5, $6) returning id`,
    [
      solver.address,
      nonce,
      isNoop ? solver.address : to,
      state,
      isNoop === true,
      state === "final" ? 2_000 : null,
    ],
  );
  const id = rows[0]?.id;
  const hashes: Hex[] = [];
  for (const [n, kind] of attempts.entries()) {
    const maxFeePerGas = 5_000_000_000n + BigInt(n) * 1_000_000_000n;
    const { raw, hash } = await signTransaction(
      {
        chainId: CHAIN_ID,
        nonce,
        to: kind === "noop" ? solver.address : to,
        data: kind === "noop" ? "0x" : "0xca11",
        value: 0n,
        gas: 100_000n,
        maxFeePerGas,
        maxPriorityFeePerGas: 1_000_000_000n + BigInt(n) * 200_000_000n,
      },
      (digest) => solver.signDigest(digest),
    );
    hashes.push(hash);
    await pool.query(
      `insert into hub_attempts (transaction_id, n, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms,
         broadcast_at_ms, is_noop) values ($1, $2, $3, $4, $5, 1000000000, 1000, $6, $7)`,
      [
        id,
        n,
        kind === "pruned" ? "0x" : raw,
        hash,
        maxFeePerGas.toString(),
        n === 0 ? 1_500 : null,
        kind === "noop",
      ],
    );
  }
  await pool.query(
    `insert into hub_executions (idempotency_key, kind, actions, signature, state, transaction_id, next_try_ms, created_at_ms)
     values ($1, 'fill', '{}', '0x', $2, $3, 0, 1000)`,
    [key, state === "final" ? "settled" : "attested", id],
  );
  return { key, hashes };
}

test("an upgrade continues transactions in flight with the same bytes and nonces, and loses no execution", async () => {
  const old = await aFormerTransaction({ nonce: 0, state: "final", attempts: ["pruned"] });
  const inFlight = await aFormerTransaction({ nonce: 1, state: "open", attempts: ["pay", "pay"] });
  const refused = await aFormerTransaction({
    nonce: 2,
    state: "open",
    isNoop: true,
    attempts: ["pay", "noop"],
  });
  const unsigned = await aFormerTransaction({ nonce: 3, state: "open", attempts: [] });
  await pool.query(
    `insert into nonce_mappings (chain_id, wallet, nonce, mapped_id, depositor, signature, signature_chain_id, state, next_try_ms,
       hub_signature, transaction_id, created_at_ms, updated_at_ms)
     select 1337, '0x1', 1, '0x2', '0x3', '0x4', 1, 'signed', 0, '0x5', id, 0, 0 from hub_transactions where nonce = 1`,
  );
  await migrate(databaseUrl(inject("databaseUrl"), name));

  const { rows: slots } = await pool.query(
    `select s.chain_id, s.sender, s.nonce, s.state, s.cancel_reason, s.max_fee_per_gas::text as fee, array_agg(a.tx_hash order by a.n) as hashes,
       array_agg(a.kind order by a.n) as kinds, e.idempotency_key as key
     from slots s join attempts a on a.slot_id = s.id join hub_executions e on e.slot_id = s.id
     where s.leg_kind = 'hub' group by s.id, e.id order by s.nonce`,
  );
  const sameLane = { chain_id: CHAIN_ID, sender: solver.address };
  expect(slots).toEqual([
    { ...sameLane, nonce: 0, state: "final", cancel_reason: null, fee: "5000000000", ...old, kinds: ["pay"] },
    {
      ...sameLane,
      nonce: 1,
      state: "open",
      cancel_reason: null,
      fee: "6000000000",
      ...inFlight,
      kinds: ["pay", "pay"],
    },
    {
      ...sameLane,
      nonce: 2,
      state: "open",
      cancel_reason: "TRANSACTION_SUBMISSION_FAILED",
      fee: "6000000000",
      ...refused,
      kinds: ["pay", "noop"],
    },
  ]);
  const { rows: lanes } = await pool.query("select chain_id, sender, next_nonce from lanes");
  expect(lanes).toEqual([{ ...sameLane, next_nonce: 3 }]);
  const { rows: mappingSlots } = await pool.query(
    "select s.nonce from nonce_mappings m join slots s on s.id = m.slot_id",
  );
  expect(mappingSlots).toEqual([{ nonce: 1 }]);

  const sql = sqlOn(pool);
  const [clock, events] = [adjustableClock(), recordedEvents()];
  const services = { clock, events, uow: postgresUnitOfWork(pool, events), reads: postgresReads(sql) };
  const settlement = settlementReads(sql);
  // No bytes of the transaction were signed, so another transaction carries its execution.
  const waiting = await settlement.executionsToSubmit(clock.nowMs(), 10);
  expect(waiting.map(({ idempotencyKey }) => idempotencyKey)).toEqual([unsigned.key]);
  expect(await settlement.nextBatchId()).toBe("5");

  const finality = { kind: "depth", blocks: 1n, seconds: 0n } as const;
  const fees = { minPriorityFeeWei: 1n, maxFeePerGasWei: 10n ** 12n };
  const hub = { id: CHAIN_ID, name: "hub" };
  const endpoints = connectCalledChain({ ...hub, rpcUrl: node.url, fees });
  const final = finalBlockReads(endpoints.transport, { finality, blockTimeSeconds: 1 });
  const chain = calledChain(hub, endpoints, final);
  const client = createLocalClient(node);
  await client.setBalance({ address: solver.address, value: 10n ** 20n });
  await client.setNonce({ address: solver.address, nonce: 1 });
  const advance = async (): Promise<void> => await advanceCalls(services, chain, [solver], settlementPolicy);
  await advance();
  await client.mine({ blocks: 4 });
  await advance();
  expect(await services.reads.unsettledCalls(CHAIN_ID)).toEqual([]);
  const { status } = await client.getTransactionReceipt({ hash: inFlight.hashes[1] ?? "0x" });
  expect(status).toBe("success");
  expect(await client.getTransactionCount({ address: solver.address })).toBe(3);
  const ended = await settlement.endedExecutions(10);
  expect(ended.map(({ idempotencyKey }) => idempotencyKey)).toEqual([inFlight.key, refused.key]);
  await endpoints.close();
});

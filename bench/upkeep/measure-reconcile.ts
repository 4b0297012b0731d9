import { rawKeySigner } from "@causeway/attest";
import { localAccount } from "@causeway/localnet";
import type pg from "pg";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { balanceReads } from "../../apps/api/src/balances/balance-reads.postgres.ts";
import { depositAddressReads } from "../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import { chainProfiles } from "../../apps/api/src/chains/directory.adapter.ts";
import { reconcileRequests } from "../../apps/api/src/reconcile/reconcile-requests.ts";
import { noAppBalances } from "../../test/fakes/no-app-balances.ts";
import { noChains } from "../../test/fakes/no-chains.ts";
import { aChain } from "../../test/fakes/quote-world.ts";
import { recordedEvents } from "../../test/fakes/recorded-events.ts";
import { enginePolicy } from "../../test/support/engine-policy.ts";
import { storeQuotes } from "./stored-quotes.ts";

const [HEALTHY, STALLED, REMOVED] = [1, 3, 4];
const NOW_MS = 1_700_000_000_000;
const OVERDUE_MS = NOW_MS - 3_600_000;
/** Blocks kept for a chain with 4,800 blocks to finality. */
const TRAIL = 9_600;

export interface ReconcileFigures {
  /** Unpaid quotes past their deadline on the chain without new blocks, and as many on the removed one. */
  readonly waiting: number;
  /** One round without other work, ms: the median and the slowest. */
  readonly quietMs: { readonly p50: number; readonly max: number };
  readonly expiredPerSecond: number;
  readonly faults: number;
}

/**
 * Reconciles among many quotes that cannot expire, then expires `expiring` quotes of a chain that continues.
 */
export async function measureReconcile(
  pool: pg.Pool,
  { waiting, expiring }: { readonly waiting: number; readonly expiring: number },
): Promise<ReconcileFigures> {
  const events = recordedEvents();
  const services = {
    ...noAppBalances,
    enginePolicy,
    events,
    reads: postgresReads(sqlOn(pool)),
    balances: balanceReads(sqlOn(pool)),
    depositAddresses: depositAddressReads(sqlOn(pool)),
    uow: postgresUnitOfWork(pool, events),
    chains: { ...noChains, ...chainProfiles([aChain(HEALTHY), aChain(2), aChain(STALLED)]) },
    signer: rawKeySigner(localAccount("solver").privateKey),
    clock: { nowMs: () => NOW_MS },
  };
  for (const chainId of [HEALTHY, STALLED, REMOVED]) {
    const newest = (chainId === HEALTHY ? NOW_MS : OVERDUE_MS - 1_000) / 1000;
    await pool.query(
      `insert into chain_blocks (chain_id, number, hash, parent_hash, timestamp)
       select $1, n, md5('' || n), md5('p' || n), $2::bigint - $3::bigint + n from generate_series(1, $3::bigint) n`,
      [chainId, newest, TRAIL],
    );
    await pool.query("insert into chain_cursors (chain_id, block_number, block_hash) values ($1, $2, '')", [
      chainId,
      TRAIL,
    ]);
  }
  for (const chainId of [STALLED, REMOVED])
    await storeQuotes(pool, { chainId, count: waiting, state: "quoted", fillDeadlineMs: OVERDUE_MS });
  const round = async (): Promise<number> => {
    const startedMs = performance.now();
    await reconcileRequests(services);
    return performance.now() - startedMs;
  };
  const took: number[] = [];
  for (let run = 0; run < 20; run++) took.push(await round());
  took.sort((a, b) => a - b);
  await storeQuotes(pool, { chainId: HEALTHY, count: expiring, state: "quoted", fillDeadlineMs: OVERDUE_MS });
  let tookMs = 0;
  let remaining = expiring;
  while (remaining > 0 && events.of("reconcile_fault").length === 0) {
    tookMs += await round();
    const { rows } = await pool.query<{ count: number }>(
      "select count(*) as count from requests where origin_chain_id = $1 and state = 'quoted'",
      [HEALTHY],
    );
    remaining = rows[0]?.count ?? 0;
  }
  return {
    waiting,
    quietMs: { p50: took[10] ?? Number.NaN, max: took.at(-1) ?? Number.NaN },
    expiredPerSecond: Math.round((expiring - remaining) / (tookMs / 1000)),
    faults: events.of("reconcile_fault").length,
  };
}

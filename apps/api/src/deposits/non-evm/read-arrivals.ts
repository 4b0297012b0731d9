import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { Services } from "../../db/services.port.ts";
import { factKey } from "../store-deposits.ts";
import type { RecordingServices } from "../apply-deposit.ts";
import { applyNonceMappings, recordArrivals } from "./record-arrivals.ts";

type Needs = Pick<Services, "events"> & RecordingServices & Pick<Services, "uow" | "nonceMappings">;

/** Another process moved the chain's cursor: this one no longer leads, or must read the cursor again. */
export class CursorMoved extends Error {
  constructor(chainName: string) {
    super(`the cursor of ${chainName} was moved by another process`);
    this.name = "CursorMoved";
  }
}

/** What a process knows of its earlier readings. */
export interface EarlierReadings {
  /**
   * Deposits recorded after the cursor, updated by each reading. While a deposit waits for a quorum, the
   * cursor stays and the later deposits are read again.
   */
  readonly recorded?: Set<string>;
  /** Up to where several endpoints had read the chain when this process began. */
  readonly checked?: string | undefined;
}

export interface ReadProgress {
  /** The position after the last reading. */
  readonly cursor: string;
  /** When the oldest known but unread transfer was made, in seconds since the epoch. */
  readonly unreadSince: bigint | undefined;
}

/**
 * Reads what became final since the cursor. Deposits, states, jobs and the new cursor are one commit, so that
 * a crash repeats or skips nothing.
 * @param cursor as stored; undefined: the chain was never read
 * @throws RpcFault: what was read before it, if anything, is committed; read the cursor again.
 * @throws CursorMoved
 */
export async function readArrivals(
  services: Needs,
  { chain, connection }: Pick<ConnectedNonEvmChain, "chain" | "connection">,
  cursor: string | undefined,
  { recorded = new Set(), checked }: EarlierReadings = {},
): Promise<ReadProgress> {
  const arrivals = await connection.arrivals(cursor, checked);
  const { deposits, cursor: next, upTo, unreadSince, fault } = arrivals;
  if (next === cursor && deposits.every((fact) => recorded.has(factKey(fact)))) {
    if (fault !== undefined) throw fault;
    return { cursor: next, unreadSince };
  }
  const seenAtMs = services.clock.nowMs();
  const mappedFacts = await applyNonceMappings(services, chain, deposits, upTo);
  await services.uow.run(async (tx) => {
    if ((await tx.nonEvm.lockCursor(chain.id)) !== cursor) throw new CursorMoved(chain.name);
    await recordArrivals(services, tx, chain, mappedFacts, { upTo, seenAtMs });
    await tx.nonEvm.setCursor(chain.id, next, upTo, arrivals.checked);
  });
  if (next !== cursor) recorded.clear();
  else for (const fact of deposits) recorded.add(factKey(fact));
  if (deposits.length > 0)
    services.events.happened("chain_scanned", {
      chain: chain.name,
      to: upTo.number,
      deposits: deposits.length,
      tookMs: services.clock.nowMs() - seenAtMs,
    });
  if (fault !== undefined) throw fault;
  return { cursor: next, unreadSince };
}

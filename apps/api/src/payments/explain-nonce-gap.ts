import { RpcFault } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { LaneState } from "../db/reads.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { type Explained, explainNonces, MAX_NONCES } from "./unexplained-nonces.ts";

/** Nonces of a lane that neither the database nor the journal knows. */
export interface NonceGap {
  readonly sender: Address;
  /** The lane's state, with the first of these nonces as its next nonce. */
  readonly lane: LaneState;
  /** The first nonce above them. */
  readonly to: number;
  /** How many nonces the chain has used. */
  readonly used: number;
  /** Whether the service still pays with the sender's key. */
  readonly isCurrent: boolean;
}

/**
 * Finds what used nonces below or between the payments of the journal, at most 256 in each round. Payments
 * that were lost there would be made again if the lane moved past them.
 * @returns why the lane must not move past them yet; undefined: it may
 */
export async function whyGapStays(
  services: WorkerServices,
  connected: ConnectedChain,
  { sender, lane, to, used, isCurrent }: NonceGap,
): Promise<string | undefined> {
  if (lane.isServerNew) return "the database server was replaced or restarted less than a minute ago";
  const range = `${lane.nextNonce} to ${to - 1}`;
  if (used < to)
    return `neither the database nor the journal has the payments ${range}: the lane opens when the chain has used their nonces. If no node has a transaction with such a nonce, the payment may never have been broadcast: send a cancel transaction (docs/operations/backups.md, "Held lanes")`;
  const explained = await explainAll(services, connected, { sender, lane, used: to });
  if (explained?.isComplete !== true) return `what used the nonces ${range} is not known yet`;
  return isCurrent && explained.hasLost
    ? `payments with nonces ${range} are in neither the database nor the journal: restore their rows`
    : undefined;
}

/** Explains nonces, and notes where the search begins. @returns undefined if the node has no old state */
export async function explainFrom(
  services: WorkerServices,
  connected: ConnectedChain,
  { sender, lane, used }: { readonly sender: Address; readonly lane: LaneState; readonly used: number },
): Promise<Explained | undefined> {
  const { chain } = connected;
  const [lowest] = await services.reads.trail(chain.id);
  // Remembers the lowest known block now: the search may have to wait for a node with old state.
  if (lane.searchFrom === undefined && lowest !== undefined)
    await services.uow.run((tx) => tx.lanes.noteSearchFrom(chain.id, sender, lowest.number));
  const range = { sender, lane: { ...lane, searchFrom: lane.searchFrom ?? lowest?.number }, used };
  return await explainNonces(services, connected, range).catch((error: unknown) => {
    // A node without old state leaves the lane unchanged. The chain is scanned regardless.
    if (!(error instanceof RpcFault)) throw error;
    services.events.fault("chain_fault", error, { chain: chain.name, sender });
    return undefined;
  });
}

/**
 * Like {@link explainFrom}, but in each round for the nonces below those explained before: a restored backup
 * may lack many payments.
 */
export async function explainAll(
  services: WorkerServices,
  connected: ConnectedChain,
  { sender, lane, used }: { readonly sender: Address; readonly lane: LaneState; readonly used: number },
): Promise<Explained | undefined> {
  const { reads } = services;
  const nonceRange = [connected.chain.id, sender, lane.nextNonce, used] as const;
  const [allocated, users] = await Promise.all([
    reads.allocatedNonces(...nonceRange),
    reads.nonceUsers(...nonceRange),
  ]);
  let top = used;
  while (top - MAX_NONCES > lane.nextNonce && (allocated.has(top - 1) || users.has(top - 1))) top -= 1;
  const explained = await explainFrom(services, connected, { sender, lane, used: top });
  if (explained === undefined) return undefined;
  const hasLost = [...users].some(([nonce, { pays }]) => pays !== undefined && !allocated.has(nonce));
  return {
    isComplete: explained.isComplete && top - MAX_NONCES <= lane.nextNonce,
    hasLost: explained.hasLost || hasLost,
  };
}

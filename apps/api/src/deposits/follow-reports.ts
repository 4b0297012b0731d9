import type { BlockRef, ReceiptFact } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { SendRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { hasArrived } from "./quoted-payment.ts";
import { transition, type TransitionServices } from "../requests/index.ts";

type Needs = Pick<Services, "events" | "uow" | "reads"> & TransitionServices;

const PENDING_KEPT_MS = 3600_000;
/** A report this young is read with every head, within the limits below; older ones take turns. */
const FRESH_MS = 120_000;
/** Fresh reports read per round, of one request and of one chain: reporting is free. */
const FRESH_LIMITS = { ofRequest: 4, ofChain: 64 };
/** Maximum reports of any age read per round, in turn, so that none is skipped forever. */
const MAX_PER_TURN = 32;

/**
 * Reads the receipts of reported payments that are not mined: a limited number of fresh ones, and the next
 * few of all reports. A report whose receipt cannot be read waits for its next turn without delaying others.
 * @param trail canonical blocks as the watcher knows them
 * @param after where the last round's turn ended; undefined: starts with the oldest
 * @returns where this round's turn ended; undefined if it reached the newest
 */
export async function followReports(
  services: Needs,
  connected: ConnectedChain,
  trail: readonly BlockRef[],
  after: SendRecord | undefined,
): Promise<SendRecord | undefined> {
  const { id: chainId, name: chain } = connected.chain;
  const { reads, clock } = services;
  const turn = await reads.sendReports(chainId, after, MAX_PER_TURN);
  const hasAll = after === undefined && turn.length < MAX_PER_TURN;
  const fresh = hasAll ? [] : await reads.freshSendReports(chainId, clock.nowMs() - FRESH_MS, FRESH_LIMITS);
  const due = new Map([...fresh, ...turn].map((send) => [`${send.txHash} ${send.requestId}`, send]));
  const results = await Promise.allSettled(
    [...due.values()].map((send) => followReport(services, connected, trail, send)),
  );
  const fault = results.find((result) => result.status === "rejected");
  if (fault !== undefined) services.events.fault("chain_fault", fault.reason, { chain });
  return turn.length < MAX_PER_TURN ? undefined : turn.at(-1);
}

/** Checks whether a reported payment is mined in a canonical block. @throws RpcFault */
async function followReport(
  services: Needs,
  connected: ConnectedChain,
  trail: readonly BlockRef[],
  send: SendRecord,
): Promise<void> {
  const receipt = await connected.connection.reader.receipt(send.txHash);
  if (receipt === undefined) return forgetIfOld(services, send);
  if (!(await isCanonical(connected, trail, receipt))) return;
  await services.uow.run(async (tx) => await countReport(services, tx, connected, send, receipt));
}

/** Whether the receipt's block is on the chain that the watcher follows. @throws RpcFault */
export async function isCanonical(
  { connection }: ConnectedChain,
  trail: readonly BlockRef[],
  receipt: Pick<ReceiptFact, "blockNumber" | "blockHash">,
): Promise<boolean> {
  const [lowest] = trail;
  // Blocks older than the trail are not in memory: ask the node for the canonical block.
  const isBelowTrail = lowest !== undefined && receipt.blockNumber < lowest.number;
  const canonical = isBelowTrail
    ? (await connection.reader.block(receipt.blockNumber))?.hash
    : trail.find(({ number }) => number === receipt.blockNumber)?.hash;
  return canonical === receipt.blockHash;
}

/**
 * Counts a mined transaction as the payment of its request. A transaction that reverted or paid less than
 * quoted is forgotten: the request stays open for another payment.
 */
export async function countReport(
  services: TransitionServices,
  tx: Tx,
  { chain }: ConnectedChain,
  send: SendRecord,
  receipt: ReceiptFact,
): Promise<void> {
  const record = await tx.requests.lock(send.requestId);
  const isPayment =
    record !== undefined &&
    receipt.status === "success" &&
    hasArrived(record.terms, chain, receipt) &&
    (await tx.sends.mine(send, { number: receipt.blockNumber, hash: receipt.blockHash }));
  if (isPayment) {
    const hashes = { inTxHashes: [send.txHash], txHashes: [send.txHash] };
    await transition(services, tx, record, { kind: "sendMined" }, hashes, {
      txHash: send.txHash,
      block: receipt.blockNumber,
    });
  } else await tx.sends.forget(send);
  tx.events.happened("send_seen", {
    requestId: send.requestId,
    txHash: send.txHash,
    block: receipt.blockNumber,
    status: receipt.status,
    paid: isPayment,
  });
}

/** Drops an old report whose transaction is in no block; it can be reported again. */
async function forgetIfOld(services: Needs, send: SendRecord): Promise<void> {
  if (services.clock.nowMs() - send.reportedAtMs < PENDING_KEPT_MS) return;
  await services.uow.run((tx) => tx.sends.forget(send));
  services.events.happened("send_removed", {
    requestId: send.requestId,
    txHash: send.txHash,
    isMined: false,
  });
}

import type { BlockRef } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { SendRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { hasArrived } from "./quoted-payment.ts";
import type { TransitionServices } from "../requests/transition.ts";
import { transition } from "../requests/transition.ts";

type Needs = Pick<Services, "events" | "uow" | "reads"> & TransitionServices;

const UNMINED_KEPT_MS = 3600_000;
/** So long a report is looked at with every head, within the limits below; older ones take turns. */
const FRESH_MS = 120_000;
/** Reports are free to make: so many fresh ones of one request, and of one chain, are read per round. */
const FRESH_LIMITS = { ofRequest: 4, ofChain: 64 };
/** Reports of any age that are read per round, in turn: none is left out for good. */
const TURN = 32;

/**
 * Reads the receipts of reported payments that are not mined: a bounded number of fresh ones, and the next
 * few of all. A report whose receipt cannot be read waits for its next turn and is in no other's way.
 * @param trail canonical blocks as the watcher knows them
 * @param after where the last round's turn ended; undefined: begins with the oldest
 * @returns where this round's turn ended; undefined when it reached the newest
 */
export async function followReports(
  services: Needs,
  connected: ConnectedChain,
  trail: readonly BlockRef[],
  after: SendRecord | undefined,
): Promise<SendRecord | undefined> {
  const { id: chainId, name: chain } = connected.chain;
  const { reads, clock } = services;
  const [fresh, turn] = await Promise.all([
    reads.freshSendReports(chainId, clock.nowMs() - FRESH_MS, FRESH_LIMITS),
    reads.sendReports(chainId, after, TURN),
  ]);
  const due = new Map([...fresh, ...turn].map((send) => [`${send.txHash} ${send.requestId}`, send]));
  const looks = await Promise.allSettled(
    [...due.values()].map((send) => lookAtReport(services, connected, trail, send)),
  );
  const fault = looks.find((look) => look.status === "rejected");
  if (fault !== undefined) services.events.fault("chain_fault", fault.reason, { chain });
  return turn.length < TURN ? undefined : turn.at(-1);
}

/** Whether a reported payment is mined by now, in a canonical block. @throws RpcFault */
export async function lookAtReport(
  services: Needs,
  { chain, connection }: ConnectedChain,
  trail: readonly BlockRef[],
  send: SendRecord,
): Promise<void> {
  const receipt = await connection.reader.receipt(send.txHash);
  if (receipt === undefined) return forgetIfOld(services, send);
  const [lowest] = trail;
  // Blocks older than the trail are not in memory: the node is asked for the canonical block.
  const below = lowest !== undefined && receipt.blockNumber < lowest.number;
  const canonical = below
    ? (await connection.reader.block(receipt.blockNumber))?.hash
    : trail.find(({ number }) => number === receipt.blockNumber)?.hash;
  if (canonical !== receipt.blockHash) return;
  const paid = await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(send.requestId);
    // One that reverted, or brought the recipient less than was promised, is no payment: the request is open
    // for another one.
    const isPayment =
      record !== undefined &&
      receipt.status === "success" &&
      hasArrived(record.terms, chain, receipt) &&
      (await tx.sends.mine(send, { number: receipt.blockNumber, hash: receipt.blockHash }));
    if (!isPayment) {
      await tx.sends.forget(send);
      return false;
    }
    const hashes = { inTxHashes: [send.txHash], txHashes: [send.txHash] };
    await transition(services, tx, record, { kind: "sendMined" }, hashes, {
      txHash: send.txHash,
      block: receipt.blockNumber,
    });
    return true;
  });
  services.events.happened("send_seen", {
    requestId: send.requestId,
    txHash: send.txHash,
    block: receipt.blockNumber,
    status: receipt.status,
    paid,
  });
}

/** A report is dropped after a while when no block contains its transaction; it can be sent again. */
async function forgetIfOld(services: Needs, send: SendRecord): Promise<void> {
  if (services.clock.nowMs() - send.reportedAtMs < UNMINED_KEPT_MS) return;
  await services.uow.run((tx) => tx.sends.forget(send));
  services.events.happened("send_removed", { requestId: send.requestId, txHash: send.txHash, unmined: true });
}

import type { BlockRef } from "@causeway/chains";
import type { ConnectedChain } from "../ports/chains.ts";
import type { SendRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import { hasArrived } from "./quoted-payment.ts";
import { transition } from "./transition.ts";
import type { TransitionServices } from "./transition.ts";

type Needs = Pick<Services, "uow" | "reads"> & TransitionServices;

const UNMINED_KEPT_MS = 3600_000;
/** Payments read at once. */
const PAGE = 200;

/**
 * Follows same-chain payments after a new head: those that a reorg took back, those that are final, and reported ones that may be mined now.
 * @param trail canonical blocks as the watcher knows them. @throws RpcFault
 */
export async function trackSends(
  services: Needs,
  connected: ConnectedChain,
  trail: readonly BlockRef[],
): Promise<void> {
  const head = trail.at(-1);
  if (head === undefined) return;
  const { id: chainId, finalityBlocks } = connected.chain;
  const { reads } = services;
  // What was handled is not among them any more, so the first page is always the next one.
  await eachPage(
    () => reads.orphanedSends(chainId, head.number, PAGE),
    (send) => unmine(services, send),
  );
  const final = head.number - BigInt(finalityBlocks) + 1n;
  await eachPage(
    () => reads.dueSends(chainId, final, PAGE),
    (send) => settle(services, send),
  );
  await eachPage(
    (last) => reads.sendReports(chainId, last, PAGE),
    (send) => lookAtReport(services, connected, trail, send),
  );
}

/** All pages, one after the other; those of one page together. */
async function eachPage(
  read: (last: SendRecord | undefined) => Promise<SendRecord[]>,
  act: (send: SendRecord) => Promise<void>,
): Promise<void> {
  for (let last: SendRecord | undefined; ;) {
    const page = await read(last);
    await Promise.all(page.map(act));
    if (page.length < PAGE) return;
    last = page.at(-1);
  }
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
  // Below the trail nobody has watched, or has forgotten: the chain itself is asked which block stands there.
  const below = lowest !== undefined && receipt.blockNumber < lowest.number;
  const canonical = below
    ? (await connection.reader.block(receipt.blockNumber))?.hash
    : trail.find(({ number }) => number === receipt.blockNumber)?.hash;
  if (canonical !== receipt.blockHash) return;
  const paid = await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(send.requestId);
    // One that reverted, or brought the recipient less than was promised, is no payment: the request is open for another one.
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

/** A report that no block bears out is forgotten after a while; whoever made it can make it again. */
async function forgetIfOld(services: Needs, send: SendRecord): Promise<void> {
  if (services.clock.nowMs() - send.reportedAtMs < UNMINED_KEPT_MS) return;
  await services.uow.run((tx) => tx.sends.forget(send));
  services.events.happened("send_removed", { requestId: send.requestId, txHash: send.txHash, unmined: true });
}

async function unmine(services: Needs, send: SendRecord): Promise<void> {
  const isGone = await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(send.requestId);
    if (!(await tx.sends.unmine(send, services.clock.nowMs()))) return false;
    if (record)
      await transition(services, tx, record, { kind: "sendUnmined" }, { inTxHashes: [], txHashes: [] });
    return true;
  });
  if (isGone) services.events.alarm("send_removed", { requestId: send.requestId, txHash: send.txHash });
}

async function settle(services: Needs, send: SendRecord): Promise<void> {
  await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(send.requestId);
    await tx.sends.settle(send);
    if (record) await transition(services, tx, record, { kind: "sendFinal" });
  });
}

import type { BlockRef, ReceiptFact } from "@causeway/chains";
import type { Chain } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { SendRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import { hasArrived } from "./quoted-payment.ts";
import { transition } from "./transition.ts";
import type { TransitionServices } from "./transition.ts";

type Needs = Pick<Services, "uow" | "reads"> & TransitionServices;

const UNMINED_KEPT_MS = 3600_000;

/**
 * Follows reported same-chain payments after a new head: mined, fallen out of the chain by a reorg, or beyond doubt.
 * @param trail canonical blocks as the watcher knows them. @throws RpcFault
 */
export async function trackSends(
  services: Needs,
  { chain, connection }: ConnectedChain,
  trail: readonly BlockRef[],
): Promise<void> {
  const head = trail.at(-1);
  if (head === undefined) return;
  const hashes = new Map(trail.map((block) => [block.number, block.hash]));
  const sends = await services.reads.unsettledSends(chain.id);
  await Promise.all(
    sends.map(async (send) => {
      if (send.blockNumber !== undefined) {
        const canonical = hashes.get(send.blockNumber);
        const gone =
          send.blockNumber > head.number || (canonical !== undefined && canonical !== send.blockHash);
        if (gone) return unmine(services, send);
        if (head.number - send.blockNumber + 1n >= BigInt(chain.finalityBlocks))
          return settle(services, send);
        return undefined;
      }
      const receipt = await connection.reader.receipt(send.txHash);
      if (receipt === undefined) return forgetIfOld(services, send);
      const watched = hashes.get(receipt.blockNumber);
      // Below the trail nobody has watched, or has forgotten: the chain itself is asked which block stands there.
      const below = trail[0] !== undefined && receipt.blockNumber < trail[0].number;
      const canonical = below ? (await connection.reader.block(receipt.blockNumber))?.hash : watched;
      if (canonical !== receipt.blockHash) return undefined;
      return mine(services, chain, send, receipt);
    }),
  );
}

/** A report that no block bears out is forgotten after a while; whoever made it can make it again. */
async function forgetIfOld(services: Needs, send: SendRecord): Promise<void> {
  if (services.clock.nowMs() - send.reportedAtMs < UNMINED_KEPT_MS) return;
  await services.uow.run((tx) => tx.sends.remove(send.chainId, send.txHash));
  services.events.happened("send_removed", { requestId: send.requestId, txHash: send.txHash, unmined: true });
}

async function mine(services: Needs, chain: Chain, send: SendRecord, receipt: ReceiptFact): Promise<void> {
  const block = { number: receipt.blockNumber, hash: receipt.blockHash };
  const paid = await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(send.requestId);
    // One that reverted, or brought the recipient less than was promised, is no payment: the request is open for another one.
    if (record === undefined || receipt.status === "reverted" || !hasArrived(record.terms, chain, receipt)) {
      await tx.sends.remove(send.chainId, send.txHash);
      return false;
    }
    await tx.sends.setBlock(send.chainId, send.txHash, block);
    const hashes = { inTxHashes: [send.txHash], txHashes: [send.txHash] };
    await transition(services, tx, record, { kind: "sendMined" }, hashes, {
      txHash: send.txHash,
      block: block.number,
    });
    return true;
  });
  services.events.happened("send_seen", {
    requestId: send.requestId,
    txHash: send.txHash,
    block: block.number,
    status: receipt.status,
    paid,
  });
}

async function unmine(services: Needs, send: SendRecord): Promise<void> {
  await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(send.requestId);
    await tx.sends.setBlock(send.chainId, send.txHash, undefined);
    if (record)
      await transition(services, tx, record, { kind: "sendUnmined" }, { inTxHashes: [], txHashes: [] });
  });
  services.events.alarm("send_removed", { requestId: send.requestId, txHash: send.txHash });
}

async function settle(services: Needs, send: SendRecord): Promise<void> {
  await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(send.requestId);
    await tx.sends.settle(send.chainId, send.txHash);
    if (record) await transition(services, tx, record, { kind: "sendFinal" });
  });
}

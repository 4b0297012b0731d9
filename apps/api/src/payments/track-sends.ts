import type { BlockRef } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { SendRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { transition, type TransitionServices } from "../requests/index.ts";

type Needs = Pick<Services, "events" | "uow" | "reads"> & TransitionServices;

/** Payments read per page. */
const PAGE = 200;

/**
 * Follows mined same-chain payments after a new head: those that a reorg orphaned, and those that are final.
 * Makes no node call.
 * @param trail canonical blocks as the watcher knows them
 */
export async function trackSends(
  services: Needs,
  { chain: { id: chainId, finalityBlocks } }: Pick<ConnectedChain, "chain">,
  trail: readonly BlockRef[],
): Promise<void> {
  const head = trail.at(-1);
  if (head === undefined) return;
  const blocks = { head: head.number, final: head.number - BigInt(finalityBlocks) + 1n };
  // Handled payments are no longer selected, so the first page is always the next one.
  for (;;) {
    const page = await services.reads.dueSends(chainId, blocks, PAGE);
    await Promise.all(
      page.map(({ send, isOrphaned }) => (isOrphaned ? unmine(services, send) : settle(services, send))),
    );
    if (page.length < PAGE) return;
  }
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

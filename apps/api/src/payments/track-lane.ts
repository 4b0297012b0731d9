import { isSilentTransfer } from "@causeway/chains";
import type { BlockRef, ReceiptFact } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Attempt, Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { applyDead, applyFinal, applyMined, applyOrphaned } from "./apply.ts";
import { paidBy } from "./unexplained-nonces.ts";
import type { LegServices } from "./legs/leg-course.ts";

type Needs = Pick<Services, "events"> & LegServices & Pick<Services, "reads">;

/**
 * Compares a chain's lanes with it after a new head: which nonces are mined, orphaned or final. Reads one
 * nonce count per lane, and receipts only for nonces below it.
 * @param reorged blocks were dropped since the last call: nodes then also drop pending transactions, so all
 * open ones are sent again
 * @param trail canonical blocks as the watcher knows them, ending with the head
 * @throws RpcFault: the next head retries
 */
export async function trackLane(
  services: Needs,
  connected: ConnectedChain,
  trail: readonly BlockRef[],
  { reorged }: { readonly reorged: boolean } = { reorged: false },
): Promise<void> {
  // Includes former keys: tracking their nonces needs no key.
  const senders = await services.reads.laneSenders(connected.chain.id);
  // One query for all lanes: most heads change none of them.
  const slots = await services.reads.unsettledSlots(connected.chain.id, ...senders);
  for (const [sender, ofSender] of Map.groupBy(slots, (slot) => slot.sender))
    await trackSender(services, connected, { sender, slots: ofSender }, trail, reorged);
}

async function trackSender(
  services: Needs,
  connected: ConnectedChain,
  { sender, slots }: { readonly sender: Address; readonly slots: readonly Slot[] },
  trail: readonly BlockRef[],
  reorged: boolean,
): Promise<void> {
  const { chain, connection } = connected;
  const head = trail.at(-1);
  if (head === undefined) return;
  const hashes = new Map(trail.map((block) => [block.number, block.hash]));

  const orphaned: Slot[] = [];
  for (const slot of slots.filter(({ state }) => state === "mined")) {
    const minedAt = slot.minedBlockNumber ?? 0n;
    const canonical = hashes.get(minedAt);
    // A block below the trail is older than any reorg that is expected.
    if (minedAt > head.number || (canonical !== undefined && canonical !== slot.minedBlockHash)) {
      const reopened = await applyOrphaned(services, slot);
      if (reopened !== undefined) orphaned.push(reopened);
    } else if (head.number - minedAt + 1n >= BigInt(chain.finalityBlocks)) await applyFinal(services, slot);
  }

  const open = [...slots.filter(({ state }) => state === "open"), ...orphaned];
  if (open.length === 0) return;
  if (reorged || orphaned.length > 0)
    await services.uow.run(async (tx) => {
      for (const slot of open) await tx.lanes.forgetBroadcast(slot.id);
    });
  const used = await connection.reader.nonce(sender, "latest");
  await Promise.all(
    open
      .filter((slot) => slot.nonce < used)
      .map(async (slot) => {
        const found = await findMined(connected, slot, head, hashes);
        if (found === "ahead") await noteAhead(services, slot);
        else if (found) await noteMined(services, slot, found.attempt, found.receipt);
        else await noteUnexplained(services, connected, slot, trail);
      }),
  );
}

/** @returns `ahead`: an attempt is in a block above the head, which the watcher has not read */
async function findMined(
  { connection }: ConnectedChain,
  slot: Slot,
  head: BlockRef,
  hashes: ReadonlyMap<bigint, string>,
): Promise<{ attempt: Attempt; receipt: ReceiptFact } | "ahead" | undefined> {
  const receipts = await Promise.all(
    slot.attempts.map((attempt) => connection.reader.receipt(attempt.txHash)),
  );
  for (const [at, receipt] of receipts.entries()) {
    const attempt = slot.attempts[at];
    // Only a block that the watcher has read counts; newer ones are handled when the watcher gets there.
    if (receipt && attempt && hashes.get(receipt.blockNumber) === receipt.blockHash)
      return { attempt, receipt };
  }
  // A payment that was mined while no process watched may be below the trail.
  const lowest = [...hashes.keys()].reduce((low, number) => (number < low ? number : low), 2n ** 63n);
  for (const [at, receipt] of receipts.entries()) {
    const attempt = slot.attempts[at];
    if (!receipt || !attempt || receipt.blockNumber >= lowest) continue;
    const block = await connection.reader.block(receipt.blockNumber);
    if (block?.hash === receipt.blockHash) return { attempt, receipt };
  }
  return receipts.some((receipt) => receipt !== undefined && receipt.blockNumber > head.number)
    ? "ahead"
    : undefined;
}

/**
 * The nonce was read at a newer block than the head, and our own transaction used it: nothing is unexplained.
 */
async function noteAhead(services: Needs, slot: Slot): Promise<void> {
  if (slot.unexplainedSince === undefined) return;
  await services.uow.run((tx) => tx.lanes.clearUnexplained(slot.id));
}

async function noteMined(services: Needs, slot: Slot, attempt: Attempt, mined: ReceiptFact): Promise<void> {
  const receipt = isRefusedSilently(slot, attempt, mined) ? { ...mined, status: "reverted" as const } : mined;
  await applyMined(services, slot, attempt, receipt);
}

/** Excludes user calls and sweeps, which are judged elsewhere: a user may call anything. */
function isRefusedSilently({ leg, call }: Slot, { kind }: Attempt, receipt: ReceiptFact): boolean {
  const isOurPayment = leg.kind === "fill" || leg.kind === "refund" || leg.kind === "claim";
  return kind === "pay" && isOurPayment && isSilentTransfer(call, receipt);
}

/**
 * The chain used the nonce without one of our attempts: the node lags, or the key was used elsewhere.
 * Treating it as dead too early could pay twice, so only proof counts: the transaction that used the nonce,
 * in a final block.
 */
async function noteUnexplained(
  services: Needs,
  { chain, connection }: ConnectedChain,
  slot: Slot,
  trail: readonly BlockRef[],
): Promise<void> {
  const head = trail.at(-1);
  const lowest = trail[0];
  if (head === undefined || lowest === undefined) return;
  // A node may count a nonce before it serves the receipt: the first miss does not stop the lane, one that
  // persists past a head does.
  await services.uow.run((tx) => tx.lanes.noteUnexplained(slot.id, head.number));
  if (slot.unexplainedSince === undefined) return;
  if (head.number - slot.unexplainedSince < BigInt(chain.finalityBlocks)) return;
  const facts = { chain: chain.name, nonce: slot.nonce, requestId: slot.leg.requestId };
  const finalBlock = head.number - BigInt(chain.finalityBlocks) + 1n;
  const user = await connection.reader.transactionByNonce(slot.sender, slot.nonce, lowest.number, finalBlock);
  services.events.alarm("nonce_unexplained", { ...facts, usedBy: user });
  if (user === undefined || slot.attempts.some(({ txHash }) => txHash === user)) return;
  // A payment whose record was lost: the leg may already be paid, so it must not be paid another way.
  const requestId = await paidBy(services, { chain, connection }, user);
  if (requestId !== undefined) {
    services.events.alarm("payment_unrecorded", { ...facts, sender: slot.sender, txHash: user, requestId });
    return;
  }
  await applyDead(services, slot, "TRANSACTION_NOT_INCLUDED");
}

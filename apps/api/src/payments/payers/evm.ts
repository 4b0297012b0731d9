import { isSilentTransfer, RpcFault } from "@causeway/chains";
import type { BlockRef, BroadcastOutcome, ReceiptFact } from "@causeway/chains";
import type { LaneChain } from "../../chains/chains.port.ts";
import type { Attempt, Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { kindOf } from "../legs/index.ts";
import { enterInJournal } from "../enter-in-journal.ts";
import type { Observation, NonceState } from "../next-move.ts";
import { noteSent, type BroadcastAttempt, type ToSend } from "../note-sent.ts";
import { attemptFacts, factsOf } from "../slot-facts.ts";
import { asError, togetherOrAlone } from "../../db/together-or-alone.ts";
import { paidBy } from "../unexplained-nonces.ts";
import { countNoop } from "../policy/may-sign.ts";
import { chooseWhatToSign, limitedFees, maxFee } from "./before-signing.ts";
import { gasFunds, solverFunds } from "./lane-funds.ts";
import type { LaneFunds } from "./funds.port.ts";
import type { Lane, Payer, Signed, ToSign, Unsigned } from "./payer.ts";
import { signAttempt, signNew } from "./sign-attempt.ts";

/** Pays on an EVM chain: attempts with the same nonce conflict, so only one of them can be mined. */
export function evmPayer(services: WorkerServices, { chainId, sender }: Lane): Payer | undefined {
  const connected = services.chains.get(chainId);
  if (connected === undefined) return undefined;
  const fundsOf = sender === services.signer.address ? solverFunds : gasFunds;
  const { chain, pulse } = connected;
  const feeOf = () => maxFee(pulse.gasPrices(), chain.fees.maxFeePerGasWei);
  return evmPayerOn(services, connected, fundsOf(connected, sender), feeOf);
}

/**
 * Like {@link evmPayer}, on a chain that may be disabled.
 * @param maxFeePerGas returns the highest fee that may be signed now, wei per gas
 */
export function evmPayerOn(
  services: WorkerServices,
  connected: LaneChain,
  funds: LaneFunds,
  maxFeePerGas: () => bigint | undefined,
): Payer {
  return {
    funds,
    signNew: async (slots) => await signNew(services, slots, maxFeePerGas),
    sign: async (toSign) => await signTogether(services, connected, toSign, maxFeePerGas),
    send: enterInJournal(services, async (toSend) => await broadcastAll(services, connected, toSend)),
  };
}

const FEE_LIMITED = "a replacement would exceed maxFeePerGasGwei of SPENDING_LIMITS or of the chain";

/** Signs attempts at once and commits their bytes together. */
async function signTogether(
  services: WorkerServices,
  connected: LaneChain,
  toSign: readonly ToSign[],
  maxFeePerGas: () => bigint | undefined,
): Promise<Signed> {
  const results = new Map<string, Attempt | Unsigned | Error>();
  const attempts: { readonly slotToSign: ToSign; readonly attempt: Attempt }[] = [];
  await Promise.all(
    toSign.map(async (slotToSign) => {
      try {
        const fees = await limitedFees(services, slotToSign, maxFeePerGas());
        if (fees === undefined) {
          results.set(slotToSign.slot.id, "refused");
          services.events.alarm("attempt_refused", { ...factsOf(slotToSign.slot), reason: FEE_LIMITED });
          return;
        }
        const allowed = await chooseWhatToSign(services, connected, slotToSign);
        if (allowed.move.attempt === "noop") countNoop(services, slotToSign.slot, fees.maxFeePerGas);
        attempts.push({ slotToSign, attempt: await signAttempt(services, connected, allowed, fees) });
      } catch (error) {
        results.set(slotToSign.slot.id, asError(error));
      }
    }),
  );
  // Persist before broadcast: a crash here must leave the bytes findable, or the payment could be made twice.
  const errors = await togetherOrAlone(attempts, async (batch) => {
    const stored = await storeAttempts(services, batch);
    for (const { slotToSign, attempt } of batch)
      results.set(slotToSign.slot.id, stored.has(slotToSign.slot.id) ? attempt : "moved");
  });
  for (const [{ slotToSign }, error] of errors) results.set(slotToSign.slot.id, error);
  return results;
}

async function storeAttempts(
  services: WorkerServices,
  signed: readonly { readonly slotToSign: ToSign; readonly attempt: Attempt }[],
): Promise<ReadonlySet<string>> {
  return await services.uow.run(async (tx) => {
    const stored = await tx.lanes.addAttempts(
      signed.map(({ slotToSign, attempt }) => ({ slotId: slotToSign.slot.id, attempt })),
    );
    for (const { slotToSign, attempt } of signed)
      if (attempt.n > 0 && stored.has(slotToSign.slot.id))
        tx.events.alarm("attempt_replaced", {
          chainId: slotToSign.slot.chainId,
          nonce: slotToSign.slot.nonce,
          requestId: slotToSign.slot.leg.requestId,
          kind: attempt.kind,
          attempt: attempt.n,
          maxFeePerGas: attempt.maxFeePerGas,
        });
    return stored;
  });
}

/** geth queues 64 transactions of an account that wait for earlier ones. */
const BROADCAST_AT_ONCE = 50;

async function broadcastAll(
  services: WorkerServices,
  { connection }: LaneChain,
  toSend: readonly ToSend[],
): Promise<ReadonlyMap<string, Error>> {
  const errors = new Map<string, Error>();
  const accepted: BroadcastAttempt[] = [];
  const send = async ({ slot, attempt }: ToSend): Promise<void> => {
    try {
      const outcome = await connection.writer.broadcast(attempt.raw);
      if (outcome.kind === "insufficientFunds" || outcome.kind === "rejected")
        await noteRefusal(services, slot, attempt, outcome);
      // Nonce too low: these or other bytes used the nonce; only a receipt shows which.
      // Underpriced: an earlier attempt is in the mempool; it is replaced once it counts as stuck.
      else accepted.push({ slot, attempt, outcome: outcome.kind });
    } catch (error) {
      errors.set(slot.id, asError(error));
      if (isRefusal(error)) await noteRefusedForNow(services, slot, attempt).catch(asError);
    }
  };
  // Nodes queue few transactions whose predecessors they lack.
  const ordered = toSend.toSorted((a, b) => a.slot.nonce - b.slot.nonce);
  for (let start = 0; start < ordered.length; start += BROADCAST_AT_ONCE)
    await Promise.all(ordered.slice(start, start + BROADCAST_AT_ONCE).map(send));
  for (const [{ slot }, error] of await togetherOrAlone(
    accepted,
    async (batch) => await noteSent(services, batch),
  ))
    errors.set(slot.id, error);
  return errors;
}

async function noteRefusal(
  services: WorkerServices,
  slot: Slot,
  attempt: Attempt,
  outcome: Extract<BroadcastOutcome, { readonly kind: "insufficientFunds" | "rejected" }>,
): Promise<void> {
  const isRejected = outcome.kind === "rejected";
  const reason = isRejected ? outcome.reason : "the solver lacks the native token for this transaction";
  services.events.alarm("attempt_refused", { ...attemptFacts(slot, attempt), reason });
  await services.uow.run(async (tx) => {
    if (isRejected && attempt.kind === "pay")
      return await tx.lanes.cancel(slot.id, "TRANSACTION_SUBMISSION_FAILED");
    // It is sent again after the usual interval; nothing behind this nonce can be mined in the meantime.
    await tx.lanes.noteRefused(slot.id, attempt.n, services.clock.nowMs());
  });
}

/** Whether nodes responded but did not accept the bytes, for a reason that does not make them invalid. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof RpcFault && !error.isPause && (error.kind === "refused" || error.kind === "inconsistent")
  );
}

/** Notes the refusal: bytes that nodes keep refusing are canceled, while unbroadcast bytes would wait. */
async function noteRefusedForNow(
  { uow, clock }: WorkerServices,
  { id }: Slot,
  { n }: Attempt,
): Promise<void> {
  await uow.run((tx) => tx.lanes.noteRefused(id, n, clock.nowMs()));
}

/** Canonical blocks as the watcher knows them. */
export interface Trail {
  readonly head: BlockRef;
  /** The lowest block in `hashes`; lower blocks are read from a node. */
  readonly lowest: bigint;
  readonly hashes: ReadonlyMap<bigint, string>;
  /** Blocks up to this number are final. */
  readonly finalBlock: bigint;
}

/** @returns undefined if there are no blocks */
export function trailOf(blocks: readonly BlockRef[], finalityBlocks: number): Trail | undefined {
  const [lowest, head] = [blocks[0], blocks.at(-1)];
  if (lowest === undefined || head === undefined) return undefined;
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
  return { head, lowest: lowest.number, hashes, finalBlock: head.number - BigInt(finalityBlocks) + 1n };
}

/** The state of a mined slot according to the trail, without querying a node. */
export function observeMined(slot: Slot, { head, hashes, finalBlock }: Trail): Observation[] {
  const block = slot.minedBlockNumber ?? 0n;
  const canonical = hashes.get(block);
  // A block below the trail is older than any expected reorg.
  const isOrphaned = block > head.number || (canonical !== undefined && canonical !== slot.minedBlockHash);
  const kind = isOrphaned ? "unseen" : block <= finalBlock ? "final" : "mined";
  return slot.attempts.map(({ n }) => ({ kind: n === slot.minedAttempt ? kind : "unseen" }));
}

/** The nodes' answers to the broadcasts of an open slot, without querying a node. */
export function observeOpen({ attempts }: Slot): Observation[] {
  return attempts.map(({ offeredSinceMs }) => ({
    kind: offeredSinceMs === undefined ? "unseen" : "offered",
  }));
}

/** The state on chain of an open slot whose nonce is used. @throws RpcFault */
export async function observeUsed(
  { connection: { reader } }: LaneChain,
  slot: Slot,
  { head, lowest, hashes }: Trail,
): Promise<{ readonly seen: readonly Observation[]; readonly nonceState: NonceState }> {
  const receipts = await Promise.all(slot.attempts.map(async ({ txHash }) => await reader.receipt(txHash)));
  const seen = await Promise.all(
    receipts.map(async (receipt, index): Promise<Observation> => {
      const attempt = slot.attempts[index];
      if (receipt === undefined || attempt === undefined) return { kind: "unseen" };
      // Counts if the watcher has read the block, or if the block is below the trail: the payment was mined
      // while no process watched. Newer blocks are handled once the watcher has read them.
      const { blockNumber, blockHash } = receipt;
      const hash = blockNumber < lowest ? (await reader.block(blockNumber))?.hash : hashes.get(blockNumber);
      return hash === blockHash
        ? { kind: "mined", receipt: judgeReceipt(slot, attempt, receipt) }
        : { kind: "unseen" };
    }),
  );
  const isAhead = receipts.some((receipt) => receipt !== undefined && receipt.blockNumber > head.number);
  return { seen, nonceState: isAhead ? "ahead" : "used" };
}

/**
 * Treats a mined transfer without the token's event as reverted. Other calls are not judged by events,
 * because users may call any contract.
 */
function judgeReceipt(slot: Slot, { kind }: Attempt, receipt: ReceiptFact): ReceiptFact {
  const isRefused = kind === "pay" && kindOf(slot).isTransfer && isSilentTransfer(slot.call, receipt);
  return isRefused ? { ...receipt, status: "reverted" } : receipt;
}

/**
 * Whether a final transaction that the slot did not send used its nonce. Nothing less proves that the payment
 * is dead, because the node may lag, and a payment that is wrongly declared dead is made again.
 * @throws RpcFault
 */
export async function isUsedByOthers(
  services: WorkerServices,
  connected: LaneChain,
  slot: Slot,
  { lowest, finalBlock }: Trail,
): Promise<boolean> {
  const { chain, connection } = connected;
  const { sender, nonce, leg } = slot;
  const facts = { chain: chain.name, nonce, requestId: leg.requestId };
  const usedBy = await connection.reader.transactionByNonce(sender, nonce, lowest, finalBlock);
  services.events.alarm("nonce_unexplained", { ...facts, usedBy });
  if (usedBy === undefined || slot.attempts.some(({ txHash }) => txHash === usedBy)) return false;
  // A payment whose record was lost: the leg may already be paid, so it must not be paid another way.
  const requestId = await paidBy(services, connected, usedBy);
  if (requestId === undefined) return true;
  services.events.alarm("payment_unrecorded", { ...facts, sender, txHash: usedBy, requestId });
  return false;
}

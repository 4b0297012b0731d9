import { InsufficientInventory, type NonEvmOutcome } from "@causeway/chains";
import type { TransferChain } from "../../chains/chains.port.ts";
import type { Attempt, AttemptKind, Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { LaneFacts, Observation } from "../next-move.ts";
import { attemptOf, paymentOf, nonEvmAttemptOf } from "../non-evm/attempt-of.ts";
import { enterInJournal } from "../enter-in-journal.ts";
import { isMappedOnHub, signedMappingOf } from "../non-evm/solver-mapping.ts";
import { noteSent, type ToSend } from "../note-sent.ts";
import { maySign } from "../policy/may-sign.ts";
import { isGenuine } from "../policy/signed-payment.ts";
import { attemptFacts, factsOf } from "../slot-facts.ts";
import { asError } from "../../db/together-or-alone.ts";
import { transferFunds } from "./lane-funds.ts";
import type { Lane, Payer, ToSign, Unsigned } from "./payer.ts";

/** Nominal blocks after which a payment that nodes have counts as stuck. */
const STUCK_BLOCKS = 3;

/** Pays on a chain without account nonces: attempts conflict only if they spend the same outputs. */
export function transferPayer(services: WorkerServices, { chainId }: Lane): Payer | undefined {
  const connected = services.chains.nonEvm(chainId);
  if (connected === undefined) return undefined;
  const send = enterInJournal(services, async (toSend) =>
    errorsIn(await mapSlots(toSend, async (attempt) => await sendTransfer(services, connected, attempt))),
  );
  return {
    funds: transferFunds(connected),
    signsOneByOne: true,
    sign: async (toSign) =>
      await mapSlots(toSign, async (slotToSign) => await signTransfer(services, connected, slotToSign)),
    async send(toSend) {
      // Before the journal: a payment that oracles cannot map yet is not broadcast, so it must not be
      // restored either.
      const mappable = await mapSlots(
        toSend,
        async (attempt) => await isMappable(services, connected, attempt),
      );
      const allowed = toSend.filter(({ slot }) => mappable.get(slot.id) === true);
      return new Map([...errorsIn(mappable), ...(allowed.length === 0 ? [] : await send(allowed))]);
    },
  };
}

function errorsIn(results: ReadonlyMap<string, unknown>): ReadonlyMap<string, Error> {
  return new Map([...results].flatMap(([id, result]) => (result instanceof Error ? [[id, result]] : [])));
}

async function mapSlots<T extends { readonly slot: Slot }, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<ReadonlyMap<string, R | Error>> {
  return new Map(
    await Promise.all(items.map(async (item) => [item.slot.id, await work(item).catch(asError)] as const)),
  );
}

export function transferLane(
  { chain, connection }: TransferChain,
  { stuckAfterMs }: { readonly stuckAfterMs: number },
): LaneFacts {
  return {
    nonceState: "none",
    replacement: connection.canReplace ? "unpriced" : "impossible",
    cancelable: connection.canCancel ? "unseen" : "never",
    patienceMs: Math.max(stuckAfterMs, STUCK_BLOCKS * chain.blockTimeSeconds * 1000),
    isBeingSent: false,
  };
}

/** The state of a slot's attempts on chain. @throws RpcFault */
export async function observeTransfer(
  services: WorkerServices,
  { connection }: TransferChain,
  slot: Slot,
): Promise<Observation[]> {
  // Bytes that are held back were never sent: there is nothing to query.
  if (services.clock.nowMs() <= slot.cancelAfterMs && (await isHeldBack(services, { connection }, slot)))
    return slot.attempts.map(() => ({ kind: "held" }));
  return await Promise.all(
    slot.attempts.map(async (attempt) =>
      observationOf(attempt, await connection.outcome(nonEvmAttemptOf(attempt))),
    ),
  );
}

function observationOf(attempt: Attempt, outcome: NonEvmOutcome): Observation {
  if (outcome.kind === "pending") return { kind: "offered" };
  if (outcome.kind !== "mined" && outcome.kind !== "final") return outcome;
  const { kind, block, txId = attempt.txHash } = outcome;
  return {
    kind,
    receipt: {
      txHash: txId,
      status: "success",
      blockNumber: block.number,
      blockHash: block.hash,
      gasUsed: attempt.maxFeePerGas,
      effectiveGasPrice: 1n,
      logs: [],
    },
  };
}

/**
 * Whether oracles cannot map any of a slot's payments yet. Nothing is sent before that, and the hub keeps its
 * mappings; so none of these bytes can have been sent, even by a process that died.
 */
async function isHeldBack(
  services: WorkerServices,
  { connection }: Pick<TransferChain, "connection">,
  slot: Slot,
): Promise<boolean> {
  if (
    connection.signNonceMapping === undefined ||
    services.nonceMappings === undefined ||
    slot.state !== "open"
  )
    return false;
  for (const attempt of slot.attempts) {
    if (attempt.kind !== "pay" || attempt.broadcastAtMs !== undefined) return false;
    if (await isMappedOnHub(services, { connection }, slot, nonEvmAttemptOf(attempt))) return false;
  }
  return true;
}

/** Whether oracles can map a payment to its order; a no-op has none. @throws RpcFault */
async function isMappable(
  services: WorkerServices,
  connected: TransferChain,
  { slot, attempt }: ToSend,
): Promise<boolean> {
  return attempt.kind !== "pay" || (await isMappedOnHub(services, connected, slot, nonEvmAttemptOf(attempt)));
}

/** Sends committed bytes, and records that nodes have them. */
async function sendTransfer(
  services: WorkerServices,
  { connection }: TransferChain,
  { slot, attempt }: ToSend,
): Promise<void> {
  const outcome = await connection.send(nonEvmAttemptOf(attempt));
  if (outcome === "sent")
    return await noteSent(
      services,
      [{ slot, attempt, outcome: "accepted" }],
      connection.hasLateTransactionIds !== true,
    );
  // A refusal now proves nothing about earlier sends: only the chain shows the outcome.
  services.events.alarm("attempt_refused", { ...attemptFacts(slot, attempt), reason: outcome.refused });
}

/** Another process may sign at the same time, but rarely this often. */
const MAX_TRIES = 10;

/**
 * Signs the next attempt of a slot and commits it, one at a time per chain in this process. If another
 * process signed in the meantime, the commit detects it and signs again: no two payments spend the same
 * funds.
 */
async function signTransfer(
  services: WorkerServices,
  connected: TransferChain,
  slotToSign: ToSign,
): Promise<Attempt | Unsigned> {
  const { slot, isNew, move } = slotToSign;
  const isRepeated = move.attempt === "pay" && (await hasPaid(services, slot));
  const origin = isRepeated ? "repeated" : isNew === true ? "reserved" : "stored";
  if (move.attempt === "pay" && !(await maySign(services, slot, origin)))
    return origin === "repeated" ? "refused" : "moved";
  return await runInTurn(connected, async () => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const signed = await trySigning(services, connected, slotToSign);
      if (signed !== "again") return signed;
    }
    throw new Error(
      `not signed: other processes signed payments on ${connected.chain.name} first each time; it is tried again`,
    );
  });
}

/** Whether this key has signed this very payment before. Rows alone prove no signature. @throws RpcFault */
async function hasPaid(services: WorkerServices, slot: Slot): Promise<boolean> {
  for (const attempt of slot.attempts)
    if (attempt.kind === "pay" && (await isGenuine(services, slot, attempt))) return true;
  return false;
}

async function trySigning(
  services: WorkerServices,
  { chain, connection }: TransferChain,
  { slot, move }: ToSign,
): Promise<Attempt | Unsigned | "again"> {
  const kind = move.attempt;
  const otherAttempts = (await services.reads.unsettledSlots(chain.id, slot.sender))
    .filter(({ id }) => id !== slot.id)
    .flatMap(({ attempts }) => attempts);
  const previousAttempts = slot.attempts.map(nonEvmAttemptOf);
  const reserved = otherAttempts.map(({ raw }) => raw);
  let prepared;
  try {
    prepared = await connection.prepare(paymentOf(slot, kind), previousAttempts, reserved);
  } catch (error) {
    return noteUnsigned(services, chain.name, { slot, kind }, error);
  }
  const attempt = attemptOf(prepared, slot.attempts.length, kind);
  const mapping = kind === "pay" ? await signedMappingOf({ connection }, slot, prepared) : undefined;
  const readTxHashes = new Set(otherAttempts.map(({ txHash }) => txHash));
  return await services.uow.run(async (tx) => {
    await tx.lanes.lockLane(chain.id, slot.sender);
    const current = (await tx.lanes.lockSlots([slot.id])).get(slot.id);
    const isUnchanged =
      current?.state === "open" &&
      current.attempts.length === slot.attempts.length &&
      (kind === "noop" || current.cancelReason === undefined);
    if (!isUnchanged) return "moved";
    const currentTxHashes = await tx.nonEvm.unsettledAttempts(chain.id, slot.sender, slot.id);
    if (currentTxHashes.some((txHash) => !readTxHashes.has(txHash))) return "again";
    if ((await tx.lanes.addAttempts([{ slotId: slot.id, attempt }])).size === 0) return "moved";
    // From now on only the no-op is sent.
    if (kind === "noop") await tx.lanes.cancel(slot.id, "TRANSACTION_NOT_INCLUDED");
    // Committed with the bytes, so that a sent payment never loses its order.
    if (mapping !== undefined && (await tx.nonceMappings.store(mapping, attempt.createdAtMs)) === "taken")
      throw new Error(`a nonce of ${chain.name} is already mapped to another order`);
    if (attempt.n > 0)
      tx.events.alarm("attempt_replaced", {
        chainId: slot.chainId,
        nonce: slot.nonce,
        requestId: slot.leg.requestId,
        kind,
        attempt: attempt.n,
        why: move.why,
      });
    return attempt;
  });
}

/** @throws errors unrelated to the funds and to whether the solver may pay itself */
function noteUnsigned(
  { events }: WorkerServices,
  chain: string,
  { slot, kind }: { readonly slot: Slot; readonly kind: AttemptKind },
  error: unknown,
): Unsigned {
  if (error instanceof InsufficientInventory) {
    events.alarm("fill_waits", { requestId: slot.leg.requestId, chain, why: error.message });
    return "insufficientFunds";
  }
  // The chain does not let the solver pay itself: the payment is made after all, when a node accepts it.
  if (kind === "noop" && error instanceof RangeError) {
    events.alarm("attempt_refused", { ...factsOf(slot), reason: error.message });
    return "refused";
  }
  throw error;
}

/** Signing in progress per chain in this process. */
const turns = new WeakMap<TransferChain["connection"], Promise<unknown>>();

async function runInTurn<T>(
  { connection }: Pick<TransferChain, "connection">,
  work: () => Promise<T>,
): Promise<T> {
  const previous = turns.get(connection) ?? Promise.resolve();
  const signing = previous.then(work, work);
  turns.set(
    connection,
    signing.catch(() => undefined),
  );
  return await signing;
}

import type { Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { applyAll, type DecidedOutcome, type Outcome } from "./apply-outcomes.ts";
import { kindOf } from "./legs/index.ts";
import { nextMove, type Move, type Situation } from "./next-move.ts";
import type { ToSend } from "./note-sent.ts";
import type { Payer } from "./payers/payer.ts";
import { signAndSend } from "./sign-and-send.ts";
import { togetherOrAlone } from "../db/together-or-alone.ts";

export interface SlotCase extends Situation {
  readonly slot: Slot;
}

/** One pass over slots of one lane. */
interface Round {
  readonly services: WorkerServices;
  readonly payer: Payer;
  /** The block at which the cases were observed. */
  readonly headNumber: bigint;
  readonly toSend: ToSend[];
  /** Slots whose block was orphaned: their state on the chain is unknown again. */
  readonly orphaned: Slot[];
  /** One slot's fault does not delay the others. */
  readonly faults: unknown[];
}

/** Makes all due moves of the slots in batches: signs all, then broadcasts all. */
export async function advanceSlots(
  services: WorkerServices,
  payer: Payer,
  cases: readonly SlotCase[],
  headNumber = 0n,
): Promise<Pick<Round, "orphaned" | "faults">> {
  const round: Round = { services, payer, headNumber, toSend: [], orphaned: [], faults: [] };
  let due: readonly SlotCase[] = cases.map((slotCase) => ({
    ...slotCase,
    isPatient: kindOf(slotCase.slot).isPatient === true,
  }));
  while (due.length > 0) due = await moveAll(round, due);
  if (round.toSend.length > 0) round.faults.push(...(await payer.send(round.toSend)).values());
  return round;
}

type MoveOf<K extends Move["kind"]> = Extract<Move, { readonly kind: K }>;

interface Decision<K extends Move["kind"]> {
  readonly slotCase: SlotCase;
  readonly move: MoveOf<K>;
}

/** @returns cases with another move due */
async function moveAll(round: Round, cases: readonly SlotCase[]): Promise<SlotCase[]> {
  const moves = cases.map((slotCase) => ({ slotCase, move: nextMove(slotCase) }));
  const due = <K extends Move["kind"]>(...kinds: readonly K[]): Decision<K>[] => {
    const isDue = (move: Move): move is MoveOf<K> => (kinds as readonly string[]).includes(move.kind);
    return moves.flatMap(({ slotCase, move }) => (isDue(move) ? [{ slotCase, move }] : []));
  };
  for (const { slotCase, move } of due("send"))
    round.toSend.push({ slot: slotCase.slot, attempt: move.attempt });
  return [
    ...(await applyOutcomes(round, due("mined", "orphaned", "final", "dead"))),
    ...(await explain(round, due("unexplained"), due("explained"))),
    ...(await cancel(round, due("cancel"))),
    ...(await sign(round, due("sign"))),
  ];
}

async function applyOutcomes(
  { services, faults, orphaned }: Round,
  decisions: readonly Decision<Outcome["kind"]>[],
): Promise<SlotCase[]> {
  const decided = decisions.map(({ slotCase: { slot }, move: outcome }): DecidedOutcome => ({
    slot,
    outcome,
  }));
  const results = await applyAll(services, decided);
  return decisions.flatMap(({ slotCase, move }) => {
    const slot = results.get(slotCase.slot.id);
    if (slot instanceof Error) faults.push(slot);
    if (slot === undefined || slot instanceof Error) return [];
    const next = { ...slotCase, slot };
    // An orphaned transaction may be in another block of the same read. Otherwise, the slot needs a new read.
    if (move.kind !== "orphaned" || nextMove(next).kind === "mined") return [next];
    orphaned.push(slot);
    return [];
  });
}

async function explain(
  round: Round,
  unexplained: readonly Decision<"unexplained">[],
  explained: readonly Decision<"explained">[],
): Promise<SlotCase[]> {
  await commitAll(round, unexplained, async (tx, { slot }) => {
    await tx.lanes.noteUnexplained(slot.id, round.headNumber);
  });
  await commitAll(round, explained, async (tx, { slot }) => await tx.lanes.clearUnexplained(slot.id));
  const searched = await Promise.all(
    unexplained.map(async ({ slotCase, move }) => {
      if (!move.search) return [];
      const isForeign = await round.payer.isUsedByOthers?.(slotCase.slot).catch((error: unknown) => {
        round.faults.push(error);
      });
      return isForeign === true
        ? [{ ...slotCase, lane: { ...slotCase.lane, nonceState: "foreign" as const } }]
        : [];
    }),
  );
  return searched.flat();
}

async function cancel(round: Round, decisions: readonly Decision<"cancel">[]): Promise<SlotCase[]> {
  const canceledSlots = await commitAll(round, decisions, async (tx, { slot }, { reason }) => {
    await tx.lanes.cancel(slot.id, reason);
    const { chainId, nonce, leg } = slot;
    tx.events.alarm("slot_cancelled", { chainId, nonce, requestId: leg.requestId, reason });
  });
  return canceledSlots.map(({ slotCase, move }) => ({
    ...slotCase,
    slot: { ...slotCase.slot, cancelReason: move.reason },
  }));
}

async function sign(
  { payer, toSend, faults }: Round,
  decisions: readonly Decision<"sign">[],
): Promise<SlotCase[]> {
  if (decisions.length === 0) return [];
  const toSign = decisions.map(({ slotCase: { slot }, move }) => ({ slot, move }));
  const { signed: results, errors } = await signAndSend(payer, toSign, toSend.splice(0));
  faults.push(...errors.values());
  return decisions.flatMap(({ slotCase, move }): SlotCase[] => {
    const signed = results.get(slotCase.slot.id);
    if (signed !== "refused" && signed !== "insufficientFunds") return [];
    const isCancel = move.attempt === "noop" && slotCase.slot.attempts.at(-1)?.kind === "pay";
    if (isCancel && signed === "insufficientFunds") return [];
    // Make the payment after all, or rebroadcast signed bytes.
    const change = isCancel ? ({ cancelable: "never" } as const) : ({ replacement: "impossible" } as const);
    const next: SlotCase = { ...slotCase, lane: { ...slotCase.lane, ...change } };
    const retry = nextMove(next);
    // The payer would refuse again.
    return retry.kind === "sign" && retry.attempt === move.attempt ? [] : [next];
  });
}

/** @returns the decisions whose commit succeeded */
async function commitAll<K extends Move["kind"]>(
  { services, faults }: Round,
  decisions: readonly Decision<K>[],
  write: (tx: Tx, slotCase: SlotCase, move: MoveOf<K>) => Promise<void>,
): Promise<Decision<K>[]> {
  // All processes lock slots in the same order.
  const ordered = decisions.toSorted((a, b) => Number(a.slotCase.slot.id) - Number(b.slotCase.slot.id));
  const errors = await togetherOrAlone(ordered, async (batch) => {
    await services.uow.run(async (tx) => {
      for (const { slotCase, move } of batch) await write(tx, slotCase, move);
    });
  });
  faults.push(...errors.values());
  return ordered.filter((decision) => !errors.has(decision));
}

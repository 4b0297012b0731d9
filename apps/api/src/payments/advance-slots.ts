import type { Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { applyAll, type Decided, type Outcome } from "./apply-outcomes.ts";
import { kindOf } from "./legs/index.ts";
import { nextMove, type Move, type Situation } from "./next-move.ts";
import type { ToSend } from "./note-sent.ts";
import type { Payer } from "./payers/payer.ts";
import { signAndSend } from "./sign-and-send.ts";
import { togetherOrAlone } from "../db/together-or-alone.ts";

export interface Case extends Situation {
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
  cases: readonly Case[],
  headNumber = 0n,
): Promise<Pick<Round, "orphaned" | "faults">> {
  const round: Round = { services, payer, headNumber, toSend: [], orphaned: [], faults: [] };
  let due: readonly Case[] = cases.map((one) => ({ ...one, isPatient: kindOf(one.slot).isPatient === true }));
  while (due.length > 0) due = await moveAll(round, due);
  if (round.toSend.length > 0) round.faults.push(...(await payer.send(round.toSend)).values());
  return round;
}

type MoveOf<K extends Move["kind"]> = Extract<Move, { readonly kind: K }>;

interface Decision<K extends Move["kind"]> {
  readonly one: Case;
  readonly move: MoveOf<K>;
}

/** @returns cases with another move due */
async function moveAll(round: Round, cases: readonly Case[]): Promise<Case[]> {
  const moves = cases.map((one) => ({ one, move: nextMove(one) }));
  const due = <K extends Move["kind"]>(...kinds: readonly K[]): Decision<K>[] => {
    const isDue = (move: Move): move is MoveOf<K> => (kinds as readonly string[]).includes(move.kind);
    return moves.flatMap(({ one, move }) => (isDue(move) ? [{ one, move }] : []));
  };
  for (const { one, move } of due("send")) round.toSend.push({ slot: one.slot, attempt: move.attempt });
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
): Promise<Case[]> {
  const decided = decisions.map(({ one: { slot }, move: outcome }): Decided => ({ slot, outcome }));
  const results = await applyAll(services, decided);
  return decisions.flatMap(({ one, move }) => {
    const slot = results.get(one.slot.id);
    if (slot instanceof Error) faults.push(slot);
    if (slot === undefined || slot instanceof Error) return [];
    const next = { ...one, slot };
    // The same read may show it in another block. Everything else needs a new read.
    if (move.kind !== "orphaned" || nextMove(next).kind === "mined") return [next];
    orphaned.push(slot);
    return [];
  });
}

async function explain(
  round: Round,
  unexplained: readonly Decision<"unexplained">[],
  explained: readonly Decision<"explained">[],
): Promise<Case[]> {
  await commitAll(round, unexplained, async (tx, { slot }) => {
    await tx.lanes.noteUnexplained(slot.id, round.headNumber);
  });
  await commitAll(round, explained, async (tx, { slot }) => await tx.lanes.clearUnexplained(slot.id));
  const searched = await Promise.all(
    unexplained.map(async ({ one, move }) => {
      if (!move.search) return [];
      const isForeign = await round.payer.isUsedByOthers?.(one.slot).catch((error: unknown) => {
        round.faults.push(error);
      });
      return isForeign === true ? [{ ...one, lane: { ...one.lane, turn: "foreign" as const } }] : [];
    }),
  );
  return searched.flat();
}

async function cancel(round: Round, decisions: readonly Decision<"cancel">[]): Promise<Case[]> {
  const done = await commitAll(round, decisions, async (tx, { slot }, { reason }) => {
    await tx.lanes.cancel(slot.id, reason);
    const { chainId, nonce, leg } = slot;
    tx.events.alarm("slot_cancelled", { chainId, nonce, requestId: leg.requestId, reason });
  });
  return done.map(({ one, move }) => ({ ...one, slot: { ...one.slot, cancelReason: move.reason } }));
}

async function sign(
  { payer, toSend, faults }: Round,
  decisions: readonly Decision<"sign">[],
): Promise<Case[]> {
  if (decisions.length === 0) return [];
  const wanted = decisions.map(({ one: { slot }, move }) => ({ slot, move }));
  const { signed: results, errors } = await signAndSend(payer, wanted, toSend.splice(0));
  faults.push(...errors.values());
  return decisions.flatMap(({ one, move }): Case[] => {
    const signed = results.get(one.slot.id);
    if (signed !== "refused" && signed !== "short") return [];
    const isCancel = move.attempt === "noop" && one.slot.attempts.at(-1)?.kind === "pay";
    if (isCancel && signed === "short") return [];
    // Make the payment after all, or rebroadcast signed bytes.
    const change = isCancel ? ({ cancelable: "never" } as const) : ({ replacement: "impossible" } as const);
    const next: Case = { ...one, lane: { ...one.lane, ...change } };
    const again = nextMove(next);
    // The payer would refuse again.
    return again.kind === "sign" && again.attempt === move.attempt ? [] : [next];
  });
}

/** @returns those whose commit succeeded */
async function commitAll<K extends Move["kind"]>(
  { services, faults }: Round,
  decisions: readonly Decision<K>[],
  write: (tx: Tx, one: Case, move: MoveOf<K>) => Promise<void>,
): Promise<Decision<K>[]> {
  // All processes lock slots in the same order.
  const ordered = decisions.toSorted((a, b) => Number(a.one.slot.id) - Number(b.one.slot.id));
  const errors = await togetherOrAlone(ordered, async (some) => {
    await services.uow.run(async (tx) => {
      for (const { one, move } of some) await write(tx, one, move);
    });
  });
  faults.push(...errors.values());
  return ordered.filter((one) => !errors.has(one));
}

import type { Attempt, Slot, SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { Move } from "../next-move.ts";
import type { ToSend } from "../note-sent.ts";
import type { LaneFunds } from "./funds.port.ts";

/** An account on a chain, with the sequence of its payments. */
export type Lane = Pick<SlotPlan, "chainId" | "sender">;

export interface ToSign {
  readonly slot: Slot;
  readonly move: Extract<Move, { readonly kind: "sign" }>;
  /** This process has just reserved the slot. */
  readonly isNew?: boolean;
}

/**
 * Why nothing was signed: the slot changed since it was read, the solver lacks funds, or the chain does not
 * allow such a payment.
 */
export type Unsigned = "moved" | "insufficientFunds" | "refused";

/** The results of signing, by slot. */
export type Signed = ReadonlyMap<string, Attempt | Unsigned | Error>;

/** Signs and sends for the slots of one lane. Errors are by slot, and concern that slot alone. */
export interface Payer {
  /** The inventory of the lane. */
  readonly funds: LaneFunds;
  /** Each payment is signed and committed separately, and need not wait for the others to be sent. */
  readonly signsOneByOne?: true;
  /**
   * Signs slots in the commit that reserves them. A slot that it leaves out is signed after that commit.
   * Absent: every slot is signed after that commit.
   */
  signNew?(slots: readonly Slot[]): Promise<ReadonlyMap<string, Attempt>>;
  /** Signs attempts and commits their bytes. Nothing is sent before that. */
  sign(toSign: readonly ToSign[]): Promise<Signed>;
  /** Sends committed bytes and records the nodes' answers. */
  send(toSend: readonly ToSend[]): Promise<ReadonlyMap<string, Error>>;
  /** Whether a final transaction of someone else used the slot's nonce. @throws RpcFault */
  isUsedByOthers?(slot: Slot): Promise<boolean>;
}

/** Undefined: the lane is not this payer's, or its chain is not enabled. */
export type PayerOfLane = (services: WorkerServices, lane: Lane) => Payer | undefined;

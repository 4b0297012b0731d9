import type { Attempt, Slot } from "../../db/records.port.ts";
import type { Move } from "../moves.ts";
import type { ToSend } from "../note-sent.ts";

export interface ToSign {
  readonly slot: Slot;
  readonly move: Extract<Move, { readonly kind: "sign" }>;
}

/**
 * Why nothing was signed: the slot changed since it was read, the solver lacks funds, or the chain does not
 * allow such a payment.
 */
export type Unsigned = "moved" | "short" | "refused";

/** Signs and sends for the slots of one lane. Errors are by slot, and concern that slot alone. */
export interface Payer {
  /** Signs attempts and commits their bytes. Nothing is sent before that. */
  sign(wanted: readonly ToSign[]): Promise<ReadonlyMap<string, Attempt | Unsigned | Error>>;
  /** Sends committed bytes and records the nodes' answers. */
  send(sent: readonly ToSend[]): Promise<ReadonlyMap<string, Error>>;
  /** Whether a final transaction of someone else used the slot's number. @throws RpcFault */
  isUsedByOthers?(slot: Slot): Promise<boolean>;
}

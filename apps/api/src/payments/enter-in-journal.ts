import type { WorkerServices } from "../db/services.port.ts";
import { asError } from "../db/together-or-alone.ts";
import { isUnentered } from "./journal-entry.ts";
import { NonceConflict } from "./payment-journal.port.ts";
import type { Payer } from "./payers/payer.ts";

/**
 * Enters payments in the journal before they are broadcast for the first time. What cannot be entered is not
 * broadcast: a failover could lose it without a trace. If the journal shows that the database has lost
 * something, the lane is held. Bytes that were broadcast before need no entry, so they are sent again while
 * Redis is unavailable.
 */
export function enterInJournal(
  { journal, clock, uow }: Pick<WorkerServices, "journal" | "clock" | "uow">,
  send: Payer["send"],
): Payer["send"] {
  if (journal === undefined) return send;
  return async (toSend) => {
    const unentered = toSend.filter(isUnentered);
    if (unentered.length === 0) return await send(toSend);
    try {
      await journal.enter(unentered, clock.nowMs());
    } catch (error) {
      const [lane] = unentered;
      if (error instanceof NonceConflict && lane !== undefined)
        await uow.run((tx) => tx.lanes.hold(lane.slot.chainId, lane.slot.sender));
      const entered = toSend.filter((payment) => !unentered.includes(payment));
      const failed = unentered.map(({ slot }) => [slot.id, asError(error)] as const);
      return new Map([...failed, ...(entered.length === 0 ? [] : await send(entered))]);
    }
    return await send(toSend);
  };
}

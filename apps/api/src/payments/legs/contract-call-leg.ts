import type { WantedCall } from "../contract-call.port.ts";
import type { PaymentKind } from "./leg-kind.ts";

const doNothing = async (): Promise<void> => undefined;

/**
 * A call that its contract runs once, however often it is sent. Its effect is read from the contract, never
 * from a receipt, so the outcomes of its slot change nothing else.
 */
const contractCall: Omit<PaymentKind<WantedCall>, "name"> = {
  isTransfer: false,
  isPatient: true,
  lock: async (_, tx, wanted) =>
    await Promise.all(
      wanted.map(async ({ lock }) => (lock === undefined || (await lock(tx)) ? "due" : "moved")),
    ),
  async reserved(_, tx, taken) {
    for (const { wanted, slot } of taken) await wanted.assign?.(tx, slot.id);
    return undefined;
  },
  mined: doNothing,
  orphaned: doNothing,
  final: doNothing,
  dead: doNothing,
};

/** A transaction that has the hub execute what oracles signed. */
export const hubLeg: PaymentKind<WantedCall> = { ...contractCall, name: "hub" };

/** A call of the allocator for a withdrawal from the hub. */
export const payoutLeg: PaymentKind<WantedCall> = { ...contractCall, name: "payout" };

import type { Hex32 } from "@causeway/domain";
import type { TransactionDeposits } from "../evidence.ts";
import type { LighterTransaction } from "./answers.ts";
import { arrivalCurrency } from "./answers/currency.ts";

/** Finds deposits in settled transactions. Pure. */

/** A memo whose last 12 bytes are zero is not an id, because ids are hashes. */
const NO_ID = /^0x[0-9a-f]{40}0{24}$/;

/**
 * The deposit of a settled transaction, if it is one: a transfer to a depository that does not come from a
 * depository.
 *
 * @param depositories all depositories, the current one first; transfers between them are not deposits
 */
export function depositsIn(
  depositories: readonly [string, ...string[]],
  { transfer, queuedAtMs }: Pick<LighterTransaction, "transfer" | "queuedAtMs">,
): TransactionDeposits {
  const timestamp = queuedAtMs / 1_000n;
  const none: TransactionDeposits = { depository: depositories[0], deposits: [], timestamp };
  if (transfer === undefined || transfer.amount === 0n) return none;
  const depository = transfer.toAccountIndex.toString();
  const depositor = transfer.fromAccountIndex.toString();
  if (!depositories.includes(depository) || depositories.includes(depositor)) return none;
  const deposit = {
    index: "0",
    depositor,
    currency: arrivalCurrency(transfer),
    amount: transfer.amount,
    depositId: depositIdOf(transfer.memo),
  };
  return { depository, deposits: [deposit], timestamp };
}

/** The order id in a memo; undefined if there is none. */
export function depositIdOf(memo: Hex32): Hex32 | undefined {
  return NO_ID.test(memo) ? undefined : memo;
}

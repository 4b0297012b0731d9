import type { Hex32 } from "@causeway/domain";
import type { TransactionDeposits } from "../evidence.ts";
import type { ExchangeTransaction } from "./answers.ts";
import { arrivesIn } from "./answers/currency.ts";

/** Reads settled transactions as deposits. Pure. */

/** A memo whose last 12 bytes are zero is another text: ids are hashes. */
const NO_ID = /^0x[0-9a-f]{40}0{24}$/;

/**
 * The deposit that a settled transaction holds, if it holds one: a transfer to one of the depositories that
 * does not come from one of them.
 *
 * @param depositories all accounts of ours, the first the one in use: transfers between them are not deposits
 */
export function depositsIn(
  depositories: readonly [string, ...string[]],
  { transfer, queuedAtMs }: Pick<ExchangeTransaction, "transfer" | "queuedAtMs">,
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
    currency: arrivesIn(transfer),
    amount: transfer.amount,
    depositId: depositIdOf(transfer.memo),
  };
  return { depository, deposits: [deposit], timestamp };
}

/** The order's id in a memo; undefined when it carries none. */
export function depositIdOf(memo: Hex32): Hex32 | undefined {
  return NO_ID.test(memo) ? undefined : memo;
}

import type { Address } from "@causeway/domain";
import { depositEvidenceIn } from "../evm/deposit-evidence.ts";
import type { DepositEvidence } from "../evidence.ts";
import type { SolidTransaction } from "./rpc.ts";
import { tronAddress } from "./spelling.ts";

/**
 * The deposits of a successful transaction, in chain order: contracts and events are those of the other chains with this machine, and judged as those are. What has no
 * event of the depository and is no TRC-20 Transfer (plain payments of the native coin, TRC-10) is no deposit. Pure.
 */
export function depositsIn(
  depository: Address,
  { receipt, transaction }: Pick<SolidTransaction, "receipt" | "transaction">,
): DepositEvidence[] {
  const deposits = depositEvidenceIn({ depository, isZksyncStack: false }, receipt, transaction);
  return deposits.map((deposit) => ({
    ...deposit,
    depositor: tronAddress(deposit.depositor as Address),
    currency: tronAddress(deposit.currency as Address),
  }));
}

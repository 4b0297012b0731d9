import type { Address, Hex } from "@causeway/domain";
import { depositEvidenceIn } from "../evm/deposits/deposit-evidence.ts";
import type { DepositEvidence } from "../evidence.ts";
import type { SolidTransaction } from "./finality/agreement.ts";
import { tronAddress } from "./address-codec/tron-address.ts";

/**
 * The deposits of a successful transaction, in chain order. Tron's virtual machine is the EVM's, so contracts
 * and events are judged as on EVM chains. Transfers without an event of the depository or a TRC-20 Transfer
 * (native payments, TRC-10) are not deposits. Pure.
 */
export function depositsIn(
  depository: Address,
  { receipt, transaction }: Pick<SolidTransaction, "receipt" | "transaction">,
): DepositEvidence[] {
  const deposits = depositEvidenceIn({ depository, isZksyncStack: false }, receipt, {
    ...transaction,
    input: withoutPrefixes(transaction.input),
  });
  return deposits.map((deposit) => ({
    ...deposit,
    depositor: tronAddress(deposit.depositor as Address),
    currency: tronAddress(deposit.currency as Address),
  }));
}

/** Number of leading address arguments, by the selectors of `transfer` and `transferFrom`. */
const ADDRESSES: ReadonlyMap<string, number> = new Map([
  ["0xa9059cbb", 1],
  ["0x23b872dd", 2],
]);

/**
 * Removes the chain's prefix before the 20 bytes of addresses in calldata: some wallets add it, and tokens
 * ignore it.
 */
function withoutPrefixes(input: Hex): Hex {
  let clean: string = input;
  for (let index = 0; index < (ADDRESSES.get(input.slice(0, 10)) ?? 0); index++) {
    const from = 10 + 64 * index;
    if (clean.slice(from, from + 24) === `${"0".repeat(22)}41`)
      clean = `${clean.slice(0, from)}${"0".repeat(24)}${clean.slice(from + 24)}`;
  }
  return clean as Hex;
}

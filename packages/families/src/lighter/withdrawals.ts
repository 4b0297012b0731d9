import {
  decodeLighterTransfer,
  lighterTransferId,
  type Hex,
  type Hex32,
  type LighterTransfer,
} from "@causeway/domain";
import { inconsistent } from "../rpc-fault.ts";
import type { LighterTransaction, RecordedTransfer } from "./answers.ts";
import { arrivalCurrency, isPaidFromOneBalance, isSpendable } from "./answers/currency.ts";

/**
 * Reads withdrawal payloads and judges their outcome. Pure.
 *
 * A payload is the text that the owner of a depository signs for one transfer. It names the account, the key
 * and the nonce, but no time: the holder of the key may submit the signed text in any number of
 * transactions, of any lifetime, until that nonce of that key is used. The nonce of a key never decreases,
 * not even when the key itself is replaced, and each nonce is used once. So a payload is executed when a
 * settled transaction with its nonce has exactly its content. It can never be executed once a settled
 * transaction used the nonce for something else. The end of a transaction's lifetime proves nothing.
 */

/** A complete transfer out of a depository. */
export interface WithdrawalPayment {
  /** The id of the text that the depository's owner signs. */
  readonly id: Hex32;
  readonly transfer: LighterTransfer;
  readonly depository: string;
  readonly recipient: string;
  readonly currency: string;
  /** The amount that the depository spends: the received amount and Lighter's fee in USDC. */
  readonly amount: bigint;
}

/** Configuration of Lighter. */
export interface WithdrawalRules {
  readonly depositories: readonly string[];
  /** The chain id that owners sign, unique to this instance of Lighter. */
  readonly exchangeChainId: bigint;
}

/**
 * Lighter's limits: accounts are 48 bits, amounts 60, keys one byte, assets 6 bits; the highest value of each
 * means none.
 */
const MAX = {
  account: (1n << 48n) - 2n,
  key: 254n,
  asset: 62n,
  amount: (1n << 60n) - 1n,
  nonce: (1n << 63n) - 1n,
};

/** The payment of a payload, or why Lighter could not make it. */
export function readWithdrawal(
  payload: Hex,
  { depositories, exchangeChainId }: WithdrawalRules,
): WithdrawalPayment | { readonly refusal: string } {
  const transfer = decodeLighterTransfer(payload);
  if (transfer === undefined) return { refusal: "withdrawal is not an encoded transfer" };
  const depository = transfer.fromAccountIndex.toString();
  const recipient = transfer.toAccountIndex.toString();
  if (transfer.lighterChainId !== exchangeChainId)
    return {
      refusal: `withdrawal is for Lighter chain ${transfer.lighterChainId}, expected ${exchangeChainId}`,
    };
  if (!depositories.includes(depository))
    return { refusal: `account ${depository} is not a depository of this chain` };
  if (depositories.includes(recipient)) return { refusal: "withdrawal recipient must not be a depository" };
  if (!isInRange(transfer)) return { refusal: "transfer values are out of Lighter's range" };
  if (!isSpendable(transfer))
    return {
      refusal:
        "toRouteType must be 1 (spot) or, for USDC only, 0 (perpetuals); with another route the recipient could not spend the asset",
    };
  const { usdcFee } = transfer;
  // The hub debits one currency: a fee from another balance would be paid from other users' deposits.
  if (usdcFee > 0n && !isPaidFromOneBalance(transfer))
    return {
      refusal: "usdcFee must be 0, because it would be charged to a different balance than the withdrawal",
    };
  return {
    id: lighterTransferId(transfer),
    transfer,
    depository,
    recipient,
    currency: arrivalCurrency(transfer),
    amount: transfer.amount + usdcFee,
  };
}

function isInRange(transfer: LighterTransfer): boolean {
  return (
    transfer.toAccountIndex <= MAX.account &&
    transfer.apiKeyIndex <= MAX.key &&
    transfer.assetIndex >= 1n &&
    transfer.assetIndex <= MAX.asset &&
    transfer.fromRouteType <= 1n &&
    transfer.toRouteType <= 1n &&
    transfer.amount >= 1n &&
    transfer.amount <= MAX.amount &&
    transfer.usdcFee <= MAX.amount &&
    transfer.nonce <= MAX.nonce
  );
}

/** Transfers out of a depository that were found on Lighter. */
export interface FoundTransfers {
  /** In no particular order, possibly with duplicates. */
  readonly transactions: readonly LighterTransaction[];
  /** Whether it contains every transfer of the depository since the payload's nonce became usable. */
  readonly isComplete: boolean;
}

/**
 * Whether a payload was executed, can never be, or is still pending.
 *
 * It is `expired` if a settled transaction used the nonce for something else. The only other proof: a
 * transaction with the nonce failed inside a block, which uses the nonce too; a later transaction of the
 * same key is settled, and so is that block; and no transfer since then matches the payload.
 * @throws RpcFault inconsistent if two settled transactions used the same nonce, which means that the
 * endpoint lies
 */
export function outcomeOf(
  payment: WithdrawalPayment,
  { transactions, isComplete }: FoundTransfers,
  exchangeChainId: bigint,
): "pending" | "executed" | "expired" {
  const ofKey = transactions.filter(({ transfer }) => transfer !== undefined && isOfKey(payment, transfer));
  const ofNonce = ofKey.filter(({ transfer }) => transfer?.nonce === payment.transfer.nonce);
  const settled = ofNonce.filter(({ state }) => state === "final");
  if (new Set(settled.map(({ hash }) => hash)).size > 1)
    throw inconsistent("tx", "two settled transactions have the same nonce and key");
  const [used] = settled;
  if (used !== undefined) return makesPayment(used, payment, exchangeChainId) ? "executed" : "expired";
  if (!isComplete || ofNonce.some(({ state }) => state === "notFinal")) return "pending";
  const isNonceWasted = ofNonce.some(
    (failed) =>
      failed.state === "failed" &&
      failed.blockHeight > 0n &&
      ofKey.some(
        (later) =>
          later.state === "final" &&
          (later.transfer?.nonce ?? 0n) > payment.transfer.nonce &&
          later.blockHeight >= failed.blockHeight,
      ),
  );
  return isNonceWasted ? "expired" : "pending";
}

/** Whether a transaction is by the account and key that the payload names. */
export function isOfKey({ transfer }: WithdrawalPayment, candidate: RecordedTransfer): boolean {
  return (
    candidate.fromAccountIndex === transfer.fromAccountIndex && candidate.apiKeyIndex === transfer.apiKeyIndex
  );
}

function makesPayment(
  { transfer }: LighterTransaction,
  payment: WithdrawalPayment,
  lighterChainId: bigint,
): boolean {
  return transfer !== undefined && lighterTransferId({ ...transfer, lighterChainId }) === payment.id;
}

import {
  decodeLighterTransfer,
  lighterTransferId,
  type Hex,
  type Hex32,
  type LighterTransfer,
} from "@causeway/domain";
import { inconsistent } from "../rpc-fault.ts";
import type { ExchangeTransaction, ExchangeTransfer } from "./answers.ts";
import { arrivesIn, isPaidFromOneBalance, isSpendable } from "./currency.ts";

/**
 * Reads withdrawal payloads and judges what became of them. Pure.
 *
 * A payload is the text that the owner of a depository signs for one transfer. It names the account, the key
 * and the nonce, but no time: whoever holds the key may put the signed text into transactions of any
 * lifetime, again and again, until that nonce of that key is used. The nonce of a key never goes back, not
 * even when the key itself is exchanged, and one nonce is used once. So a payload is carried out when a
 * settled transaction with its nonce says exactly what it says, and can never be when a settled transaction
 * used the nonce for something else. That the lifetime of some transaction has ended says nothing.
 */

/** A transfer out of a depository, once and wholly. */
export interface WithdrawalPayment {
  /** Of the text that its owner signs. */
  readonly id: Hex32;
  readonly transfer: LighterTransfer;
  readonly depository: string;
  readonly recipient: string;
  readonly currency: string;
  /** What the depository loses: what arrives, and the fee that the exchange takes in dollars. */
  readonly amount: bigint;
}

/** What the configuration says about the exchange. */
export interface WithdrawalRules {
  readonly depositories: readonly string[];
  /** The number that owners sign for this exchange and no other. */
  readonly exchangeChainId: bigint;
}

/**
 * What the exchange takes: accounts are 48 bits, amounts 60, keys one byte, assets 6 bits; the highest number
 * of each stands for none.
 */
const MOST = {
  account: (1n << 48n) - 2n,
  key: 254n,
  asset: 62n,
  amount: (1n << 60n) - 1n,
  nonce: (1n << 63n) - 1n,
};

/** The payment that a payload stands for, or why it stands for none that this exchange could make. */
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
  if (!canBeTaken(transfer)) return { refusal: "transfer values are out of Lighter's range" };
  if (!isSpendable(transfer))
    return {
      refusal:
        "toRouteType must be 1 (spot) or, for USDC only, 0 (perpetuals); with another route the recipient could not spend the asset",
    };
  const { usdcFee } = transfer;
  // The hub takes one currency off its books: a fee out of another balance would be paid by other people's
  // deposits.
  if (usdcFee > 0n && !isPaidFromOneBalance(transfer))
    return {
      refusal: "usdcFee must be 0, because it would be charged to a different balance than the withdrawal",
    };
  return {
    id: lighterTransferId(transfer),
    transfer,
    depository,
    recipient,
    currency: arrivesIn(transfer),
    amount: transfer.amount + usdcFee,
  };
}

function canBeTaken(transfer: LighterTransfer): boolean {
  return (
    transfer.toAccountIndex <= MOST.account &&
    transfer.apiKeyIndex <= MOST.key &&
    transfer.assetIndex >= 1n &&
    transfer.assetIndex <= MOST.asset &&
    transfer.fromRouteType <= 1n &&
    transfer.toRouteType <= 1n &&
    transfer.amount >= 1n &&
    transfer.amount <= MOST.amount &&
    transfer.usdcFee <= MOST.amount &&
    transfer.nonce <= MOST.nonce
  );
}

/** Transfers out of a depository that were found at the exchange. */
export interface FoundTransfers {
  /** In no particular order; one may come twice. */
  readonly transactions: readonly ExchangeTransaction[];
  /** Whether every transfer of the depository since the payload's nonce could be used is among them. */
  readonly isComplete: boolean;
}

/**
 * Whether a payload was carried out, can never be, or neither yet.
 *
 * Besides a settled transaction that used the nonce for something else there is one proof that it never will
 * be: a transaction of the nonce failed inside a block, which uses the nonce too; a later one of the same key
 * is settled, so that block is; and among all transfers since there is none that says what the payload says.
 * @throws RpcFault inconsistent when two settled transactions used one nonce: then the endpoint lies
 */
export function outcomeOf(
  payment: WithdrawalPayment,
  { transactions, isComplete }: FoundTransfers,
  exchangeChainId: bigint,
): "pending" | "executed" | "expired" {
  const ofKey = transactions.filter(({ transfer }) => transfer !== undefined && isOfKey(payment, transfer));
  const ofNonce = ofKey.filter(({ transfer }) => transfer?.nonce === payment.transfer.nonce);
  const settled = ofNonce.filter(({ standing }) => standing === "final");
  if (new Set(settled.map(({ hash }) => hash)).size > 1)
    throw inconsistent("tx", "two settled transactions have the same nonce and key");
  const [user] = settled;
  if (user !== undefined) return says(user, payment, exchangeChainId) ? "executed" : "expired";
  if (!isComplete || ofNonce.some(({ standing }) => standing === "notFinal")) return "pending";
  const isUsedInVain = ofNonce.some(
    (failed) =>
      failed.standing === "failed" &&
      failed.blockHeight > 0n &&
      ofKey.some(
        (later) =>
          later.standing === "final" &&
          (later.transfer?.nonce ?? 0n) > payment.transfer.nonce &&
          later.blockHeight >= failed.blockHeight,
      ),
  );
  return isUsedInVain ? "expired" : "pending";
}

/** Whether a transaction is one of the account and key that the payload names. */
export function isOfKey({ transfer }: WithdrawalPayment, other: ExchangeTransfer): boolean {
  return other.fromAccountIndex === transfer.fromAccountIndex && other.apiKeyIndex === transfer.apiKeyIndex;
}

function says(
  { transfer }: ExchangeTransaction,
  payment: WithdrawalPayment,
  lighterChainId: bigint,
): boolean {
  return transfer !== undefined && lighterTransferId({ ...transfer, lighterChainId }) === payment.id;
}

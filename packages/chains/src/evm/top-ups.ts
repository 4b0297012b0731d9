import { NATIVE_CURRENCY, type Address, type Hex, type TxHash } from "@causeway/domain";
import {
  addressOfTopic,
  addressTopic,
  TRANSFER_TOPIC,
  splitWords,
  type LogFact,
  type ReceiptFact,
  type TopUpFact,
  type TransactionFact,
} from "@causeway/families/evm";

/** Reads transfers to the solver as top-ups of app balances. Pure: equal facts give equal top-ups. */

/** The hex digits that precede and follow the address to credit. */
export const TOP_UP_MARKER = "012345abcdef";
const MARKED_LENGTH = 2 * TOP_UP_MARKER.length + 40;
const TRANSFER_SELECTOR = "0xa9059cbb";
/** Selector and two words, as hex digits without the `0x`. */
const TRANSFER_CALL_LENGTH = 8 + 64 + 64;

export interface TopUpQuestion {
  readonly solver: Address;
  /** Tokens whose Transfers are trusted. */
  readonly tokens: ReadonlySet<Address>;
}

/** The suffix of a call: a marked address, no marker, or an invalid marker. */
export type TopUpMark =
  | { readonly kind: "credit"; readonly wallet: Address }
  | { readonly kind: "none" }
  | { readonly kind: "malformed" };

/** The calldata that marks a transfer as a top-up of `wallet`; the zero address means the sender. */
export function topUpMarker(wallet: Address): Hex {
  return `0x${TOP_UP_MARKER}${wallet.slice(2).toLowerCase()}${TOP_UP_MARKER}`;
}

/**
 * Reads the hex digits after a call, or all digits of a native transfer. Only a marked address and nothing
 * else is a credit. With anything around the markers, or with other than 20 bytes between them, the transfer
 * was meant as a top-up but credits no one.
 */
export function readMark(tail: string, sender: Address): TopUpMark {
  const inner = tail.slice(TOP_UP_MARKER.length, -TOP_UP_MARKER.length);
  if (tail.length === MARKED_LENGTH && tail.startsWith(TOP_UP_MARKER) && tail.endsWith(TOP_UP_MARKER)) {
    const wallet: Address = `0x${inner}`;
    return { kind: "credit", wallet: wallet === NATIVE_CURRENCY ? sender : wallet };
  }
  return hasMarker(tail) ? { kind: "malformed" } : { kind: "none" };
}

/** Whether the marker occurs anywhere on a byte boundary. */
function hasMarker(digits: string): boolean {
  for (
    let index = digits.indexOf(TOP_UP_MARKER);
    index >= 0;
    index = digits.indexOf(TOP_UP_MARKER, index + 1)
  )
    if (index % 2 === 0) return true;
  return false;
}

/** Whether a log may belong to a top-up, like a node's log filter. */
export function isTransferToSolver({ solver, tokens }: TopUpQuestion, log: LogFact): boolean {
  return (
    log.topics[0] === TRANSFER_TOPIC &&
    log.topics.length === 3 &&
    log.topics[2] === addressTopic(solver) &&
    tokens.has(log.address)
  );
}

/**
 * Top-ups in tokens among the logs of successful transactions. A credit requires a top-level `transfer` to
 * the solver with a marked address appended, and exactly one Transfer by its sender, which states the amount.
 * Other transactions that carry a marker and move money to the solver are reported without a beneficiary.
 * @throws RangeError when the transaction of a log is missing
 */
export function tokenTopUps(
  question: TopUpQuestion,
  logs: readonly LogFact[],
  transactions: ReadonlyMap<Hex, TransactionFact>,
): TopUpFact[] {
  const byTransaction = new Map<TxHash, LogFact[]>();
  for (const log of logs)
    if (isTransferToSolver(question, log))
      byTransaction.set(log.txHash, [...(byTransaction.get(log.txHash) ?? []), log]);
  return [...byTransaction].flatMap(([txHash, group]) => {
    const transaction = transactions.get(txHash);
    if (transaction === undefined)
      throw new RangeError(`invariant violated: no transaction for the logs of ${txHash}`);
    return topUpsOfTransaction(question, group, transaction);
  });
}

function topUpsOfTransaction(
  { solver }: TopUpQuestion,
  logs: readonly LogFact[],
  transaction: TransactionFact,
): TopUpFact[] {
  const mark = markOf(solver, transaction);
  if (mark.kind === "none") return [];
  const arrivals = logs.flatMap((log) => {
    const from = addressOfTopic(log.topics[1]);
    const [amount, ...more] = splitWords(log.data) ?? [];
    // A transfer from the solver to itself is not income.
    if (from === undefined || from === solver || amount === undefined || amount === 0n || more.length > 0)
      return [];
    return [{ log, from, amount }];
  });
  const paid = arrivals.filter(
    ({ log, from }) => log.address === transaction.to && from === transaction.from,
  );
  // With two Transfers by the sender and one marker, it is unclear which one is the top-up.
  const credited = mark.kind === "credit" && paid.length === 1 ? paid[0] : undefined;
  const ordinals = new Map<string, number>();
  return arrivals
    .toSorted((a, b) => a.log.logIndex - b.log.logIndex)
    .map((arrival): TopUpFact => {
      const { log, from, amount } = arrival;
      const wallet = arrival === credited && mark.kind === "credit" ? mark.wallet : undefined;
      const identity = `${log.address} ${amount} ${from} ${wallet}`;
      const ordinal = ordinals.get(identity) ?? 0;
      ordinals.set(identity, ordinal + 1);
      return {
        txHash: log.txHash,
        ordinal,
        blockNumber: log.blockNumber,
        blockHash: log.blockHash,
        sender: from,
        currency: log.address,
        amount,
        wallet,
      };
    });
}

/**
 * The mark of a transaction that moved tokens to the solver. Only a top-level `transfer` to the solver can
 * carry a valid one: another contract may ignore the calldata that it was given.
 */
function markOf(solver: Address, { from, input }: TransactionFact): TopUpMark {
  const digits = input.slice(2);
  const isTransferCall =
    input.startsWith(TRANSFER_SELECTOR) &&
    digits.length >= TRANSFER_CALL_LENGTH &&
    `0x${digits.slice(8, 72)}` === addressTopic(solver);
  if (isTransferCall) return readMark(digits.slice(TRANSFER_CALL_LENGTH), from);
  return hasMarker(digits) ? { kind: "malformed" } : { kind: "none" };
}

/** Whether a transaction of a block may be a native top-up, so that its receipt must be read. */
export function isMarkedNativeTransfer(
  solver: Address,
  { from, to, value, input }: TransactionFact,
): boolean {
  return to === solver && from !== solver && value > 0n && readMark(input.slice(2), from).kind !== "none";
}

/** The native top-up of a mined transaction; undefined if it is not one, or reverted. */
export function nativeTopUp(
  solver: Address,
  transaction: TransactionFact,
  receipt: ReceiptFact,
): TopUpFact | undefined {
  if (receipt.status !== "success" || !isMarkedNativeTransfer(solver, transaction)) return undefined;
  const { hash, from, value, input } = transaction;
  const mark = readMark(input.slice(2), from);
  return {
    txHash: hash,
    ordinal: 0,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    sender: from,
    currency: NATIVE_CURRENCY,
    amount: value,
    wallet: mark.kind === "credit" ? mark.wallet : undefined,
  };
}

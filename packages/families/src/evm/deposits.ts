import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import type { DepositFact, LogFact, TransactionFact } from "./port.ts";

/** Finds deposits in logs and transactions. Pure: equal facts from any source give equal deposits. */

/** keccak256 of `NativeDeposit(address,uint256,bytes32)`; the depository indexes no field. */
export const NATIVE_DEPOSIT_TOPIC: Hex = "0x85c721e8ef0c5dcd3148d76089ab653259181fd472bbb24272819e0d1da87413";
/** keccak256 of `Erc20Deposit(address,address,uint256,bytes32)`. */
export const ERC20_DEPOSIT_TOPIC: Hex = "0x780ad3a4510beb6978629a743ba3376d9ffb3c773e40f6291b36b8f5aa51f473";
/** keccak256 of `Transfer(address,address,uint256)`; ERC-20 indexes both addresses. */
export const TRANSFER_TOPIC: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

export interface DepositQuestion {
  readonly depository: Address;
  /**
   * Tokens whose Transfer events are requested and trusted; undefined = every token. For other tokens only
   * the depository's own events count.
   */
  readonly tokens: ReadonlySet<Address> | undefined;
}

/** Something that looks like a deposit but is not; for logs and metrics. */
export interface IgnoredLog {
  readonly log: LogFact;
  readonly why:
    /** The depository reports a token deposit without a matching Transfer. */
    | "eventWithoutTransfer"
    /** The amount is zero. */
    | "zeroAmount"
    /** The depository sent tokens to itself. */
    | "selfTransfer"
    /** The log does not encode its event validly. */
    | "malformed";
}

export interface DepositReading {
  /** In chain order. */
  readonly deposits: readonly DepositFact[];
  /** Deposits proven by a token's Transfer alone, without an event of the depository. */
  readonly direct: ReadonlySet<DepositFact>;
  readonly ignored: readonly IgnoredLog[];
}

/**
 * Deposits among the logs of successful transactions.
 *
 * `logs` may contain anything; only the depository's own events and Transfers to it count. Pass all logs of a
 * transaction together.
 *
 * @throws RangeError if the transaction of a candidate log is missing in `transactions`
 */
export function depositsInLogs(
  question: DepositQuestion,
  logs: readonly LogFact[],
  transactions: ReadonlyMap<Hex, TransactionFact>,
): DepositReading {
  const byTransaction = new Map<Hex, LogFact[]>();
  for (const log of logs.toSorted(inChainOrder)) {
    if (!isCandidate(question, log)) continue;
    const group = byTransaction.get(log.txHash);
    if (group === undefined) byTransaction.set(log.txHash, [log]);
    else group.push(log);
  }
  const deposits: DepositFact[] = [];
  const direct = new Set<DepositFact>();
  const ignored: IgnoredLog[] = [];
  for (const [txHash, group] of byTransaction) {
    const transaction = transactions.get(txHash);
    if (transaction === undefined)
      throw new RangeError(`invariant violated: no transaction for the logs of ${txHash}`);
    const reading = depositsOfTransaction(question, group, transaction);
    deposits.push(...reading.deposits);
    for (const deposit of reading.direct) direct.add(deposit);
    ignored.push(...reading.ignored);
  }
  return { deposits, direct, ignored };
}

/** Whether a log may belong to a deposit, like the two log filters of a node. */
export function isCandidate(question: DepositQuestion, log: LogFact): boolean {
  const [topic, , to] = log.topics;
  if (log.address === question.depository) {
    return topic === NATIVE_DEPOSIT_TOPIC || topic === ERC20_DEPOSIT_TOPIC;
  }
  if (topic !== TRANSFER_TOPIC || log.topics.length !== 3 || to !== addressTopic(question.depository))
    return false;
  return question.tokens === undefined || question.tokens.has(log.address);
}

/** An address as an indexed event field. */
export function addressTopic(address: Address): Hex {
  return `0x${"0".repeat(24)}${address.slice(2)}`;
}

interface Transfer {
  readonly log: LogFact;
  readonly from: Address;
  readonly amount: bigint;
  isMatched: boolean;
}

interface Credit {
  /** Identifies the deposit: its Transfer if there is one, otherwise the depository's event. */
  readonly log: LogFact;
  readonly isDirect: boolean;
  readonly depositor: Address;
  readonly currency: Address;
  readonly amount: bigint;
  readonly id: Hex | undefined;
}

function depositsOfTransaction(
  question: DepositQuestion,
  logs: readonly LogFact[],
  transaction: TransactionFact,
): DepositReading {
  // The deposits of events, then direct transfers, each in chain order.
  const credits: Credit[] = [];
  const ignored: IgnoredLog[] = [];
  const transfers: Transfer[] = [];
  for (const log of logs) {
    const credit = creditOf(question, log, transfers, ignored);
    if (credit !== undefined) credits.push(credit);
  }
  const direct = transfers.filter((transfer) => !transfer.isMatched);
  // Two direct transfers cannot share the calldata's id, because it could belong to either. Only transfers of
  // the called token count: which others are seen depends on the configuration, and deposits must not.
  const isAlone = direct.filter(({ log }) => log.address === transaction.to).length === 1;
  for (const { log, from, amount } of direct) {
    const id = isAlone
      ? idAfterCalldata(question.depository, log.address, from, amount, transaction)
      : undefined;
    credits.push({ log, isDirect: true, depositor: from, currency: log.address, amount, id });
  }
  const numbers = new Map<string, number>();
  const directDeposits = new Set<DepositFact>();
  // Number deposits before sorting: events, which every configuration sees, precede the direct transfers of
  // listed tokens.
  const deposits = credits.map(({ log, isDirect, ...credit }): DepositFact => {
    const { depositor, currency, amount, id } = credit;
    const identity = `${depositor} ${currency} ${amount} ${id}`;
    const ordinal = numbers.get(identity) ?? 0;
    numbers.set(identity, ordinal + 1);
    const deposit: DepositFact = {
      txHash: log.txHash,
      ordinal,
      logIndex: log.logIndex,
      blockNumber: log.blockNumber,
      blockHash: log.blockHash,
      sender: transaction.from,
      ...credit,
    };
    if (isDirect) directDeposits.add(deposit);
    return deposit;
  });
  return {
    deposits: deposits.sort((a, b) => a.logIndex - b.logIndex),
    direct: directDeposits,
    ignored,
  };
}

/** The credit of a depository event. Collects Transfers for later events and for direct transfers. */
function creditOf(
  question: DepositQuestion,
  log: LogFact,
  transfers: Transfer[],
  ignored: IgnoredLog[],
): Credit | undefined {
  const ignore = (why: IgnoredLog["why"]): undefined => {
    ignored.push({ log, why });
    return undefined;
  };
  const words = splitWords(log.data);
  if (log.topics[0] === TRANSFER_TOPIC) {
    const from = addressIn(log.topics[1]);
    const amount = words[0];
    if (from === undefined || amount === undefined || words.length !== 1) return ignore("malformed");
    if (amount === 0n) return ignore("zeroAmount");
    if (from === question.depository) return ignore("selfTransfer");
    transfers.push({ log, from, amount, isMatched: false });
    return undefined;
  }
  const isNative = log.topics[0] === NATIVE_DEPOSIT_TOPIC;
  if (log.topics.length !== 1 || words.length !== (isNative ? 3 : 4)) return ignore("malformed");
  const depositor = addressOfWord(words[0]);
  const currency = isNative ? NATIVE_CURRENCY : addressOfWord(words[1]);
  const amount = words[words.length - 2];
  const id = idOf(words[words.length - 1]);
  if (depositor === undefined || currency === undefined || amount === undefined) return ignore("malformed");
  if (amount === 0n) return ignore("zeroAmount");
  const event = { log, isDirect: false, depositor, currency, amount, id };
  if (isNative) return event;
  // This token's Transfers were not requested. Report the depository's event anyway, so that no funds are
  // missed; a service that fills the deposit must know the token.
  if (question.tokens !== undefined && !question.tokens.has(currency)) return event;

  const transfer = transferBehind(currency, amount, transfers);
  if (transfer === undefined) return ignore("eventWithoutTransfer");
  transfer.isMatched = true;
  return { ...event, log: transfer.log };
}

/**
 * The Transfer of a depository event: the nearest one before it with the same token and amount, otherwise the
 * nearest of the same token that moved more (the token kept a fee).
 *
 * Nearest, because the event immediately follows its Transfer, and earlier Transfers may be direct ones. A
 * Transfer that moved less proves less than the event claims, so it never matches.
 */
function transferBehind(
  token: Address,
  amount: bigint,
  transfers: readonly Transfer[],
): Transfer | undefined {
  const free = transfers.filter(({ log, isMatched }) => !isMatched && log.address === token);
  const nearest = free.at(-1);
  const exact = free.findLast((transfer) => transfer.amount === amount);
  return exact ?? (nearest !== undefined && nearest.amount > amount ? nearest : undefined);
}

/**
 * The id of a direct transfer: the 32 bytes after the arguments of the top-level `transfer` or `transferFrom`
 * of this token, if these arguments match the Transfer event.
 *
 * Bytes that start with 16 zero bytes are a wallet's padding, not an id.
 */
function idAfterCalldata(
  depository: Address,
  token: Address,
  from: Address,
  amount: bigint,
  transaction: TransactionFact,
): Hex | undefined {
  const { input } = transaction;
  if (transaction.to !== token || input.length % 2 !== 0) return undefined;
  const selector = input.slice(0, 10);
  const argumentWords =
    selector === TRANSFER_SELECTOR ? 2 : selector === TRANSFER_FROM_SELECTOR ? 3 : undefined;
  if (argumentWords === undefined || input.length < 10 + 64 * (argumentWords + 1)) return undefined;
  const word = (index: number): bigint => BigInt(`0x${input.slice(10 + 64 * index, 74 + 64 * index)}`);
  const payer = argumentWords === 3 ? addressOfWord(word(0)) : transaction.from;
  const recipient = addressOfWord(word(argumentWords - 2));
  if (payer !== from || recipient !== depository || word(argumentWords - 1) !== amount) return undefined;
  const id = word(argumentWords);
  return id >> 128n === 0n ? undefined : idOf(id);
}

const TRANSFER_SELECTOR = "0xa9059cbb";
const TRANSFER_FROM_SELECTOR = "0x23b872dd";

function inChainOrder(a: LogFact, b: LogFact): number {
  if (a.blockNumber !== b.blockNumber) return a.blockNumber < b.blockNumber ? -1 : 1;
  return a.logIndex - b.logIndex;
}

/** The 32-byte words of the data; empty if its length is not a multiple of 32. */
function splitWords(data: Hex): bigint[] {
  if ((data.length - 2) % 64 !== 0) return [];
  const words: bigint[] = [];
  for (let offset = 2; offset < data.length; offset += 64)
    words.push(BigInt(`0x${data.slice(offset, offset + 64)}`));
  return words;
}

/** An address in a word; undefined when the 12 bytes before it are not zero. */
function addressOfWord(word: bigint | undefined): Address | undefined {
  if (word === undefined || word >> 160n !== 0n) return undefined;
  return `0x${word.toString(16).padStart(40, "0")}`;
}

function addressIn(topic: Hex | undefined): Address | undefined {
  return topic === undefined ? undefined : addressOfWord(BigInt(topic));
}

function idOf(word: bigint | undefined): Hex | undefined {
  return word === undefined || word === 0n ? undefined : `0x${word.toString(16).padStart(64, "0")}`;
}

/**
 * `address` and `topics` of the `eth_getLogs` requests that find every {@link isCandidate} of the
 * depositories.
 */
export function depositFilters(
  depositories: readonly [Address, ...Address[]],
  tokens: DepositQuestion["tokens"],
): object[] {
  const events = { address: depositories, topics: [[NATIVE_DEPOSIT_TOPIC, ERC20_DEPOSIT_TOPIC]] };
  const topics = [TRANSFER_TOPIC, null, depositories.map(addressTopic)];
  if (tokens === undefined) return [events, { topics }];
  // An empty list of addresses means "any" to nodes.
  return tokens.size === 0 ? [events] : [events, { address: [...tokens], topics }];
}

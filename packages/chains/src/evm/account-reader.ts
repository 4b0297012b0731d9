import { NATIVE_CURRENCY, type Address } from "@causeway/domain";
import { bytesOf, toQuantity, type AccountState } from "@causeway/families/evm";
import {
  allowanceCall,
  balanceCall,
  decodeAggregate3,
  encodeAggregate3,
  nativeBalanceCall,
  uintAnswer,
  type SubCall,
} from "./multicall.ts";
import { isUnknownBlock } from "./rpc-errors.ts";
import { inconsistent, NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/** Access to the newest block: `freshHead` queries the node, `knownHead` returns the last known one. */
export interface HeadKnowledge {
  readonly knownHead: () => { readonly number: bigint; readonly hash: string } | undefined;
  readonly freshHead: () => Promise<{ readonly number: bigint; readonly hash: string }>;
}

export interface AccountReaderOptions {
  readonly multicall3: Address;
  /** Maximum cached answers; older ones are dropped first. Default: 10,000. */
  readonly maxCached?: number;
  /** Maximum accounts per `eth_call`. Default: 200. */
  readonly maxPerCall?: number;
}

export interface AccountReader {
  /**
   * Balance of `account` in `currency` and its allowance toward `spender`, both at one block.
   *
   * @throws RpcFault also if the token does not return a number
   */
  state(account: Address, currency: Address, spender: Address): Promise<AccountState>;
  /** Balances in several currencies, all at the node's current latest block; never cached. */
  balances(
    account: Address,
    currencies: readonly Address[],
  ): Promise<{ blockNumber: bigint; balances: Map<Address, bigint> }>;
}

const UNLIMITED = 2n ** 256n - 1n;

interface Question {
  readonly account: Address;
  readonly currency: Address;
  /** Undefined: only the balance is requested. */
  readonly spender: Address | undefined;
}

interface Waiting extends Question {
  resolve(state: AccountState): void;
  reject(error: unknown): void;
}

/**
 * Collects the questions of one event-loop tick into one multicall, and caches each answer until another head
 * is known.
 *
 * The read is pinned to a block number, so that all answers are consistent and reported for the right block.
 * (Multicall3's own `getBlockNumber` returns another chain's number on some rollups.)
 */
export function createAccountReader(
  transport: RpcTransport,
  heads: HeadKnowledge,
  options: AccountReaderOptions,
): AccountReader {
  const maxCached = options.maxCached ?? 10_000;
  const maxPerCall = options.maxPerCall ?? 200;
  const cache = new Map<string, Promise<AccountState>>();
  let cachedForHash: string | undefined;
  let waiting: Waiting[] = [];

  const flush = (): void => {
    const questions = waiting;
    waiting = [];
    const answerPart = async (part: readonly Question[]): Promise<(AccountState | Error)[]> =>
      await answerAll(part, heads.knownHead() ?? (await heads.freshHead()));
    for (let start = 0; start < questions.length; start += maxPerCall) {
      const part = questions.slice(start, start + maxPerCall);
      answerPart(part).then(
        (states) => part.forEach((question, index) => settle(question, states[index])),
        (error: unknown) => part.forEach((question) => question.reject(error)),
      );
    }
  };

  const settle = (question: Waiting, state: AccountState | Error | undefined): void => {
    if (state === undefined || state instanceof Error) question.reject(state);
    else question.resolve(state);
  };

  const enqueue = async (question: Question): Promise<AccountState> =>
    await new Promise((resolve, reject) => {
      waiting.push({ ...question, resolve, reject });
      if (waiting.length === 1) setImmediate(flush);
    });

  /** The answer or error of each question: a bad token affects only its own answers. */
  const answerAll = async (
    questions: readonly Question[],
    head: { readonly number: bigint },
  ): Promise<(AccountState | Error)[]> => {
    try {
      return await answerAt(head.number, questions);
    } catch (error) {
      if (!(error instanceof NodeRefusal) || !isUnknownBlock(error)) throw error;
      // Behind a load balancer the notification may be ahead of the node that answers.
      return await answerAt((await heads.freshHead()).number, questions);
    }
  };

  const answerAt = async (
    blockNumber: bigint,
    questions: readonly Question[],
  ): Promise<(AccountState | Error)[]> => {
    const { calls, read } = planOf(options.multicall3, questions);
    const method = "eth_call";
    const call = { to: options.multicall3, data: encodeAggregate3(calls) };
    const answer = bytesOf(await transport.request(method, [call, toQuantity(blockNumber)]), method);
    if (answer === "0x")
      throw inconsistent(method, "contracts.multicall3: no contract at the configured address");
    return read(decodeAggregate3(answer, calls.length), blockNumber);
  };

  return {
    state: async (account, currency, spender) => {
      const head = heads.knownHead();
      // Without a known head, it is unknown when an answer becomes stale.
      if (head === undefined) return await enqueue({ account, currency, spender });
      if (head.hash !== cachedForHash) {
        cache.clear();
        cachedForHash = head.hash;
      }
      const key = `${account}${currency}${spender}`;
      const cached = cache.get(key);
      if (cached !== undefined) return await cached;
      const answer = enqueue({ account, currency, spender });
      cacheBounded(cache, key, answer, maxCached);
      return await answer;
    },
    balances: async (account, currencies) => {
      const head = await heads.freshHead();
      const uniqueCurrencies = [...new Set(currencies)];
      const states = await answerAll(
        uniqueCurrencies.map((currency) => ({ account, currency, spender: undefined })),
        head,
      );
      const balances = new Map<Address, bigint>();
      let blockNumber = head.number;
      for (const [index, currency] of uniqueCurrencies.entries()) {
        const state = states[index];
        if (state === undefined)
          throw inconsistent("eth_call", `the response lacks the balance of ${currency}`);
        if (state instanceof Error) throw state;
        blockNumber = state.blockNumber;
        balances.set(currency, state.balance);
      }
      return { blockNumber, balances };
    },
  };
}

function cacheBounded(
  cache: Map<string, Promise<AccountState>>,
  key: string,
  answer: Promise<AccountState>,
  maxCached: number,
): void {
  cache.set(key, answer);
  for (const oldest of cache.keys()) {
    if (cache.size <= maxCached) break;
    cache.delete(oldest);
  }
  // A fault is not an answer: the next question must query again.
  answer.catch(() => {
    if (cache.get(key) === answer) cache.delete(key);
  });
}

interface Plan {
  readonly calls: readonly SubCall[];
  readonly read: (
    answers: readonly (`0x${string}` | undefined)[],
    blockNumber: bigint,
  ) => (AccountState | Error)[];
}

function planOf(multicall3: Address, questions: readonly Question[]): Plan {
  const calls: SubCall[] = [];
  const callIndexes = questions.map(({ account, currency, spender }) => {
    const isNative = currency === NATIVE_CURRENCY;
    const balanceIndex =
      calls.push(isNative ? nativeBalanceCall(multicall3, account) : balanceCall(currency, account)) - 1;
    const needsAllowance = !isNative && spender !== undefined;
    const allowanceIndex = needsAllowance
      ? calls.push(allowanceCall(currency, account, spender)) - 1
      : undefined;
    return { currency, balanceAt: balanceIndex, allowanceAt: allowanceIndex };
  });
  return {
    calls,
    read: (answers, blockNumber) =>
      callIndexes.map(({ currency, balanceAt, allowanceAt }) => {
        try {
          const balance = uintAnswer(answers[balanceAt], `balance of ${currency}`);
          const allowance =
            allowanceAt === undefined
              ? UNLIMITED
              : uintAnswer(answers[allowanceAt], `allowance of ${currency}`);
          return { blockNumber, balance, allowance };
        } catch (error) {
          if (error instanceof Error) return error;
          throw error;
        }
      }),
  };
}

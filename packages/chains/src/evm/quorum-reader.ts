import type {
  BlockRef,
  ChainReader,
  GasPrices,
  ReceiptFact,
  TransactionFact,
  TransactionState,
} from "@causeway/families/evm";
import { inconsistent } from "@causeway/families";
import { agreedOn, queryAll, reachedBy, type Answer, type Electorate } from "../nodes/query-all.ts";
import { exactText } from "../nodes/exact-text.ts";
import { createUnconfirmedClaims } from "../nodes/unconfirmed-claims.ts";

/** One endpoint's own reader. */
export interface ReadingEndpoint {
  readonly reader: ChainReader;
}

/**
 * A count that exceeds the quorum's by more than this is a faulty answer: no account sends that many
 * transactions while endpoints lag behind each other.
 */
const MAX_NONCE_LEAD = 10_000;

interface AgreeOptions {
  /** Whether differences are reported. Endpoints differ about blocks after each reorg. Default true. */
  readonly isReported?: boolean;
  /** True: a quorum decides that something is absent, even if another endpoint shows it. Default false. */
  readonly isAbsentByQuorum?: boolean;
}

/**
 * Reads that decide about money require a quorum of endpoints: blocks, deposits, top-ups, receipts,
 * transactions, nonces and whether an account has code. Gas prices are the lower median of all endpoints.
 * Everything else is read by `ordinary`.
 *
 * A transaction is not absent while any endpoint shows it, because it may be a payment that only that
 * endpoint has seen.
 * @param now ms
 */
export function quorumReader<E extends ReadingEndpoint>(
  electorate: Electorate<E>,
  ordinary: ChainReader,
  now: () => number = Date.now,
): ChainReader {
  const { quorum } = electorate;
  const claims = createUnconfirmedClaims<E>(now);

  /** The value on which a quorum agrees. Undefined means that something is absent. */
  const agree = async <T>(
    question: string,
    read: (reader: ChainReader) => Promise<T>,
    { isReported = true, isAbsentByQuorum = false }: AgreeOptions = {},
  ): Promise<T> => {
    const textOf = (value: T): string | undefined => (value === undefined ? undefined : exactText(value));
    return await queryAll<E, T, T>(electorate, {
      question,
      read: async ({ reader }) => await read(reader),
      decide: (answers, isComplete) => {
        const value = agreedOn(answers, quorum, textOf);
        if (value !== undefined) return { value };
        const absent = answers.filter((answer) => answer.value === undefined);
        const needed = isAbsentByQuorum ? quorum : Math.max(quorum, answers.length);
        return isComplete && absent.length >= needed ? { value: undefined as T } : undefined;
      },
      ...(isReported && { textOf }),
    });
  };

  const notReported = { isReported: false };
  const block = async (number: bigint): Promise<BlockRef | undefined> =>
    await agree("eth_getBlockByNumber", async (reader) => await reader.block(number), notReported);

  return {
    ...ordinary,
    head: async () => {
      const question = "eth_getBlockByNumber";
      const number = await queryAll<E, BlockRef, bigint>(electorate, {
        question,
        read: async ({ reader }) => await reader.head(),
        decide: (answers, isComplete) => {
          if (quorum === 1 && !isComplete) return undefined;
          const reached = reachedBy(
            quorum,
            answers.map(({ value }) => value.number),
          );
          return reached === undefined ? undefined : { value: reached };
        },
      });
      const head = await block(number);
      if (head === undefined) throw inconsistent(question, `block ${number} is missing`);
      return head;
    },
    block,
    blockByHash: async (hash) =>
      await agree("eth_getBlockByHash", async (reader) => await reader.blockByHash(hash), notReported),
    depositsIn: async (range) => await agree("deposits", async (reader) => await reader.depositsIn(range)),
    topUpsIn: async (solver, blocks) =>
      await agree("top-ups", async (reader) => await reader.topUpsIn(solver, blocks)),
    tokenTopUpsIn: async (solver, range) =>
      await agree("top-ups", async (reader) => await reader.tokenTopUpsIn(solver, range)),
    accountBalances: async (...args) =>
      await agree("balances", async (reader) => await reader.accountBalances(...args)),
    paymentsTo: async (...args) =>
      await agree("payments", async (reader) => await reader.paymentsTo(...args)),
    receipt: async (hash): Promise<ReceiptFact | undefined> =>
      await agree("eth_getTransactionReceipt", async (reader) => await reader.receipt(hash), {
        // A missing receipt has no consequence, but a receipt invented by one endpoint must not block a lane.
        isAbsentByQuorum: true,
      }),
    transactionByNonce: async (...args) =>
      await agree("nonce user", async (reader) => await reader.transactionByNonce(...args)),
    transaction: async (hash) =>
      await queryAll<E, TransactionState, TransactionState>(electorate, {
        question: "eth_getTransactionByHash",
        read: async ({ reader }) => await reader.transaction(hash),
        decide: (answers, isComplete) => decideTransaction(answers, quorum, isComplete),
        textOf: minedText,
      }),
    nonce: async (account, index, count = "agreed") =>
      await queryAll<E, number, number>(electorate, {
        question: "eth_getTransactionCount",
        read: async ({ reader }) => await reader.nonce(account, index),
        decide: (answers, isComplete) => {
          const counts = answers.map(({ value }) => value).toSorted((a, b) => b - a);
          const agreed = counts[quorum - 1];
          if (agreed === undefined) return undefined;
          if (count === "agreed") return isComplete || counts[0] === agreed ? { value: agreed } : undefined;
          if (!isComplete) return undefined;
          const unconfirmed = claims.unconfirmed(`${account} ${index}`, agreed, answers);
          if (unconfirmed.length > 0) electorate.onDisagreement("eth_getTransactionCount", unconfirmed);
          const highest = counts.find((candidate) => candidate <= agreed + MAX_NONCE_LEAD);
          return highest === undefined ? undefined : { value: highest };
        },
      }),
    hasCode: async (account) => await agree("eth_getCode", async (reader) => await reader.hasCode(account)),
    // One answer is enough: a payment must not wait because a quorum has no gas prices.
    gasPrices: async () =>
      await queryAll<E, GasPrices, GasPrices>(
        { ...electorate, quorum: 1 },
        {
          question: "gas prices",
          read: async ({ reader }) => await reader.gasPrices(),
          decide: (answers, isComplete) =>
            isComplete ? { value: lowerMedian(answers.map(({ value }) => value)) } : undefined,
        },
      ),
  };
}

/**
 * The lower median of each field. The priority fee stays at or below the maximum fee, as in every answer.
 */
function lowerMedian(prices: readonly GasPrices[]): GasPrices {
  const medianOf = (field: keyof GasPrices): bigint => {
    const values = prices.map((price) => price[field]).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const median = values[Math.floor((values.length - 1) / 2)];
    if (median === undefined) throw new RangeError("invariant violated: no gas prices");
    return median;
  };
  return {
    baseFeePerGas: medianOf("baseFeePerGas"),
    maxPriorityFeePerGas: medianOf("maxPriorityFeePerGas"),
    maxFeePerGas: medianOf("maxFeePerGas"),
  };
}

/**
 * Mined: a quorum returns the same receipt. Pending: a quorum knows the transaction, mined or not. Absent: a
 * quorum answered, and no endpoint knows it.
 */
function decideTransaction<E>(
  answers: readonly Answer<E, TransactionState>[],
  quorum: number,
  isComplete: boolean,
): { readonly value: TransactionState } | undefined {
  const mined = agreedOn(answers, quorum, minedText);
  if (mined !== undefined) return { value: mined };
  if (!isComplete) return undefined;
  if (answers.every(({ value }) => value.kind === "absent")) return { value: { kind: "absent" } };
  const seen = agreedOn(answers, quorum, knownText);
  return seen === undefined || seen.kind === "absent"
    ? undefined
    : { value: { kind: "pending", transaction: seen.transaction } };
}

function minedText(state: TransactionState): string | undefined {
  return state.kind === "mined" ? `${knownText(state)} ${exactText(state.receipt)}` : undefined;
}

function knownText(state: TransactionState): string | undefined {
  return state.kind === "absent" ? undefined : exactText(contentOf(state.transaction));
}

/** Not every node returns the fee and gas limits. */
function contentOf({ hash, from, to, input, value, nonce }: TransactionFact): object {
  return { hash, from, to, input, value, nonce };
}

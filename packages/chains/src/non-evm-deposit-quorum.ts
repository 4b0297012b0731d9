import type { TxHash } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import { agreedOn, queryAll, type Answer } from "./nodes/query-all.ts";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type {
  NonEvmArrivals,
  NonEvmConnection,
  NonEvmTransaction,
  ShownTransaction,
} from "./non-evm-connection.ts";
import { electorateOf, type OutcomeQuorum } from "./non-evm-outcomes.ts";

export const QUESTION = "deposits";
/** How long a deposit waits before it is a fault, ms. Endpoints lag behind each other for a few seconds. */
export const LATE_MS = 30_000;
/** Pauses between two requests about the same waiting deposit, ms. They grow with its wait. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** Maximum number of waiting deposits to remember. */
const MAX_CLAIMS = 10_000;

/** All deposits of one transaction. */
export type TransactionDeposits = readonly [DepositFact, ...DepositFact[]];

/** A transaction that one endpoint shows, and no quorum yet. */
interface Claim {
  readonly sinceMs: number;
  /** When the other endpoints are queried again. */
  dueMs: number;
  reportedAtMs: number;
  /** A quorum of other endpoints does not have these deposits. */
  isRefuted: boolean;
}

/** What a quorum shows of a transaction, or the claim that waits for one. */
export type Verdict =
  | { readonly deposits: readonly DepositFact[] }
  | { readonly waiting: readonly DepositFact[]; readonly claim: Claim };

/** What a quorum of endpoints shows of single transactions. */
export interface DepositQuorum {
  /** @param index the endpoint that shows these deposits, all of one transaction */
  confirm(index: number, deposits: TransactionDeposits, upTo: NonEvmArrivals["upTo"]): Promise<Verdict>;
  /** @throws RpcFault if too few endpoints answer */
  transaction(id: TxHash): Promise<NonEvmTransaction>;
  /** Call this when the cursor moves past everything that was confirmed. */
  forgetConfirmed(): void;
}

export function createDepositQuorum(
  connections: readonly Pick<NonEvmConnection, "arrivalsOf">[],
  order: EndpointOrder,
  { quorum, onDisagreement, now }: OutcomeQuorum,
): DepositQuorum {
  const electorate = electorateOf(connections, order, { quorum, onDisagreement });
  const claims = new Map<string, Claim>();
  /** Deposits that a quorum showed since the cursor, by the claim of the endpoint. */
  const settled = new Map<string, readonly DepositFact[]>();

  const transactionAt = async (
    index: number,
    id: TxHash,
    shown?: ShownTransaction,
  ): Promise<NonEvmTransaction> => {
    const connection = connections[index];
    if (connection === undefined) throw new RangeError(`invariant violated: no endpoint ${index}`);
    try {
      return await connection.arrivalsOf(id, shown);
    } catch (fault) {
      order.noteFault(index, fault);
      throw fault;
    }
  };

  const claimOf = (text: string): Claim => {
    const existing = claims.get(text);
    if (existing !== undefined) return existing;
    const [oldest] = claims.keys();
    if (claims.size >= MAX_CLAIMS && oldest !== undefined) claims.delete(oldest);
    const claim = {
      sinceMs: now(),
      dueMs: now(),
      reportedAtMs: Number.NEGATIVE_INFINITY,
      isRefuted: false,
    };
    claims.set(text, claim);
    return claim;
  };

  /** @param deposits all of one transaction */
  async function confirm(
    lead: number,
    deposits: TransactionDeposits,
    upTo: NonEvmArrivals["upTo"],
  ): Promise<Verdict> {
    const text = depositsKey(deposits);
    const settledDeposits = settled.get(text);
    if (settledDeposits !== undefined) return { deposits: settledDeposits };
    const claim = claimOf(text);
    if (now() < claim.dueMs) return { waiting: deposits, claim };
    const [{ txHash, blockNumber: number, timestamp = upTo.timestamp }] = deposits;
    const answers: Answer<number, NonEvmTransaction>[] = [];
    try {
      const agreed = await queryAll<number, NonEvmTransaction, readonly DepositFact[]>(electorate, {
        question: QUESTION,
        read: async (endpoint) => {
          const value: NonEvmTransaction =
            endpoint === lead
              ? { kind: "final", deposits, upTo }
              : await transactionAt(endpoint, txHash, { number, timestamp });
          answers.push({ endpoint, value });
          return value;
        },
        decide: (answersSoFar) => {
          const transaction = agreedOn(answersSoFar, quorum, finalText);
          return transaction?.kind === "final" ? { value: transaction.deposits } : undefined;
        },
        textOf: finalText,
      });
      claims.delete(text);
      settled.set(text, agreed);
      return { deposits: agreed };
    } catch (fault) {
      if (!(fault instanceof RpcFault)) throw fault;
    }
    recordAnswers(claim, text, answers);
    return { waiting: deposits, claim };
  }

  function recordAnswers(
    claim: Claim,
    text: string,
    answers: readonly Answer<number, NonEvmTransaction>[],
  ): void {
    const waitedMs = now() - claim.sinceMs;
    claim.dueMs = now() + Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, waitedMs / 2));
    const others = answers.filter(({ value }) => finalText(value) !== text);
    claim.isRefuted = others.filter(({ value }) => value.kind !== "notFinal").length >= quorum;
    if (others.length === 0 || waitedMs < LATE_MS || now() - claim.reportedAtMs < LATE_MS) return;
    claim.reportedAtMs = now();
    // Without a quorum, either side may be wrong.
    const contradicting = answers.filter(({ value }) =>
      claim.isRefuted ? finalText(value) === text : value.kind !== "notFinal",
    );
    onDisagreement(
      QUESTION,
      contradicting.map(({ endpoint }) => endpoint).toSorted((a, b) => a - b),
    );
  }

  return {
    confirm,
    transaction: async (id) =>
      await queryAll<number, NonEvmTransaction, NonEvmTransaction>(electorate, {
        question: QUESTION,
        read: async (index) => await transactionAt(index, id),
        decide: (answers, isComplete) => {
          const agreed = agreedOn(answers, quorum, finalText);
          if (agreed !== undefined) return { value: agreed };
          if (!isComplete) return undefined;
          return { value: { kind: answers.some(({ value }) => isShown(value)) ? "notFinal" : "absent" } };
        },
        textOf: finalText,
      }),
    forgetConfirmed: () => settled.clear(),
  };
}

function isShown({ kind }: NonEvmTransaction): boolean {
  return kind !== "absent";
}

/** Only final transactions contradict each other: any other answer may change. */
function finalText(transaction: NonEvmTransaction): string | undefined {
  return transaction.kind === "final" ? depositsKey(transaction.deposits) : undefined;
}

/** A key that is equal for equal deposits. With a nonce, the id and the depositor come from the hub. */
export function depositsKey(deposits: readonly DepositFact[]): string {
  return deposits
    .map((deposit) => {
      const { txHash, ordinal, logIndex, blockNumber, blockHash, timestamp, sender } = deposit;
      const { currency, amount, depository, nonce, id, depositor } = deposit;
      const order = nonce === undefined ? [id, depositor] : [nonce];
      const location = [txHash, ordinal, logIndex, blockNumber, blockHash, timestamp];
      return [...location, sender, currency, amount, depository, ...order].join(" ");
    })
    .join("\n");
}

export function byTransaction(deposits: readonly DepositFact[]): readonly TransactionDeposits[] {
  const groups = new Map<string, [DepositFact, ...DepositFact[]]>();
  for (const deposit of deposits) {
    const group = groups.get(deposit.txHash);
    if (group === undefined) groups.set(deposit.txHash, [deposit]);
    else group.push(deposit);
  }
  return [...groups.values()];
}

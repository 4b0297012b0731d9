import type { AttestationChain, LighterAttestationFacts } from "@causeway/domain";
import type { Evidence, EvidenceSource, TransactionDeposits, WithdrawalAnswer } from "@causeway/families";
import type { ObserveCall } from "../nodes/rpc-call.ts";
import { quorumEvidence, type Disagreement } from "../nodes/rpc-quorum.ts";
import {
  depositsIn,
  isHash,
  judgePayments,
  outcomeOf,
  readWithdrawal,
  RETRY_AFTER_SECONDS,
  type ExchangeTransaction,
} from "@causeway/families/lighter";
import { createExchangeRpc, type ExchangeRpc } from "./rpc.ts";
import { findTransfers, type SearchBounds } from "./withdrawal-search.ts";

export interface LighterEvidenceOptions {
  /** What is to be told of each call to a node of a chain; the endpoints of one chain are not told apart. */
  readonly observeCalls?: (chain: string) => ObserveCall;
  /** Told when endpoints contradict each other about something final. Never holds a URL. */
  readonly onDisagreement?: (disagreement: Disagreement) => void;
  /** Milliseconds for each answer of an endpoint. Default 10 000. */
  readonly deadlineMs?: number;
  /** Default 10 pages, 8 questions at once. */
  readonly search?: SearchBounds;
}

/**
 * What an oracle asks of the order-book exchange; opens nothing until the first question. Each endpoint is
 * judged by itself; with several, `rpcQuorum` of them must come to the same. All share one explorer: it only
 * says where to look.
 *
 * @throws RangeError when the chain is none of this family, or has fewer endpoints than must agree
 */
export function lighterEvidence(
  chain: AttestationChain,
  options: LighterEvidenceOptions = {},
): EvidenceSource {
  const { lighter } = chain;
  if (lighter === undefined) throw new RangeError(`invariant violated: chain ${chain.name} is not Lighter`);
  const onCall = options.observeCalls?.(chain.name);
  const sources = chain.rpcUrls.map((url) => {
    const rpc = createExchangeRpc({
      url,
      explorerUrl: lighter.explorerApiUrl,
      contract: lighter.exchangeContract,
      ...(onCall !== undefined && { onCall }),
      ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
    });
    return evidenceOfEndpoint(chain, lighter, rpc, options.search);
  });
  return quorumEvidence(chain, sources, {
    agreeing: chain.rpcQuorum,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    onDisagreement: options.onDisagreement ?? (() => undefined),
  });
}

/** What one endpoint says. */
export function evidenceOfEndpoint(
  chain: AttestationChain,
  { exchangeChainId }: LighterAttestationFacts,
  rpc: ExchangeRpc,
  search: SearchBounds = { pages: 10, atOnce: 8 },
): EvidenceSource {
  const { depository, additionalDepositories } = chain;
  const depositories =
    depository === undefined ? additionalDepositories : [depository, ...additionalDepositories];

  const settled = async (transactionId: string): Promise<Evidence<ExchangeTransaction>> => {
    if (!isHash(transactionId)) return NOT_A_HASH;
    const transaction = await rpc.transaction(transactionId);
    if (transaction === undefined) return { kind: "absent" };
    switch (transaction.standing) {
      case "final":
        return { kind: "final", value: transaction };
      case "failed":
        return { kind: "refuted", reason: "Lighter refused the transaction" };
      case "notFinal": {
        const reason = "Lighter has not settled the transaction yet";
        return { kind: "notFinal", reason, retryAfterSeconds: RETRY_AFTER_SECONDS };
      }
      default:
        transaction.standing satisfies never;
        throw new TypeError("invariant violated: unknown settlement state");
    }
  };

  return {
    chain,
    deposits: async (transactionId): Promise<Evidence<TransactionDeposits>> => {
      if (depository === undefined) return noDepository(chain);
      const found = await settled(transactionId);
      if (found.kind !== "final") return found;
      return { kind: "final", value: depositsIn([depository, ...additionalDepositories], found.value) };
    },

    payments: async (transactionId, question) => {
      const found = await settled(transactionId);
      if (found.kind !== "final") return found;
      const judgement = judgePayments(depositories, found.value, question);
      if ("refusal" in judgement) return { kind: "refuted", reason: judgement.refusal };
      return { kind: "final", value: judgement };
    },

    withdrawal: async (payload, transactionId): Promise<Evidence<WithdrawalAnswer>> => {
      if (depository === undefined) return noDepository(chain);
      const payment = readWithdrawal(payload, { depositories, exchangeChainId });
      if ("refusal" in payment) return { kind: "refuted", reason: payment.refusal };
      const hint = transactionId !== undefined && isHash(transactionId) ? transactionId : undefined;
      const look = async (): Promise<WithdrawalAnswer["status"]> =>
        outcomeOf(payment, await findTransfers(rpc, payment, hint, search), exchangeChainId);
      const { id, recipient, currency, amount } = payment;
      const seen = await look();
      // What failed may have been read before its block was taken back, and what settled after: seen again,
      // it is seen after.
      const status = seen === "expired" ? await look() : seen;
      return {
        kind: "final",
        value: { withdrawalId: id, depository: payment.depository, status, recipient, currency, amount },
      };
    },

    close: async () => await rpc.close(),
  };
}

const NOT_A_HASH: Evidence<never> = {
  kind: "refuted",
  reason: "transaction id must be 80 lowercase hex digits",
};

function noDepository(chain: AttestationChain): Evidence<never> {
  return { kind: "refuted", reason: `chain ${chain.name} has no depository` };
}

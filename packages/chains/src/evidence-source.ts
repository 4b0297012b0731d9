import type { FamilyId, Hex } from "@causeway/domain";
import {
  factsOf,
  isTransactionId,
  refuted,
  transactionIdFormat,
  type ConfiguredChain,
  type Evidence,
  type EvidenceSource,
  type FactsOf,
  type Family,
  type PaymentQuestion,
  type WithdrawalAnswer,
} from "@causeway/families";
import type { ObserveCall } from "./nodes/rpc-call.ts";
import { quorumEvidence, type Disagreement } from "./nodes/rpc-quorum.ts";

/** Options that all evidence sources have. */

export interface SourceOptions {
  /** Observes each call to a node of a chain. Endpoints of one chain are not distinguished. */
  readonly observeCalls?: (chain: string) => ObserveCall;
  /** Called if endpoints contradict each other about something final. Contains no URL. */
  readonly onDisagreement?: (disagreement: Disagreement) => void;
}

/** Reads one endpoint of a family. Rejects with RpcFault if it does not answer. */
export interface Endpoint<Rules, Transaction> {
  /**
   * A final, successful transaction, with everything that the family needs to judge it.
   * @param id in canonical format
   * @param question undefined: the transaction is judged for deposits
   */
  transaction(
    id: string,
    rules: Rules,
    question: PaymentQuestion | undefined,
  ): Promise<Evidence<Transaction>>;
  /** @param hint id of a transaction that may have executed the payload, in canonical format */
  withdrawal(payload: Hex, rules: Rules, hint: string | undefined): Promise<Evidence<WithdrawalAnswer>>;
  readonly newestFinal?: EvidenceSource["newestFinal"];
  close(): Promise<void>;
}

/** Options of an endpoint's connection. */
export interface Connection<F extends FamilyId> {
  readonly url: string;
  /** The endpoint's index in the configuration. */
  readonly index: number;
  readonly facts: FactsOf<F>;
  readonly observed: { readonly onCall?: ObserveCall };
}

/**
 * Evidence of one chain. Connects at the first question. Each endpoint is judged by itself; with several,
 * `rpcQuorum` of them must agree.
 * @throws RangeError if the chain belongs to another family, or has fewer endpoints than must agree
 */
export function chainEvidence<F extends FamilyId, Rules, Transaction>(
  chain: ConfiguredChain,
  family: Family<F, FactsOf<F>, Rules, Transaction>,
  { observeCalls, onDisagreement = () => undefined }: SourceOptions,
  connect: (connection: Connection<F>) => Endpoint<Rules, Transaction>,
): EvidenceSource {
  const facts = requireFacts(chain, family.id);
  const onCall = observeCalls?.(chain.name);
  const observed = onCall === undefined ? {} : { onCall };
  const sources = chain.rpcUrls.map((url, index) =>
    endpointEvidence(chain, family, connect({ url, index, facts, observed })),
  );
  const retryAfterSeconds = family.retryAfterSeconds(facts);
  return quorumEvidence(chain, sources, { quorum: chain.rpcQuorum, retryAfterSeconds, onDisagreement });
}

/** Evidence of one endpoint. */
export function endpointEvidence<F extends FamilyId, Rules, Transaction>(
  chain: ConfiguredChain,
  family: Family<F, FactsOf<F>, Rules, Transaction>,
  endpoint: Endpoint<Rules, Transaction>,
): EvidenceSource {
  const facts = requireFacts(chain, family.id);
  let cachedRules: Promise<Rules> | undefined;
  const readRules = async (): Promise<Rules> =>
    await (cachedRules ??= Promise.resolve(family.rules(chain, facts)));

  const judge = async <T>(
    id: string,
    question: PaymentQuestion | undefined,
    judgeTransaction: (rules: Rules, transaction: Transaction) => Evidence<T> | Promise<Evidence<T>>,
  ): Promise<Evidence<T>> => {
    // Refuse an id in another format: its deposits would be minted twice, under two keys.
    if (!isTransactionId(chain.vmType, id))
      return refuted(`transaction id must be ${transactionIdFormat(chain.vmType)}`);
    const rules = await readRules();
    const evidence = await endpoint.transaction(id, rules, question);
    return evidence.kind === "final" ? await judgeTransaction(rules, evidence.value) : evidence;
  };

  const hasDepository = chain.depository !== undefined;
  const noDepository = refuted(`chain ${chain.name} has no depository`);
  return {
    chain,
    deposits: async (id) => (hasDepository ? await judge(id, undefined, family.deposits) : noDepository),
    payments: async (id, question) =>
      await judge(
        id,
        question,
        async (rules, transaction) => await family.payments(rules, transaction, question),
      ),
    withdrawal: async (payload, id) => {
      if (!hasDepository) return noDepository;
      const hint = id !== undefined && isTransactionId(chain.vmType, id) ? id : undefined;
      return await endpoint.withdrawal(payload, await readRules(), hint);
    },
    newestFinal: endpoint.newestFinal,
    close: async () => await endpoint.close(),
  };
}

function requireFacts<F extends FamilyId>(chain: ConfiguredChain, id: F): FactsOf<F> {
  const facts = factsOf(chain, id);
  if (facts !== undefined) return facts;
  throw new RangeError(`invariant violated: chain ${chain.name} has no facts of ${id}`);
}

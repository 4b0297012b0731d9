import { type AttestationChain, type BitcoinAttestationFacts, nativeCurrency } from "@causeway/domain";
import {
  inconsistent,
  type Evidence,
  type EvidenceSource,
  type PaymentAnswer,
  type TransactionDeposits,
  type WithdrawalAnswer,
} from "@causeway/families";
import { quorumEvidence, type Disagreement } from "../nodes/rpc-quorum.ts";
import {
  createRpcTransport,
  type ObserveCall,
  type RpcTransport,
  type RpcTransportOptions,
} from "../nodes/transport.ts";
import {
  certainId,
  effectOf,
  isFor,
  isHash,
  judgeDeposit,
  judgePayments,
  meaningOf,
  pays,
  readWithdrawal,
  scriptOf,
  type BitcoinOutput,
  type WithdrawalPlan,
} from "@causeway/families/bitcoin";
import { createExplorer, type SpendHints } from "./explorer.ts";
import { createBitcoinReads, type BitcoinReads, type FinalTransaction } from "./rpc.ts";

export interface BitcoinEvidenceOptions {
  readonly rpc?: Omit<RpcTransportOptions, "url" | "onCall">;
  /** What is to be told of each call to a node of a chain. */
  readonly observeCalls?: (chain: string) => ObserveCall;
  /** Told when endpoints contradict each other about something final. Never holds a URL. */
  readonly onDisagreement?: (disagreement: Disagreement) => void;
}

/**
 * What an oracle asks of Bitcoin; opens nothing until the first question.
 *
 * Each node is judged by itself; with several, `rpcQuorum` of them must come to the same. All share the one
 * explorer, which only says where to look.
 *
 * @throws RangeError when the chain is not Bitcoin, or has fewer endpoints than must agree.
 */
export function bitcoinEvidence(
  chain: AttestationChain,
  options: BitcoinEvidenceOptions = {},
): EvidenceSource {
  const { bitcoin } = chain;
  if (bitcoin === undefined) throw new RangeError(`chain ${chain.name} is not Bitcoin`);
  const onCall = options.observeCalls?.(chain.name);
  const observed = onCall === undefined ? {} : { onCall };
  const hints = bitcoin.esploraUrl === undefined ? undefined : createExplorer(bitcoin.esploraUrl, onCall);
  const sources = chain.rpcUrls.map((url) =>
    evidenceOfNode(chain, bitcoin, createRpcTransport({ ...options.rpc, ...observed, url }), hints),
  );
  const all = quorumEvidence(chain, sources, {
    agreeing: chain.rpcQuorum,
    retryAfterSeconds: Math.max(1, Math.ceil(bitcoin.blockTimeSeconds)),
    onDisagreement: options.onDisagreement ?? (() => undefined),
  });
  return {
    ...all,
    close: async () => {
      await Promise.all([all.close(), hints?.close()]);
    },
  };
}

/** What one node says. Without hints a withdrawal that was replaced stays pending. */
export function evidenceOfNode(
  chain: AttestationChain,
  facts: BitcoinAttestationFacts,
  transport: RpcTransport,
  hints: SpendHints | undefined,
): EvidenceSource {
  const reads = createBitcoinReads(transport, facts);
  const primary = chain.depository;
  const addresses = [primary, ...chain.additionalDepositories].filter((address) => address !== undefined);
  const addressOf = new Map(addresses.map((address) => [scriptOf(address), address]));
  const depositories: ReadonlySet<string> = new Set(addressOf.keys());

  return {
    chain,
    deposits: async (transactionId): Promise<Evidence<TransactionDeposits>> => {
      if (primary === undefined) return noDepository(chain);
      if (!isHash(transactionId)) return NOT_A_TXID;
      const found = await reads.transaction(transactionId);
      if (found.kind !== "final") return found;
      const { transaction, block } = found.value;
      // Anybody's transaction may be asked about: what it spends is looked at only where that matters.
      const spent = pays(depositories, transaction) ? await spentBy(reads, found.value) : [];
      const judgement = judgeDeposit({ depositories, network: facts.network }, { transaction, spent });
      if ("refusal" in judgement) return { kind: "refuted", reason: judgement.refusal };
      const { deposit } = judgement;
      return {
        kind: "final",
        value: {
          depository: deposit === undefined ? primary : (addressOf.get(judgement.script) ?? primary),
          deposits: deposit === undefined ? [] : [deposit],
          timestamp: block.time,
          height: BigInt(block.height),
        },
      };
    },

    payments: async (transactionId, question): Promise<Evidence<PaymentAnswer>> => {
      if (!isHash(transactionId)) return NOT_A_TXID;
      const found = await reads.transaction(transactionId);
      if (found.kind !== "final") return found;
      const { transaction, block } = found.value;
      const spent = isFor(question.orderId, transaction) ? await spentBy(reads, found.value) : [];
      const judgement = judgePayments(
        { depositories },
        { transaction, spent, timestamp: block.time },
        question,
      );
      if ("refusal" in judgement) return { kind: "refuted", reason: judgement.refusal };
      return {
        kind: "final",
        value: { amounts: judgement.amounts, timestamp: block.time, height: BigInt(block.height) },
      };
    },

    withdrawal: async (payload, transactionId): Promise<Evidence<WithdrawalAnswer>> => {
      if (primary === undefined) return noDepository(chain);
      const plan = readWithdrawal(payload);
      if ("refusal" in plan) return { kind: "refuted", reason: plan.refusal };
      const spent = await reads.spentBy(plan.unsigned.inputs);
      if (spent === undefined)
        return {
          kind: "refuted",
          reason: "withdrawal spends an output unknown to the node",
          ofEndpoint: true,
        };
      const effect = effectOf(depositories, plan.unsigned, spent);
      if ("refusal" in effect) return { kind: "refuted", reason: effect.refusal };
      const named = isHash(transactionId) ? transactionId : undefined;
      return {
        kind: "final",
        value: {
          withdrawalId: plan.id,
          depository: addressOf.get(effect.depository) ?? primary,
          status: await statusOf(reads, hints, plan, spent, named),
          recipient: effect.recipient,
          currency: nativeCurrency("bitcoin-vm"),
          amount: effect.amount,
        },
      };
    },

    newestFinal: async () => {
      const { height } = await reads.newest();
      return { height: BigInt(Math.max(0, height - facts.confirmations + 1)), timestamp: undefined };
    },

    close: async () => await transport.close(),
  };
}

const NOT_A_TXID: Evidence<never> = {
  kind: "refuted",
  reason: "transaction id must be 32 bytes of lowercase hex without 0x",
};

function noDepository(chain: AttestationChain): Evidence<never> {
  return { kind: "refuted", reason: `chain ${chain.name} has no depository` };
}

/** What a final transaction spends: a node that has the one has the other. */
async function spentBy(
  reads: BitcoinReads,
  { transaction }: FinalTransaction,
): Promise<readonly BitcoinOutput[]> {
  const spent = await reads.spentBy(transaction.inputs);
  if (spent === undefined)
    throw inconsistent("getrawtransaction", "the node has a transaction but not the outputs it spends");
  return spent;
}

/** Inputs of a payload that the explorer is asked about at the same time. */
const HINTS_AT_ONCE = 8;

/**
 * What became of a payload: decided by final transactions of the node that spend its inputs. Where such a
 * transaction may be is known from the payload, from the caller and from the explorer; none of these is
 * believed.
 */
async function statusOf(
  reads: BitcoinReads,
  hints: SpendHints | undefined,
  { unsigned }: WithdrawalPlan,
  spent: readonly BitcoinOutput[],
  named: string | undefined,
): Promise<WithdrawalAnswer["status"]> {
  const seen = new Set<string>();
  let meaning: WithdrawalAnswer["status"] = "pending";
  const look = async (txid: string): Promise<Evidence<FinalTransaction>["kind"] | undefined> => {
    if (seen.has(txid)) return undefined;
    seen.add(txid);
    const settled = await reads.transaction(txid);
    if (settled.kind === "final") meaning = meaningOf(unsigned, settled.value.transaction) ?? meaning;
    return settled.kind;
  };
  const settled = (): boolean => meaning !== "pending";

  for (const txid of [certainId(unsigned, spent), named]) {
    if (txid !== undefined) await look(txid);
    if (settled()) return meaning;
  }
  if (hints === undefined) return meaning;
  for (let at = 0; at < unsigned.inputs.length; at += HINTS_AT_ONCE) {
    const some = unsigned.inputs.slice(at, at + HINTS_AT_ONCE);
    const reported = await Promise.all(some.map(async ({ txid, vout }) => await hints.spendOf(txid, vout)));
    for (const spend of reported) {
      if (spend === undefined) continue;
      const kind = await look(spend.txid);
      if (settled()) return meaning;
      // One of the two lies or is far behind: not ours to guess which.
      if (kind === "absent" && spend.isConfirmed)
        throw inconsistent(
          "outspend",
          "the explorer reports a mined transaction that the node does not know",
        );
    }
  }
  return meaning;
}

import {
  parseHex32,
  type Address,
  type AttestationChain,
  type EvmAttestationFacts,
  NATIVE_CURRENCY,
  type TxHash,
} from "@causeway/domain";
import {
  attestedDepository,
  type DepositoryReading,
  type Evidence,
  type EvidenceSource,
  type PaymentAnswer,
  type TransactionDeposits,
  type WithdrawalAnswer,
} from "@causeway/families";
import { checkedTransport } from "./connect.ts";
import {
  depositEvidenceIn,
  judgePayments,
  needsCalldata,
  readWithdrawal,
  type DepositRules,
} from "@causeway/families/evm";
import { createFinalReads, type FinalReads, type FinalTransaction } from "./final-reads.ts";
import { MAX_EVIDENCE_BYTES } from "./receipt-size.ts";
import { quorumEvidence, type Disagreement } from "../nodes/rpc-quorum.ts";
import {
  createRpcTransport,
  type ObserveCall,
  type RpcTransport,
  type RpcTransportOptions,
} from "../nodes/transport.ts";
import { proofOfExecution, readCallRequest } from "./withdrawal-reads.ts";

export interface EvmEvidenceOptions {
  readonly rpc?: Omit<RpcTransportOptions, "url" | "onCall">;
  /** What is to be told of each call to a node of a chain; the endpoints of one chain are not told apart. */
  readonly observeCalls?: (chain: string) => ObserveCall;
  /** Told when endpoints contradict each other about something final. Never holds a URL. */
  readonly onDisagreement?: (disagreement: Disagreement) => void;
  /** Most final transactions remembered per endpoint. Default 2 000. */
  readonly rememberedTransactions?: number;
  /** Milliseconds for which a final block serves for further reads of withdrawals. Default 300. */
  readonly finalBlockReuseMs?: number;
  /**
   * Blocks below the final one in which the execution of a token's withdrawal is looked for when nobody names
   * its transaction. Default 5 000.
   */
  readonly executionLookBackBlocks?: bigint;
}

/**
 * What an oracle asks of one EVM chain; opens nothing until the first question.
 *
 * Each endpoint is judged by itself; with several, `rpcQuorum` of them must come to the same.
 *
 * @throws RangeError when the chain is no EVM chain, or has fewer endpoints than must agree.
 */
export function evmEvidence(chain: AttestationChain, options: EvmEvidenceOptions = {}): EvidenceSource {
  const { evm } = chain;
  if (evm === undefined) throw new RangeError(`invariant violated: chain ${chain.name} is not an EVM chain`);
  const onCall = options.observeCalls?.(chain.name);
  const observed = onCall === undefined ? {} : { onCall };
  const sources = chain.rpcUrls.map((url) => {
    const raw = createRpcTransport({ maxAnswerBytes: MAX_EVIDENCE_BYTES, ...options.rpc, ...observed, url });
    const { transport } = checkedTransport(raw, evm.chainId);
    return evidenceOfEndpoint(chain, evm, transport, options);
  });
  return quorumEvidence(chain, sources, {
    agreeing: chain.rpcQuorum,
    retryAfterSeconds: Math.max(1, Math.ceil(evm.blockTimeSeconds)),
    onDisagreement: options.onDisagreement ?? (() => undefined),
  });
}

/** What one node says. `transport` must refuse a node of another chain. */
export function evidenceOfEndpoint(
  chain: AttestationChain,
  evm: EvmAttestationFacts,
  transport: RpcTransport,
  options: Omit<EvmEvidenceOptions, "rpc" | "onDisagreement"> = {},
): EvidenceSource {
  const reads = createFinalReads(transport, evm, {
    rememberedTransactions: options.rememberedTransactions ?? 2_000,
    finalBlockReuseMs: options.finalBlockReuseMs ?? 300,
  });
  const lookBackBlocks = options.executionLookBackBlocks ?? 5_000n;
  const depository = chain.depository as Address | undefined;
  const former = chain.additionalDepositories as readonly Address[];
  const depositories = depository === undefined ? former : [depository, ...former];

  return {
    chain,
    deposits: async (transactionId) => {
      if (depository === undefined) return noDepository(chain);
      const hash = canonical(transactionId);
      if (hash === undefined) return NOT_A_HASH;
      const settled = await succeeded(reads, hash);
      if (settled.kind !== "final") return settled;
      const { receipt, block } = settled.value;
      const rulesOf = (of: Address): DepositRules => ({ depository: of, isZksyncStack: evm.isZksyncStack });
      const transaction = depositories.some((one) => needsCalldata(rulesOf(one), receipt))
        ? await reads.content(settled.value)
        : undefined;
      const read = (of: Address): DepositoryReading => ({
        depository: of,
        deposits: depositEvidenceIn(rulesOf(of), receipt, transaction),
      });
      const attested = attestedDepository([read(depository), ...former.map(read)]);
      const value: TransactionDeposits = { ...attested, timestamp: block.timestamp };
      return { kind: "final", value };
    },

    payments: async (transactionId, question): Promise<Evidence<PaymentAnswer>> => {
      const hash = canonical(transactionId);
      if (hash === undefined) return NOT_A_HASH;
      const begun = reads.beginContent(hash);
      const settled = await succeeded(reads, hash);
      if (settled.kind !== "final") return settled;
      const { receipt, block } = settled.value;
      const transaction = await reads.content(settled.value, begun);
      const judgement = judgePayments(
        { depositories, fillContracts: evm.fillContracts, isZksyncStack: evm.isZksyncStack },
        { transaction, logs: receipt.logs, timestamp: block.timestamp },
        question,
      );
      if ("refusal" in judgement) return { kind: "refuted", reason: judgement.refusal };
      return { kind: "final", value: { amounts: judgement.amounts, timestamp: block.timestamp } };
    },

    withdrawal: async (payload, transactionId): Promise<Evidence<WithdrawalAnswer>> => {
      if (depository === undefined) return noDepository(chain);
      const payment = readWithdrawal(payload);
      if ("refusal" in payment) return { kind: "refuted", reason: payment.refusal };
      const { id, recipient, currency, amount, expiration } = payment;
      if (depositories.every((one) => one === recipient)) return TO_ITSELF;
      const paid = { withdrawalId: id, recipient, currency, amount };
      const executed = (by: Address): Evidence<WithdrawalAnswer> => ({
        kind: "final",
        value: { ...paid, depository: by, status: "executed" },
      });
      const found = await reads.block();
      if (found.kind !== "final") return found;
      const block = found.value;
      // A payload does not name its depository, so it has expired only if none of them used it.
      const used = await Promise.all(
        depositories.map(async (one) => await readCallRequest(transport, one, id, block)),
      );
      await reads.confirm(block);
      const by = depositories[used.indexOf(true)];
      if (by === undefined) {
        const status = block.timestamp > expiration ? "expired" : "pending";
        const others = former.length === 0 ? {} : { formerDepositories: former };
        return { kind: "final", value: { ...paid, depository, ...others, status } };
      }
      if (by === recipient) return TO_ITSELF;
      // The native coin cannot but have moved: its call succeeded, or the request would not be used.
      if (currency === NATIVE_CURRENCY) return executed(by);
      const hint = transactionId === undefined ? undefined : canonical(transactionId);
      const retryAfterSeconds = Math.max(1, Math.ceil(evm.blockTimeSeconds));
      const search = { depository: by, payment, upTo: block.number, lookBackBlocks, hint, retryAfterSeconds };
      const proof = await proofOfExecution(reads, transport, search);
      return proof.kind === "final" ? executed(by) : proof;
    },

    newestFinal: async () => {
      const found = await reads.block();
      if (found.kind !== "final") return undefined;
      return { height: found.value.number, timestamp: found.value.timestamp };
    },

    close: async () => await transport.close(),
  };
}

const TO_ITSELF: Evidence<never> = {
  kind: "refuted",
  reason: "withdrawal recipient must not be the depository",
};

const NOT_A_HASH: Evidence<never> = {
  kind: "refuted",
  reason: "transaction id must be 32 bytes of lowercase hex",
};

function noDepository(chain: AttestationChain): Evidence<never> {
  return { kind: "refuted", reason: `chain ${chain.name} has no depository` };
}

/**
 * One transaction has one spelling; any other is not looked up, or it would count once more under another id.
 */
function canonical(transactionId: string): TxHash | undefined {
  const hash = parseHex32(transactionId);
  return hash === transactionId ? hash : undefined;
}

async function succeeded(reads: FinalReads, hash: TxHash): Promise<Evidence<FinalTransaction>> {
  const settled = await reads.transaction(hash);
  if (settled.kind !== "final" || settled.value.receipt.status === "success") return settled;
  return { kind: "refuted", reason: "transaction reverted" };
}

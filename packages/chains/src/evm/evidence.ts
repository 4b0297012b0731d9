import type { Hex32, TxHash } from "@causeway/domain";
import { final, currentFirst, refuted, type ConfiguredChain, type EvidenceSource } from "@causeway/families";
import { evm, needsTransaction } from "@causeway/families/evm";
import { chainEvidence, type SourceOptions } from "../evidence-source.ts";
import { createRpcTransport, type RpcTransportOptions } from "../nodes/transport.ts";
import { checkedTransport } from "./checked-transport.ts";
import { createFinalReads } from "./final-reads.ts";
import { MAX_EVIDENCE_BYTES } from "./receipt-size.ts";
import { finalRequestStates } from "./withdrawal-reads.ts";
import { searchWithdrawal } from "./withdrawal-search.ts";

export interface EvmEvidenceOptions extends SourceOptions {
  readonly rpc?: Omit<RpcTransportOptions, "url" | "onCall">;
  /** Maximum number of cached final transactions per endpoint. Default: 2000. */
  readonly maxCachedTransactions?: number;
  /** Milliseconds for which a final block is reused for reads of withdrawals. Default: 300. */
  readonly finalBlockReuseMs?: number;
  /** Blocks below the final one in which to search the execution of a withdrawal. Default: 5000. */
  readonly executionLookBackBlocks?: bigint;
}

export function evmEvidence(chain: ConfiguredChain, options: EvmEvidenceOptions = {}): EvidenceSource {
  const { rpc, maxCachedTransactions = 2_000, finalBlockReuseMs = 300 } = options;
  const { executionLookBackBlocks: lookBackBlocks = 5_000n } = options;
  return chainEvidence(chain, evm, options, ({ url, facts, observed }) => {
    const raw = createRpcTransport({ maxAnswerBytes: MAX_EVIDENCE_BYTES, ...rpc, ...observed, url });
    const { transport } = checkedTransport(raw, facts.chainId);
    const reads = createFinalReads(transport, facts, { maxCachedTransactions, finalBlockReuseMs });
    return {
      transaction: async (id, rules, question) => {
        const prefetched = question === undefined ? undefined : reads.prefetchContent(id as TxHash);
        const evidence = await reads.transaction(id as TxHash);
        if (evidence.kind !== "final") return evidence;
        if (evidence.value.receipt.status !== "success") return refuted("transaction reverted");
        const isNeeded = question !== undefined || needsTransaction(rules, evidence.value.receipt);
        const transaction = isNeeded ? await reads.content(evidence.value, prefetched) : undefined;
        return final({ ...evidence.value, transaction });
      },
      withdrawal: async (payload, { depositories }, hint) => {
        const machine = {
          transaction: reads.transaction,
          request: transport.request,
          requestStates: async (id: Hex32) => await finalRequestStates(reads, transport, depositories, id),
          format: String,
          retryAfterSeconds: evm.retryAfterSeconds(facts),
        };
        const search = { hint: hint as TxHash | undefined, lookBackBlocks };
        return await searchWithdrawal(machine, currentFirst(depositories), payload, search);
      },
      newestFinal: async () => {
        const finalBlock = await reads.block();
        return finalBlock.kind === "final"
          ? { height: finalBlock.value.number, timestamp: finalBlock.value.timestamp }
          : undefined;
      },
      close: transport.close,
    };
  });
}

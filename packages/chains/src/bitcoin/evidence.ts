import { final, nativeCurrency, refuted } from "@causeway/families";
import type { ConfiguredChain, EvidenceSource, FactsOf } from "@causeway/families";
import {
  bitcoin,
  depositoryOf,
  effectOf,
  needsSpent,
  readWithdrawal,
  type BitcoinRules,
  type SpendingTransaction,
} from "@causeway/families/bitcoin";
import { chainEvidence, type Endpoint, type SourceOptions } from "../evidence-source.ts";
import { createRpcTransport, type RpcTransport } from "../nodes/transport.ts";
import { createExplorer, type SpendHints } from "./explorer.ts";
import { createBitcoinReads, requireSpent } from "./rpc.ts";
import { searchSpend } from "./withdrawal-search.ts";

/** Evidence of Bitcoin. All nodes share one explorer, which only suggests transactions to read. */
export function bitcoinEvidence(chain: ConfiguredChain, options: SourceOptions = {}): EvidenceSource {
  const url = chain.bitcoin?.esploraUrl;
  const hints = url === undefined ? undefined : createExplorer(url, options.observeCalls?.(chain.name));
  const nodes = chainEvidence(chain, bitcoin, options, ({ url: nodeUrl, facts, observed }) =>
    bitcoinEndpoint(createRpcTransport({ ...observed, url: nodeUrl }), facts, hints),
  );
  return { ...nodes, close: async () => void (await Promise.all([nodes.close(), hints?.close()])) };
}

/** @param hints undefined: a withdrawal that was replaced stays pending */
export function bitcoinEndpoint(
  transport: RpcTransport,
  facts: FactsOf<"bitcoin">,
  hints: SpendHints | undefined,
): Endpoint<BitcoinRules, SpendingTransaction> {
  const reads = createBitcoinReads(transport, facts);
  return {
    transaction: async (txid, rules, question) => {
      const evidence = await reads.transaction(txid);
      if (evidence.kind !== "final") return evidence;
      const isNeeded = needsSpent(rules, evidence.value.transaction, question);
      return final({ ...evidence.value, spent: isNeeded ? await requireSpent(reads, evidence.value) : [] });
    },
    withdrawal: async (payload, rules, hint) => {
      const plan = readWithdrawal(payload);
      if ("refusal" in plan) return refuted(plan.refusal);
      const spent = await reads.spentBy(plan.unsigned.inputs);
      if (spent === undefined) return refuted("withdrawal spends an output unknown to the node", "endpoint");
      const effect = effectOf(rules.depositories, plan.unsigned, spent);
      if ("refusal" in effect) return refuted(effect.refusal);
      const depository = depositoryOf(rules, effect.depository);
      const status = await searchSpend(reads, hints, plan, spent, hint);
      const currency = nativeCurrency("bitcoin-vm");
      return final({ ...effect, withdrawalId: plan.id, depository, status, currency });
    },
    newestFinal: async () => {
      const { height } = await reads.newest();
      return { height: BigInt(Math.max(0, height - facts.confirmations + 1)), timestamp: undefined };
    },
    close: transport.close,
  };
}

import { decodeHyperliquidAction, type Hex32 } from "@causeway/domain";
import { final, currentFirst, refuted } from "@causeway/families";
import type { ConfiguredChain, EvidenceSource, NonceMappings } from "@causeway/families";
import {
  hyperliquid,
  purposeOf,
  nonceToMap,
  readWithdrawal,
  timestampOf,
} from "@causeway/families/hyperliquid";
import { chainEvidence, type SourceOptions } from "../evidence-source.ts";
import { createExchangeRpc } from "./rpc.ts";
import { decimalsFor, findTransaction } from "./transaction-reads.ts";
import { rememberedLedgers } from "./whole-ledger.ts";
import { searchExecution, toAnswer } from "./withdrawal-search.ts";

export interface HyperliquidEvidenceOptions extends SourceOptions {
  /** The hub's nonce mappings. Without them, no transfer is for an order. */
  readonly nonceMappings?: NonceMappings;
  /** Timeout of each request, ms. Default: 10,000. */
  readonly deadlineMs?: number;
}

/** Each endpoint uses its own explorer. */
export function hyperliquidEvidence(
  chain: ConfiguredChain,
  { nonceMappings, deadlineMs, ...options }: HyperliquidEvidenceOptions = {},
): EvidenceSource {
  return chainEvidence(chain, hyperliquid, options, ({ url: apiUrl, at, facts, observed }) => {
    const { network, profile, explorerUrls } = facts;
    const rpc = createExchangeRpc({
      apiUrl,
      explorerUrl: explorerUrls[at],
      profile,
      deadlineMs,
      ...observed,
    });
    const ledgers = rememberedLedgers();
    return {
      transaction: async (hash, rules, question) => {
        const found = await findTransaction(rpc, hash as Hex32, network);
        if (found.kind !== "final") return found;
        const transaction = found.value;
        const listed = { transaction, decimalsOf: await decimalsFor(rpc, transaction.action) };
        const toMap = nonceToMap(rules, listed, question);
        const mapping = toMap && (await nonceMappings?.of(chain.name, toMap.wallet, toMap.nonce));
        return final({ ...listed, purpose: purposeOf(mapping, timestampOf(transaction)) });
      },
      withdrawal: async (payload, rules, hint) => {
        const decimalsOf = await decimalsFor(rpc, decodeHyperliquidAction(payload));
        const allRules = { ...rules, profile: rpc.profile, decimalsOf };
        const withdrawal = readWithdrawal(payload, allRules);
        if ("refusal" in withdrawal) return refuted(withdrawal.refusal);
        const outcome = await searchExecution(rpc, withdrawal, allRules, hint as Hex32 | undefined, ledgers);
        return final(toAnswer(withdrawal, outcome, currentFirst(rules.depositories)[0]));
      },
      close: rpc.close,
    };
  });
}

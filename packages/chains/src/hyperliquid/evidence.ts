import {
  decodeHyperliquidAction,
  exchangeSigningProfiles,
  parseExchangeToken,
  parseHex32,
  type Address,
  type AttestationChain,
  type Hex,
  type Hex32,
  type HyperliquidAction,
  type HyperliquidAttestationFacts,
} from "@causeway/domain";
import {
  RpcFault,
  type Evidence,
  type EvidenceSource,
  type NonceMappings,
  type PaymentAnswer,
  type TransactionDeposits,
  type WithdrawalAnswer,
} from "@causeway/families";
import type { ObserveCall } from "../nodes/rpc-call.ts";
import { quorumEvidence, type Disagreement } from "../nodes/rpc-quorum.ts";
import {
  depositIn,
  judgePayment,
  meaningOf,
  readWithdrawal,
  RETRY_AFTER_SECONDS,
  timestampOf,
  type ExchangeTransaction,
  type NonceMeaning,
  type TransferRules,
} from "@causeway/families/hyperliquid";
import { createExchangeRpc, type ExchangeRpc } from "./rpc.ts";
import { rememberedLedgers } from "./whole-ledger.ts";
import { searchExecution } from "./withdrawal-search.ts";

export interface HyperliquidEvidenceOptions {
  /** What is to be told of each call to an endpoint; the endpoints of one chain are not told apart. */
  readonly observeCalls?: (chain: string) => ObserveCall;
  /** Told when endpoints contradict each other about something final. Never holds a URL. */
  readonly onDisagreement?: (disagreement: Disagreement) => void;
  /** What the hub says of nonces; without it every transfer is for nothing. */
  readonly nonceMappings?: NonceMappings;
  /** Milliseconds for each answer. Default 10 000. */
  readonly deadlineMs?: number;
}

/**
 * What an oracle asks of the perpetuals exchange; opens nothing until the first question. Each endpoint is
 * judged by itself, with its own explorer; with several, `rpcQuorum` of them must come to the same.
 *
 * @throws RangeError when the chain is no perpetuals exchange, or has fewer endpoints than must agree
 */
export function hyperliquidEvidence(
  chain: AttestationChain,
  options: HyperliquidEvidenceOptions = {},
): EvidenceSource {
  const { hyperliquid } = chain;
  if (hyperliquid === undefined)
    throw new RangeError(`invariant violated: chain ${chain.name} is not Hyperliquid`);
  const onCall = options.observeCalls?.(chain.name);
  const sources = chain.rpcUrls.map((apiUrl, at) => {
    const explorerUrl = hyperliquid.explorerUrls[at];
    const rpc = createExchangeRpc({
      apiUrl,
      profile: hyperliquid.profile,
      ...(explorerUrl !== undefined && { explorerUrl }),
      ...(onCall !== undefined && { onCall }),
      ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
    });
    return evidenceOfEndpoint(chain, hyperliquid, rpc, options.nonceMappings);
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
  facts: HyperliquidAttestationFacts,
  rpc: ExchangeRpc,
  nonceMappings?: NonceMappings,
): EvidenceSource {
  const depository = chain.depository as Address | undefined;
  const depositories = [chain.depository, ...chain.additionalDepositories].filter(
    (one): one is Address => one !== undefined,
  );
  const profile = exchangeSigningProfiles[facts.profile];
  const told = rememberedLedgers();

  /**
   * What a transaction of this network says; the exchange refuses actions for another one, so whoever tells
   * of such is another exchange.
   */
  const find = async (transactionId: string): Promise<Evidence<ExchangeTransaction>> => {
    const hash = canonical(transactionId);
    if (hash === undefined) return NOT_A_HASH;
    const transaction = await rpc.transaction(hash);
    if (transaction === undefined) return { kind: "absent" };
    const { action } = transaction;
    if (action !== undefined && action.chain !== facts.network)
      throw new RpcFault({
        kind: "wrongChain",
        method: "txDetails",
        reason: `the endpoint returned an action of a network other than ${facts.network}`,
      });
    return { kind: "final", value: transaction };
  };

  const rulesFor = async (action: HyperliquidAction | undefined): Promise<TransferRules> => {
    const tokenId = action?.type === "SendAsset" ? parseExchangeToken(action.token)?.tokenId : undefined;
    const token = tokenId === undefined ? undefined : await rpc.token(tokenId);
    const decimalsOf = (asked: Hex): number | undefined =>
      asked === token?.tokenId ? token.decimals : undefined;
    return { network: facts.network, usdcTokenId: facts.usdcTokenId, decimalsOf };
  };

  const meaning = async (wallet: Address, nonce: bigint, time: bigint): Promise<NonceMeaning> =>
    nonceMappings === undefined
      ? { kind: "nothing" }
      : meaningOf(await nonceMappings.of(chain.name, wallet, nonce), time);

  return {
    chain,
    deposits: async (transactionId): Promise<Evidence<TransactionDeposits>> => {
      if (depository === undefined) return noDepository(chain);
      const found = await find(transactionId);
      if (found.kind !== "final") return found;
      const transaction = found.value;
      const timestamp = timestampOf(transaction);
      const rules = { ...(await rulesFor(transaction.action)), depositories };
      const deposit = depositIn(transaction, rules);
      if (deposit === undefined) return { kind: "final", value: { depository, deposits: [], timestamp } };
      if ("refusal" in deposit) return { kind: "refuted", reason: deposit.refusal };
      const { sender, destination, currency, amount, nonce } = deposit;
      const meant = await meaning(sender, nonce, timestamp);
      if (meant.kind === "open") return UNMAPPED;
      const depositor = meant.kind === "for" ? (meant.depositor ?? sender) : sender;
      const depositId = meant.kind === "for" ? meant.id : undefined;
      const deposits = [{ index: "0", depositor, currency, amount, depositId }];
      return { kind: "final", value: { depository: destination, deposits, timestamp } };
    },

    payments: async (transactionId, question): Promise<Evidence<PaymentAnswer>> => {
      const found = await find(transactionId);
      if (found.kind !== "final") return found;
      const transaction = found.value;
      const rules = { ...(await rulesFor(transaction.action)), depositories };
      const judgement = judgePayment(transaction, rules, question);
      if ("refusal" in judgement) return { kind: "refuted", reason: judgement.refusal };
      const timestamp = timestampOf(transaction);
      const meant = await meaning(judgement.payer, judgement.nonce, timestamp);
      if (meant.kind === "open") return UNMAPPED;
      if (meant.kind !== "for" || meant.id !== question.orderId)
        return { kind: "refuted", reason: "payer's nonce is not mapped to the order" };
      return { kind: "final", value: { amounts: judgement.amounts, timestamp } };
    },

    withdrawal: async (payload, transactionId): Promise<Evidence<WithdrawalAnswer>> => {
      if (depository === undefined) return noDepository(chain);
      const rules = {
        ...(await rulesFor(decodeHyperliquidAction(payload))),
        depositories,
        profile,
      };
      const withdrawal = readWithdrawal(payload, rules);
      if ("refusal" in withdrawal) return { kind: "refuted", reason: withdrawal.refusal };
      const hint = transactionId === undefined ? undefined : canonical(transactionId);
      const outcome = await searchExecution(rpc, withdrawal, rules, hint, told);
      const { id: withdrawalId, recipient, currency, amount } = withdrawal;
      const value: WithdrawalAnswer = {
        withdrawalId,
        depository: outcome.kind === "executed" ? outcome.depository : depository,
        status: outcome.kind === "over" ? "expired" : outcome.kind,
        recipient,
        currency,
        amount,
      };
      return { kind: "final", value };
    },

    close: async () => await rpc.close(),
  };
}

const NOT_A_HASH: Evidence<never> = {
  kind: "refuted",
  reason: "transaction id must be 32 bytes of lowercase hex",
};

const UNMAPPED: Evidence<never> = {
  kind: "notFinal",
  reason: "transfer's nonce is not mapped to an order yet, but can still be mapped",
  retryAfterSeconds: 15,
};

function noDepository(chain: AttestationChain): Evidence<never> {
  return { kind: "refuted", reason: `chain ${chain.name} has no depository` };
}

/**
 * One transaction has one spelling; any other is not looked up, or it would count once more under another id.
 */
function canonical(transactionId: string): Hex32 | undefined {
  const hash = parseHex32(transactionId);
  return hash === transactionId ? hash : undefined;
}

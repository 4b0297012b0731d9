import {
  bytesOf,
  canonicalTransactionId,
  decodeSolanaTransferRequest,
  type AttestationChain,
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
import { quorumEvidence, type Disagreement } from "../nodes/rpc-quorum.ts";
import { createRpcTransport, type ObserveCall, type RpcTransportOptions } from "../nodes/transport.ts";
import {
  CLOCK_SYSVAR,
  depositorySeats,
  depositsIn,
  judgePayments,
  outcomeOf,
  readWithdrawal,
  RETRY_AFTER_SECONDS,
  usedRequestAddress,
  vaultAccountsIn,
  type DepositoryAccounts,
  type TransactionFacts,
} from "@causeway/families/solana";
import { createSolanaRpc, type SolanaRpc } from "./rpc.ts";

export interface SolanaEvidenceOptions {
  readonly rpc?: Omit<RpcTransportOptions, "url" | "onCall">;
  /** What is to be told of each call to a node of a chain; the endpoints of one chain are not told apart. */
  readonly observeCalls?: (chain: string) => ObserveCall;
  /** Told when endpoints contradict each other about something final. Never holds a URL. */
  readonly onDisagreement?: (disagreement: Disagreement) => void;
}

/**
 * What an oracle asks of a Solana cluster; opens nothing until the first question. Each endpoint is judged by
 * itself; with several, `rpcQuorum` of them must come to the same.
 *
 * @throws RangeError when the chain is none of this family, or has fewer endpoints than must agree
 */
export function solanaEvidence(chain: AttestationChain, options: SolanaEvidenceOptions = {}): EvidenceSource {
  if (chain.vmType !== "solana-vm")
    throw new RangeError(`invariant violated: chain ${chain.name} is not a Solana cluster`);
  const onCall = options.observeCalls?.(chain.name);
  const sources = chain.rpcUrls.map((url) => {
    const observed = onCall === undefined ? {} : { onCall };
    const transport = createRpcTransport({
      maxAnswerBytes: 8 * 1024 * 1024,
      ...options.rpc,
      ...observed,
      url,
    });
    return evidenceOfEndpoint(chain, createSolanaRpc(transport, chain.solana?.genesisHash));
  });
  return quorumEvidence(chain, sources, {
    agreeing: chain.rpcQuorum,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    onDisagreement: options.onDisagreement ?? (() => undefined),
  });
}

/** What one node says. */
export function evidenceOfEndpoint(chain: AttestationChain, rpc: SolanaRpc): EvidenceSource {
  const { depository, additionalDepositories } = chain;
  let seatsOfAll: Promise<readonly DepositoryAccounts[]> | undefined;
  const allSeats = async (): Promise<readonly DepositoryAccounts[]> =>
    await (seatsOfAll ??= Promise.all(
      (depository === undefined ? [] : [depository]).concat(additionalDepositories).map(depositorySeats),
    ));

  const succeeded = async (transactionId: string): Promise<Evidence<TransactionFacts>> => {
    if (!isCanonical(transactionId)) return NOT_AN_ID;
    const found = await rpc.transaction(transactionId);
    if (found.kind !== "final" || !found.value.failed) return found;
    return { kind: "refuted", reason: "transaction failed" };
  };

  return {
    chain,
    deposits: async (transactionId): Promise<Evidence<TransactionDeposits>> => {
      const [present, ...former] = await allSeats();
      if (depository === undefined || present === undefined) return noDepository(chain);
      const settled = await succeeded(transactionId);
      if (settled.kind !== "final") return settled;
      const facts = settled.value;
      let logsCut = false;
      const read = async (pdas: DepositoryAccounts): Promise<DepositoryReading> => {
        const reading = depositsIn(pdas, await vaultAccountsIn(pdas, facts), facts);
        if (reading.kind === "logsCut") logsCut = true;
        return { depository: pdas.program, deposits: reading.kind === "read" ? reading.deposits : [] };
      };
      const attested = attestedDepository([await read(present), ...(await Promise.all(former.map(read)))]);
      if (logsCut) return { kind: "refuted", reason: "the endpoint truncates logs", ofEndpoint: true };
      return { kind: "final", value: { ...attested, timestamp: facts.timestamp } };
    },

    payments: async (transactionId, question): Promise<Evidence<PaymentAnswer>> => {
      const settled = await succeeded(transactionId);
      if (settled.kind !== "final") return settled;
      const judgement = judgePayments(await allSeats(), settled.value, question);
      if ("refusal" in judgement) return { kind: "refuted", reason: judgement.refusal };
      const { timestamp } = settled.value;
      return { kind: "final", value: { amounts: judgement.amounts, timestamp } };
    },

    withdrawal: async (payload): Promise<Evidence<WithdrawalAnswer>> => {
      const all = await allSeats();
      const [present] = all;
      if (depository === undefined || present === undefined) return noDepository(chain);
      // The payload names the vault that pays.
      const vault = decodeSolanaTransferRequest(payload)?.vaultAddress;
      const pdas = all.find((one) => one.vault === vault) ?? present;
      const payment = readWithdrawal(pdas, payload);
      if ("refusal" in payment) return { kind: "refuted", reason: payment.refusal };
      const { id, recipient, currency, amount, expiration } = payment;
      const used = await usedRequestAddress(pdas.program, bytesOf(id));
      // One answer of one state: the note of the request is not older than the time that it is compared with.
      const { accounts } = await rpc.accounts([pdas.depository, used, CLOCK_SYSVAR]);
      const [ofDepository, usedRequest, clock] = accounts;
      const status = outcomeOf(pdas, expiration, { depository: ofDepository, usedRequest, clock });
      return {
        kind: "final",
        value: { withdrawalId: id, depository: pdas.program, status, recipient, currency, amount },
      };
    },

    newestFinal: async () => ({ height: await rpc.finalSlot(), timestamp: undefined }),

    close: async () => await rpc.close(),
  };
}

const NOT_AN_ID: Evidence<never> = {
  kind: "refuted",
  reason: "transaction id must be 64 bytes in base58",
};

function noDepository(chain: AttestationChain): Evidence<never> {
  return { kind: "refuted", reason: `chain ${chain.name} has no depository` };
}

/**
 * One transaction has one spelling; any other is not looked up, or it would count once more under another id.
 */
function isCanonical(transactionId: string): boolean {
  try {
    return canonicalTransactionId("solana-vm", transactionId) === transactionId;
  } catch {
    return false;
  }
}

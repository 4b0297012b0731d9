import type { Address, AttestationChain, Hex, TronAttestationFacts } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import {
  attestedDepository,
  type DepositoryReading,
  type Evidence,
  type EvidenceSource,
  type WithdrawalAnswer,
} from "@causeway/families";
import { MAX_EVIDENCE_BYTES } from "../evm/receipt-size.ts";
import { proofOfExecution } from "../evm/withdrawal-reads.ts";
import { createRestClient } from "../nodes/rest-client.ts";
import type { ObserveCall } from "../nodes/rpc-call.ts";
import { quorumEvidence, type Disagreement } from "../nodes/rpc-quorum.ts";
import {
  depositsIn,
  hashOfId,
  machineAddress,
  paymentsIn,
  secondsOf,
  tronAddress,
  type SolidTransaction,
  readWithdrawal,
} from "@causeway/families/tron";
import { createTronRpc, type TronRpc } from "./rpc.ts";

export interface TronEvidenceOptions {
  /** What is to be told of each call to a node of a chain; the endpoints of one chain are not told apart. */
  readonly observeCalls?: (chain: string) => ObserveCall;
  /** Reported when endpoints contradict each other about something final. Never holds a URL. */
  readonly onDisagreement?: (disagreement: Disagreement) => void;
}

/**
 * Blocks in which the execution of a token's withdrawal is looked for when nobody names its transaction: as
 * many as nodes search at once.
 */
const LOOK_BACK_BLOCKS = 5_000n;
/** Where the JSON-RPC lies below everything else of a node. */
const JSON_RPC = /\/jsonrpc\/?$/;

/**
 * What an oracle asks of one Tron chain; opens nothing until the first question. Only solid blocks count.
 *
 * Each endpoint is judged by itself; with several, `rpcQuorum` of them must come to the same.
 *
 * @throws RangeError when the chain is no Tron chain, an endpoint is not written as the URL of its
 * `/jsonrpc`, or there are fewer than must agree
 */
export function tronEvidence(chain: AttestationChain, options: TronEvidenceOptions = {}): EvidenceSource {
  const { tron } = chain;
  if (tron === undefined) throw new RangeError(`invariant violated: chain ${chain.name} is not a Tron chain`);
  const onCall = options.observeCalls?.(chain.name);
  const sources = chain.rpcUrls.map((url) => {
    if (!JSON_RPC.test(url))
      throw new RangeError(`chain ${chain.name}: every httpRpcUrl must end in /jsonrpc`);
    const rest = createRestClient({
      url: url.replace(JSON_RPC, ""),
      maxAnswerBytes: MAX_EVIDENCE_BYTES,
      ...(tron.apiKey === undefined ? {} : { headers: { "TRON-PRO-API-KEY": tron.apiKey } }),
      ...(onCall === undefined ? {} : { onCall }),
    });
    return evidenceOfEndpoint(chain, tron, createTronRpc(rest, tron));
  });
  return quorumEvidence(chain, sources, {
    agreeing: chain.rpcQuorum,
    retryAfterSeconds: retryAfter(tron),
    onDisagreement: options.onDisagreement ?? (() => undefined),
  });
}

/** What one node says. */
function evidenceOfEndpoint(
  chain: AttestationChain,
  tron: TronAttestationFacts,
  rpc: TronRpc,
): EvidenceSource {
  const depository = chain.depository === undefined ? undefined : machineAddress(chain.depository);
  const former = chain.additionalDepositories.map(machineAddress);
  const depositories = depository === undefined ? former : [depository, ...former];

  return {
    chain,
    deposits: async (transactionId) => {
      if (depository === undefined) return noDepository(chain);
      const settled = await succeeded(rpc, transactionId);
      if (settled.kind !== "final") return settled;
      const read = (of: Address): DepositoryReading => ({
        depository: tronAddress(of),
        deposits: depositsIn(of, settled.value),
      });
      const attested = attestedDepository([read(depository), ...former.map(read)]);
      return { kind: "final", value: { ...attested, timestamp: settled.value.block.timestamp } };
    },

    payments: async (transactionId, question) => {
      const settled = await succeeded(rpc, transactionId);
      if (settled.kind !== "final") return settled;
      const { fillContracts } = tron;
      const judgement = paymentsIn({ depositories, fillContracts }, settled.value, question);
      if ("refusal" in judgement) return { kind: "refuted", reason: judgement.refusal };
      const { timestamp } = settled.value.block;
      return { kind: "final", value: { amounts: judgement.amounts, timestamp } };
    },

    withdrawal: async (payload, transactionId) => {
      if (depository === undefined) return noDepository(chain);
      return await withdrawalOf(rpc, tron, [depository, ...former], payload, transactionId);
    },

    newestFinal: async () => {
      const block = await rpc.newestSolid();
      return { height: block.number, timestamp: secondsOf(block) };
    },

    close: async () => await rpc.close(),
  };
}

async function withdrawalOf(
  rpc: TronRpc,
  tron: TronAttestationFacts,
  depositories: readonly [Address, ...Address[]],
  payload: Hex,
  transactionId: string | undefined,
): Promise<Evidence<WithdrawalAnswer>> {
  const payment = readWithdrawal(payload);
  if ("refusal" in payment) return { kind: "refuted", reason: payment.refusal };
  const { id, recipient, currency, amount, expiration } = payment;
  if (depositories.every((one) => one === recipient)) return TO_ITSELF;
  const [present, ...former] = depositories;
  const paid = {
    withdrawalId: id,
    recipient: tronAddress(recipient),
    currency: tronAddress(currency),
    amount,
  };
  const executed = (by: Address): Evidence<WithdrawalAnswer> => ({
    kind: "final",
    value: { ...paid, depository: tronAddress(by), status: "executed" },
  });
  // A payload does not name its depository, so it has expired only if none of them used it.
  const states = await Promise.all(
    depositories.map(async (one) => ({ by: one, ...(await rpc.requestState(one, id)) })),
  );
  const used = states.find(({ isUsed }) => isUsed);
  if (used === undefined) {
    const status = states.every(({ timestamp }) => timestamp > expiration) ? "expired" : "pending";
    const others = former.length === 0 ? {} : { formerDepositories: former.map(tronAddress) };
    return { kind: "final", value: { ...paid, depository: tronAddress(present), ...others, status } };
  }
  const { by, blockNumber } = used;
  if (by === recipient) return TO_ITSELF;
  // The native coin cannot but have moved: its call succeeded, or the request would not be used.
  if (currency === NATIVE_CURRENCY) return executed(by);
  const proof = await proofOfExecution({ transaction: rpc.transaction }, rpc, {
    depository: by,
    payment,
    upTo: blockNumber,
    lookBackBlocks: LOOK_BACK_BLOCKS,
    hint: transactionId === undefined ? undefined : hashOfId(transactionId),
    retryAfterSeconds: retryAfter(tron),
  });
  return proof.kind === "final" ? executed(by) : proof;
}

const TO_ITSELF: Evidence<never> = {
  kind: "refuted",
  reason: "withdrawal recipient must not be the depository",
};

/**
 * One transaction has one spelling; nodes resolve `0x…` as well, and under it a deposit would count once
 * more.
 */
async function succeeded(rpc: TronRpc, transactionId: string): Promise<Evidence<SolidTransaction>> {
  const hash = hashOfId(transactionId);
  if (hash === undefined)
    return { kind: "refuted", reason: "transaction id must be 64 lowercase hex digits without 0x" };
  const settled = await rpc.transaction(hash);
  if (settled.kind !== "final" || settled.value.failure === undefined) return settled;
  return { kind: "refuted", reason: `transaction failed: ${settled.value.failure}` };
}

function noDepository(chain: AttestationChain): Evidence<never> {
  return { kind: "refuted", reason: `chain ${chain.name} has no depository` };
}

function retryAfter({ blockTimeSeconds }: TronAttestationFacts): number {
  return Math.max(1, Math.ceil(blockTimeSeconds));
}

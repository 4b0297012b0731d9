import { bytesOf } from "@causeway/domain";
import { final, currentFirst, refuted, type ConfiguredChain, type EvidenceSource } from "@causeway/families";
import {
  CLOCK_SYSVAR,
  outcomeOf,
  readWithdrawal,
  solana,
  usedRequestAddress,
  type DepositoryAccounts,
  type TransactionFacts,
  decodeSolanaTransferRequest,
} from "@causeway/families/solana";
import { chainEvidence, type Endpoint, type SourceOptions } from "../evidence-source.ts";
import { createRpcTransport, type RpcTransportOptions } from "../nodes/transport.ts";
import { clusterTransport } from "./cluster-transport.ts";
import { createSolanaRpc, type SolanaRpc } from "./rpc.ts";

export interface SolanaEvidenceOptions extends SourceOptions {
  readonly rpc?: Omit<RpcTransportOptions, "url" | "onCall">;
}

export function solanaEvidence(chain: ConfiguredChain, options: SolanaEvidenceOptions = {}): EvidenceSource {
  return chainEvidence(chain, solana, options, ({ url, facts, observed }) => {
    const transport = createRpcTransport({
      maxAnswerBytes: 8 * 1024 * 1024,
      ...options.rpc,
      ...observed,
      url,
    });
    return solanaEndpoint(createSolanaRpc(clusterTransport(transport, facts.genesisHash)));
  });
}

export function solanaEndpoint(rpc: SolanaRpc): Endpoint<readonly DepositoryAccounts[], TransactionFacts> {
  return {
    transaction: async (signature) => {
      const evidence = await rpc.transaction(signature);
      return evidence.kind === "final" && evidence.value.failed ? refuted("transaction failed") : evidence;
    },
    withdrawal: async (payload, depositories) => {
      // The payload names the vault from which it is paid.
      const vault = decodeSolanaTransferRequest(payload)?.vaultAddress;
      const pdas =
        depositories.find((candidate) => candidate.vault === vault) ?? currentFirst(depositories)[0];
      const payment = readWithdrawal(pdas, payload);
      if ("refusal" in payment) return refuted(payment.refusal);
      const { id: withdrawalId, recipient, currency, amount, expiration } = payment;
      const usedAddress = await usedRequestAddress(pdas.program, bytesOf(withdrawalId));
      // One call, so that all accounts are from one slot: the clock must not be newer than the record.
      const { accounts } = await rpc.accounts([pdas.depository, usedAddress, CLOCK_SYSVAR]);
      const [depository, usedRequest, clock] = accounts;
      const status = outcomeOf(pdas, expiration, { depository, usedRequest, clock });
      return final({ withdrawalId, depository: pdas.program, status, recipient, currency, amount });
    },
    newestFinal: async () => ({ height: await rpc.finalSlot(), timestamp: undefined }),
    close: rpc.close,
  };
}

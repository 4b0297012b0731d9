import type { Hex } from "@causeway/domain";
import type { ConfiguredChain } from "./configured-chain.ts";
import type {
  Evidence,
  FinalHead,
  PaymentAnswer,
  PaymentQuestion,
  TransactionDeposits,
  WithdrawalAnswer,
} from "./evidence.ts";

/**
 * An oracle's questions to a chain, independent of the chain's protocol. Every answer is based on blocks of
 * one fork that are final by the chain's policy. Missing or unsettled facts are values. Exceptions are
 * RpcFaults: the node's fault, retryable, and never a reason to sign. Equal facts give equal answers on
 * every honest oracle, independent of its clock and of the order in which a node lists things.
 */
export interface EvidenceSource {
  readonly chain: ConfiguredChain;
  /** Deposits of one transaction, in chain order; may be empty. */
  deposits(transactionId: string): Promise<Evidence<TransactionDeposits>>;
  /** Payments and calls of a solver's transaction. */
  payments(transactionId: string, question: PaymentQuestion): Promise<Evidence<PaymentAnswer>>;
  /**
   * Whether an encoded withdrawal payload was executed, or can never be. `transactionId` is a hint for
   * families that cannot look up the transaction.
   */
  withdrawal(payload: Hex, transactionId: string | undefined): Promise<Evidence<WithdrawalAnswer>>;
  /**
   * The newest final block. Absent for families that only answer questions about transactions (Hyperliquid,
   * Lighter).
   */
  readonly newestFinal?: (() => Promise<FinalHead | undefined>) | undefined;
  close(): Promise<void>;
}

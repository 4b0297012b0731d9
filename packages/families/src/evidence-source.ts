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
 * What an oracle asks of a chain, independent of its protocol. Every answer rests on blocks that are final by
 * the chain's policy, read from one fork; what is missing or not settled yet is a value. Exceptions are
 * RpcFaults: the node's fault, retryable, and never a reason to sign anything. Equal facts give equal answers
 * on every honest oracle, independent of our clock and of the order in which a node lists things.
 */
export interface EvidenceSource {
  readonly chain: ConfiguredChain;
  /** Deposits of one transaction, in chain order; an empty list when it holds none. */
  deposits(transactionId: string): Promise<Evidence<TransactionDeposits>>;
  /** What a transaction of a solver paid and called. */
  payments(transactionId: string, question: PaymentQuestion): Promise<Evidence<PaymentAnswer>>;
  /**
   * Whether an encoded withdrawal payload was executed, or can never be. `transactionId` is a hint for
   * families that cannot look it up.
   */
  withdrawal(payload: Hex, transactionId: string | undefined): Promise<Evidence<WithdrawalAnswer>>;
  /** The newest final block. Absent: a family that is only asked about transactions (exchanges). */
  readonly newestFinal?: (() => Promise<FinalHead | undefined>) | undefined;
  close(): Promise<void>;
}

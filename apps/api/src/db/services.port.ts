import type { Signer } from "@causeway/attest";
import type { PayingConnection } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";
import type { BalanceReads } from "../balances/balance-reads.port.ts";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { Clock } from "./clock.port.ts";
import type { EnginePolicy } from "./engine-policy.port.ts";
import type { DepositAddressReads } from "../deposits/addresses/deposit-addresses.port.ts";
import type { Events } from "./events.port.ts";
import type { FillsAhead, PlanAhead } from "../payments/planned-fill.port.ts";
import type { LiquiditySource, PoolUsd } from "../markets/liquidity/liquidity.port.ts";
import type { NonceMappingReads } from "../chains/nonce-mappings.port.ts";
import type { PriceBook } from "../markets/prices/price-source.port.ts";
import type { QueuedLegs } from "./queued-legs.port.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import type { Reads } from "./reads.port.ts";
import type { UnitOfWork } from "./unit-of-work.port.ts";
import type { PayTogether } from "../payments/wanted-payment.port.ts";
import type { SettlementContracts, SpendingLimit, SpentMemory } from "../payments/policy/limits.port.ts";
import type { PaymentJournal } from "../payments/payment-journal.port.ts";
import type { PlanFaults } from "../payments/plan-faults.port.ts";

/** An account of the service, where only its address matters. */
export type Account = Pick<Signer, "address">;

/** All dependencies of use cases in either process; each use case names its own by `Pick`. */
export interface Services {
  readonly clock: Clock;
  readonly chains: ChainDirectory;
  readonly prices: PriceBook;
  /** Sources for swaps in fills. */
  readonly liquidity: LiquiditySource;
  /** Prices of tokens without a price source. */
  readonly poolUsd: PoolUsd;
  /** The solver: holds the inventory; pays fills, refunds and claims. Only the worker can sign with it. */
  readonly signer: Account;
  /** Former solver keys. They sign for orders that name them, and only finish the payments they began. */
  readonly formerSigners: readonly Account[];
  /**
   * Sends calls for users and holds only native tokens for gas. Undefined: not enabled. Never the solver's
   * key, because a call has its sender's rights.
   */
  readonly executor: Account | undefined;
  /**
   * The operator of the deposit address factories, which sweeps deposit addresses. Its key signs nothing
   * else, so that no call of a user has its rights. Undefined: no deposit addresses.
   */
  readonly depositAddressOperator: Account | undefined;
  readonly uow: UnitOfWork;
  readonly reads: Reads;
  readonly balances: BalanceReads;
  readonly depositAddresses: DepositAddressReads;
  /** Absent without a chain whose transfers carry only a nonce. */
  readonly nonceMappings?: NonceMappingReads | undefined;
  readonly events: Events;
  readonly quotePolicy: QuotePolicy;
  readonly enginePolicy: EnginePolicy;
  readonly planFaults: PlanFaults;
  readonly appBalance: AppBalancePolicy;
  /** Absent: every overdue leg counts as one that lost its job. */
  readonly queuedLegs?: QueuedLegs;
  /**
   * Ids of slots that this process is sending, each with the number of runs that send it. Lane maintenance
   * does not send these slots, however long that takes, but still cancels a hopeless one.
   * Absent: only the age of slots shows which ones a dead process left unsent.
   */
  readonly slotsBeingSent?: Map<string, number>;
  /** Pays concurrent legs in one batch. Absent: each is paid separately. */
  readonly payTogether?: PayTogether;
  /** Signing limits of keys. Absent: none. */
  readonly spendingLimits?: readonly SpendingLimit[];
  /** Contracts that settlement may call, on the hub's chain. Absent: any. */
  readonly hubContracts?: SettlementContracts;
  /** Contracts that the allocator's account calls. Absent: this process makes no payouts. */
  readonly payoutContracts?: readonly Address[];
  /** Amounts that this process has signed today. Absent: only the database counts them. */
  readonly spentMemory?: SpentMemory;
  /** Absent: payments that a failover loses are only found on EVM chains, once they are mined. */
  readonly journal?: PaymentJournal;
  /** Absent: each fill is planned by its job. */
  readonly fillsAhead?: FillsAhead;
  readonly planAhead?: PlanAhead;
  /** Jobs that this process runs at their commit. Absent: none. */
  readonly newJobs?: {
    /** Resolves when none runs, or after this time in ms. */
    waitForRunning(maxMs: number): Promise<void>;
  };
}

/** The dependencies of use cases in the worker: those of the API, and the keys that only the worker has. */
export interface WorkerServices extends Services {
  readonly chains: ChainDirectory<PayingConnection>;
  readonly signer: Signer;
  readonly formerSigners: readonly Signer[];
  readonly executor: Signer | undefined;
  readonly depositAddressOperator: Signer | undefined;
}

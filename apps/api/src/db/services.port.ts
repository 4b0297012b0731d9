import type { Signer } from "@causeway/attest";
import type { PayingRail } from "@causeway/chains";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";
import type { BalanceReads } from "../balances/balance-reads.port.ts";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { Clock } from "./clock.port.ts";
import type { EnginePolicy } from "./engine-policy.port.ts";
import type { DepositAddressReads } from "../deposits/addresses/deposit-addresses.port.ts";
import type { Events } from "./events.port.ts";
import type { SendExecution } from "../payments/execution-lane.port.ts";
import type { LiquiditySource, PoolUsd } from "../markets/liquidity/liquidity.port.ts";
import type { NonceMappingReads } from "../chains/nonce-mappings.port.ts";
import type { PriceBook } from "../markets/prices/price-source.port.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import type { Reads } from "./reads.port.ts";
import type { UnitOfWork } from "./unit-of-work.port.ts";
import type { PlanFaults } from "../payments/plan-faults.port.ts";

/** An account of ours, where only its address matters. */
export type Account = Pick<Signer, "address">;

/** Everything a use case may ask for in either process; each names what it needs by `Pick`. */
export interface Services {
  readonly clock: Clock;
  readonly chains: ChainDirectory;
  readonly prices: PriceBook;
  /** Where fills are exchanged; absent: this instance exchanges nothing. */
  readonly liquidity?: LiquiditySource;
  /** What tokens without a price source are worth; absent likewise. */
  readonly poolUsd?: PoolUsd;
  /** Holds the inventory; pays fills, refunds and claims. The API signs orders and request states with it. */
  readonly signer: Signer;
  /** Former solver keys. They sign for orders that name them, and pay nothing. */
  readonly formerSigners: readonly Account[];
  /**
   * Sends calls for users and holds nothing but coin for gas; undefined: this instance does not. Never the
   * solver's own key: a call runs in its sender's name.
   */
  readonly executor: Account | undefined;
  /**
   * Moves money from deposit addresses into the depository: the operator of their factories. Its key signs
   * nothing else, so that no call of a user ever runs in its name. Undefined: this instance has no deposit
   * addresses.
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
  /** Sends executions that come at the same moment together; each by itself when absent. */
  readonly sendExecution?: SendExecution;
  /** Settles when it is an execution's turn to be looked at: at once unless many come together. */
  readonly executionTurn?: () => Promise<void>;
}

/** What use cases of the worker may ask for: the same with the keys that the API does not get. */
export interface WorkerServices extends Services {
  readonly chains: ChainDirectory<PayingRail>;
  readonly formerSigners: readonly Signer[];
  readonly executor: Signer | undefined;
  readonly depositAddressOperator: Signer | undefined;
}

import type { Chain, NonEvmChain } from "@causeway/domain";
import type { HubChain } from "./hub.port.ts";
import type { CallOutcome, ContractCall } from "../payments/contract-call.port.ts";
import type { AttestationOracle } from "./oracles.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { SettlementPolicy } from "./settlement-policy.port.ts";
import type { SettlementReads } from "./settlement.port.ts";

/** The configured chains; settlement asks the oracles about them, never their nodes. */
export interface KnownChains {
  /** EVM chains. */
  readonly evmChains: readonly { readonly chain: Chain }[];
  /** Non-EVM chains. */
  readonly nonEvmChains: readonly { readonly chain: NonEvmChain }[];
  /** A chain of any family. */
  profile(chainId: number): Chain | NonEvmChain | undefined;
}

/** Dependencies of settlement; quotes, fills and refunds use none of them. */
export interface SettlementServices extends Pick<
  WorkerServices,
  "clock" | "events" | "signer" | "formerSigners" | "uow" | "reads" | "hubContracts" | "payoutContracts"
> {
  readonly chains: KnownChains;
  readonly hub: HubChain;
  /**
   * Sends calls of the hub if its chain is enabled: they are payments of the solver's lane there, and its
   * watcher maintains them. Absent: the chain is not enabled, and settlement maintains them.
   */
  readonly sendAsPayment?: ((call: ContractCall) => Promise<CallOutcome>) | undefined;
  /** At least one; if one does not help, the next is queried. */
  readonly oracles: readonly AttestationOracle[];
  readonly settlement: SettlementReads;
  readonly settlementPolicy: SettlementPolicy;
}

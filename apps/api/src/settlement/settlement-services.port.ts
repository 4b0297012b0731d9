import type { Chain, RailChain } from "@causeway/domain";
import type { HubChain } from "./hub.port.ts";
import type { AttestationOracle } from "./oracles.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { SettlementPolicy } from "./settlement-policy.port.ts";
import type { SettlementReads } from "./settlement.port.ts";

/** The chains as they are configured; settlement asks the oracles about them, never their nodes. */
export interface KnownChains {
  /** EVM chains. */
  readonly all: readonly { readonly chain: Chain }[];
  /** Chains that are reached by a rail. */
  readonly rails: readonly { readonly chain: RailChain }[];
  /** A chain of either kind. */
  profile(chainId: number): Chain | RailChain | undefined;
}

/** What settlement stands on: nothing of it is used, or waited for, by quotes, fills and refunds. */
export interface SettlementServices extends Pick<
  WorkerServices,
  "clock" | "events" | "signer" | "formerSigners" | "uow"
> {
  readonly chains: KnownChains;
  readonly hub: HubChain;
  /** At least one; another is asked when one does not help. */
  readonly oracles: readonly AttestationOracle[];
  readonly settlement: SettlementReads;
  readonly settlementPolicy: SettlementPolicy;
}

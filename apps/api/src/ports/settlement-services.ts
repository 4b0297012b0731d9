import type { Chain } from "@causeway/domain";
import type { HubChain } from "./hub.ts";
import type { AttestationOracle } from "./oracles.ts";
import type { Services } from "./services.ts";
import type { SettlementPolicy } from "./settlement-policy.ts";
import type { SettlementReads } from "./settlement.ts";

/** The chains as they are configured; settlement asks the oracles about them, never their nodes. */
export interface KnownChains {
  readonly all: readonly { readonly chain: Chain }[];
  get(chainId: number): { readonly chain: Chain } | undefined;
}

/** What settlement stands on: nothing of it is used, or waited for, by quotes, fills and refunds. */
export interface SettlementServices extends Pick<Services, "clock" | "events" | "signer" | "uow"> {
  readonly chains: KnownChains;
  readonly hub: HubChain;
  /** At least one; another is asked when one does not help. */
  readonly oracles: readonly AttestationOracle[];
  readonly settlement: SettlementReads;
  readonly settlementPolicy: SettlementPolicy;
}

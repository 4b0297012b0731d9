import type { WithdrawalRequestTexts } from "@causeway/attest";
import type { Address } from "@causeway/domain";
import { invalid } from "../ports/attestation-error.ts";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { readHubWithdrawal } from "./hub-withdrawal.ts";
import type { HubWithdrawal } from "./hub-withdrawal.ts";
import { evidenceOf, requireChain, requireDepository } from "./require-chain.ts";

/** A withdrawal of a stated amount from this hub through the chain's depository. */
export interface WithdrawalOrder {
  readonly requested: HubWithdrawal;
  readonly depository: string;
  /** Base units; above zero. */
  readonly amount: bigint;
  /** The withdrawal address. */
  readonly address: Address;
  /** The request in canonical format, for the answer. */
  readonly echo: HubWithdrawal["fields"] & { settlementChainId: string; expectedAmount: string };
}

/**
 * @throws ServiceError INVALID_REQUEST, AttestationError: another hub, an unknown chain, no depository, or a
 * zero amount
 */
export function readWithdrawalOrder(
  { chains, hub }: Pick<AttestationServices, "chains" | "hub">,
  request: WithdrawalRequestTexts,
): WithdrawalOrder {
  if (request.settlementChainId !== hub.name)
    throw invalid("settlementChainId", `settlementChainId must be the hub of this oracle, ${hub.name}`);
  const amount = BigInt(request.expectedAmount);
  if (amount === 0n) throw invalid("expectedAmount", "expectedAmount must be above zero");
  const requested = readHubWithdrawal(chains, request);
  const depository = requireDepository(requested.chain, "chainId");
  return {
    requested,
    depository,
    amount,
    address: requested.addressFor(depository),
    echo: { settlementChainId: hub.name, expectedAmount: amount.toString(), ...requested.fields },
  };
}

/**
 * Refuses chains that cannot be read here: the outcome of the withdrawal could never be attested, and the
 * amount would be stuck.
 * @throws AttestationError upstream_unavailable
 */
export function assertConcludable(
  { chains }: Pick<AttestationServices, "chains">,
  { requested }: WithdrawalOrder,
): void {
  evidenceOf(requireChain(chains, requested.chain.name, "chainId"));
}

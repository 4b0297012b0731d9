import { hubAlias, hubTokenId, withdrawalAddress } from "@causeway/attest";
import type { WithdrawalRequestTexts } from "@causeway/attest";
import type { Address, Hex32 } from "@causeway/domain";
import { canonicalAddress, type ConfiguredChain } from "@causeway/families";
import type { AttestedChains } from "../ports/attested-chains.ts";
import { requireChain } from "./require-chain.ts";

/** The owner and target of a withdrawal, as requests name them. */
export type WithdrawalTexts = Omit<WithdrawalRequestTexts, "settlementChainId" | "expectedAmount">;

/** A withdrawal in canonical format, with its hub accounts. */
export interface HubWithdrawal {
  readonly chain: ConfiguredChain;
  readonly fields: WithdrawalTexts & { readonly withdrawalNonce: Hex32 };
  readonly tokenId: bigint;
  /** The owner's account on the hub. */
  readonly ownerAlias: Address;
  /** The account that holds the amount of this withdrawal from this depository. */
  addressFor(depository: string): Address;
}

/**
 * @param path prefix of the field names in errors, with a trailing dot, or empty
 * @throws ServiceError INVALID_REQUEST, AttestationError not_found for a chain
 */
export function readHubWithdrawal(chains: AttestedChains, texts: WithdrawalTexts, path = ""): HubWithdrawal {
  const { chain } = requireChain(chains, texts.chainId, `${path}chainId`);
  const withdrawerChain = requireChain(chains, texts.withdrawerChainId, `${path}withdrawerChainId`).chain;
  const currency = canonicalAddress(chain.vmType, texts.currency, `${path}currency`);
  const recipient = canonicalAddress(chain.vmType, texts.recipient, `${path}recipient`);
  const withdrawer = canonicalAddress(withdrawerChain.vmType, texts.withdrawer, `${path}withdrawer`);
  const withdrawalNonce = texts.withdrawalNonce.toLowerCase() as Hex32;
  const ownerAlias = hubAlias(withdrawerChain, withdrawer);
  return {
    chain,
    fields: {
      chainId: chain.name,
      currency,
      withdrawer,
      withdrawerChainId: withdrawerChain.name,
      recipient,
      withdrawalNonce,
    },
    tokenId: hubTokenId(chain, currency),
    ownerAlias,
    addressFor: (depository) =>
      withdrawalAddress(chain, { depository, currency, recipient, ownerAlias, nonce: withdrawalNonce }),
  };
}

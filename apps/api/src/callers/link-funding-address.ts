import type { Address, Hex } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { ApiKeyRecord, FundingChallenge } from "./api-key-register.port.ts";
import type { Random } from "../db/random.port.ts";
import type { Signatures } from "../chains/signatures.port.ts";
import { refusePublishableWallet, keyNotFound } from "./manage-api-keys.ts";
import type { KeyServices } from "./manage-api-keys.ts";

const CHALLENGE_MS = 15 * 60 * 1000;

/**
 * Asks a wallet's owner to let a key spend its app balance. A later challenge for the same wallet replaces
 * this one.
 * @throws ServiceError NOT_FOUND, INVALID_REQUEST for a publishable key
 */
export async function challengeFundingAddress(
  { register, clock, random }: KeyServices & { readonly random: Random },
  id: string,
  address: Address,
): Promise<{ readonly message: string; readonly expiresAtMs: number }> {
  const record = await register.get(id);
  if (record === undefined || record.revokedAtMs !== undefined) throw keyNotFound(id);
  refusePublishableWallet({ ...record, fundingAddress: address }, "address");
  const challenge = { nonce: random.bytes32(), expiresAtMs: clock.nowMs() + CHALLENGE_MS };
  await register.openChallenge(id, address, challenge);
  return { message: fundingMessage(id, address, challenge), expiresAtMs: challenge.expiresAtMs };
}

/**
 * Links the wallet whose owner signed the open challenge, which is consumed.
 * @throws ServiceError NOT_FOUND without such a key; INVALID_REQUEST for a publishable key, without an open
 * challenge or for a wrong signature; RpcFault when the chain did not answer
 */
export async function linkFundingAddress(
  { register, clock, signatures }: KeyServices & { readonly signatures: Signatures },
  id: string,
  address: Address,
  signature: Hex,
): Promise<ApiKeyRecord> {
  const record = await register.get(id);
  if (record === undefined || record.revokedAtMs !== undefined) throw keyNotFound(id);
  refusePublishableWallet({ ...record, fundingAddress: address }, "address");
  const challenge = await register.findChallenge(id, address);
  if (challenge === undefined || challenge.expiresAtMs <= clock.nowMs()) throw noOpenChallenge();
  if (!(await signatures.isSignedBy(address, fundingMessage(id, address, challenge), signature)))
    throw new ServiceError(
      "INVALID_REQUEST",
      "signature must be made by the wallet in address over the message",
      {
        field: "signature",
      },
    );
  const linked = await register.link(id, address, challenge.nonce, clock.nowMs());
  if (linked === undefined) throw noOpenChallenge();
  return linked;
}

/** The message that the owner reads and signs. */
export function fundingMessage(
  id: string,
  address: Address,
  { nonce, expiresAtMs }: FundingChallenge,
): string {
  return [
    "The holder of this Causeway API key may spend the app balance of this wallet.",
    "",
    `API key: ${id}`,
    `Wallet: ${address}`,
    `Nonce: ${nonce}`,
    `Valid until: ${new Date(expiresAtMs).toISOString()}`,
    "",
    "Signing costs nothing and sends no transaction.",
  ].join("\n");
}

const noOpenChallenge = (): ServiceError =>
  new ServiceError(
    "INVALID_REQUEST",
    "No message for this address awaits a signature, or it expired; request a new message",
    {
      field: "address",
    },
  );

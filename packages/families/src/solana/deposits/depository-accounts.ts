import { address, getAddressEncoder, getProgramDerivedAddress, type Address } from "@solana/kit";
import { ASSOCIATED_TOKEN_PROGRAM } from "../answers/programs.ts";

/** Accounts of one depository program. */
export interface DepositoryAccounts {
  readonly program: Address;
  readonly depository: Address;
  /** Contains the deposited lamports, and owns the token accounts of deposits. */
  readonly vault: Address;
}

/** @param program base58 of the depository program */
export async function depositoryAccounts(program: string): Promise<DepositoryAccounts> {
  const programAddress = address(program);
  const [[depository], [vault]] = await Promise.all([
    getProgramDerivedAddress({ programAddress, seeds: ["depository"] }),
    getProgramDerivedAddress({ programAddress, seeds: ["vault"] }),
  ]);
  return { program: programAddress, depository, vault };
}

/**
 * The account in which the depository records that it executed a request.
 *
 * @param requestId 32 bytes: sha256 of the payload
 */
export async function usedRequestAddress(program: string, requestId: Uint8Array): Promise<Address> {
  const [used] = await getProgramDerivedAddress({
    programAddress: address(program),
    seeds: ["used_request", requestId],
  });
  return used;
}

/** A wallet's associated token account of a mint. All in base58. */
export async function associatedTokenAddress(
  wallet: string,
  mint: string,
  tokenProgram: string,
): Promise<Address> {
  const bytes = (text: string) => getAddressEncoder().encode(address(text));
  const [tokens] = await getProgramDerivedAddress({
    programAddress: ASSOCIATED_TOKEN_PROGRAM,
    seeds: [bytes(wallet), bytes(tokenProgram), bytes(mint)],
  });
  return tokens;
}

import { recoverAuthorizationAddress } from "viem/utils";
import type { Address, Hex } from "@causeway/domain";
import type { Authorization } from "@causeway/families/evm";

/** Half of the secp256k1 order: authorizations with a higher `s` are invalid (EIP-7702). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const DELEGATION = "0xef0100";
const NO_CODE: Address = "0x0000000000000000000000000000000000000000";

/** The state of an account before the transaction. */
export interface AuthorityState {
  readonly nonce: bigint;
  /** The nonce including pending transactions in the node's pool. */
  readonly nextNonce: bigint;
  readonly code: Hex;
}

/** Code that the chain sets for an authorizing account. */
export interface Delegation {
  readonly authority: Address;
  /** The code of the account afterwards. */
  readonly code: Hex;
  readonly nonce: bigint;
}

export type AuthorizationJudgment =
  | { readonly kind: "apply"; readonly delegations: readonly Delegation[] }
  /** The chain would skip this authorization, and the call would not have its intended effect. */
  | { readonly kind: "skipped"; readonly label: string; readonly message: string };

/**
 * Recovers the signer of an authorization; undefined if the signature is invalid. A wrong signature recovers
 * to a random account.
 */
export async function recoverAuthority(authorization: Authorization): Promise<Address | undefined> {
  if (BigInt(authorization.s) > HALF_ORDER || BigInt(authorization.s) === 0n) return undefined;
  try {
    const { chainId, address, nonce, r, s, yParity } = authorization;
    const signer = await recoverAuthorizationAddress({
      authorization: { chainId, address, nonce, r, s, yParity },
    });
    return signer.toLowerCase() as Address;
  } catch {
    // r or s is not valid for a point of the curve.
    return undefined;
  }
}

/**
 * The effect of a list of authorizations, in order, by the rules of EIP-7702. Pure.
 *
 * @param authorities the signer of each authorization, see {@link recoverAuthority}
 * @param accounts the state of every authority before the transaction
 * @param sender sends the transaction; its nonce is one higher when the list is applied
 */
export function judgeAuthorizations(
  list: readonly Authorization[],
  authorities: readonly (Address | undefined)[],
  accounts: ReadonlyMap<Address, AuthorityState>,
  { chainId, sender }: { readonly chainId: number; readonly sender: Address },
): AuthorizationJudgment {
  const after = new Map<Address, Delegation>();
  for (const [index, authorization] of list.entries()) {
    const authority = authorities[index];
    const skip = (label: string, reason: string): AuthorizationJudgment => ({
      kind: "skipped",
      label: `AUTHORIZATION_${label}`,
      message: `Authorization ${index} would be skipped: ${reason}`,
    });
    if (authorization.chainId !== 0 && authorization.chainId !== chainId) {
      return skip("CHAIN_MISMATCH", `it is for chain ${authorization.chainId}, not ${chainId}`);
    }
    if (authority === undefined) return skip("INVALID_SIGNATURE", "its signature is invalid");
    const account: Pick<AuthorityState, "nonce" | "code"> | undefined =
      after.get(authority) ?? accounts.get(authority);
    if (account === undefined) throw new RangeError(`invariant violated: no state of authority ${authority}`);
    const isSender = authority === sender && !after.has(authority);
    const nonce = isSender ? account.nonce + 1n : account.nonce;
    if (BigInt(authorization.nonce) !== nonce) {
      return skip(
        "NONCE_MISMATCH",
        `its nonce is ${authorization.nonce}, but its signer ${authority} has nonce ${nonce}`,
      );
    }
    // Nodes refuse a transaction that changes the code of an account with a pending transaction.
    const initial = accounts.get(authority);
    if (initial !== undefined && initial.nextNonce > initial.nonce) {
      return skip("ACCOUNT_BUSY", `its signer ${authority} has a pending transaction`);
    }
    if (account.code !== "0x" && !account.code.startsWith(DELEGATION)) {
      return skip("ACCOUNT_HAS_CODE", `its signer ${authority} is a contract`);
    }
    const address = authorization.address.toLowerCase();
    const code: Hex = address === NO_CODE ? "0x" : `${DELEGATION}${address.slice(2)}`;
    after.set(authority, { authority, code, nonce: nonce + 1n });
  }
  return { kind: "apply", delegations: [...after.values()] };
}

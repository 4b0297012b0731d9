import { TOKEN_2022_PROGRAM, TOKEN_PROGRAMS, type AccountFact } from "@causeway/families/solana";

/** Properties of mints and token accounts that matter to a payer. Pure. */
export interface MintFact {
  readonly tokenProgram: string;
  readonly decimals: number;
  /** Why its tokens cannot be paid; undefined: they can. */
  readonly refusal: string | undefined;
}

/** Undefined: the account is not a mint. */
export function mintOf(account: AccountFact | undefined): MintFact | undefined {
  if (account === undefined || !TOKEN_PROGRAMS.has(account.owner)) return undefined;
  const { owner, data } = account;
  const decimals = data[44];
  // With extensions, a byte after the base layout distinguishes mints from token accounts.
  const isMint = data.length === 82 || (data.length > 165 && data[165] === 1);
  if (!isMint || decimals === undefined || data[45] !== 1) return undefined;
  return {
    tokenProgram: owner,
    decimals,
    refusal: owner === TOKEN_2022_PROGRAM ? extensionRefusal(data) : undefined,
  };
}

/** Mint extensions with which a recipient may get less than was sent, or nothing. */
const TRANSFER_FEE = 1;
const DEFAULT_STATE = 6;
const NON_TRANSFERABLE = 9;
const TRANSFER_HOOK = 14;
const FROZEN = 2;

function extensionRefusal(data: Uint8Array): string | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  for (let offset = 166; offset + 4 <= data.length;) {
    const [type, length] = [view.getUint16(offset, true), view.getUint16(offset + 2, true)];
    const [from, to] = [offset + 4, offset + 4 + length];
    if (type === 0 || to > data.length) break;
    if (
      type === TRANSFER_FEE &&
      (view.getUint16(from + 88, true) > 0 || view.getUint16(from + 106, true) > 0)
    )
      return "token charges a transfer fee";
    if (type === NON_TRANSFERABLE) return "token is not transferable";
    if (type === DEFAULT_STATE && data[from] === FROZEN) return "token accounts are frozen by default";
    if (type === TRANSFER_HOOK && data.subarray(from + 32, from + 64).some((byte) => byte !== 0))
      return "token has a transfer hook program";
    offset = to;
  }
  return undefined;
}

/**
 * Why tokens cannot be paid into an account; undefined: they can. @param account the token account; undefined
 * if it does not exist yet
 */
export function tokenAccountRefusal(
  account: AccountFact | undefined,
  { tokenProgram }: Pick<MintFact, "tokenProgram">,
  owner: Uint8Array,
): string | undefined {
  // Lamports sent to the address do not prevent its creation.
  if (account === undefined || account.data.length === 0) return undefined;
  if (account.owner !== tokenProgram || account.data.length < 165)
    return "the account at the recipient's token account address is not a token account";
  if (Buffer.compare(account.data.subarray(32, 64), owner) !== 0)
    return "recipient's token account has a different owner";
  return account.data[108] === FROZEN ? "recipient's token account is frozen" : undefined;
}

/** Tokens in an account; 0 if it does not exist. */
export function tokenBalance(account: AccountFact | undefined): bigint {
  if (account === undefined || !TOKEN_PROGRAMS.has(account.owner) || account.data.length < 165) return 0n;
  const { data } = account;
  // Frozen tokens cannot be spent.
  if (data[108] === FROZEN) return 0n;
  return new DataView(data.buffer, data.byteOffset).getBigUint64(64, true);
}

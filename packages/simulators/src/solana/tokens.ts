import { address, getAddressEncoder, type Address } from "@solana/kit";
import { associatedTokenAccount } from "./depository.ts";
import { askNode, sendInstructions, solanaKey, type PlainInstruction, type SolanaKey } from "./wallet.ts";

const SYSTEM = "11111111111111111111111111111111";
const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
const ASSOCIATED_TOKEN = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";

export interface LocalMint {
  readonly mint: Address;
  readonly tokenProgram: string;
  /** Authority that may mint. */
  readonly authority: SolanaKey;
}

export interface MintRequest {
  /** Pays the fees, and may mint. */
  readonly authority: SolanaKey;
  readonly decimals: number;
  /** Transfer fee of a Token-2022 mint. */
  readonly feeBps?: number;
  /** Uses Token-2022 even without a fee. */
  readonly isToken2022?: boolean;
  /** Key of the mint's address. Default: random. */
  readonly account?: SolanaKey;
}

/** Creates a mint on a local cluster. */
export async function createMint(
  url: string,
  { authority, decimals, feeBps, isToken2022, account: requestedKey }: MintRequest,
): Promise<LocalMint> {
  const isNewer = feeBps !== undefined || isToken2022 === true;
  const tokenProgram = isNewer ? TOKEN_2022 : TOKEN;
  const account = requestedKey ?? (await solanaKey());
  // The base layout; with a fee, padded to the length of token accounts, followed by a type byte and the fee
  // extension.
  const size = feeBps === undefined ? 82 : 166 + 4 + 108;
  const rent = await askNode<number>(url, "getMinimumBalanceForRentExemption", [size]);
  const key = (text: string) => getAddressEncoder().encode(address(text));
  const create = Buffer.alloc(52);
  create.writeBigUInt64LE(BigInt(rent), 4);
  create.writeBigUInt64LE(BigInt(size), 12);
  create.set(key(tokenProgram), 20);
  const instructions: PlainInstruction[] = [
    {
      programId: SYSTEM,
      keys: [
        { pubkey: authority.address, isSigner: true, isWritable: true },
        { pubkey: account.address, isSigner: true, isWritable: true },
      ],
      data: create,
    },
  ];
  const mint = { pubkey: account.address, isSigner: false, isWritable: true };
  if (feeBps !== undefined) {
    // Without authorities to change the fee or to withdraw withheld tokens, and without a maximum fee.
    const data = Buffer.alloc(2 + 1 + 1 + 2 + 8);
    data.set([26, 0, 0, 0]);
    data.writeUInt16LE(feeBps, 4);
    data.writeBigUInt64LE(0xffff_ffff_ffff_ffffn, 6);
    instructions.push({ programId: tokenProgram, keys: [mint], data });
  }
  // InitializeMint2: decimals, the mint authority, no freeze authority.
  const data = Buffer.concat([
    Buffer.from([20, decimals]),
    Buffer.from(key(authority.address)),
    Buffer.from([0]),
  ]);
  instructions.push({ programId: tokenProgram, keys: [mint], data });
  await sendInstructions(url, [authority, account], instructions);
  return { mint: account.address, tokenProgram, authority };
}

/** Mints to a wallet's associated token account, and creates it if necessary. */
export async function mintTo(
  url: string,
  localMint: LocalMint,
  wallet: string,
  amount: bigint,
): Promise<void> {
  const tokenAccount = await associatedTokenAccount(wallet, localMint.mint, localMint.tokenProgram);
  const data = Buffer.alloc(9);
  data.writeUInt8(7, 0);
  data.writeBigUInt64LE(amount, 1);
  await sendInstructions(
    url,
    [localMint.authority],
    [
      createTokenAccountInstruction(localMint.authority.address, tokenAccount, wallet, localMint),
      {
        programId: localMint.tokenProgram,
        keys: [
          { pubkey: localMint.mint, isSigner: false, isWritable: true },
          { pubkey: tokenAccount, isSigner: false, isWritable: true },
          { pubkey: localMint.authority.address, isSigner: true, isWritable: false },
        ],
        data,
      },
    ],
  );
}

/** Creates a wallet's associated token account if it does not exist. */
export function createTokenAccountInstruction(
  payer: string,
  tokenAccount: string,
  wallet: string,
  { mint, tokenProgram }: Pick<LocalMint, "mint" | "tokenProgram">,
): PlainInstruction {
  const plain = (pubkey: string) => ({ pubkey, isSigner: false, isWritable: false });
  return {
    programId: ASSOCIATED_TOKEN,
    keys: [
      { pubkey: payer, isSigner: true, isWritable: true },
      { pubkey: tokenAccount, isSigner: false, isWritable: true },
      plain(wallet),
      plain(mint),
      plain(SYSTEM),
      plain(tokenProgram),
    ],
    data: Uint8Array.of(1),
  };
}

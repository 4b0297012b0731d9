import { createPrivateKey, sign } from "node:crypto";
import {
  associatedTokenAddress,
  depositNativeInstruction,
  depositTokenInstruction,
} from "@causeway/chains/solana";
import { bytesOf, type Hex, type Hex32 } from "@causeway/domain";
import { nativeCurrency, type ConfiguredChain } from "@causeway/families";
import {
  encodeSolanaTransferRequest,
  solanaTransferRequestId,
  type SolanaTransferRequest,
} from "@causeway/families/solana";
import {
  askNode,
  createDepository,
  createMint,
  createTokenAccountInstruction,
  executeInstruction,
  forwarderProgram,
  mintTo,
  sendInstructions,
  signatureCheckInstruction,
  solanaKey,
  startSolana,
  type LocalDepository,
  type LocalMint,
  type PlainInstruction,
  type RunningSolana,
  type SolanaKey,
} from "@causeway/simulators/solana";

export const NATIVE = nativeCurrency("solana-vm");
export const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const SYSTEM = "11111111111111111111111111111111";

/**
 * A cluster with a depository, two mints, a user, a solver and two recipients. Slots advance only on demand.
 */
export interface SolanaWorld {
  readonly node: RunningSolana;
  readonly depository: LocalDepository;
  readonly user: SolanaKey;
  readonly solver: SolanaKey;
  readonly recipients: readonly [SolanaKey, SolanaKey];
  readonly token: LocalMint;
  /** A token that keeps one percent of every transfer. */
  readonly feeToken: LocalMint;
  /** A program that calls another program for its caller. */
  readonly forwarder: string;
  mintOf(currency: string): LocalMint;
  deposit(deposit: {
    readonly id: Hex32;
    readonly amount: bigint;
    readonly currency?: string;
    readonly depositor?: string;
    readonly into?: LocalDepository;
  }): Promise<PlainInstruction>;
  /**
   * The instructions that transfer this amount of a currency. They create the recipient's token account if
   * needed.
   */
  transfer(
    from: SolanaKey,
    to: string,
    currency: string,
    amount: bigint,
  ): Promise<readonly PlainInstruction[]>;
  request(fields: Partial<SolanaTransferRequest>): SolanaTransferRequest;
  /**
   * The instructions of a payment: the check of the allocator's signature and the payment, which must be sent
   * together.
   */
  execution(
    request: SolanaTransferRequest,
    executor?: SolanaKey,
  ): Promise<readonly [PlainInstruction, PlainInstruction]>;
  /** Sends a transaction, and starts a new slot. Returns the signature. */
  send(
    signers: SolanaKey | readonly [SolanaKey, ...SolanaKey[]],
    instructions: readonly PlainInstruction[],
    options?: Parameters<typeof sendInstructions>[3],
  ): Promise<string>;
  chain(urls?: readonly string[], fields?: Partial<ConfiguredChain>): ConfiguredChain;
  close(): Promise<void>;
}

export async function startSolanaWorld(
  options: { readonly finalityLag?: number; readonly slotMs?: number } = {},
): Promise<SolanaWorld> {
  const { finalityLag = 4, slotMs = 0 } = options;
  const node = await startSolana({ slotMs, finalityLag });
  const [user, solver, first, second] = [
    await solanaKey(),
    await solanaKey(),
    await solanaKey(),
    await solanaKey(),
  ];
  for (const { address } of [user, solver, first, second])
    await askNode(node.url, "requestAirdrop", [address, 1_000_000_000_000]);
  const at = await createDepository(node, { owner: await solanaKey(), allocator: await solanaKey() });
  const token = await createMint(node.url, { authority: user, decimals: 6 });
  const feeToken = await createMint(node.url, { authority: user, decimals: 6, feeBps: 100 });
  for (const minted of [token, feeToken])
    for (const { address } of [user, solver, first]) await mintTo(node.url, minted, address, 10n ** 15n);
  const forwarder = (await solanaKey()).address;
  node.controls.addProgram(forwarder, forwarderProgram());
  node.controls.finalize();
  let nonce = 0n;

  const mintOf = (currency: string): LocalMint => {
    const localMint = [token, feeToken].find(({ mint }) => mint === currency);
    if (localMint === undefined) throw new Error(`no such mint: ${currency}`);
    return localMint;
  };

  return {
    node,
    depository: at,
    user,
    solver,
    recipients: [first, second],
    token,
    feeToken,
    forwarder,
    mintOf,
    deposit: async ({ id, amount, currency = NATIVE, depositor = user.address, into = at }) => {
      const deposit = { pdas: into, sender: user.address, depositor, amount, id };
      if (currency === NATIVE) return depositNativeInstruction(deposit);
      return await depositTokenInstruction({ ...deposit, ...mintOf(currency) });
    },
    transfer: async (from, to, currency, amount) => {
      if (currency === NATIVE) return [lamportTransfer(from.address, to, amount)];
      const mint = mintOf(currency);
      const [source, target] = await Promise.all(
        [from.address, to].map(
          async (of_) => await associatedTokenAddress(of_, mint.mint, mint.tokenProgram),
        ),
      );
      return [
        createTokenAccountInstruction(from.address, target ?? "", to, mint),
        tokenTransfer(mint, source ?? "", target ?? "", from.address, amount),
      ];
    },
    request: (fields) => {
      nonce += 1n;
      return {
        domain: at.domain,
        recipient: first.address,
        token: NATIVE,
        amount: 5_000_000n,
        nonce,
        expiration: BigInt(node.controls.time() + 600),
        vaultAddress: at.vault,
        ...fields,
      };
    },
    execution: async (request, executor = solver) => {
      const requestId = bytesOf(solanaTransferRequestId(request));
      const payload = encodeSolanaTransferRequest(request);
      const program = request.token === NATIVE ? undefined : mintOf(request.token).tokenProgram;
      return [
        signatureCheckInstruction(at.allocator.address, signBytes(at.allocator, requestId), requestId),
        await executeInstruction(at, executor.address, payload, requestId, program),
      ];
    },
    send: async (signers, instructions, sendOptions = {}) => {
      const signerList = "address" in signers ? ([signers] as const) : signers;
      const signature = await sendInstructions(node.url, signerList, instructions, sendOptions);
      node.controls.passSlots(1);
      return signature;
    },
    chain: (urls = [node.url], fields = {}) => ({
      name: "solana",
      vmType: "solana-vm",
      rpcUrls: urls,
      rpcQuorum: urls.length,
      depository: at.program,
      additionalDepositories: [],
      hubChainId: "5005",
      evm: undefined,
      solana: { genesisHash: LOCAL_GENESIS },
      ...fields,
    }),
    close: async () => await node.close(),
  };
}

export const LOCAL_GENESIS = "LoCaL1111111111111111111111111111111111111";

/** An ed25519 signature. */
export function signBytes(key: SolanaKey, message: Uint8Array): Uint8Array {
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), key.seed]);
  return sign(null, message, createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }));
}

export function memo(text: string): PlainInstruction {
  return { programId: MEMO, keys: [], data: Buffer.from(text, "utf8") };
}

export function lamportTransfer(from: string, to: string, amount: bigint): PlainInstruction {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(2, 0);
  data.writeBigUInt64LE(amount, 4);
  return {
    programId: SYSTEM,
    keys: [
      { pubkey: from, isSigner: true, isWritable: true },
      { pubkey: to, isSigner: false, isWritable: true },
    ],
    data,
  };
}

/** A transfer between token accounts that names the mint. */
export function tokenTransfer(
  { mint, tokenProgram }: Pick<LocalMint, "mint" | "tokenProgram">,
  from: string,
  to: string,
  authority: string,
  amount: bigint,
): PlainInstruction {
  const data = Buffer.alloc(10);
  data.writeUInt8(12, 0);
  data.writeBigUInt64LE(amount, 1);
  data.writeUInt8(6, 9);
  return {
    programId: tokenProgram,
    keys: [
      { pubkey: from, isSigner: false, isWritable: true },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: to, isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false },
    ],
    data,
  };
}

/** An instruction that always fails: it transfers one lamport more than any account has. */
export function failingInstruction(payer: SolanaKey): PlainInstruction {
  return lamportTransfer(payer.address, payer.address, 10n ** 18n);
}

/** The instruction with which the forwarder makes this call. */
export function forwardInstruction(forwarder: string, call: PlainInstruction): PlainInstruction {
  return {
    programId: forwarder,
    keys: [{ pubkey: call.programId, isSigner: false, isWritable: false }, ...call.keys],
    data: call.data,
  };
}

export function payloadOf(request: SolanaTransferRequest): Hex {
  return encodeSolanaTransferRequest(request);
}

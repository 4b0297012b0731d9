import { createHash, sign, createPrivateKey } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  associatedTokenAddress,
  depositNativeInstruction,
  depositoryAccounts,
  depositTokenInstruction,
} from "@causeway/chains/solana";
import { toHex, type Hex32 } from "@causeway/domain";
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
  depositoryProgram,
  executeInstruction,
  initializeInstruction,
  mintTo,
  programDataAddress,
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

// The committed depository program in a real virtual machine.

const NATIVE = "1".repeat(32);
let node: RunningSolana;
let deployed: LocalDepository;
let user: SolanaKey;
let recipient: SolanaKey;
let token: LocalMint;
let feeToken: LocalMint;
let nonce = 0n;

beforeAll(async () => {
  node = await startSolana({ slotMs: 0, finalityLag: 2 });
  user = await solanaKey();
  recipient = await solanaKey();
  await askNode(node.url, "requestAirdrop", [user.address, 100_000_000_000]);
  deployed = await createDepository(node, { owner: await solanaKey(), allocator: await solanaKey() });
  token = await createMint(node.url, { authority: user, decimals: 6 });
  feeToken = await createMint(node.url, { authority: user, decimals: 6, feeBps: 100 });
  await mintTo(node.url, token, user.address, 10_000_000n);
  await mintTo(node.url, feeToken, user.address, 10_000_000n);
});

afterAll(async () => {
  await node.close();
});

const id = (byte: number): Hex32 => `0x${byte.toString(16).padStart(2, "0").repeat(32)}`;

async function lamports(address: string): Promise<number> {
  node.controls.passSlots(1);
  return (await askNode<{ value: number }>(node.url, "getBalance", [address, { commitment: "processed" }]))
    .value;
}

async function tokens(wallet: string, tokenMint: LocalMint): Promise<bigint> {
  const account = node.controls.account(
    await associatedTokenAddress(wallet, tokenMint.mint, tokenMint.tokenProgram),
  );
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64);
}

/** The data that the program logged in a transaction, as bytes. */
async function eventsOf(signature: string): Promise<readonly Buffer[]> {
  const { meta } = await askNode<{ meta: { logMessages: string[] } }>(node.url, "getTransaction", [
    signature,
    { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 },
  ]);
  return meta.logMessages.flatMap((line) =>
    line.startsWith("Program data: ") ? [Buffer.from(line.slice(14), "base64")] : [],
  );
}

function aRequest(fields: Partial<SolanaTransferRequest> = {}): SolanaTransferRequest {
  nonce += 1n;
  return {
    domain: deployed.domain,
    recipient: recipient.address,
    token: NATIVE,
    amount: 1_000_000n,
    nonce,
    expiration: BigInt(node.controls.time() + 600),
    vaultAddress: deployed.vault,
    ...fields,
  };
}

/** The key's ed25519 signature over a message. */
function signatureOf(key: SolanaKey, message: Uint8Array): Uint8Array {
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), key.seed]);
  return sign(null, message, createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }));
}

async function execution(
  request: SolanaTransferRequest,
  {
    tokenProgram,
    key = deployed.allocator,
    message,
  }: { tokenProgram?: string; key?: SolanaKey; message?: Uint8Array } = {},
): Promise<readonly [PlainInstruction, PlainInstruction]> {
  const payload = encodeSolanaTransferRequest(request);
  const requestId = Buffer.from(solanaTransferRequestId(request).slice(2), "hex");
  const signedMessage = message ?? requestId;
  return [
    signatureCheckInstruction(key.address, signatureOf(key, signedMessage), signedMessage),
    await executeInstruction(deployed, user.address, payload, requestId, tokenProgram),
  ];
}

const send = async (...instructions: readonly PlainInstruction[]): Promise<string> => {
  const signature = await sendInstructions(node.url, [user], instructions);
  node.controls.passSlots(1);
  return signature;
};

const custom = (code: number): RegExp => new RegExp(`"Custom":${code}\\}`);

const initialize = async (
  program: string,
  { signer, ...fields }: { signer: SolanaKey } & Partial<Parameters<typeof initializeInstruction>[0]>,
) =>
  await sendInstructions(
    node.url,
    [signer],
    [
      initializeInstruction({
        ...(await depositoryAccounts(program)),
        owner: signer.address,
        allocator: recipient.address,
        programData: await programDataAddress(program),
        chainName: "solana",
        ...fields,
      }),
    ],
  );

test("only the upgrade authority can initialize, and only once", async () => {
  const stranger = await solanaKey();
  await askNode(node.url, "requestAirdrop", [stranger.address, 10_000_000_000]);
  const program = (await solanaKey()).address;
  node.controls.addProgram(program, depositoryProgram(), deployed.owner.address);
  await expect(initialize(program, { signer: stranger })).rejects.toThrow(custom(6003));
  await initialize(program, { signer: deployed.owner });
  node.controls.passSlots(1);
  await expect(initialize(program, { signer: deployed.owner })).rejects.toThrow("AccountAlreadyInitialized");
  const { depository } = await depositoryAccounts(program);
  const stored = node.controls.account(depository);
  expect(stored?.data.length).toBe(106);
  expect(Buffer.from(stored?.data.subarray(8, 40) ?? [])).toEqual(base58Bytes(deployed.owner.address));
  expect(Buffer.from(stored?.data.subarray(40, 72) ?? [])).toEqual(base58Bytes(recipient.address));
});

test("records the owner that the upgrade authority names, without the owner's signature", async () => {
  for (const owner of [(await solanaKey()).address, "1".repeat(32)]) {
    const program = (await solanaKey()).address;
    node.controls.addProgram(program, depositoryProgram(), deployed.owner.address);
    await initialize(program, { signer: deployed.owner, authority: deployed.owner.address, owner });
    node.controls.passSlots(1);
    const { depository } = await depositoryAccounts(program);
    const { data } = node.controls.account(depository) ?? { data: new Uint8Array() };
    expect(Buffer.from(data.subarray(8, 40))).toEqual(base58Bytes(owner));
  }
});

test("the upgrade authority must sign, and must show the loader's own record of this program", async () => {
  const stranger = await solanaKey();
  await askNode(node.url, "requestAirdrop", [stranger.address, 10_000_000_000]);
  const program = (await solanaKey()).address;
  const strangerProgram = (await solanaKey()).address;
  node.controls.addProgram(program, depositoryProgram(), deployed.owner.address);
  node.controls.addProgram(strangerProgram, depositoryProgram(), stranger.address);
  const unsigned = initializeInstruction({
    ...(await depositoryAccounts(program)),
    owner: deployed.owner.address,
    allocator: stranger.address,
    programData: await programDataAddress(program),
    chainName: "solana",
  });
  const keys = unsigned.keys.map((key) => ({ ...key, isSigner: false }));
  await expect(sendInstructions(node.url, [stranger], [{ ...unsigned, keys }])).rejects.toThrow(
    "MissingRequiredSignature",
  );
  await expect(
    initialize(program, { signer: stranger, programData: await programDataAddress(strangerProgram) }),
  ).rejects.toThrow(custom(6021));
  const forged = (await solanaKey()).address;
  const record = node.controls.account(await programDataAddress(strangerProgram));
  if (record === undefined) throw new Error("program data account not found");
  node.controls.setAccount(forged, { ...record, owner: deployed.program });
  await expect(initialize(program, { signer: stranger, programData: forged })).rejects.toThrow(custom(6021));
});

test("a program without an upgrade authority cannot be initialized", async () => {
  const program = (await solanaKey()).address;
  node.controls.addProgram(program, depositoryProgram());
  await expect(initialize(program, { signer: user })).rejects.toThrow(custom(6003));
});

test("the domain is the hash of the name, the version, the chain and the program", () => {
  const text = Buffer.concat([Buffer.from("Depository1solana"), base58Bytes(deployed.program)]);
  expect(deployed.domain).toBe(`0x${createHash("sha256").update(text).digest("hex")}`);
});

test("deposited lamports arrive in the vault, and the event names the depositor, the amount and the id", async () => {
  const before = await lamports(deployed.vault);
  const signature = await send(
    depositNativeInstruction({
      pdas: deployed,
      sender: user.address,
      depositor: recipient.address,
      amount: 5_000_000n,
      id: id(7),
    }),
  );
  expect((await lamports(deployed.vault)) - before).toBe(5_000_000);
  const [event] = await eventsOf(signature);
  expect(event?.toString("hex")).toBe(
    `78f83d531f8e6b90${base58Bytes(recipient.address).toString("hex")}00404b4c0000000000${"07".repeat(32)}`,
  );
});

test("deposited tokens of both programs arrive in the vault's token account, and the event states the amount without the mint's fee", async () => {
  for (const [mint, receivedAmount] of [
    [token, 1_000_000n],
    [feeToken, 990_000n],
  ] as const) {
    const deposit = await depositTokenInstruction({
      pdas: deployed,
      sender: user.address,
      amount: 1_000_000n,
      id: id(8),
      mint: mint.mint,
      tokenProgram: mint.tokenProgram,
    });
    const signature = await send(deposit);
    expect(await tokens(deployed.vault, mint)).toBe(receivedAmount);
    const [event] = await eventsOf(signature);
    expect(event?.subarray(40, 73).toString("hex")).toBe(`01${base58Bytes(mint.mint).toString("hex")}`);
    expect(event?.readBigUInt64LE(73)).toBe(receivedAmount);
    // The second deposit uses the existing token account.
    await send({ ...deposit });
    expect(await tokens(deployed.vault, mint)).toBe(2n * receivedAmount);
  }
});

test("refuses a deposit into another vault or another owner's token account, and one with truncated data", async () => {
  const stranger = await solanaKey();
  const validDeposit = depositNativeInstruction({
    pdas: deployed,
    sender: user.address,
    amount: 1n,
    id: id(9),
  });
  const withKey = (instruction: PlainInstruction, index: number, pubkey: string): PlainInstruction => ({
    ...instruction,
    keys: instruction.keys.map((key, keyIndex) => (keyIndex === index ? { ...key, pubkey } : key)),
  });
  await expect(send(withKey(validDeposit, 3, stranger.address))).rejects.toThrow(custom(6014));
  await expect(send(withKey(validDeposit, 0, stranger.address))).rejects.toThrow(custom(6016));
  await expect(send({ ...validDeposit, data: validDeposit.data.slice(0, -2) })).rejects.toThrow(
    "InvalidInstructionData",
  );
  const tokenDeposit = await depositTokenInstruction({
    pdas: deployed,
    sender: user.address,
    amount: 1n,
    id: id(9),
    mint: token.mint,
    tokenProgram: token.tokenProgram,
  });
  const strangerTokens = await associatedTokenAddress(stranger.address, token.mint, token.tokenProgram);
  await send(createTokenAccountInstruction(user.address, strangerTokens, stranger.address, token));
  await expect(send(withKey(tokenDeposit, 6, strangerTokens))).rejects.toThrow(custom(6010));
  await expect(send(withKey(tokenDeposit, 7, feeToken.tokenProgram))).rejects.toThrow(custom(6001));
  await expect(send(withKey(tokenDeposit, 7, deployed.program))).rejects.toThrow(custom(6002));
});

test("a request that the allocator signed is paid once, in lamports and in tokens of both programs", async () => {
  await send(
    depositNativeInstruction({ pdas: deployed, sender: user.address, amount: 50_000_000n, id: id(1) }),
  );
  const before = await lamports(recipient.address);
  const request = aRequest();
  const signature = await send(...(await execution(request)));
  expect((await lamports(recipient.address)) - before).toBe(1_000_000);
  const [event] = await eventsOf(signature);
  expect(event?.subarray(0, 8).toString("hex")).toBe("5c0ab2b8122c787c");
  expect(toHex(event?.subarray(8, 129) ?? new Uint8Array())).toBe(encodeSolanaTransferRequest(request));
  expect(event?.subarray(129, 161)).toEqual(base58Bytes(user.address));
  await expect(send(...(await execution(request)))).rejects.toThrow(custom(6000));

  for (const [mint, receivedAmount] of [
    [token, 500_000n],
    [feeToken, 495_000n],
  ] as const) {
    const tokenRequest = aRequest({ token: mint.mint, amount: 500_000n });
    await send(...(await execution(tokenRequest, { tokenProgram: mint.tokenProgram })));
    expect(await tokens(recipient.address, mint)).toBe(receivedAmount);
    await expect(
      send(...(await execution(tokenRequest, { tokenProgram: mint.tokenProgram }))),
    ).rejects.toThrow(custom(6000));
  }
});

test("lamports sent to a request's record account do not prevent its payment", async () => {
  const request = aRequest();
  const [, payment] = await execution(request);
  const recordAccount = payment.keys[7]?.pubkey ?? "";
  await askNode(node.url, "requestAirdrop", [recordAccount, 5_000_000]);
  await send(...(await execution(request)));
  expect(node.controls.account(recordAccount)?.owner).toBe(deployed.program);
});

test("a request is paid only if the instruction before it checks the allocator's signature over exactly this request", async () => {
  const request = aRequest();
  const [check, payment] = await execution(request);
  const stranger = await solanaKey();
  await expect(send(payment)).rejects.toThrow(custom(6007));
  await expect(send(payment, check)).rejects.toThrow(custom(6007));
  const memo = { programId: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", keys: [], data: "0x68" } as const;
  await expect(send(check, memo, payment)).rejects.toThrow(custom(6007));
  await expect(send(...(await execution(request, { key: stranger })))).rejects.toThrow(custom(6004));
  const otherRequestId = Buffer.from(solanaTransferRequestId(aRequest()).slice(2), "hex");
  await expect(send(...(await execution(request, { message: otherRequestId })))).rejects.toThrow(
    custom(6005),
  );
  await expect(send(...(await execution(request, { message: Buffer.alloc(33) })))).rejects.toThrow(
    custom(6006),
  );
});

test("a signature check that reads its data from another instruction does not count", async () => {
  // The check verifies a stranger's signature in another instruction. The allocator's key and the hash are at
  // the expected offsets.
  const stranger = await solanaKey();
  const request = aRequest();
  const hash = Buffer.from(solanaTransferRequestId(request).slice(2), "hex");
  const [, payment] = await execution(request);
  const real = signatureCheckInstruction(stranger.address, signatureOf(stranger, hash), hash);
  const forged = Buffer.from(
    signatureCheckInstruction(deployed.allocator.address, signatureOf(stranger, hash), hash)
      .data as Uint8Array,
  );
  // The check reads key and signature from instruction 0.
  forged.writeUInt16LE(0, 4);
  forged.writeUInt16LE(0, 8);
  await expect(send(real, { programId: real.programId, keys: [], data: forged }, payment)).rejects.toThrow(
    custom(6006),
  );
});

test("refuses to pay a request that expired, is for another domain, vault or recipient, or exceeds the balance", async () => {
  const stranger = await solanaKey();
  const now = BigInt(node.controls.time());
  await expect(send(...(await execution(aRequest({ expiration: now }))))).rejects.toThrow(custom(6008));
  await expect(send(...(await execution(aRequest({ domain: id(3) }))))).rejects.toThrow(custom(6012));
  await expect(send(...(await execution(aRequest({ vaultAddress: stranger.address }))))).rejects.toThrow(
    custom(6014),
  );
  await expect(send(...(await execution(aRequest({ recipient: deployed.vault }))))).rejects.toThrow(
    custom(6009),
  );
  const [check, payment] = await execution(aRequest());
  const diverted = {
    ...payment,
    keys: payment.keys.map((key, keyIndex) => (keyIndex === 2 ? { ...key, pubkey: stranger.address } : key)),
  };
  await expect(send(check, diverted)).rejects.toThrow(custom(6009));
  const vaultBalance = BigInt(await lamports(deployed.vault));
  await expect(send(...(await execution(aRequest({ amount: vaultBalance }))))).rejects.toThrow(custom(6011));
  await expect(
    send(...(await execution(aRequest({ token: token.mint, amount: 10n ** 12n })))),
  ).rejects.toThrow(custom(6011));
  const tokenExecution = await execution(aRequest({ token: token.mint, amount: 1n }), {
    tokenProgram: token.tokenProgram,
  });
  const otherMint = {
    ...tokenExecution[1],
    keys: tokenExecution[1].keys.map((key, keyIndex) =>
      keyIndex === 4 ? { ...key, pubkey: feeToken.mint } : key,
    ),
  };
  await expect(send(tokenExecution[0], otherMint)).rejects.toThrow(custom(6001));
});

function base58Bytes(text: string): Buffer {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let value = 0n;
  for (const letter of text) value = value * 58n + BigInt(alphabet.indexOf(letter));
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}

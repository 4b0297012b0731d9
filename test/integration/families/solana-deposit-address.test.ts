import { afterAll, beforeAll, expect, test } from "vitest";
import {
  associatedTokenAddress,
  createTokenAccountInstruction,
  depositsIn,
  deriveDepositAddress,
  readTransaction,
  sweepNativeInstruction,
  sweepTokenInstruction,
  vaultAccountsIn,
  type SweepTerms,
} from "@causeway/chains/solana";
import type { Hex32 } from "@causeway/domain";
import {
  askNode,
  createDepository,
  depositAddressProgram,
  LOCAL_DEPOSIT_ADDRESSES,
  mintTo,
  solanaKey,
  type LocalMint,
  type PlainInstruction,
  type SolanaKey,
} from "@causeway/simulators/solana";
import {
  forwardInstruction,
  lamportTransfer,
  startSolanaWorld,
  type SolanaWorld,
} from "../../support/solana-world.ts";

// The committed deposit address program and depository in a real virtual machine. An address pays only into
// the depository, and only for the orders that its seeds allow.

const program = LOCAL_DEPOSIT_ADDRESSES;
/** The rent-exempt minimum of an account without data, in lamports. */
const MINIMUM = 890_880n;

let world: SolanaWorld;
let operator: SolanaKey;
let owner: SolanaKey;
let orders = 0;

beforeAll(async () => {
  world = await startSolanaWorld();
  world.node.controls.addProgram(program, depositAddressProgram());
  ({ solver: operator } = world);
  ({ owner } = world.depository);
});
afterAll(async () => await world.close());

const anOrder = (): Hex32 => `0x${(++orders).toString(16).padStart(64, "0")}`;

interface Issued {
  readonly address: string;
  readonly from: SweepTerms["from"];
}

function issue(fields: Partial<SweepTerms["from"]> = {}): Issued {
  const from = {
    operator: operator.address,
    depositor: world.user.address,
    id: anOrder(),
    strict: false,
    ...fields,
  };
  return { from, address: deriveDepositAddress(program, { ...from, depository: world.depository.program }) };
}

const fund = async ({ address }: Issued, lamports: bigint): Promise<string> =>
  await world.send(world.user, [lamportTransfer(world.user.address, address, lamports)]);

const termsOf = ({ from }: Issued, change: Partial<SweepTerms>): SweepTerms => ({
  program,
  pdas: world.depository,
  from,
  orderId: from.id,
  amount: 1n,
  excess: 0n,
  ...change,
});

const sweepOf = (issued: Issued, change: Partial<SweepTerms>): PlainInstruction =>
  sweepNativeInstruction(termsOf(issued, change));

async function tokenSweepOf(issued: Issued, mint: LocalMint, change: Partial<SweepTerms>) {
  const { vault } = world.depository;
  const tokens = await associatedTokenAddress(vault, mint.mint, mint.tokenProgram);
  return [
    createTokenAccountInstruction({ payer: operator.address, tokens, wallet: vault, ...mint }),
    await sweepTokenInstruction({ ...termsOf(issued, change), ...mint }),
  ];
}

/** The instruction with another signer in place of the operator. */
const signedBy = (instruction: PlainInstruction, key: SolanaKey): PlainInstruction => ({
  ...instruction,
  keys: instruction.keys.map((accountMeta, index) =>
    index === 2 ? { ...accountMeta, pubkey: key.address } : accountMeta,
  ),
});

async function lamports(address: string): Promise<bigint> {
  world.node.controls.passSlots(1);
  return BigInt(
    (await askNode<{ value: number }>(world.node.url, "getBalance", [address, { commitment: "processed" }]))
      .value,
  );
}

async function tokens(wallet: string, { mint, tokenProgram }: LocalMint): Promise<bigint> {
  const account = world.node.controls.account(await associatedTokenAddress(wallet, mint, tokenProgram));
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64);
}

/** The deposits of a transaction, as oracles judge them. */
async function depositsOf(signature: string) {
  const answer = await askNode(world.node.url, "getTransaction", [
    signature,
    { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 },
  ]);
  const transaction = readTransaction(answer, signature);
  if (transaction === undefined) throw new Error(`no transaction ${signature}`);
  const facts = { ...transaction, timestamp: 0n };
  const reading = depositsIn(world.depository, await vaultAccountsIn(world.depository, facts), facts);
  if (reading.kind !== "read") throw new Error("the logs were not read");
  return reading.deposits.map(({ depositor, amount, depositId }) => ({ depositor, amount, depositId }));
}

const custom = (code: number): RegExp => new RegExp(`"Custom":${code}\\}`);

test("sweeps lamports into the vault as a deposit for the order, and any excess as a second deposit", async () => {
  for (const excess of [0n, 5_000_000n]) {
    const issued = issue();
    await fund(issued, 20_000_000n + excess);
    const vaultBefore = await lamports(world.depository.vault);
    const signature = await world.send(operator, [sweepOf(issued, { amount: 20_000_000n, excess })]);
    expect((await lamports(world.depository.vault)) - vaultBefore).toBe(20_000_000n + excess);
    expect(await lamports(issued.address)).toBe(0n);
    const amounts = [20_000_000n, ...(excess > 0n ? [excess] : [])];
    expect(await depositsOf(signature)).toEqual(
      amounts.map((amount) => ({ depositor: issued.from.depositor, amount, depositId: issued.from.id })),
    );
  }
});

test.each([
  ["one lamport", 1n],
  ["one lamport less than the rent-exempt minimum", MINIMUM - 1n],
])("deposits the remainder too when a sweep would leave %s", async (_, remainder) => {
  const issued = issue();
  await fund(issued, 10_000_000n + remainder);
  const signature = await world.send(operator, [sweepOf(issued, { amount: 10_000_000n })]);
  expect(await lamports(issued.address)).toBe(0n);
  expect((await depositsOf(signature)).map(({ amount }) => amount)).toEqual([10_000_000n, remainder]);
});

test("keeps a remainder of the rent-exempt minimum at the address", async () => {
  const issued = issue();
  await fund(issued, 10_000_000n + MINIMUM);
  const signature = await world.send(operator, [sweepOf(issued, { amount: 10_000_000n })]);
  expect(await lamports(issued.address)).toBe(MINIMUM);
  expect((await depositsOf(signature)).map(({ amount }) => amount)).toEqual([10_000_000n]);
});

test("sweeps tokens of both programs, in two deposits, and leaves the other tokens", async () => {
  for (const mint of [world.token, world.feeToken]) {
    const issued = issue();
    await mintTo(world.node.url, mint, issued.address, 9_000_000n);
    const vaultBefore = await tokens(world.depository.vault, mint);
    const sweep = await tokenSweepOf(issued, mint, { amount: 5_000_000n, excess: 1_000_000n });
    const signature = await world.send(operator, sweep);
    const isFee = mint === world.feeToken;
    expect((await tokens(world.depository.vault, mint)) - vaultBefore).toBe(isFee ? 5_940_000n : 6_000_000n);
    expect(await tokens(issued.address, mint)).toBe(3_000_000n);
    // The event states the amount that the vault received.
    const receivedAmounts = isFee ? [4_950_000n, 990_000n] : [5_000_000n, 1_000_000n];
    expect((await depositsOf(signature)).map(({ amount }) => amount)).toEqual(receivedAmounts);
  }
});

test("only the operator or the depository's owner can sweep", async () => {
  const [issued, stranger] = [issue(), await solanaKey()];
  for (const { address } of [stranger, owner])
    await askNode(world.node.url, "requestAirdrop", [address, 1_000_000_000]);
  await fund(issued, 30_000_000n);
  const sweep = sweepOf(issued, { amount: 10_000_000n });
  await expect(world.send(stranger, [signedBy(sweep, stranger)])).rejects.toThrow(custom(6000));
  const keys = sweep.keys.map((key) => ({ ...key, isSigner: false }));
  await expect(world.send(stranger, [{ ...sweep, keys }])).rejects.toThrow("MissingRequiredSignature");
  // If a stranger names themselves as the operator, the seeds derive a different deposit address.
  const sweepByStranger = sweepOf(
    { ...issued, from: { ...issued.from, operator: stranger.address } },
    { amount: 1n },
  );
  await expect(world.send(stranger, [withKey(sweepByStranger, 4, issued.address)])).rejects.toThrow(
    custom(6001),
  );
  await world.send(owner, [signedBy(sweep, owner)]);
  expect(await lamports(issued.address)).toBe(20_000_000n);
});

test("the owner of another depository cannot sweep", async () => {
  const issued = issue();
  await fund(issued, 30_000_000n);
  const otherDepository = await createDepository(world.node, {
    owner: await solanaKey(),
    allocator: await solanaKey(),
    program: (await solanaKey()).address,
  });
  const sweep = signedBy(sweepOf(issued, { amount: 10_000_000n }), otherDepository.owner);
  await expect(
    world.send(otherDepository.owner, [withKey(sweep, 1, otherDepository.depository)]),
  ).rejects.toThrow(custom(6002));
  await expect(
    world.send(otherDepository.owner, [
      withKey(withKey(sweep, 0, otherDepository.program), 1, otherDepository.depository),
    ]),
  ).rejects.toThrow(custom(6001));
});

test("a strict address deposits only for its own order, and an open address deposits for any order", async () => {
  const [strict, open, otherOrderId] = [issue({ strict: true }), issue(), anOrder()];
  for (const issued of [strict, open]) await fund(issued, 10_000_000n);
  const amount = 10_000_000n;
  await expect(world.send(operator, [sweepOf(strict, { amount, orderId: otherOrderId })])).rejects.toThrow(
    custom(6003),
  );
  // If the instruction claims that the address is open, the seeds derive a different address.
  const claimedOpen = sweepOf(
    { ...strict, from: { ...strict.from, strict: false } },
    { amount, orderId: otherOrderId },
  );
  await expect(world.send(operator, [withKey(claimedOpen, 4, strict.address)])).rejects.toThrow(custom(6001));
  await world.send(operator, [sweepOf(strict, { amount })]);
  const signature = await world.send(operator, [sweepOf(open, { amount, orderId: otherOrderId })]);
  expect(await depositsOf(signature)).toMatchObject([{ amount, depositId: otherOrderId }]);
});

test("pays into no other depository, vault or token account, and for no other depositor", async () => {
  const issued = issue();
  const stranger = await solanaKey();
  await fund(issued, 10_000_000n);
  await mintTo(world.node.url, world.token, issued.address, 10n);
  const sweep = sweepOf(issued, { amount: 10_000_000n });
  // If another program replaces the depository, the seeds derive a different address.
  await expect(world.send(operator, [withKey(sweep, 0, world.forwarder)])).rejects.toThrow(custom(6001));
  await expect(world.send(operator, [withKey(sweep, 3, stranger.address)])).rejects.toThrow(custom(6001));
  // The depository refuses these accounts.
  await expect(world.send(operator, [withKey(sweep, 5, stranger.address)])).rejects.toThrow(custom(6014));
  const [, tokenSweep] = await tokenSweepOf(issued, world.token, { amount: 10n });
  const strangerTokens = await associatedTokenAddress(
    stranger.address,
    world.token.mint,
    world.token.tokenProgram,
  );
  await mintTo(world.node.url, world.token, stranger.address, 1n);
  if (tokenSweep === undefined) throw new Error("expected two instructions in a token sweep");
  await expect(world.send(operator, [withKey(tokenSweep, 8, strangerTokens)])).rejects.toThrow(custom(6010));
  expect(await lamports(issued.address)).toBe(10_000_000n);
});

test("a sweep moves its whole amount, or fails and moves nothing", async () => {
  const issued = issue();
  await fund(issued, 10_000_000n);
  for (const [amount, excess] of [
    [10_000_001n, 0n],
    [10_000_000n, 1n],
    [1n, 2n ** 64n - 1n],
  ] as const)
    await expect(world.send(operator, [sweepOf(issued, { amount, excess })])).rejects.toThrow(custom(6004));
  await expect(world.send(operator, [sweepOf(issued, { amount: 0n })])).rejects.toThrow(
    "InvalidInstructionData",
  );
  const whole = sweepOf(issued, { amount: 10_000_000n });
  await expect(world.send(operator, [{ ...whole, data: `${String(whole.data)}00` }])).rejects.toThrow(
    "InvalidInstructionData",
  );
  // The token program fails inside the depository, so nothing is deposited.
  await mintTo(world.node.url, world.token, issued.address, 5n);
  await expect(
    world.send(operator, await tokenSweepOf(issued, world.token, { amount: 4n, excess: 2n })),
  ).rejects.toThrow(custom(1));
  expect([await lamports(issued.address), await tokens(issued.address, world.token)]).toEqual([
    10_000_000n,
    5n,
  ]);
  await world.send(operator, [whole]);
  await expect(world.send(operator, [sweepOf(issued, { amount: 10_000_000n })])).rejects.toThrow();
});

test("another program can call the sweep, and an emptied address can be paid again", async () => {
  const issued = issue();
  for (const amount of [3_000_000n, 2_000_000n]) {
    await fund(issued, amount);
    await world.send(operator, [forwardInstruction(world.forwarder, sweepOf(issued, { amount }))]);
    expect(await lamports(issued.address)).toBe(0n);
  }
});

const withKey = (instruction: PlainInstruction, index: number, pubkey: string): PlainInstruction => ({
  ...instruction,
  keys: instruction.keys.map((key, keyIndex) => (keyIndex === index ? { ...key, pubkey } : key)),
});

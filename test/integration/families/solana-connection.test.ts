import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { acceptedPayments } from "../../support/accepted-payments.ts";
import {
  InsufficientInventory,
  type PayingConnection,
  type NonEvmAttempt,
  type NonEvmPayment,
} from "@causeway/chains";
import { associatedTokenAddress } from "@causeway/chains/solana";
import { solanaEvidence } from "../../../packages/chains/src/solana/evidence.ts";
import type { Hex, Hex32, NonEvmChain, OrderId, TxHash } from "@causeway/domain";
import { decodeAddress, encodeAddress, RpcFault, transactionIdBytes } from "@causeway/families";
import {
  askNode,
  createMint,
  depositAddressProgram,
  LOCAL_DEPOSIT_ADDRESSES,
  mintTo,
  programDataAddress,
  solanaKey,
  type RpcTrouble,
} from "@causeway/simulators/solana";
import { startFaultyFronts } from "../../support/faulty-front.ts";
import { addressBytes } from "../../support/solana-lookup-table.ts";
import { payingConnection } from "../../support/paying-connection.ts";
import {
  failingInstruction,
  forwardInstruction,
  lamportTransfer,
  memo,
  NATIVE,
  startSolanaWorld,
  type SolanaWorld,
} from "../../support/solana-world.ts";

// How the Solana adapter reads deposits, and determines the outcome of payments under any fault.

let world: SolanaWorld;
let connection: PayingConnection;
const faults: unknown[] = [];
const bytes = (text: string): Hex => encodeAddress("solana-vm", text);
const id = (byte: number): Hex32 => `0x${byte.toString(16).padStart(2, "0").repeat(32)}`;

beforeAll(async () => {
  world = await startSolanaWorld();
  world.node.controls.addProgram(LOCAL_DEPOSIT_ADDRESSES, depositAddressProgram());
  connection = await aConnection();
});

afterEach(() => {
  world.node.controls.trouble(undefined);
  world.node.controls.dropTransactions(false);
  world.node.controls.resumeFinality();
});

afterAll(async () => {
  await connection.close();
  await world.close();
});

/**
 * An adapter for the solver's key.
 * @param urls of the endpoints, of which two are a quorum
 */
async function aConnection(urls: readonly string[] = [world.node.url]): Promise<PayingConnection> {
  return await payingConnection({
    chain: {
      name: "solana",
      vmType: "svm",
      family: "solana-vm",
      rpcUrl: urls[0] ?? "",
      ...(urls.length > 1 && { rpcUrls: urls }),
      depository: bytes(world.depository.program),
      depositAddressProgram: bytes(LOCAL_DEPOSIT_ADDRESSES),
      native: { address: bytes(NATIVE) },
      tokens: [world.token, world.feeToken].map(({ mint }) => ({ address: bytes(mint) })),
      blockTimeSeconds: 0.4,
    } as unknown as NonEvmChain,
    attestation: world.chain(urls, { rpcQuorum: Math.min(2, urls.length) }),
    privateKey: `0x${Buffer.from(world.solver.seed).toString("hex")}`,
    now: () => Date.now(),
    onFault: (fault) => faults.push(fault),
  });
}

const finalize = (): void => world.node.controls.finalize();
/**
 * Advances the cluster until every block that could contain an earlier signed transaction is final and
 * listed.
 */
const expire = (): void => world.node.controls.passSlots(150 + 32 + 10);

async function lamports(of: string): Promise<bigint> {
  world.node.controls.passSlots(1);
  return world.node.controls.account(of)?.lamports ?? 0n;
}

async function tokens(wallet: string, mint: string): Promise<bigint> {
  const account = world.node.controls.account(
    await associatedTokenAddress(wallet, mint, world.mintOf(mint).tokenProgram),
  );
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64);
}

function aPayment(recipient: string, fields: Partial<NonEvmPayment> = {}): NonEvmPayment {
  return {
    recipient: bytes(recipient),
    currency: bytes(NATIVE),
    amount: 5_000_000n,
    orderId: id(0x51) as OrderId,
    ...fields,
  };
}

async function paid(payment: NonEvmPayment): Promise<NonEvmAttempt> {
  const attempt = await connection.prepare(payment, [], []);
  expect(await connection.send(attempt)).toBe("sent");
  world.node.controls.passSlots(1);
  return attempt;
}

test("the solver is the key's account", () => {
  expect(decodeAddress("solana-vm", connection.solver)).toBe(world.solver.address);
});

test("reports every attestable deposit exactly once, when final, oldest first", async () => {
  const { user, depository: at, token, feeToken, forwarder } = world;
  finalize();
  const { cursor } = await connection.arrivals(undefined);
  world.node.controls.pauseFinality();
  const deposit = async (n: number, currency: string): Promise<string> =>
    await world.send(user, [await world.deposit({ id: id(n), amount: 7_000_000n, currency })]);
  const native = await deposit(1, NATIVE);
  const inTokens = await deposit(2, token.mint);
  const withFee = await deposit(3, feeToken.mint);
  const [, plain] = await world.transfer(user, at.vault, token.mint, 9n);
  const direct = await world.send(user, plain === undefined ? [] : [plain]);
  await world.send(user, [await world.deposit({ id: id(4), amount: 1n }), failingInstruction(user)], {
    skipPreflight: true,
  });
  await world.send(user, [lamportTransfer(user.address, at.vault, 5n), memo("unrelated")]);
  const twice = await world.deposit({ id: id(5), amount: 3n, currency: token.mint });
  const through = await world.send(user, [forwardInstruction(forwarder, twice), twice]);

  expect((await connection.arrivals(cursor)).deposits).toEqual([]);
  expect(await connection.arrivalsOf(transactionIdBytes("solana-vm", native) as TxHash)).toEqual({
    kind: "notFinal",
  });
  world.node.controls.resumeFinality();
  finalize();
  const read = await connection.arrivals(cursor);
  const reported = read.deposits.map(({ txHash, currency, amount, id: of, ordinal, logIndex }) => ({
    txHash,
    currency,
    amount,
    of,
    ordinal,
    logIndex,
  }));
  const expected = (
    signature: string,
    currency: string,
    amount: bigint,
    of: Hex | undefined,
    ordinal = 0,
    logIndex = 0,
  ) => ({
    txHash: transactionIdBytes("solana-vm", signature),
    currency: bytes(currency),
    amount,
    of,
    ordinal,
    logIndex,
  });
  expect(reported).toEqual([
    expected(native, NATIVE, 7_000_000n, id(1)),
    expected(inTokens, token.mint, 7_000_000n, id(2)),
    expected(withFee, feeToken.mint, 6_930_000n, id(3)),
    expected(direct, token.mint, 9n, undefined),
    expected(through, token.mint, 3n, id(5), 0, 2),
    expected(through, token.mint, 3n, id(5), 1, 1),
  ]);
  expect(read.deposits[0]).toMatchObject({ depositor: bytes(user.address), sender: bytes(user.address) });
  // The same cursor returns the same deposits, and the next cursor returns none.
  expect((await connection.arrivals(cursor)).deposits).toEqual(read.deposits);
  expect((await connection.arrivals(read.cursor)).deposits).toEqual([]);
  const arrivals = await connection.arrivalsOf(transactionIdBytes("solana-vm", withFee) as TxHash);
  expect(arrivals).toMatchObject({ kind: "final", deposits: [read.deposits[2]] });
  expect(await connection.arrivalsOf(`0x${"07".repeat(64)}` as TxHash)).toEqual({ kind: "absent" });
});

test("a deposit that only the first of three endpoints shows waits until a second endpoint shows it", async () => {
  const fronts = await startFaultyFronts([world.node.url, world.node.url]);
  const quorumConnection = await aConnection([world.node.url, ...fronts.urls]);
  try {
    finalize();
    const { cursor } = await quorumConnection.arrivals(undefined);
    const signature = await world.send(world.user, [await world.deposit({ id: id(12), amount: 6n })]);
    finalize();
    // The other endpoints do not know this transaction.
    const absent = "99eUso3aSbE9tqGSTXzo3TLfKb9RkMTURrHKQ1K7Zh3BbeqPevr5E1iCbpTjqHuTFLtfxTTD5ekfVuZFzQyEQf8";
    fronts.begin(() => ({ question: (text) => text.replaceAll(signature, absent) }));
    expect(await quorumConnection.arrivals(cursor)).toMatchObject({ deposits: [], cursor });
    const txHash = transactionIdBytes("solana-vm", signature) as TxHash;
    expect(await quorumConnection.arrivalsOf(txHash)).toEqual({ kind: "notFinal" });
    fronts.begin(() => undefined);
    await expect
      .poll(async () => (await quorumConnection.arrivals(cursor)).deposits, { timeout: 5_000 })
      .toMatchObject([{ txHash, amount: 6n, id: id(12) }]);
    expect(await quorumConnection.arrivalsOf(txHash)).toMatchObject({
      kind: "final",
      deposits: [{ txHash }],
    });
  } finally {
    await quorumConnection.close();
    await fronts.close();
  }
});

/** The answer with its last valid block height, if it has one, shifted. */
function withLastHeight(json: unknown, shift: number): unknown {
  const { value } = json as { readonly value?: { readonly lastValidBlockHeight?: number } | null };
  if (value?.lastValidBlockHeight === undefined) return json;
  return {
    ...(json as object),
    value: { ...value, lastValidBlockHeight: value.lastValidBlockHeight + shift },
  };
}

/** The answer with its blockhash, if it has one, replaced by one that no block has. */
function withInventedHash(json: unknown): unknown {
  const { value } = json as { readonly value?: { readonly blockhash?: string } | null };
  if (value?.blockhash === undefined) return json;
  return { ...(json as object), value: { ...value, blockhash: world.user.address } };
}

test.each<[string, (json: unknown) => unknown]>([
  ["a last height 150 blocks too low", (json) => withLastHeight(json, -150)],
  ["a last height 100,000 blocks too high", (json) => withLastHeight(json, 100_000)],
  ["an invented blockhash", withInventedHash],
])(
  "does not sign bytes that are made from what only the first of three endpoints gives: %s",
  async (_, answer) => {
    const fronts = await startFaultyFronts([world.node.url]);
    const quorumConnection = await aConnection([...fronts.urls, world.node.url, world.node.url]);
    try {
      fronts.begin(() => ({ answer }));
      const payment = aPayment((await solanaKey()).address);
      await expect(quorumConnection.prepare(payment, [], [])).rejects.toMatchObject({ kind: "inconsistent" });
      // Another endpoint prepares the next payment.
      expect(await quorumConnection.prepare(payment, [], [])).toHaveProperty("raw");
    } finally {
      await quorumConnection.close();
      await fronts.close();
    }
  },
);

test("does not report a transaction as dead for a last height that is too low while blocks can still contain it", async () => {
  const fronts = await startFaultyFronts([world.node.url]);
  const lying = await aConnection(fronts.urls);
  try {
    fronts.begin(() => ({ answer: (json) => withLastHeight(json, -150) }));
    const attempt = await lying.prepare(aPayment((await solanaKey()).address), [], []);
    world.node.controls.passSlots(80);
    expect(await connection.outcome(attempt)).toEqual({ kind: "unseen" });
    expire();
    expect((await connection.outcome(attempt)).kind).toBe("dead");
  } finally {
    await lying.close();
    await fronts.close();
  }
});

test("reports the funds at a deposit address that two of three endpoints show, regardless of the first one", async () => {
  const key = { id: id(0x62), depositor: bytes(world.user.address), strict: true };
  const address = connection.depositAddresses?.addressOf(key) ?? "0x";
  const wallet = decodeAddress("solana-vm", address);
  await world.send(world.user, [lamportTransfer(world.user.address, wallet, 20_000_000n)]);
  finalize();
  const lamportsAre = (lamports: number) => (json: unknown) => {
    const { value } = json as { readonly value?: unknown };
    if (!Array.isArray(value)) return json;
    return {
      ...(json as object),
      value: value.map((account: unknown) =>
        account === null ? account : { ...(account as object), lamports },
      ),
    };
  };
  const fronts = await startFaultyFronts([world.node.url]);
  const quorumConnection = await aConnection([...fronts.urls, world.node.url, world.node.url]);
  try {
    for (const fault of [
      { answer: lamportsAre(99_000_000) },
      { answer: lamportsAre(0) },
      { instead: "status500" },
    ] as const) {
      fronts.begin(() => fault);
      const { depositAddresses } = quorumConnection;
      const read = await depositAddresses?.balances([{ address, sweeps: [] }], [bytes(NATIVE)]);
      expect(read?.balances).toEqual([{ account: address, currency: bytes(NATIVE), amount: 20_000_000n }]);
      expect(await depositAddresses?.sweepable(key, bytes(NATIVE), [])).toBe(20_000_000n);
    }
  } finally {
    await quorumConnection.close();
    await fronts.close();
  }
});

test("reads a deposit that nodes list late, and only once", async () => {
  finalize();
  const { cursor } = await connection.arrivals(undefined);
  const early = await world.send(world.user, [await world.deposit({ id: id(9), amount: 1n })]);
  const late = await world.send(world.user, [await world.deposit({ id: id(10), amount: 2n })]);
  finalize();
  world.node.controls.trouble(({ method }) =>
    method === "getSignaturesForAddress"
      ? {
          kind: "lie",
          tell: (list) => (list as { signature: string }[]).filter(({ signature }) => signature !== early),
        }
      : undefined,
  );
  const first = await connection.arrivals(cursor);
  expect(first.deposits.map(({ amount }) => amount)).toEqual([2n]);
  world.node.controls.trouble(undefined);
  finalize();
  const second = await connection.arrivals(first.cursor);
  expect(second.deposits.map(({ txHash }) => txHash)).toEqual([transactionIdBytes("solana-vm", early)]);
  expect((await connection.arrivals(second.cursor)).deposits).toEqual([]);
  expect(late).not.toBe(early);
});

test("a read in which one answer fails reports no deposits, and the next read reports all of them", async () => {
  finalize();
  const { cursor } = await connection.arrivals(undefined);
  await world.send(world.user, [await world.deposit({ id: id(11), amount: 4n })]);
  finalize();
  for (const method of ["getSlot", "getSignaturesForAddress", "getTransaction", "getBlock"]) {
    world.node.controls.trouble((call) =>
      call.method === method && call.before === 0
        ? { kind: "error", code: -32005, message: "behind" }
        : undefined,
    );
    await expect(connection.arrivals(cursor)).rejects.toMatchObject({ code: "RPC_FAULT" });
  }
  expect((await connection.arrivals(cursor)).deposits).toHaveLength(1);
});

test("payments of lamports and tokens are attestable, including into a token account that does not exist yet", async () => {
  const evidence = solanaEvidence(world.chain());
  const fresh = (await solanaKey()).address;
  for (const currency of [NATIVE, world.token.mint]) {
    const orderId = id(currency === NATIVE ? 0x61 : 0x62) as OrderId;
    const payment = aPayment(fresh, { currency: bytes(currency), orderId });
    expect(await connection.refusalOf(payment)).toBeUndefined();
    const cost = await connection.paymentCost(payment.currency, payment.recipient);
    const before = await lamports(world.solver.address);
    const attempt = await paid(payment);
    expect(attempt.fee).toBeLessThanOrEqual(cost);
    const left = await lamports(world.solver.address);
    expect(before - left - (currency === NATIVE ? payment.amount : 0n)).toBeLessThanOrEqual(attempt.fee);
    expect(await connection.outcome(attempt)).toMatchObject({ kind: "mined" });
    finalize();
    expect(await connection.outcome(attempt)).toMatchObject({ kind: "final" });
    const signature = Buffer.from(attempt.txId.slice(2), "hex");
    const answer = await evidence.payments(base58(signature), {
      orderId,
      solver: `0x${"50".repeat(20)}`,
      deadline: 4_000_000_000,
      extraData: "0x",
      receipts: [{ recipient: fresh, currency }],
      calls: [],
    });
    expect(answer).toMatchObject({ kind: "final", value: { amounts: [payment.amount] } });
  }
  expect(await lamports(fresh)).toBe(5_000_000n);
  expect(await tokens(fresh, world.token.mint)).toBe(5_000_000n);
  await evidence.close();
});

test("a transaction that is broadcast repeatedly pays once", async () => {
  const to = (await solanaKey()).address;
  const attempt = await paid(aPayment(to));
  expect(await connection.send(attempt)).toBe("sent");
  finalize();
  expect(await connection.send(attempt)).toBe("sent");
  expire();
  await connection.send(attempt);
  expect(await lamports(to)).toBe(5_000_000n);
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "final" });
});

test("equal payments have different bytes", async () => {
  const to = (await solanaKey()).address;
  const attempts = await Promise.all(
    Array.from({ length: 4 }, async () => await connection.prepare(aPayment(to), [], [])),
  );
  expect(new Set(attempts.map(({ txId }) => txId)).size).toBe(4);
  for (const attempt of attempts) expect(await connection.send(attempt)).toBe("sent");
  expect(await lamports(to)).toBe(20_000_000n);
});

test("a dropped payment is unseen until no block can contain it and dead afterwards, and only then is a new attempt signed", async () => {
  const to = (await solanaKey()).address;
  const payment = aPayment(to);
  const attempt = await connection.prepare(payment, [], []);
  expect(await connection.outcome(attempt)).toEqual({ kind: "unseen" });
  world.node.controls.dropTransactions(true);
  expect(await connection.send(attempt)).toBe("sent");
  world.node.controls.dropTransactions(false);
  world.node.controls.passSlots(140);
  expect(await connection.outcome(attempt)).toEqual({ kind: "unseen" });
  await expect(connection.prepare(payment, [attempt], [])).rejects.toMatchObject({ code: "RPC_FAULT" });
  // The newest block is past the last valid height, but the final block is not.
  world.node.controls.pauseFinality();
  expire();
  expect(await connection.outcome(attempt)).toEqual({ kind: "unseen" });
  world.node.controls.resumeFinality();
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "dead" });
  expect(await connection.send(attempt)).toMatchObject({
    refused: expect.stringContaining("BlockhashNotFound"),
  });
  await paid({ ...payment, orderId: id(0x71) as OrderId });
  const again = await connection.prepare(payment, [attempt], []);
  expect(await connection.send(again)).toBe("sent");
  expect(await lamports(to)).toBe(10_000_000n);
});

test("a completed payment is never reported as dead, even if a node omits it", async () => {
  const to = (await solanaKey()).address;
  const attempt = await paid(aPayment(to));
  expire();
  const outcomeUnder = async (tell: (method: string) => RpcTrouble | undefined): Promise<string> => {
    world.node.controls.trouble(({ method }) => tell(method));
    try {
      return (await connection.outcome(attempt)).kind;
    } catch (error) {
      expect(error).toMatchObject({ code: "RPC_FAULT" });
      return error instanceof RpcFault && error.kind === "pruned" ? "pruned" : "fault";
    }
  };
  const forgotten: RpcTrouble = {
    kind: "lie",
    tell: (honest) => ({ ...(honest as object), value: [null] }),
  };
  const noStatus = (method: string): RpcTrouble | undefined =>
    method === "getSignatureStatuses" ? forgotten : undefined;
  // If the status is missing, every later transaction of the solver is checked.
  expect(await outcomeUnder(noStatus)).toBe("final");
  for (const method of [
    "getEpochInfo",
    "getFirstAvailableBlock",
    "getSignaturesForAddress",
    "getTransaction",
  ])
    expect(
      await outcomeUnder((called) =>
        called === method ? { kind: "error", code: -32005, message: "behind" } : noStatus(called),
      ),
    ).toBe("fault");
  // The node's history does not reach back to the time when the payment was signed.
  const slot = world.node.controls.slot();
  expect(
    await outcomeUnder((called) =>
      called === "getFirstAvailableBlock"
        ? { kind: "lie", tell: () => slot }
        : called === "getSignaturesForAddress"
          ? { kind: "lie", tell: () => [] }
          : noStatus(called),
    ),
  ).toBe("pruned");
  world.node.controls.trouble(undefined);
  expect((await connection.outcome(attempt)).kind).toBe("final");
});

test("a payment whose block is reorged out does not count, and its transaction pays again while it is valid", async () => {
  const to = (await solanaKey()).address;
  const slot = world.node.controls.slot();
  const attempt = await paid(aPayment(to));
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "mined" });
  world.node.controls.dropFrom(slot);
  expect(await lamports(to)).toBe(0n);
  expect(await connection.outcome(attempt)).toEqual({ kind: "unseen" });
  // A reorg may also have removed the payment's recent blockhash.
  if ((await connection.send(attempt)) !== "sent") {
    expire();
    expect(await connection.outcome(attempt)).toMatchObject({ kind: "dead" });
  }
});

test("a payment that failed in a final block is dead", async () => {
  const poor = await solanaKey();
  await askNode(world.node.url, "requestAirdrop", [poor.address, 20_000_000]);
  finalize();
  const { chain: _, ...rest } = { chain: undefined };
  expect(rest).toEqual({});
  const own = await payingConnection({
    chain: {
      name: "solana",
      vmType: "svm",
      family: "solana-vm",
      rpcUrl: world.node.url,
      depository: bytes(world.depository.program),
      tokens: [],
    } as unknown as NonEvmChain,
    attestation: world.chain(),
    privateKey: `0x${Buffer.from(poor.seed).toString("hex")}`,
    now: () => Date.now(),
    onFault: () => undefined,
  });
  const to = (await solanaKey()).address;
  const attempt = await own.prepare(aPayment(to, { amount: 15_000_000n }), [], []);
  // The funds are spent first. A block still includes the payment, which fails.
  await world.send(poor, [lamportTransfer(poor.address, world.user.address, 10_000_000n)]);
  expect(await own.send(attempt)).toMatchObject({ refused: expect.stringContaining("InstructionError") });
  const raw = Buffer.from(attempt.raw.slice(2), "hex").subarray(16).toString("base64");
  await askNode(world.node.url, "sendTransaction", [raw, { encoding: "base64", skipPreflight: true }]);
  expect(await own.outcome(attempt)).toEqual({ kind: "pending" });
  finalize();
  expect(await own.outcome(attempt)).toMatchObject({ kind: "dead" });
  expect(await lamports(to)).toBe(0n);
  await own.close();
});

test("available balances exclude what pending payments still hold", async () => {
  const poor = await solanaKey();
  await askNode(world.node.url, "requestAirdrop", [poor.address, 100_000_000]);
  const mint = await createMint(world.node.url, { authority: world.user, decimals: 6 });
  await mintTo(world.node.url, mint, poor.address, 10n);
  finalize();
  const own = await payingConnection({
    chain: {
      name: "solana",
      vmType: "svm",
      family: "solana-vm",
      rpcUrl: world.node.url,
      depository: bytes(world.depository.program),
      tokens: [],
    } as unknown as NonEvmChain,
    attestation: world.chain(),
    privateKey: `0x${Buffer.from(poor.seed).toString("hex")}`,
    now: () => Date.now(),
    onFault: () => undefined,
  });
  const currency = bytes(mint.mint);
  const unknown = bytes((await solanaKey()).address);
  expect(await own.balances([bytes(NATIVE), currency, unknown])).toEqual(
    new Map([
      [bytes(NATIVE), 100_000_000n],
      [currency, 10n],
      [unknown, 0n],
    ]),
  );
  const to = world.recipients[0].address;
  const payment = aPayment(to, { currency, amount: 6n });
  const held = await own.prepare(payment, [], []);
  expect(await acceptedPayments(own, held, payment)).toEqual(["itself"]);
  // Another account signed the bytes.
  expect(await acceptedPayments(connection, held, payment)).toEqual([]);
  const lamports = aPayment(to);
  expect(await acceptedPayments(own, await own.prepare(lamports, [], []), lamports)).toEqual(["itself"]);
  await expect(own.prepare(aPayment(to, { currency, amount: 5n }), [], [held.raw])).rejects.toThrow(
    InsufficientInventory,
  );
  await own.prepare(aPayment(to, { currency, amount: 4n }), [], [held.raw]);
  await expect(own.prepare(aPayment(to, { amount: 99_500_000n }), [], [])).rejects.toThrow(
    InsufficientInventory,
  );
  const large = await own.prepare(aPayment(to, { amount: 90_000_000n }), [], []);
  await expect(own.prepare(aPayment(to, { amount: 9_500_000n }), [], [large.raw])).rejects.toThrow(
    InsufficientInventory,
  );
  await own.close();
});

test("a sweep is recognized by its bytes, pays the depository only, and takes its fee from the solver", async () => {
  const { depository: at, node, solver, token, feeToken, user } = world;
  const swept = { key: { id: id(0x61), depositor: bytes(user.address), strict: false }, excess: 3n };
  const { depositAddresses } = connection;
  const wallet = decodeAddress("solana-vm", depositAddresses?.addressOf(swept.key) ?? "0x");
  expect(await depositAddresses?.problem?.()).toBeUndefined();
  await world.send(user, [lamportTransfer(user.address, wallet, 20_000_000n)]);
  await mintTo(node.url, token, wallet, 10n);
  for (const [currency, amount] of [
    [bytes(NATIVE), 5_000_000n],
    [bytes(token.mint), 7n],
  ] as const) {
    const payment = aPayment(at.program, { currency, amount, sweeps: swept });
    expect(await connection.refusalOf(payment)).toBeUndefined();
    const [balanceBefore, vault, vaultTokens] = [
      await lamports(solver.address),
      await lamports(at.vault),
      await tokens(at.vault, token.mint),
    ];
    const attempt = await paid(payment);
    expect(await acceptedPayments(connection, attempt, payment)).toEqual(["itself"]);
    for (const other of [
      { ...swept, excess: 4n },
      { ...swept, key: { ...swept.key, strict: true } },
      { ...swept, key: { ...swept.key, id: id(0x62) } },
      { ...swept, key: { ...swept.key, depositor: bytes(solver.address) } },
      undefined,
    ])
      expect(await connection.isPayment(attempt, { ...payment, sweeps: other })).toBe(false);
    const arrived = [(await lamports(at.vault)) - vault, (await tokens(at.vault, token.mint)) - vaultTokens];
    expect(arrived).toEqual(currency === bytes(NATIVE) ? [5_000_003n, 0n] : [0n, 10n]);
    // Without a priority fee the sweep costs one signature, plus the rent of the vault's token account if
    // that was missing.
    expect([5_000n, attempt.fee]).toContain(balanceBefore - (await lamports(solver.address)));
    finalize();
    expect((await connection.outcome(attempt)).kind).toBe("final");
  }
  const elsewhere = aPayment(user.address, { sweeps: swept });
  expect(await connection.refusalOf(elsewhere)).toMatch(/must pay the depository/);
  await expect(connection.prepare(elsewhere, [], [])).rejects.toThrow(InsufficientInventory);
  const withFee = aPayment(at.program, { currency: bytes(feeToken.mint), sweeps: swept });
  expect(await connection.refusalOf(withFee)).toMatch(/transfer fee/);
});

test("detects another program at the address of the deposit address program", async () => {
  const { node } = world;
  const place = await programDataAddress(LOCAL_DEPOSIT_ADDRESSES);
  const real = node.controls.account(place);
  if (real === undefined) throw new Error("the program is not deployed");
  const data = Uint8Array.from(real.data);
  data[200] = (data[200] ?? 0) ^ 1;
  node.controls.setAccount(place, { ...real, data });
  expect(await connection.depositAddresses?.problem?.()).toMatch(/not the deposit address program/);
  node.controls.setAccount(place, real);
  expect(await connection.depositAddresses?.problem?.()).toBeUndefined();
});

test("reports an invalid recipient before the payment is prepared", async () => {
  const { token, feeToken, depository: at, node } = world;
  const fresh = (await solanaKey()).address;
  const refusal = async (to: string, fields: Partial<NonEvmPayment> = {}) =>
    await connection.refusalOf(aPayment(to, fields));
  expect(await refusal(fresh, { amount: 890_880n })).toBeUndefined();
  expect(await refusal(fresh, { amount: 890_879n })).toMatch(/minimum balance/);
  expect(await refusal(at.vault)).toMatch(/depository/);
  expect(await refusal(at.program)).toMatch(/program/);
  expect(await refusal(world.solver.address)).toMatch(/must not be the solver/);
  expect(await refusal(fresh, { amount: 0n })).toMatch(/amount must be greater than 0/);
  expect(await refusal(fresh, { currency: bytes(fresh) })).toMatch(/not a token/);
  expect(await refusal(fresh, { currency: bytes(feeToken.mint) })).toMatch(/charges a transfer fee/);
  expect(await refusal(fresh, { currency: bytes(token.mint) })).toBeUndefined();

  const owner = await solanaKey();
  await mintTo(node.url, token, owner.address, 1n);
  const account = await associatedTokenAddress(owner.address, token.mint, token.tokenProgram);
  const before = node.controls.account(account);
  if (before === undefined) throw new Error("the payment created no token account");
  const changed = (at_: number, part: Uint8Array) => {
    const data = Uint8Array.from(before.data);
    data.set(part, at_);
    node.controls.setAccount(account, { ...before, data });
  };
  changed(108, Uint8Array.of(2));
  expect(await refusal(owner.address, { currency: bytes(token.mint) })).toMatch(/frozen/);
  changed(32, addressBytes(fresh));
  expect(await refusal(owner.address, { currency: bytes(token.mint) })).toMatch(/different owner/);
  // A payment to a user's token account, or to the token's own address, would never reach the user.
  for (const invalid of [account, token.mint, at.program])
    expect(await refusal(invalid, { currency: bytes(token.mint) })).toMatch(/not a wallet|depository/);
});

test("notifications continue until the last listener unsubscribes", async () => {
  let notifications = 0;
  const stop = connection.onNews(() => (notifications += 1));
  await expect.poll(() => notifications, { timeout: 3_000 }).toBeGreaterThan(0);
  stop();
});

function base58(of: Uint8Array): string {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let value = BigInt(`0x${Buffer.from(of).toString("hex")}`);
  let text = "";
  for (; value > 0n; value /= 58n) text = `${alphabet[Number(value % 58n)]}${text}`;
  for (const byte of of) {
    if (byte !== 0) break;
    text = `1${text}`;
  }
  return text;
}

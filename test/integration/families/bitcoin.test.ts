import { Transaction } from "@scure/btc-signer";
import { bitcoinEvidence, connectBitcoin, connectBitcoinUsers } from "@causeway/chains/bitcoin";
import type { PayingConnection, EvidenceSource, NonEvmAttempt, NonEvmPayment } from "@causeway/chains";
import { bitcoinPsbtId, type Hex, type OrderId, type TxHash } from "@causeway/domain";
import { encodeAddress, nativeCurrency } from "@causeway/families";
import { BitcoinRefusal, startBitcoin, type RunningBitcoin } from "@causeway/simulators/bitcoin";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acceptedPayments } from "../../support/accepted-payments.ts";
import {
  anAttestationChain,
  anOwner,
  aNonEvmChain,
  CONFIRMATIONS,
  utxoOf,
  FEE,
  spend,
} from "../../support/bitcoin-world.ts";
import { startFaultyFronts } from "../../support/faulty-front.ts";

// Tests Bitcoin evidence and payments on a regtest node with an explorer.

const NATIVE = encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm"));
const depository = anOwner();
let bitcoin: RunningBitcoin;
let evidence: EvidenceSource;

beforeAll(async () => {
  bitcoin = await startBitcoin();
  evidence = bitcoinEvidence(chain());
});
afterAll(async () => {
  await evidence.close();
  await bitcoin.stop();
});

const chain = () =>
  anAttestationChain({ rpcUrls: [bitcoin.rpcUrl], esploraUrl: bitcoin.esploraUrl }, depository);
const newId = (): OrderId => `0x${randomBytes(32).toString("hex")}` as OrderId;
const bitcoinOf = () => bitcoin.controls;

async function refusalOf(raw: string): Promise<BitcoinRefusal> {
  return await bitcoinOf()
    .send(raw)
    .then(
      () => Promise.reject(new Error("expected a refusal")),
      (error: unknown) => error as BitcoinRefusal,
    );
}

test("the regtest node applies Bitcoin Core's relay rules, and relays an order id as text", async () => {
  const user = anOwner();
  const utxo = await utxoOf(bitcoinOf(), user, 100_000n);
  const id = newId();
  const good = spend([utxo], [{ to: depository, amount: 50_000n }, { text: id }]);
  const tampered = Transaction.fromRaw(Buffer.from(good.hex, "hex"), { allowUnknownOutputs: true });
  tampered.updateOutput(0, { amount: 49_000n }, true);
  expect(await refusalOf(tampered.hex)).toMatchObject({ code: -26 });
  expect(await refusalOf(spend([utxo], [{ to: depository, amount: 200n }]).hex)).toMatchObject({
    message: "dust",
  });
  expect(
    await refusalOf(spend([utxo], [{ to: depository, amount: 9_000n }], { fee: 10n }).hex),
  ).toMatchObject({
    message: "min relay fee not met",
  });
  expect(await refusalOf(spend([utxo], [{ text: "x".repeat(81) }]).hex)).toMatchObject({
    message: "scriptpubkey",
  });
  const missing = { ...utxo, txid: "11".repeat(32) };
  expect(await refusalOf(spend([missing], [{ to: depository, amount: 9_000n }]).hex)).toMatchObject({
    code: -25,
  });
  expect(await refusalOf("00")).toMatchObject({ code: -22 });
  expect(await bitcoinOf().send(good.hex)).toBe(good.id);
  // A repeated submission is accepted. A conflicting spend is refused if its fee is lower, and replaces the
  // first if its fee is higher.
  expect(await bitcoinOf().send(good.hex)).toBe(good.id);
  expect((await refusalOf(spend([utxo], [{ to: user, amount: 50_000n }]).hex)).message).toMatch(
    /insufficient fee/,
  );
  const replacement = spend([utxo], [{ to: user, amount: 50_000n }], { fee: 3_000n });
  expect(await bitcoinOf().send(replacement.hex)).toBe(replacement.id);
  expect(await bitcoinOf().call("getrawmempool")).toEqual([replacement.id]);
  await bitcoinOf().mine(1);
});

test("a deposit becomes final, unless it is replaced or reorged out", async () => {
  const user = anOwner();
  const id = newId();
  const utxo = await utxoOf(bitcoinOf(), user, 100_000n);
  const deposit = spend([utxo], [{ to: depository, amount: 50_000n }, { text: id }]);
  await bitcoinOf().send(deposit.hex);
  expect(await evidence.deposits(deposit.id)).toMatchObject({ kind: "notFinal" });
  await bitcoinOf().mine(CONFIRMATIONS - 1);
  expect(await evidence.deposits(deposit.id)).toMatchObject({ kind: "notFinal", retryAfterSeconds: 600 });

  // On another branch, another transaction spends the output.
  const rival = spend([utxo], [{ to: user, amount: 60_000n }]);
  await bitcoinOf().reorganize(CONFIRMATIONS - 1, [rival.hex]);
  await bitcoinOf().mine(CONFIRMATIONS);
  // The node still stores the block, but the block is no longer in the chain.
  expect(await evidence.deposits(deposit.id)).toMatchObject({ kind: "notFinal" });
  expect(await evidence.deposits(rival.id)).toMatchObject({ kind: "final", value: { deposits: [] } });

  const again = spend(
    [{ ...utxo, txid: rival.id, vout: 0, amount: 60_000n }],
    [{ to: depository, amount: 40_000n }, { text: id }],
  );
  await bitcoinOf().send(again.hex);
  const replaced = spend(
    [{ ...utxo, txid: rival.id, vout: 0, amount: 60_000n }],
    [{ to: depository, amount: 40_000n }],
    { fee: 9_000n },
  );
  await bitcoinOf().send(replaced.hex);
  await bitcoinOf().mine(CONFIRMATIONS);
  expect(await evidence.deposits(again.id)).toEqual({ kind: "absent" });
  expect(await evidence.deposits(replaced.id)).toMatchObject({
    kind: "final",
    value: {
      depository: depository.canonical,
      deposits: [{ depositId: undefined, depositor: user.canonical, amount: 40_000n }],
    },
  });
});

test("a deposit that only one of several nodes reports as confirmed is not attested", async () => {
  const user = anOwner();
  const front = await startFaultyFronts([bitcoin.rpcUrl]);
  const { username, password } = new URL(bitcoin.rpcUrl);
  const lying = Object.assign(new URL(front.urls[0] ?? ""), { username, password }).href;
  const rpcUrls = [lying, bitcoin.rpcUrl];
  const both = bitcoinEvidence(
    anAttestationChain({ rpcUrls, esploraUrl: bitcoin.esploraUrl }, depository, { rpcQuorum: 2 }),
  );
  const utxo = await utxoOf(bitcoinOf(), user, 100_000n);
  const deposit = spend([utxo], [{ to: depository, amount: 50_000n }, { text: newId() }]);
  await bitcoinOf().mineExactly([deposit.hex]);
  const deep = (json: unknown) =>
    typeof json === "object" && json !== null && "height" in json ? { ...json, confirmations: 100 } : json;
  front.begin(() => ({ answer: deep }));
  expect(await both.deposits(deposit.id)).toMatchObject({ kind: "notFinal" });
  await bitcoinOf().mine(CONFIRMATIONS - 1);
  expect(await both.deposits(deposit.id)).toMatchObject({ kind: "final" });
  await both.close();
  await front.close();
});

async function withdrawalStatus(payload: Hex, hint?: string): Promise<string> {
  const found = await evidence.withdrawal(payload, hint);
  return found.kind === "final" ? found.value.status : found.kind;
}

test("after six confirmations, a withdrawal's own transaction executes it, or another transaction makes it impossible", async () => {
  for (const isReplaced of [false, true]) {
    const recipient = anOwner();
    const held = await utxoOf(bitcoinOf(), depository, 100_000n);
    const plan = spend([held], [{ to: recipient, amount: 60_000n }], { signed: false });
    const payload: Hex = `0x${Buffer.from(plan.toPSBT()).toString("hex")}`;
    expect(await evidence.withdrawal(payload, undefined)).toMatchObject({
      kind: "final",
      value: {
        withdrawalId: bitcoinPsbtId(payload.slice(2)),
        status: "pending",
        depository: depository.canonical,
        recipient: recipient.canonical,
        amount: 60_000n + FEE,
      },
    });
    plan.sign(depository.key);
    plan.finalize();
    await bitcoinOf().send(plan.hex);
    const sent = isReplaced ? spend([held], [{ to: recipient, amount: 50_000n }], { fee: 9_000n }) : plan;
    await bitcoinOf().send(sent.hex);
    expect(await withdrawalStatus(payload)).toBe("pending");
    await bitcoinOf().mine(CONFIRMATIONS - 1);
    expect(await withdrawalStatus(payload, sent.id)).toBe("pending");
    await bitcoinOf().mine(1);
    expect(await withdrawalStatus(payload)).toBe(isReplaced ? "expired" : "executed");
    expect(await withdrawalStatus(payload, sent.id)).toBe(isReplaced ? "expired" : "executed");
  }
});

/** A solver with these unspent outputs, and its adapter. */
async function aConnection(
  amounts: readonly bigint[],
): Promise<{ connection: PayingConnection; solver: ReturnType<typeof anOwner> }> {
  const solver = anOwner();
  for (const amount of amounts) await utxoOf(bitcoinOf(), solver, amount);
  const connection = await connectBitcoin({
    chain: aNonEvmChain(depository),
    attestation: chain(),
    solver: solver.bytes,
    now: () => Date.now(),
    onFault: (error) => {
      throw error;
    },
  }).withKey(`0x${Buffer.from(solver.key).toString("hex")}`);
  expect(connection.solver).toBe(solver.bytes);
  return { connection, solver };
}

const question = (orderId: OrderId, recipient: string) => ({
  orderId,
  solver: `0x${"50".repeat(20)}` as const,
  deadline: Math.floor(Date.now() / 1_000) + 3_600,
  extraData: "0x" as const,
  receipts: [{ recipient, currency: nativeCurrency("bitcoin-vm") }],
  calls: [],
});

test("a payment that is broadcast repeatedly is attested once", async () => {
  const { connection } = await aConnection([200_000n, 90_000n]);
  const recipient = anOwner();
  const orderId = newId();
  const payment: NonEvmPayment = { recipient: recipient.bytes, currency: NATIVE, amount: 70_000n, orderId };
  expect((await connection.balances([NATIVE])).get(NATIVE)).toBe(290_000n);
  expect(await connection.refusalOf(payment)).toBeUndefined();
  expect(await connection.paymentCost(NATIVE, recipient.bytes)).toBeGreaterThan(100n);
  const attempt = await connection.prepare(payment, [], []);
  expect(await acceptedPayments(connection, attempt, payment)).toEqual(["itself"]);
  const back = { ...payment, recipient: connection.solver, orderId: undefined };
  expect(await connection.isPayment(await connection.prepare(back, [attempt], []), back)).toBe(true);
  expect(await connection.outcome(attempt)).toEqual({ kind: "unseen" });
  expect(await connection.send(attempt)).toBe("sent");
  expect(await connection.send(attempt)).toBe("sent");
  expect(await connection.outcome(attempt)).toEqual({ kind: "pending" });
  await bitcoinOf().mine(1);
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "mined" });
  expect(await connection.send(attempt)).toBe("sent");
  await bitcoinOf().mine(CONFIRMATIONS - 1);
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "final" });
  expect(
    await evidence.payments(attempt.txId.slice(2), question(orderId, recipient.canonical)),
  ).toMatchObject({
    kind: "final",
    value: { amounts: [70_000n] },
  });
  // The attempt spent the smallest sufficient output, and the change returned to the solver.
  expect((await connection.balances([NATIVE])).get(NATIVE)).toBe(290_000n - 70_000n - attempt.fee);
  await connection.close();
});

test("a replacement conflicts with every earlier attempt, and only one of them pays", async () => {
  const { connection } = await aConnection([100_000n, 100_000n]);
  const recipient = anOwner();
  const payment: NonEvmPayment = {
    recipient: recipient.bytes,
    currency: NATIVE,
    amount: 99_000n,
    orderId: newId(),
  };
  const attempts: NonEvmAttempt[] = [];
  for (let made = 0; made < 3; made++) {
    const attempt = await connection.prepare(
      payment,
      attempts,
      attempts.map(({ raw }) => raw),
    );
    expect(await connection.send(attempt)).toBe("sent");
    attempts.push(attempt);
  }
  const inputsOf = ({ raw }: NonEvmAttempt) => {
    const tx = Transaction.fromRaw(Buffer.from(raw.slice(2), "hex"), { allowUnknownOutputs: true });
    return Array.from({ length: tx.inputsLength }, (_, at) =>
      Buffer.from(tx.getInput(at).txid ?? []).toString("hex"),
    );
  };
  const [first, second, third] = attempts.map(inputsOf);
  expect(first?.some((txid) => second?.includes(txid) && third?.includes(txid))).toBe(true);
  expect(attempts.map(({ fee }) => fee)).toEqual(
    attempts.map(({ fee }) => fee).toSorted((a, b) => (a < b ? -1 : 1)),
  );
  expect(await bitcoinOf().call("getrawmempool")).toEqual([attempts[2]?.txId.slice(2)]);
  // An earlier attempt may still be mined.
  await bitcoinOf().mineExactly([`${attempts[0]?.raw.slice(2)}`]);
  await expect(connection.prepare(payment, attempts, [])).rejects.toThrow(/was mined/);
  expect(await connection.outcome(attempts[2] as NonEvmAttempt)).toEqual({ kind: "unseen" });
  await bitcoinOf().mine(CONFIRMATIONS - 1);
  expect(await connection.outcome(attempts[0] as NonEvmAttempt)).toMatchObject({ kind: "final" });
  for (const lost of attempts.slice(1)) {
    expect(await connection.outcome(lost)).toMatchObject({ kind: "dead" });
    expect(await connection.send(lost)).toHaveProperty("refused");
  }
  await connection.close();
});

test("does not spend outputs of pending payments, and refuses an amount above the rest", async () => {
  const { connection } = await aConnection([50_000n, 80_000n]);
  const payment = (): NonEvmPayment => ({
    recipient: anOwner().bytes,
    currency: NATIVE,
    amount: 40_000n,
    orderId: newId(),
  });
  const first = await connection.prepare(payment(), [], []);
  // The second payment is not broadcast yet, so only its bytes show which outputs it spends.
  const second = await connection.prepare(payment(), [], [first.raw]);
  expect(await connection.send(second)).toBe("sent");
  expect(await connection.send(first)).toBe("sent");
  await expect(connection.prepare(payment(), [], [first.raw, second.raw])).rejects.toThrow(
    /insufficient solver balance/,
  );
  expect(await connection.refusalOf({ ...payment(), amount: 200n })).toMatch(/must be at least/);
  expect(await connection.refusalOf({ ...payment(), recipient: depository.bytes })).toMatch(/depository/);
  expect(await connection.refusalOf({ ...payment(), recipient: NATIVE })).toMatch(/not a valid address/);
  expect(await connection.refusalOf({ ...payment(), recipient: connection.solver })).toMatch(/payer/);
  await bitcoinOf().mine(1);
  await connection.close();
});

test("the same cursor returns the same final deposits again, and the next cursor returns none of them", async () => {
  const { connection } = await aConnection([]);
  await bitcoinOf().mine(CONFIRMATIONS);
  let { cursor } = await connection.arrivals(undefined);
  for (let last = ""; last !== cursor;) [last, cursor] = [cursor, (await connection.arrivals(cursor)).cursor];
  const user = anOwner();
  const id = newId();
  const utxo = await utxoOf(bitcoinOf(), user, 100_000n);
  const users = connectBitcoinUsers({
    chain: { vmType: "bvm", bitcoin: { network: "regtest" }, depository: depository.bytes },
    attestation: { bitcoin: { esploraUrl: bitcoin.esploraUrl } },
    now: () => Date.now(),
  });
  if (users === undefined) throw new Error("no explorer is configured");
  expect(await users.balance(user.bytes, NATIVE)).toBe(100_000n);
  const step = await users.deposit({ user: user.bytes, currency: NATIVE, amount: 30_000n, orderId: id });
  const tx = Transaction.fromPSBT(Buffer.from(step.data.psbt ?? "", "hex"), { allowUnknownOutputs: true });
  tx.sign(user.key);
  tx.finalize();
  expect(tx.fee).toBe(step.fee);
  expect(step.fee).toBeGreaterThanOrEqual(BigInt(tx.vsize) * 2n);
  await bitcoinOf().send(tx.hex);
  await bitcoinOf().mine(CONFIRMATIONS - 1);
  expect((await connection.arrivals(cursor)).deposits).toEqual([]);
  expect(await connection.arrivalsOf(`0x${tx.id}` as TxHash)).toEqual({ kind: "notFinal" });
  await bitcoinOf().mine(1);
  const seen = await connection.arrivals(cursor);
  expect(seen.deposits).toMatchObject([
    {
      txHash: `0x${tx.id}`,
      ordinal: 0,
      depositor: user.bytes,
      sender: user.bytes,
      currency: NATIVE,
      amount: 30_000n,
      id,
      timestamp: seen.upTo.timestamp,
    },
  ]);
  expect((await connection.arrivals(cursor)).deposits).toEqual(seen.deposits);
  expect((await connection.arrivals(seen.cursor)).deposits).toEqual([]);
  expect(await connection.arrivalsOf(`0x${tx.id}` as TxHash)).toMatchObject({
    kind: "final",
    deposits: seen.deposits,
  });
  // Blocks that counted as final are reorged out. The new blocks are read, and known deposits are reported
  // again.
  await bitcoinOf().reorganize(CONFIRMATIONS, [tx.hex]);
  expect((await connection.arrivals(seen.cursor)).upTo.number).toBeLessThan(seen.upTo.number);
  let reported: readonly string[] = [];
  for (let at = seen.cursor, last = ""; last !== at;) {
    const read = await connection.arrivals(at);
    [last, at] = [at, read.cursor];
    reported = [...reported, ...read.deposits.map(({ txHash }) => txHash)];
  }
  expect(reported.filter((txHash) => txHash === `0x${tx.id}`)).toHaveLength(1);
  const poor = await users.deposit({ user: user.bytes, currency: NATIVE, amount: 10n ** 8n, orderId: id });
  expect(poor.data).not.toHaveProperty("psbt");
  expect(utxo.amount).toBe(100_000n);
  await users.close();
  await connection.close();
});

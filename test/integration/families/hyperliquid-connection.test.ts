import {
  InsufficientInventory,
  type PayingConnection,
  type NonEvmAttempt,
  type NonEvmPayment,
} from "@causeway/chains";
import { decodeSignedAction, nonceOfSigned, signExchangeAction } from "@causeway/chains/hyperliquid";
import {
  hyperliquidCurrency,
  hyperliquidSigningProfiles,
  MAINNET_USDC_TOKEN_ID,
  parseExactAmount,
  PERPS_CURRENCY,
  sendAssetAction,
  type Address,
  type HyperliquidPlace,
  type Hex,
  type Hex32,
  type NonEvmChain,
} from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { startHyperliquid, type RunningHyperliquid } from "@causeway/simulators/hyperliquid";
import { randomBytes } from "node:crypto";
import { privateKeyToAddress } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acceptedPayments } from "../../support/accepted-payments.ts";
import { nonEvmConnectionContract } from "../../contracts/non-evm-connection.ts";
import { startFaultyFronts } from "../../support/faulty-front.ts";
import { payingConnection } from "../../support/paying-connection.ts";

const profile = hyperliquidSigningProfiles.default;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DEPOSITORY: Address = `0x${"d1".repeat(20)}`;
const HYPE: Hex = "0x0d01dc56dcaaca66ad901c959b4011ec";
const key = (number: number): Hex32 => `0x${number.toString(16).padStart(64, "0")}`;
const addressOf = (privateKey: Hex32): Address => privateKeyToAddress(privateKey).toLowerCase() as Address;
const [solverKey, userKey] = [key(0x61), key(0x62)];
const [solver, user] = [addressOf(solverKey), addressOf(userKey)];
const anAccount = (): Address => `0x${randomBytes(20).toString("hex")}`;

/**
 * An adapter on its own Hyperliquid simulator, in which the solver and a user have funds.
 * @param urls of the endpoints, of which two are a quorum
 */
async function openConnection(
  exchange: RunningHyperliquid,
  urls: readonly string[] = [exchange.url],
): Promise<PayingConnection> {
  for (const wallet of [solver, user]) {
    exchange.control.fund(wallet, "1000");
    exchange.control.fund(wallet, "1000", "USDC", "spot");
    exchange.control.fund(wallet, "1000", "HYPE", "spot");
  }
  const attestation: ConfiguredChain = {
    name: "hyperliquid",
    vmType: "hyperliquid-vm",
    rpcUrls: urls,
    rpcQuorum: Math.min(2, urls.length),
    depository: DEPOSITORY,
    additionalDepositories: [],
    hubChainId: "1337",
    evm: undefined,
    hyperliquid: {
      explorerUrls: urls,
      profile: "default",
      network: "Mainnet",
      usdcTokenId: MAINNET_USDC_TOKEN_ID,
    },
  };
  const exchangeFacts = {
    profile: "default",
    isTestnet: false,
    publicApiUrl: exchange.url,
    usdcTokenId: MAINNET_USDC_TOKEN_ID,
  } as const;
  const chain: Pick<
    NonEvmChain,
    "name" | "family" | "vmType" | "rpcUrl" | "rpcUrls" | "depository" | "exchange"
  > = {
    name: "hyperliquid",
    family: "hyperliquid-vm",
    vmType: "hypevm",
    rpcUrl: urls[0] ?? "",
    ...(urls.length > 1 && { rpcUrls: urls }),
    depository: DEPOSITORY,
    exchange: exchangeFacts,
  };
  return await payingConnection({
    chain: chain as NonEvmChain,
    attestation,
    privateKey: solverKey,
    now: () => exchange.control.now(),
    onFault: (error) => faults.push(error),
  });
}
const faults: unknown[] = [];

let userNonce = 0;
/** Makes a transfer by the user. Returns the transaction's id. */
async function sendTransfer(
  exchange: RunningHyperliquid,
  { to = DEPOSITORY, amount = 1_000_000n, place = { kind: "perps" } as HyperliquidPlace, text = "" } = {},
): Promise<Hex32> {
  const { control } = exchange;
  userNonce = Math.max(userNonce + 1, control.now());
  const isHype = place.kind === "spot" && place.tokenId === HYPE;
  const action = sendAssetAction(profile, {
    network: "Mainnet",
    signatureChainId: 1,
    destination: to,
    from: place,
    to: place,
    token: isHype ? { name: "HYPE", tokenId: HYPE } : { name: "USDC", tokenId: MAINNET_USDC_TOKEN_ID },
    amount,
    decimals: isHype ? 2 : 8,
    nonce: userNonce,
  });
  const signedAction = await signExchangeAction(
    profile,
    text === "" ? action : { ...action, amount: text },
    userKey,
  );
  expect(await post(exchange, signedAction)).toContain("ok");
  return control.transactions().at(-1)!.hash;
}

async function post(exchange: RunningHyperliquid, body: unknown): Promise<string> {
  const answer = await fetch(`${exchange.url}/exchange`, { method: "POST", body: JSON.stringify(body) });
  return await answer.text();
}

const unitsOf = (text: string): bigint => parseExactAmount(text, 8) ?? -1n;

nonEvmConnectionContract(
  "the adapter of Hyperliquid",
  async () => {
    const exchange = await startHyperliquid();
    const { control } = exchange;
    const connection = await openConnection(exchange);
    return {
      connection,
      currency: PERPS_CURRENCY,
      amount: 1_000_000n,
      aRecipient: async () => await Promise.resolve(anAccount()),
      deposit: async (amount) => {
        const txId = await sendTransfer(exchange, { amount });
        // The indexes do not list the transfer yet.
        control.hideNewest(1);
        return { txId, sender: user };
      },
      mine: async () => await Promise.resolve(),
      settle: async () => await Promise.resolve(control.hideNewest(0)),
      lapse: async () => await Promise.resolve(control.advance(2 * DAY_MS + 2 * HOUR_MS)),
      received: async (recipient) => await Promise.resolve(unitsOf(control.balance(recipient as Address))),
      canCancel: true,
      setDown: (isDown) => control.respondWithStatus(isDown ? 503 : undefined),
      close: async () => {
        await connection.close();
        await exchange.close();
      },
    };
  },
  { carriesIds: false },
);

let exchange: RunningHyperliquid;
let connection: PayingConnection;
beforeEach(async () => {
  faults.length = 0;
  userNonce = 0;
  exchange = await startHyperliquid();
  connection = await openConnection(exchange);
});
afterEach(async () => {
  await connection.close();
  await exchange.close();
});

const paymentTo = (recipient: Address, fields: Partial<NonEvmPayment> = {}): NonEvmPayment => ({
  recipient,
  currency: PERPS_CURRENCY,
  amount: 1_000_000n,
  orderId: undefined,
  ...fields,
});
const prepareAttempt = async (
  payment = paymentTo(anAccount()),
  earlierAttempts: NonEvmAttempt[] = [],
): Promise<NonEvmAttempt> => await connection.prepare(payment, earlierAttempts, []);

test("a deposit reports the nonce that it was signed with, and its time", async () => {
  const txHash = await sendTransfer(exchange);
  const { deposits } = await connection.arrivals(undefined);
  const [transaction] = exchange.control.transactions();
  expect(deposits).toMatchObject([
    {
      txHash,
      nonce: BigInt(userNonce),
      timestamp: BigInt(transaction!.time) / 1_000n,
      id: undefined,
      sender: user,
    },
  ]);
});

test("a deposit that only the first of three endpoints shows waits until a second endpoint shows it", async () => {
  const fronts = await startFaultyFronts([exchange.url, exchange.url]);
  const quorumConnection = await openConnection(exchange, [exchange.url, ...fronts.urls]);
  try {
    const txHash = await sendTransfer(exchange);
    // The other endpoints do not know this transaction.
    fronts.begin(() => ({ question: (text) => text.replaceAll(txHash, `0x${"77".repeat(32)}`) }));
    const waiting = await quorumConnection.arrivals(undefined);
    expect(waiting.deposits).toEqual([]);
    expect(await quorumConnection.arrivalsOf(txHash)).toEqual({ kind: "notFinal" });
    fronts.begin(() => undefined);
    await expect
      .poll(async () => (await quorumConnection.arrivals(waiting.cursor)).deposits, { timeout: 5_000 })
      .toMatchObject([{ txHash, amount: 1_000_000n }]);
    expect(await quorumConnection.arrivalsOf(txHash)).toMatchObject({
      kind: "final",
      deposits: [{ txHash }],
    });
  } finally {
    await quorumConnection.close();
    await fronts.close();
  }
});

test("deposits of every currency arrive as that currency", async () => {
  const places: readonly (readonly [HyperliquidPlace, bigint])[] = [
    [{ kind: "perps" }, 5n],
    [{ kind: "spot", tokenId: MAINNET_USDC_TOKEN_ID }, 6n],
    [{ kind: "spot", tokenId: HYPE }, 7n],
  ];
  for (const [place, amount] of places) await sendTransfer(exchange, { place, amount });
  const { deposits } = await connection.arrivals(undefined);
  expect(deposits.map(({ currency, amount }) => [currency, amount])).toEqual(
    places.map(([place, amount]) => [hyperliquidCurrency(place), amount]),
  );
});

test("reports each deposit once per cursor, whatever the lag of the index and wherever the last read stopped", async () => {
  const { control } = exchange;
  let { cursor } = await connection.arrivals(undefined);
  const sentHashes: Hex32[] = [];
  const reported: Hex32[] = [];
  for (let n = 0; n < 24; n++) {
    sentHashes.push(await sendTransfer(exchange, { amount: BigInt(n + 1) }));
    control.hideNewest(n % 4);
    if (n % 3 === 0) control.advance(n % 2 === 0 ? 5_000 : 40_000);
    // The process stores the cursor only sometimes.
    const { deposits, cursor: next } = await connection.arrivals(cursor);
    if (n % 5 === 0) continue;
    reported.push(...deposits.map(({ txHash }) => txHash));
    cursor = next;
  }
  control.hideNewest(0);
  reported.push(...(await connection.arrivals(cursor)).deposits.map(({ txHash }) => txHash));
  expect(reported).toEqual(sentHashes);
});

test("a deposit that the explorer does not list yet waits without delaying others", async () => {
  const { control } = exchange;
  const { cursor } = await connection.arrivals(undefined);
  const [first, second] = [await sendTransfer(exchange), await sendTransfer(exchange)];
  control.lie((path, question, honest) =>
    path === "explorer" && question["hash"] === first ? { type: "error", message: "not found" } : honest,
  );
  const firstRead = await connection.arrivals(cursor);
  expect(firstRead.deposits.map(({ txHash }) => txHash)).toEqual([second]);
  control.lie(undefined);
  const secondRead = await connection.arrivals(firstRead.cursor);
  expect(secondRead.deposits.map(({ txHash }) => txHash)).toEqual([first]);
});

test("a deposit is reported however late the explorer lists it and however far the scan has advanced", async () => {
  const { control } = exchange;
  let { cursor } = await connection.arrivals(undefined);
  const first = await sendTransfer(exchange);
  control.lie((path, question, honest) =>
    path === "explorer" && question["hash"] === first ? { type: "error", message: "not found" } : honest,
  );
  const reported: Hex32[] = [];
  const laterHashes: Hex32[] = [];
  const read = async (): Promise<void> => {
    const { deposits, cursor: next } = await connection.arrivals(cursor);
    reported.push(...deposits.map(({ txHash }) => txHash));
    cursor = next;
  };
  for (let n = 0; n < 3; n++) {
    control.advance(5 * 60_000);
    laterHashes.push(await sendTransfer(exchange));
    await read();
  }
  control.lie(undefined);
  await read();
  expect(reported).toEqual([...laterHashes, first]);
});

test("a transfer that the explorer reports incompletely delays no other transfer, and is given up after half a day", async () => {
  const { control } = exchange;
  let { cursor } = await connection.arrivals(undefined);
  const read = async (): Promise<Hex32[]> => {
    const { deposits, cursor: next } = await connection.arrivals(cursor);
    cursor = next;
    return deposits.map(({ txHash }) => txHash as Hex32);
  };
  const incomplete = await sendTransfer(exchange);
  control.lie((path, question, honest) =>
    path === "explorer" && question["hash"] === incomplete
      ? { type: "txDetails", tx: { hash: incomplete } }
      : honest,
  );
  const next = await sendTransfer(exchange);
  expect(await read()).toEqual([next]);
  control.advance(13 * HOUR_MS);
  const before = faults.length;
  const later = await sendTransfer(exchange);
  expect(await read()).toEqual([later]);
  expect(faults.slice(before).map(String)).toEqual([expect.stringContaining(incomplete)]);
  // The deposit is not reported again.
  expect(await read()).toEqual([]);
  expect(faults).toHaveLength(before + 1);
  control.lie(undefined);
  expect(await connection.arrivalsOf(incomplete)).toMatchObject({
    kind: "final",
    deposits: [{ txHash: incomplete }],
  });
});

test("reads any number of simultaneous dust deposits in bounded batches, and reports each once", async () => {
  const { control } = exchange;
  let { cursor } = await connection.arrivals(undefined);
  const sentHashes: Hex32[] = [];
  for (let n = 0; n < 130; n++) sentHashes.push(await sendTransfer(exchange, { amount: 1n }));
  let explorerRequests = 0;
  control.lie((path, _, honest) => {
    if (path === "explorer") explorerRequests++;
    return honest;
  });
  const reported: Hex32[] = [];
  for (let readings = 0; readings < 3; readings++) {
    explorerRequests = 0;
    const { deposits, cursor: next } = await connection.arrivals(cursor);
    expect(explorerRequests).toBeLessThanOrEqual(100);
    reported.push(...deposits.map(({ txHash }) => txHash as Hex32));
    cursor = next;
  }
  control.lie(undefined);
  expect(reported.toSorted()).toEqual(sentHashes.toSorted());
});

test("finds the deposits after a moment with more transfers than the ledger shows, and finds a hidden deposit by its transaction", async () => {
  await connection.close();
  await exchange.close();
  let time = 1_763_761_234_567;
  exchange = await startHyperliquid({ now: () => time });
  connection = await openConnection(exchange);
  let { cursor } = await connection.arrivals(undefined);
  const read = async (): Promise<Hex32[]> => {
    const { deposits, cursor: next } = await connection.arrivals(cursor);
    cursor = next;
    return deposits.filter(({ amount }) => amount > 1n).map(({ txHash }) => txHash as Hex32);
  };
  const stranger = anAccount();
  // In one minute, a read cannot get past four crowded moments.
  for (let n = 0; n < 4; n++) {
    time += 10_000;
    exchange.control.addSimultaneousTransfers(stranger, DEPOSITORY, 500);
  }
  const hidden = await sendTransfer(exchange);
  time += 10_000;
  const later = await sendTransfer(exchange);
  const reported: Hex32[] = [];
  for (let readings = 0; readings < 30; readings++) reported.push(...(await read()));
  expect(reported).toEqual([later]);
  const alarms = faults.map(String).filter((text) => text.includes("too many ledger entries"));
  expect(alarms).toHaveLength(4);
  expect(alarms[0]).toContain(DEPOSITORY);
  expect(await connection.arrivalsOf(hidden)).toMatchObject({
    kind: "final",
    deposits: [{ txHash: hidden }],
  });
  time += DAY_MS;
  const last = await sendTransfer(exchange);
  expect(await read()).toEqual([last]);
});

test("a payment becomes final even if strangers flood the solver's ledger while it could be accepted", async () => {
  const attempt = await prepareAttempt();
  await connection.send(attempt);
  const { hash: txId } = exchange.control.transactions().at(-1)!;
  exchange.control.advance(60_000);
  exchange.control.addSimultaneousTransfers(user, solver, 500);
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "final", txId });
  exchange.control.advance(5 * DAY_MS);
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "final", txId });
});

test("an index that lags during a quiet period hides no deposit permanently", async () => {
  const { control } = exchange;
  let { cursor } = await connection.arrivals(undefined);
  const lateHash = await sendTransfer(exchange);
  control.hideNewest(1);
  for (let n = 0; n < 4; n++) {
    control.advance(5 * 60_000);
    ({ cursor } = await connection.arrivals(cursor));
  }
  control.hideNewest(0);
  expect((await connection.arrivals(cursor)).deposits.map(({ txHash }) => txHash)).toEqual([lateHash]);
});

test("finds every deposit after a long time without deposits, and after a long downtime", async () => {
  const { control } = exchange;
  let { cursor } = await connection.arrivals(undefined);
  for (let n = 0; n < 10; n++) {
    control.advance(20 * 60_000);
    ({ cursor } = await connection.arrivals(cursor));
  }
  const sentHashes = [await sendTransfer(exchange)];
  control.advance(3 * DAY_MS);
  sentHashes.push(await sendTransfer(exchange));
  const reported: Hex32[] = [];
  for (let n = 0; n < 8; n++) {
    const { deposits, cursor: next } = await connection.arrivals(cursor);
    reported.push(...deposits.map(({ txHash }) => txHash));
    cursor = next;
  }
  expect(reported).toEqual(sentHashes);
});

test("reports a transfer that no oracle can attest as a fault, not as a deposit", async () => {
  await sendTransfer(exchange, { place: { kind: "spot", tokenId: HYPE }, amount: 100n, text: "1.005" });
  expect((await connection.arrivals(undefined)).deposits).toEqual([]);
  expect(String(faults[0])).toContain("oracles cannot attest it");
});

test("a payment whose answer was lost is found by the id that Hyperliquid gave it", async () => {
  const recipient = anAccount();
  const attempt = await prepareAttempt(paymentTo(recipient));
  exchange.control.dropResponses(true);
  await expect(connection.send(attempt)).rejects.toThrow();
  exchange.control.dropResponses(false);
  const { hash: txId } = exchange.control.transactions().at(-1)!;
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "final", txId });
  expect(await connection.send(attempt)).toBe("sent");
  expect(exchange.control.balance(recipient)).toBe("0.01");
});

test("a failed payment is not reported as dead, because the same bytes may pay when they are posted again", async () => {
  const recipient = anAccount();
  const attempt = await prepareAttempt(paymentTo(recipient));
  exchange.control.failNext("Insufficient margin");
  await expect(connection.send(attempt)).rejects.toThrow(/Insufficient margin/);
  expect((await connection.outcome(attempt)).kind).toBe("unseen");
  expect(await connection.send(attempt)).toBe("sent");
  expect(exchange.control.balance(recipient)).toBe("0.01");
});

test("reposting a payment whose outcome a flood hides pays once, and it is never reported as dead", async () => {
  await connection.close();
  await exchange.close();
  let time = 1_763_761_234_567;
  exchange = await startHyperliquid({ now: () => time });
  connection = await openConnection(exchange);
  const recipient = anAccount();
  const payment = paymentTo(recipient);
  const attempt = await prepareAttempt(payment);
  time += 1_000;
  for (let crowds = 0; crowds < 3; crowds++) {
    exchange.control.addSimultaneousTransfers(anAccount(), solver, 500);
    time += 1_000;
  }
  exchange.control.addSimultaneousTransfers(anAccount(), solver, 500);
  // The payment is posted in the crowded block, and the process crashes before it records that.
  exchange.control.dropResponses(true);
  await expect(connection.send(attempt)).rejects.toThrow();
  exchange.control.dropResponses(false);
  expect(exchange.control.balance(recipient)).toBe("0.01");
  // The explorer does not list the payment.
  exchange.control.lie((_path, question, honest) =>
    question["type"] === "userDetails" ? { type: "userDetails", txs: [] } : honest,
  );
  time += 60_000;
  expect(await connection.outcome(attempt)).toEqual({ kind: "unseen" });
  const second = await connection.prepare(payment, [attempt], []);
  const cancellation = await connection.prepare({ ...payment, recipient: solver }, [attempt, second], []);
  expect(await acceptedPayments(connection, second, payment)).toEqual(["itself", "order"]);
  expect(await connection.isPayment(cancellation, { ...payment, recipient: solver })).toBe(true);
  expect(await connection.isPayment(cancellation, payment)).toBe(false);
  for (const unsafe of [attempt, second, cancellation])
    expect(await connection.send(unsafe)).toHaveProperty("refused");
  expect(exchange.control.balance(recipient)).toBe("0.01");
  time += 5 * DAY_MS;
  for (const unsafe of [attempt, second, cancellation])
    expect((await connection.outcome(unsafe)).kind).not.toBe("dead");
  exchange.control.lie(undefined);
  expect((await connection.outcome(attempt)).kind).toBe("final");
  expect((await connection.outcome(cancellation)).kind).toBe("dead");
});

test("a pending payment is subtracted once from the balance of its own currency", async () => {
  const large = { amount: 60_000_000_000n };
  const first = await prepareAttempt(paymentTo(anAccount(), large));
  const second = paymentTo(anAccount(), large);
  await expect(connection.prepare(second, [], [first.raw])).rejects.toBeInstanceOf(InsufficientInventory);
  const otherCurrencyPayment = paymentTo(anAccount(), { ...large, currency: MAINNET_USDC_TOKEN_ID });
  expect((await connection.prepare(otherCurrencyPayment, [], [first.raw])).raw).toBeDefined();
});

test("reports a payment as dead once Hyperliquid can no longer accept its nonce, and not before", async () => {
  const attempt = await prepareAttempt();
  const untilLapseMs = Number(nonceOfSigned(attempt.raw)) + 2 * DAY_MS + HOUR_MS - exchange.control.now();
  exchange.control.advance(untilLapseMs - 60_000);
  expect((await connection.outcome(attempt)).kind).toBe("unseen");
  exchange.control.advance(120_000);
  expect((await connection.outcome(attempt)).kind).toBe("dead");
  expect(await connection.send(attempt)).toHaveProperty("refused");
});

test("a completed payment stays final after its nonce has lapsed", async () => {
  const attempt = await prepareAttempt();
  await connection.send(attempt);
  exchange.control.advance(5 * DAY_MS);
  expect((await connection.outcome(attempt)).kind).toBe("final");
});

test("further attempts use the same nonce while an earlier attempt may still be accepted, so that only one counts", async () => {
  const recipient = anAccount();
  const payment = paymentTo(recipient);
  const first = await prepareAttempt(payment);
  const second = await prepareAttempt(payment, [first]);
  expect(second.txId).not.toBe(first.txId);
  expect(nonceOfSigned(second.raw)).toBe(nonceOfSigned(first.raw));
  for (const attempt of [second, first, second]) await connection.send(attempt);
  expect(exchange.control.balance(recipient)).toBe("0.01");
});

test("a payment whose nonce another action of the account used will never pay", async () => {
  const attempt = await prepareAttempt();
  const { action } = decodeSignedAction(attempt.raw);
  const otherAction = await signExchangeAction(profile, { ...action, destination: anAccount() }, solverKey);
  expect(await post(exchange, otherAction)).toContain("ok");
  expect(await connection.outcome(attempt)).toMatchObject({ kind: "dead" });
  expect(await connection.send(attempt)).toHaveProperty("refused");
});

test("an account's first receipt costs Hyperliquid's activation fee", async () => {
  const exchangeWithFee = await startHyperliquid({ activationFee: "1" });
  const connectionWithFee = await openConnection(exchangeWithFee);
  const recipient = anAccount();
  expect(await connectionWithFee.paymentCost(PERPS_CURRENCY, recipient)).toBe(100_000_000n);
  expect(await connectionWithFee.paymentCost(PERPS_CURRENCY, user)).toBe(0n);
  const attempt = await connectionWithFee.prepare(paymentTo(recipient), [], []);
  expect(attempt.fee).toBe(100_000_000n);
  expect(await connectionWithFee.send(attempt)).toBe("sent");
  expect(exchangeWithFee.control.balance(recipient)).toBe("0.01");
  expect(exchangeWithFee.control.balance(solver)).toBe("998.99");
  await connectionWithFee.close();
  await exchangeWithFee.close();
});

test("balances are reported for every dex, and not for unknown currencies", async () => {
  exchange.control.fund(solver, "7", "USDC", "xyz");
  const dexPlace: HyperliquidPlace = { kind: "dex", tokenId: MAINNET_USDC_TOKEN_ID, dex: "xyz" };
  const unknown: Hex = `0x${"ab".repeat(16)}`;
  const currencies = [PERPS_CURRENCY, MAINNET_USDC_TOKEN_ID, HYPE, hyperliquidCurrency(dexPlace), unknown];
  const reported = await connection.balances(currencies);
  expect(currencies.map((currency) => reported.get(currency))).toEqual([
    100_000_000_000n,
    100_000_000_000n,
    100_000n,
    700_000_000n,
    0n,
  ]);
});

test("reports a payment that cannot be made before it is prepared", async () => {
  const refusal = async (recipient: Hex, currency: Hex = PERPS_CURRENCY, amount = 1n) =>
    await connection.refusalOf({ recipient, currency, amount });
  expect(await refusal(anAccount())).toBeUndefined();
  expect(await refusal("0x12")).toBeDefined();
  expect(await refusal(solver)).toBeDefined();
  expect(await refusal(DEPOSITORY)).toBeDefined();
  expect(await refusal(anAccount(), `0x${"ab".repeat(16)}`)).toBeDefined();
  expect(await refusal(anAccount(), PERPS_CURRENCY, 0n)).toBeDefined();
});

import { startSystem, type System } from "@causeway/localnet";
import { parseEther, parseUnits, zeroAddress, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, createWallet, type Chain, type Client, type Currency } from "./client.ts";
import { portBaseOf } from "./port-bases.ts";

let system: System;
let api: Client;
let chains: readonly Chain[];
let free: ReturnType<typeof createWallet>[] = [];

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("bridges"),
    oracles: 0,
    durable: false,
    users: 30,
    mixedMining: true,
  });
  api = createClient(system.endpoints.api.url);
  chains = await api.chains();
  free = system.users.map(({ privateKey }) => createWallet(privateKey, chains));
});
afterAll(async () => await system.stop());

/** A user that only one test uses, so that no other test changes its balances. */
function aUser(): ReturnType<typeof createWallet> {
  const user = free.pop();
  if (user === undefined) throw new Error("the system was started with too few users");
  return user;
}

const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());

function chainNamed(name: string): Chain {
  const listedChain = chains.find((chain) => chain.name === name);
  if (listedChain === undefined) throw new Error(`GET /chains lists no ${name}`);
  return listedChain;
}

function currencyOf(chain: Chain, symbol: string): Currency {
  const currency = [chain.currency, ...chain.erc20Currencies].find(
    (candidate) => candidate.symbol === symbol,
  );
  if (currency === undefined) throw new Error(`no ${symbol} on ${chain.name}`);
  return currency;
}

/** Amounts of each currency that are worth about ten dollars. */
const worth: Readonly<Record<string, string>> = { ETH: "0.004", USDC: "10", TST: "20" };
const amountOf = ({ symbol, decimals }: Currency): bigint => parseUnits(worth[symbol] ?? "1", decimals);

const directions = [
  ["local-a", "local-b"],
  ["local-b", "local-a"],
] as const;
const pairs = [
  ["ETH", "ETH"],
  ["ETH", "USDC"],
  ["USDC", "ETH"],
  ["USDC", "TST"],
] as const;
const tradeTypes = ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const;

for (const [from, to] of directions)
  for (const [pay, receive] of pairs)
    test.concurrent(`bridges ${pay} on ${from} to ${receive} on ${to} with all three trade types, and debits exactly the quoted input`, async () => {
      const [origin, destination] = [chainNamed(from), chainNamed(to)];
      const [currencyIn, currencyOut] = [currencyOf(origin, pay), currencyOf(destination, receive)];
      const user = aUser();
      for (const tradeType of tradeTypes) {
        const recipient = anAddress();
        const amount = amountOf(tradeType === "EXACT_INPUT" ? currencyIn : currencyOut);
        const quote = await api.quote({
          user: user.address,
          recipient,
          originChainId: origin.id,
          destinationChainId: destination.id,
          originCurrency: currencyIn.address,
          destinationCurrency: currencyOut.address,
          amount: amount.toString(),
          tradeType,
        });
        const [amountIn, expected, minimum] = [
          BigInt(quote.details.currencyIn.amount),
          BigInt(quote.details.currencyOut.amount),
          BigInt(quote.details.currencyOut.minimumAmount),
        ];
        expect(tradeType === "EXACT_INPUT" ? amountIn : expected).toBe(amount);
        const before = await user.balance(origin.id, currencyIn.address, user.address);
        const { hash, gasWei } = await user.execute(quote);
        const seen = await api.follow(quote.requestId);
        const end = seen.at(-1);
        expect(end).toMatchObject({
          requestId: quote.requestId,
          status: "success",
          inTxHashes: [hash],
          refundTxHashes: [],
          failReason: "N/A",
          fundsAt: "recipient",
        });
        const received = await user.balance(destination.id, currencyOut.address, recipient);
        expect(received).toBeGreaterThanOrEqual(minimum);
        expect(received).toBeLessThanOrEqual(expected);
        if (tradeType === "EXACT_OUTPUT") expect(received).toBe(amount);
        const lost = before - (await user.balance(origin.id, currencyIn.address, user.address));
        expect(lost).toBe(amountIn + (currencyIn.address === zeroAddress ? gasWei : 0n));
        const [fill] = end?.txHashes ?? [];
        const sent = await user.transaction(destination.id, fill as Hex);
        expect(sent.from.toLowerCase()).toBe(system.solver.address.toLowerCase());
      }
    });

test.concurrent("an ERC-20 deposit with `explicitDeposit: false` is a single transfer, and is filled", async () => {
  const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
  const [user, recipient] = [aUser(), anAddress()];
  const [usdcIn, usdcOut] = [currencyOf(origin, "USDC"), currencyOf(destination, "USDC")];
  const quote = await api.quote({
    user: user.address,
    recipient,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: usdcIn.address,
    destinationCurrency: usdcOut.address,
    amount: "10000000",
    tradeType: "EXACT_INPUT",
    explicitDeposit: false,
  });
  expect(quote.steps.map(({ id }) => id)).toEqual(["deposit"]);
  expect(quote.steps[0]?.items[0]?.data.to.toLowerCase()).toBe(usdcIn.address.toLowerCase());
  await user.execute(quote);
  expect((await api.follow(quote.requestId)).at(-1)?.status).toBe("success");
  expect(await user.balance(destination.id, usdcOut.address, recipient)).toBeGreaterThanOrEqual(
    BigInt(quote.details.currencyOut.minimumAmount),
  );
});

test.concurrent("fills native tokens that an unmodified client sends to a deposit address", async () => {
  const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
  const [user, recipient] = [aUser(), anAddress()];
  const [native, usdc] = [currencyOf(origin, "ETH"), currencyOf(destination, "USDC")];
  const quote = await api.quote({
    user: user.address,
    recipient,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: native.address,
    destinationCurrency: usdc.address,
    amount: parseEther("0.004").toString(),
    tradeType: "EXACT_INPUT",
    useDepositAddress: true,
  });
  expect(quote.steps.map(({ id }) => id)).toEqual(["deposit"]);
  expect(quote.steps[0]?.items[0]?.data.data).toBe("0x");
  await user.execute(quote);
  expect((await api.follow(quote.requestId)).at(-1)?.status).toBe("success");
  expect(await user.balance(destination.id, usdc.address, recipient)).toBe(
    BigInt(quote.details.currencyOut.amount),
  );
});

test.concurrent("no approval is requested while the allowance suffices", async () => {
  const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
  const user = aUser();
  const body = {
    user: user.address,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: currencyOf(origin, "USDC").address,
    destinationCurrency: currencyOf(destination, "USDC").address,
    tradeType: "EXACT_INPUT",
  };
  const large = await api.quote({ ...body, amount: "100000000" });
  expect(large.steps.map(({ id }) => id)).toEqual(["approve", "deposit"]);
  await user.execute({ ...large, steps: large.steps.slice(0, 1) });
  // The service refreshes its cached account state with every block.
  await expect
    .poll(async () => (await api.quote({ ...body, amount: "10000000" })).steps.map(({ id }) => id))
    .toEqual(["deposit"]);
  const small = await api.quote({ ...body, amount: "10000000" });
  await user.execute(small);
  expect((await api.follow(small.requestId)).at(-1)?.status).toBe("success");
});

for (const symbol of ["ETH", "USDC"])
  test.concurrent(`a same-chain send of ${symbol} delivers the full amount once its transaction is reported`, async () => {
    const chain = chainNamed("local-a");
    const currency = currencyOf(chain, symbol);
    const [user, recipient] = [aUser(), anAddress()];
    const amount = amountOf(currency);
    const quote = await api.quote({
      user: user.address,
      recipient,
      originChainId: chain.id,
      destinationChainId: chain.id,
      originCurrency: currency.address,
      destinationCurrency: currency.address,
      amount: amount.toString(),
      tradeType: "EXACT_INPUT",
    });
    expect(quote.steps.map(({ id }) => id)).toEqual(["send"]);
    expect((await api.status(quote.requestId)).status).toBe("waiting");
    const { hash } = await user.execute(quote);
    const tx = { ...quote.steps[0]?.items[0]?.data, txHash: hash };
    await api.single({ requestId: quote.requestId, chainId: chain.id, tx });
    const end = (await api.follow(quote.requestId)).at(-1);
    expect(end).toMatchObject({ status: "success", txHashes: [hash], inTxHashes: [hash] });
    expect(await user.balance(chain.id, currency.address, recipient)).toBe(amount);
  });

test.concurrent("a refunded request never reports failure while it is polled, and returns the deposit", async () => {
  const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
  const [user, refundTo] = [aUser(), anAddress()];
  const quote = await api.quote({
    user: user.address,
    refundTo,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
    amount: parseEther("0.01").toString(),
    tradeType: "EXACT_INPUT",
    referrer: "debug-force-refund",
  });
  const following = api.follow(quote.requestId, 30_000, 5);
  await user.execute(quote);
  const seen = await following;
  // A slow client may miss intermediate statuses, but must see no others.
  expect([
    ["waiting", "pending", "refund"],
    ["waiting", "refund"],
  ]).toContainEqual(seen.map(({ status }) => status));
  expect(seen.at(-1)).toMatchObject({
    failReason: "MANUAL_ADMIN_REFUND",
    txHashes: [],
    fundsAt: "refunded",
    refundTxHashes: [expect.stringMatching(/^0x[0-9a-f]{64}$/)],
  });
  const back = await user.balance(origin.id, zeroAddress, refundTo);
  expect(back).toBeLessThan(parseEther("0.01"));
  expect(back).toBeGreaterThan(parseEther("0.0095"));
});

test.concurrent("the three status paths report the same state; the newest has every field of the older ones", async () => {
  const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
  const quote = await api.quote({
    user: aUser().address,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
    amount: parseEther("0.01").toString(),
    tradeType: "EXACT_INPUT",
  });
  const query = `?requestId=${quote.requestId}`;
  const [v3, v2, bare] = await Promise.all(
    ["/v3", "/v2", ""].map(async (path) => (await api.call<object>(`/intents/status${path}${query}`)).body),
  );
  const fields = Object.keys(v3 ?? {});
  for (const name of ["status", "inTxHashes", "txHashes", "updatedAt", "originChainId", "destinationChainId"])
    expect(fields).toContain(name);
  expect(v3).toMatchObject({ time: expect.any(Number), quoteCreatedAt: expect.any(Number) });
  for (const older of [v2, bare]) {
    expect(Object.keys(older ?? {}).toSorted()).toEqual(fields.toSorted());
    expect(older).toMatchObject({ requestId: quote.requestId, status: "waiting" });
  }
});

test.concurrent("returns 404 and the status unknown for an unknown request id", async () => {
  const { code, body } = await api.call(`/intents/status/v3?requestId=0x${"5e".repeat(32)}`);
  expect(code).toBe(404);
  expect(body).toMatchObject({ status: "unknown", message: expect.any(String), statusCode: 404 });
});

test.concurrent("the status includes a deposit as soon as a client has reported it", async () => {
  const [origin, destination] = [chainNamed("local-b"), chainNamed("local-a")];
  const user = aUser();
  const quote = await api.quote({
    user: user.address,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
    amount: parseEther("0.01").toString(),
    tradeType: "EXACT_INPUT",
  });
  const { hash } = await user.execute(quote);
  expect(await api.index({ chainId: origin.id, txHash: hash })).toEqual({ message: expect.any(String) });
  const status = await api.status(quote.requestId);
  expect(status.inTxHashes).toEqual([hash]);
  expect(status.status).not.toBe("waiting");
  expect((await api.follow(quote.requestId)).at(-1)?.status).toBe("success");
});

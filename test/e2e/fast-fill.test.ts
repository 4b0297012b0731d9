import {
  startSystem,
  watchPosition,
  type Endpoints,
  type LocalAccount,
  type System,
} from "@causeway/localnet";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createPublicClient, erc20Abi, http, parseUnits, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, createWallet, type Client, type Quote } from "./client.ts";
import { portBaseOf } from "./port-bases.ts";

type ChainEndpoint = Endpoints["chains"][number];

let system: System;
let api: Client;
let users = 0;

beforeAll(async () => {
  system = await startSystem({ env: {}, portBase: portBaseOf("fast-fill"), durable: false, users: 4 });
  api = createClient(system.endpoints.api.url);
  await system.sponsorship.funded;
});
afterAll(async () => await system.stop());

const amount = parseUnits("25", 6);

interface Answer {
  readonly code: number;
  readonly body: Readonly<Record<string, unknown>>;
}

function chains(): readonly [ChainEndpoint, ChainEndpoint] {
  const [origin, destination] = system.endpoints.chains;
  if (origin === undefined || destination === undefined)
    throw new Error("the system has fewer than two chains");
  return [origin, destination];
}

function usdcOf({ name, tokens }: ChainEndpoint): Address {
  const usdc = tokens.find(({ symbol }) => symbol === "USDC");
  if (usdc === undefined) throw new Error(`no USDC on ${name}`);
  return usdc.address;
}

function aUser(): LocalAccount {
  const user = system.users[users++];
  if (user === undefined) throw new Error("the system was started with too few users");
  return user;
}

async function fastFill(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(`${system.endpoints.api.url}/fast-fill`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": system.sponsorship.apiKey.key, ...headers },
    body: JSON.stringify(body),
  });
  return { code: response.status, body: (await response.json()) as Answer["body"] };
}

async function heldUsd(): Promise<number> {
  const { code, body } = await api.call<{ outstandingFastFillBalanceUsd: number }>(
    `/app-fees/${system.sponsor.address}/balances`,
  );
  expect(code).toBe(200);
  return body.outstandingFastFillBalanceUsd;
}

async function received(recipient: Address): Promise<bigint> {
  const [, destination] = chains();
  return await createPublicClient({ transport: http(destination.rpcUrl) }).readContract({
    address: usdcOf(destination),
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [recipient],
  });
}

/** The time from committing the hold to broadcasting the fill, in ms, according to the request's events. */
async function holdToBroadcastMs(requestId: Hex): Promise<number> {
  const database = new pg.Client({ connectionString: system.databaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ event: string; at_ms: string }>(
      "select event, at_ms from request_events where request_id = $1 and event in ('fastFillAccepted', 'fillBroadcast') order by id",
      [requestId],
    );
    expect(rows.map(({ event }) => event)).toEqual(["fastFillAccepted", "fillBroadcast"]);
    return Number(rows[1]?.at_ms) - Number(rows[0]?.at_ms);
  } finally {
    await database.end();
  }
}

/** Sets the origin's block interval in seconds. 0 stops mining. */
async function setOriginBlockTime(seconds: number): Promise<void> {
  const [{ rpcUrl }] = chains();
  await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_setIntervalMining", params: [seconds] }),
  });
}

async function quoteFor(user: LocalAccount, recipient: Address): Promise<Quote> {
  const [origin, destination] = chains();
  return await api.quote({
    user: user.address,
    recipient,
    originChainId: origin.id,
    originCurrency: usdcOf(origin),
    destinationChainId: destination.id,
    destinationCurrency: usdcOf(destination),
    amount: amount.toString(),
    tradeType: "EXACT_INPUT",
  });
}

test("the recipient is paid before the deposit is mined; once mined, the deposit releases the hold and settles on the hub", async () => {
  const [origin] = chains();
  const { hub, oracles } = system.endpoints;
  if (hub === undefined) throw new Error("the system has no hub");
  const position = await watchPosition({
    hub,
    oracles,
    holder: { chainName: origin.name, address: system.solver.address },
    currency: { chainName: origin.name, address: usdcOf(origin) },
  });
  const [user, recipient] = [aUser(), privateKeyToAddress(generatePrivateKey())];
  const wallet = createWallet(user.privateKey, await api.chains());
  const quote = await quoteFor(user, recipient);
  const { requestId } = quote;
  const [approval, ...deposit] = quote.steps;
  if (approval?.id === "approve") await wallet.execute({ ...quote, steps: [approval] });
  const before = await heldUsd();

  await setOriginBlockTime(0);
  const depositSteps = approval?.id === "approve" ? deposit : quote.steps;
  const mined = wallet.execute({ ...quote, steps: depositSteps });
  mined.catch(() => undefined);
  try {
    const acceptedMs = Date.now();
    expect(await fastFill({ requestId, maxFillAmountUsd: 100 }, { "idempotency-key": requestId })).toEqual({
      code: 200,
      body: { message: "Fast fill queued" },
    });
    expect(await heldUsd()).toBeGreaterThan(before);
    const seen = await api.follow(requestId, 10_000);
    const tookMs = Date.now() - acceptedMs;
    expect(seen.at(-1)).toMatchObject({ status: "success", fundsAt: "recipient", inTxHashes: [] });
    expect(await received(recipient)).toBeGreaterThanOrEqual(BigInt(quote.details.currencyOut.minimumAmount));
    // One destination block plus a margin.
    expect(tookMs).toBeLessThan(4_000);
    expect(await holdToBroadcastMs(requestId)).toBeLessThan(1_000);
    expect(await heldUsd(), "the hold must remain until the deposit is mined").toBeGreaterThan(before);

    // With the same idempotency key, a repeated call returns the first answer. Without the key, it reports
    // that the request is already filled.
    expect(
      await fastFill({ requestId, maxFillAmountUsd: 100 }, { "idempotency-key": requestId }),
    ).toMatchObject({ code: 200, body: { message: "Fast fill queued" } });
    expect(await fastFill({ requestId })).toEqual({
      code: 200,
      body: { message: "Request already filled" },
    });
  } finally {
    await setOriginBlockTime(1);
  }
  const { hash } = await mined;
  await expect.poll(heldUsd, { timeout: 20_000, interval: 100 }).toBe(before);
  expect((await api.status(requestId)).inTxHashes).toEqual([hash]);
  const paid = await received(recipient);
  await position.waitForGrowth(amount, AbortSignal.timeout(60_000));
  expect(await received(recipient), "paid once").toBe(paid);
});

test("an invalid fast fill is refused with an error code, and nothing is held", async () => {
  const quote = await quoteFor(aUser(), privateKeyToAddress(generatePrivateKey()));
  const { requestId } = quote;
  const before = await heldUsd();
  const unknown: Hex = `0x${"5a".repeat(32)}`;
  const answers = [
    await fastFill({ requestId: unknown }),
    await fastFill({ requestId, maxFillAmountUsd: "0.5" }),
    await fastFill({ requestId, solverInputCurrencyAmount: (amount * 2n).toString() }),
    await fastFill({ requestId, txHash: unknown }),
    await fastFill({ requestId }, { "x-api-key": "nobody" }),
    await fastFill({}),
  ];
  expect(answers.map(({ code, body }) => [code, body["code"], body["errorCode"]])).toEqual([
    [404, "REQUEST_NOT_FOUND", "REQUEST_NOT_FOUND"],
    [400, "FAST_FILL_REFUSED", "FAST_FILL_REFUSED"],
    [400, "FAST_FILL_REFUSED", "FAST_FILL_REFUSED"],
    [400, "FAST_FILL_REFUSED", "FAST_FILL_REFUSED"],
    [401, "UNAUTHORIZED", "UNAUTHORIZED"],
    [400, "INVALID_REQUEST", "INVALID_REQUEST"],
  ]);
  await sleep(200);
  expect(await heldUsd()).toBe(before);
  expect((await api.status(requestId)).status).toBe("waiting");
});

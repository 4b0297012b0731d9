import { startSystem, type System } from "@causeway/localnet";
import { zeroAddress, type Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startHardhatNode, type HardhatNode } from "../support/hardhat-node.ts";
import { createClient, createWallet, type Chain, type Client, type Quote } from "./client.ts";
import { expectedOutcomes, runMainFlows } from "./main-flows.ts";
import { portBaseOf } from "./port-bases.ts";

// Runs both chains on external Hardhat nodes, whose EVM, RPC server and error texts differ from anvil's.

const BLOCK_TIME_MS = 300;
let nodes: readonly [HardhatNode, HardhatNode];
let system: System;
let api: Client;
let chains: readonly Chain[];

beforeAll(async () => {
  nodes = await Promise.all([
    startHardhatNode(72_100_117, BLOCK_TIME_MS),
    startHardhatNode(72_100_228, BLOCK_TIME_MS),
  ]);
  system = await startSystem({
    env: {
      LOCAL_A_RPC_URL: nodes[0].url,
      LOCAL_B_RPC_URL: nodes[1].url,
      LOCAL_FUNDING_PRIVATE_KEY: nodes[0].fundingKey,
    },
    portBase: portBaseOf("hardhat"),
    durable: false,
    oracles: 0,
    users: 7,
  });
  api = createClient(system.endpoints.api.url);
  chains = await api.chains();
  await system.sponsorship.funded;
});
afterAll(async () => {
  await system.stop();
  await Promise.all(nodes.map(async (node) => await node.stop()));
});

test("bridges, a swap in a fill, a reported deposit and a refund work on Hardhat's node, each paid once", async () => {
  const keys = system.users.map(({ privateKey }) => privateKey);
  const { readOutcomes } = await runMainFlows({ api, chains, keys, withinMs: 60_000 });
  expect(await readOutcomes()).toEqual(expectedOutcomes);
});

/** Quotes a bridge of 0.01 native tokens. */
async function quoteBridge(user: Address, recipient: Address, more: object = {}): Promise<Quote> {
  const [origin, destination] = chains;
  return await api.quote({
    user,
    recipient,
    originChainId: origin?.id,
    originCurrency: zeroAddress,
    destinationChainId: destination?.id,
    destinationCurrency: zeroAddress,
    amount: "10000000000000000",
    tradeType: "EXACT_INPUT",
    ...more,
  });
}

function walletOf(user: number): ReturnType<typeof createWallet> {
  const account = system.users[user];
  if (account === undefined) throw new Error("the system was started with too few users");
  return createWallet(account.privateKey, chains);
}

const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());

test("a transfer to a deposit address on Hardhat's node is swept and filled", async () => {
  const [wallet, recipient] = [walletOf(5), anAddress()];
  const quote = await quoteBridge(wallet.address, recipient, { useDepositAddress: true });
  await wallet.execute(quote);
  expect((await api.follow(quote.requestId)).at(-1)?.status).toBe("success");
  expect(await wallet.balance(chains[1]?.id ?? 0, zeroAddress, recipient)).toBe(
    BigInt(quote.details.currencyOut.amount),
  );
});

test("a fast fill arrives while its deposit is still in the mempool of Hardhat's node, and is paid once", async () => {
  const [wallet, recipient] = [walletOf(6), anAddress()];
  const quote = await quoteBridge(wallet.address, recipient);
  const received = async (): Promise<bigint> =>
    await wallet.balance(chains[1]?.id ?? 0, zeroAddress, recipient);
  await nodes[0].setBlockTime(0);
  try {
    const execution = wallet.execute(quote);
    const answer = await fetch(`${system.endpoints.api.url}/fast-fill`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": system.sponsorship.apiKey.key },
      body: JSON.stringify({ requestId: quote.requestId }),
    });
    expect(answer.status).toBe(200);
    await expect.poll(received, { timeout: 10_000 }).toBe(BigInt(quote.details.currencyOut.amount));
    expect((await api.status(quote.requestId)).inTxHashes).toEqual([]);
    await nodes[0].setBlockTime(BLOCK_TIME_MS);
    await execution;
  } finally {
    await nodes[0].setBlockTime(BLOCK_TIME_MS);
  }
  expect((await api.follow(quote.requestId)).at(-1)?.status).toBe("success");
  expect(await received()).toBe(BigInt(quote.details.currencyOut.amount));
});

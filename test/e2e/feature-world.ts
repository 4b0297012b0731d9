import { createApiClient, fundLocal, type Endpoints, type System } from "@causeway/localnet";
import { familyWallets, type FamilyWallet } from "@causeway/localnet/tour";
import type { WireChain } from "@causeway/wire";
import { setTimeout as sleep } from "node:timers/promises";
import { createPublicClient, erc20Abi, http, type Address, type Hex } from "viem";
import { familyPlaces, type FamilyPlace } from "./family-places.ts";

/** A system with chains of all kinds, as a client sees it. */
export interface FeatureWorld {
  readonly system: System;
  readonly chains: readonly WireChain[];
  readonly places: readonly FamilyPlace[];
  /** The wallets of each user, by the chain's name. */
  readonly wallets: ReadonlyArray<ReadonlyMap<string, FamilyWallet>>;
  /** Sends native tokens and tokens to accounts on an EVM chain. */
  fund(chain: string, ...fundings: Parameters<typeof fundLocal>[1]): Promise<void>;
}

/** @throws Error if the system was started without the other chain families */
export async function openFeatureWorld(system: System): Promise<FeatureWorld> {
  const { families } = system;
  if (families === undefined) throw new RangeError("the system was started without the other chain families");
  const chains = await createApiClient(system.endpoints.api.url).chains();
  // Fundings run one at a time, because one account pays all of them.
  let funding = Promise.resolve();
  return {
    system,
    chains,
    places: await familyPlaces(system, chains, (chain, symbol) => currencyAt({ chains }, chain, symbol)),
    wallets: await Promise.all(
      system.users.map(async (_, index) => await familyWallets(system, families, index)),
    ),
    fund: async (chain, ...fundings) => {
      const { id: chainId, rpcUrl: url } = evmChain({ system }, chain);
      const funded = funding.then(async () => await fundLocal({ url, chainId }, fundings));
      funding = funded.catch(() => undefined);
      await funded;
    },
  };
}

/** @throws Error if the chain does not list the symbol */
export function currencyAt({ chains }: Pick<FeatureWorld, "chains">, chain: string, symbol: string): string {
  const found = chains.find(({ name }) => name === chain);
  const listed =
    found && [found.currency, ...found.erc20Currencies].find((candidate) => candidate.symbol === symbol);
  if (listed?.address === undefined) throw new Error(`GET /chains lists no ${symbol} on ${chain}`);
  return listed.address;
}

/** @throws Error if the system has no such EVM chain */
export function evmChain(
  { system }: Pick<FeatureWorld, "system">,
  name: string,
): Endpoints["chains"][number] {
  const found = system.endpoints.chains.find((chain) => chain.name === name);
  if (found === undefined) throw new Error(`the system has no EVM chain ${name}`);
  return found;
}

export const evmClient = (world: Pick<FeatureWorld, "system">, chain: string) =>
  createPublicClient({ transport: http(evmChain(world, chain).rpcUrl), cacheTime: 0 });

/** An account's balance of a token on an EVM chain. */
export async function evmTokens(
  world: Pick<FeatureWorld, "system">,
  chain: string,
  token: string,
  holder: string,
): Promise<bigint> {
  return await evmClient(world, chain).readContract({
    address: token as Address,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [holder as Address],
  });
}

/** An amount of a token that moved on one chain. */
export interface TokenMovement {
  readonly chain: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** The net amount of each token that the transactions took from an account on an EVM chain. */
export async function tokensFrom(
  world: Pick<FeatureWorld, "system">,
  chain: string,
  hashes: readonly string[],
  account: string,
): Promise<TokenMovement[]> {
  const reads = evmClient(world, chain);
  const topic = `0x${account.slice(2).toLowerCase().padStart(64, "0")}`;
  const sums = new Map<string, bigint>();
  for (const hash of hashes) {
    const { logs } = await reads.getTransactionReceipt({ hash: hash as Hex });
    for (const { address, topics, data } of logs.filter((log) => log.topics[0] === TRANSFER)) {
      const [from, to] = topics.slice(1);
      const sign = BigInt(from === topic) - BigInt(to === topic);
      if (sign !== 0n) sums.set(address, (sums.get(address) ?? 0n) + sign * BigInt(data));
    }
  }
  return [...sums].map(([currency, amount]) => ({ chain, currency, amount }));
}

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/**
 * Calls the API with the sponsor's key.
 * @throws Error with the answer if its status is not 200
 */
export async function callApi(
  { system }: Pick<FeatureWorld, "system">,
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await fetch(`${system.endpoints.api.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", "x-api-key": system.sponsorship.apiKey.key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/**
 * Polls until `isWanted` is true.
 * @throws Error with the last value after `withinMs`
 */
export async function untilSeen<T>(
  read: () => Promise<T>,
  isWanted: (seen: T) => boolean,
  withinMs = 60_000,
): Promise<T> {
  for (const endMs = Date.now() + withinMs; ;) {
    const seen = await read();
    if (isWanted(seen)) return seen;
    if (Date.now() > endMs) throw new Error(`timed out after ${withinMs} ms; last value: ${String(seen)}`);
    await sleep(100);
  }
}

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { NATIVE_CURRENCY, type Chain } from "@causeway/domain";
import { createLocalClient, repositoryRoot, type LocalClient } from "@causeway/testkit";
import { fundLocal, localAccount, type System } from "@causeway/localnet";
import { keccak256, parseEther, stringToBytes, type Address, type PrivateKeyAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { keepTransactions, type KeptTransactions } from "./kept-transactions.ts";
import type { SoakCurrency } from "./mix.ts";
import type { SoakApi } from "./soak-api.ts";

export interface SoakChain {
  readonly chain: Chain;
  readonly client: LocalClient;
  readonly kept: KeptTransactions;
  /** The block after which every transfer belongs to the run. */
  readonly startBlock: bigint;
  readonly solverStartNonce: number;
}

/** Everything that the parts of a run share. */
export interface World {
  readonly system: System;
  readonly chains: readonly [SoakChain, SoakChain];
  readonly users: readonly PrivateKeyAccount[];
  readonly api: SoakApi;
  /** The same for every run with this seed. */
  readonly seed: number;
}

/** The currencies that the solver holds on both local chains, with the fixed prices of the local system. */
export async function readCurrencies(chain: Chain): Promise<SoakCurrency[]> {
  const text = await readFile(join(repositoryRoot, "configs", "prices.local.json"), "utf8");
  const prices = JSON.parse(text) as Readonly<Record<string, string>>;
  const bridgeable = [chain.native, ...chain.tokens].filter(({ supportsBridging }) => supportsBridging);
  return bridgeable.map(({ symbol, address, decimals, priceId }) => ({
    symbol,
    address,
    decimals,
    usdCents: BigInt(Math.round(Number(prices[priceId]) * 100)),
  }));
}

/** Users of a run: keys derived from its seed, so that two runs do not share users. */
export function usersOfSeed(seed: number, count: number): PrivateKeyAccount[] {
  return Array.from({ length: count }, (_, index) =>
    privateKeyToAccount(keccak256(stringToBytes(`causeway soak ${seed} user ${index}`))),
  );
}

/** An unused address: no code, no balance, no key. */
export function freshRecipient(seed: number, index: number): Address {
  return `0x${keccak256(stringToBytes(`causeway soak ${seed} recipient ${index}`)).slice(-40)}`;
}

/**
 * Funds the users, then records the chain's newest block. Adds blocks so that no reorg reaches the funding.
 */
export async function openChain(
  system: System,
  chain: Chain,
  users: readonly PrivateKeyAccount[],
  resendLost: boolean,
): Promise<SoakChain> {
  const node = { url: chain.rpcUrl, chainId: chain.id };
  const client = createLocalClient(node);
  await fundLocal(
    node,
    users.map(({ address }) => ({
      address,
      nativeWei: parseEther("100"),
      tokens: chain.tokens
        .filter(({ supportsBridging }) => supportsBridging)
        .map((token) => ({
          token: token.address,
          amount: 1_000_000n * 10n ** BigInt(token.decimals),
        })),
    })),
  );
  await client.mine({ blocks: 4 });
  const startBlock = await client.getBlockNumber({ cacheTime: 0 });
  const solverStartNonce = await client.getTransactionCount({
    address: system.solver.address,
    blockNumber: startBlock,
  });
  return { chain, client, kept: keepTransactions(client, resendLost), startBlock, solverStartNonce };
}

/** Accounts that exist independently of users: services, contracts and staff. */
export function standingAccounts({ system }: World, { chain }: SoakChain): Address[] {
  const staff = (["deployer", "owner", "allocator"] as const).map((role) => localAccount(role).address);
  return [
    system.solver.address,
    ...Object.values(chain.contracts),
    ...chain.tokens.map(({ address }) => address),
    ...staff,
  ];
}

/** Currencies of a chain by address, the native one first. */
export function currencyAddresses({ chain }: SoakChain): Address[] {
  return [NATIVE_CURRENCY, ...chain.tokens.map(({ address }) => address)];
}

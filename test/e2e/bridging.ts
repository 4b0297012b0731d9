import { createLocalClient } from "@causeway/testkit";
import { startSystem, type System, type SystemOptions } from "@causeway/localnet";
import { parseEther, zeroAddress, type Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { createClient, createWallet, type Chain, type Client, type Quote } from "./client.ts";

/** A system whose users bridge the native token from its first chain to its second. */
export interface Bridging {
  readonly system: System;
  readonly api: Client;
  readonly chains: readonly Chain[];
  quote(user: number, recipient: Address): Promise<Quote>;
  walletOf(user: number): ReturnType<typeof createWallet>;
  /** The amount that the recipient received on the destination, and in how many transactions. */
  arrived(recipient: Address): Promise<{ readonly amount: bigint; readonly payments: number }>;
}

/** Starts a system without oracles. */
export async function startBridging(
  options: Omit<SystemOptions, "env" | "durable" | "oracles" | "mixedMining">,
): Promise<Bridging> {
  const system = await startSystem({ env: {}, durable: false, oracles: 0, mixedMining: true, ...options });
  const api = createClient(system.endpoints.api.url);
  const chains = await api.chains();
  return {
    system,
    api,
    chains,
    async quote(user, recipient) {
      const [origin, destination] = chains;
      return await api.quote({
        user: system.users[user]?.address,
        recipient,
        originChainId: origin?.id,
        destinationChainId: destination?.id,
        originCurrency: zeroAddress,
        destinationCurrency: zeroAddress,
        amount: parseEther("0.01").toString(),
        tradeType: "EXACT_INPUT",
      });
    },
    walletOf: (user) => createWallet(system.users[user]?.privateKey ?? "0x", chains),
    async arrived(recipient) {
      const [, node] = system.nodes;
      if (node === undefined) throw new Error("the system has no second chain");
      const client = createLocalClient(node);
      const newest = await client.getBlockNumber({ cacheTime: 0 });
      const blocks = await Promise.all(
        Array.from(
          { length: Number(newest) + 1 },
          async (_, at) => await client.getBlock({ blockNumber: BigInt(at), includeTransactions: true }),
        ),
      );
      const payments = blocks
        .flatMap(({ transactions }) => transactions)
        .filter(({ to }) => to?.toLowerCase() === recipient.toLowerCase()).length;
      return { amount: await client.getBalance({ address: recipient }), payments };
    },
  };
}

/** An account without any funds. */
export const anAddress = (): Address => privateKeyToAddress(generatePrivateKey());

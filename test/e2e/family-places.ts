import { createPublicClient, erc20Abi, hexToBytes, http, parseUnits, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { bitcoinAddress, type RunningBitcoin } from "@causeway/simulators/bitcoin";
import type { VmType } from "@causeway/domain";
import type { System } from "@causeway/localnet";
import {
  createBitcoinWallet,
  createSolanaWallet,
  depositoryVault,
  hyperliquidDepository,
  familyChains,
  familyKey,
  solanaTokensOf,
} from "@causeway/localnet/tour";

/** One currency on one chain, and the accounts that may hold it. */
export interface FamilyPlace {
  readonly chain: string;
  readonly chainId: number;
  readonly currency: string;
  /** The base units that are worth about one dollar. */
  readonly perDollar: bigint;
  readonly depository: string;
  readonly solver: string;
  balanceOf(account: string): Promise<bigint>;
  /** Creates an account that has never held anything. */
  newRecipient(): Promise<string>;
  /** The network fees paid in this currency since the system started. */
  networkFees(): Promise<bigint>;
}

const vmTypes: Readonly<Record<string, VmType>> = {
  [familyChains.solana]: "solana-vm",
  [familyChains.bitcoin]: "bitcoin-vm",
  [familyChains.hyperliquid]: "hyperliquid-vm",
};
/** The chain family of a chain of the local system, by the chain's name. */
export const vmTypeOf = (chain: string): VmType => vmTypes[chain] ?? "ethereum-vm";

const noFees = async (): Promise<bigint> => 0n;

/**
 * The currencies and accounts of a system with all families.
 * @param currencyOf looks up a currency by chain name and symbol, as in `GET /chains`
 */
export async function familyPlaces(
  system: System,
  listed: ReadonlyArray<{ readonly id: number; readonly name: string }>,
  currencyOf: (chain: string, symbol: string) => string,
): Promise<readonly FamilyPlace[]> {
  const { families } = system;
  if (families === undefined) throw new RangeError("the system was started without the other chain families");
  const idOf = (name: string): number => {
    const found = listed.find((chain) => chain.name === name);
    if (found === undefined) throw new Error(`GET /chains lists no chain ${name}`);
    return found.id;
  };
  const solverKey = familyKey("solver");
  const solana = await createSolanaWallet(families.urls.solana, solverKey);
  const { solver } = system;
  const evm = system.chains.map((chain): FamilyPlace => {
    const currency = currencyOf(chain.name, "USDC");
    const client = createPublicClient({ transport: http(chain.rpcUrl), cacheTime: 0 });
    return {
      chain: chain.name,
      chainId: chain.id,
      currency,
      perDollar: 1_000_000n,
      depository: chain.contracts.depository,
      solver: solver.address,
      balanceOf: async (account) =>
        await client.readContract({
          address: currency as Address,
          abi: erc20Abi,
          functionName: "balanceOf",
          args: [account as Address],
        }),
      newRecipient: async () => privateKeyToAddress(generatePrivateKey()),
      networkFees: noFees,
    };
  });
  const mint = currencyOf(familyChains.solana, "USDC");
  const firstHeight = Number(await families.bitcoin.controls.call("getblockcount"));
  return [
    ...evm,
    {
      chain: familyChains.solana,
      chainId: idOf(familyChains.solana),
      currency: mint,
      perDollar: 1_000_000n,
      depository: await depositoryVault(),
      solver: solana.address,
      balanceOf: async (account) => await solanaTokensOf(families.urls.solana, account, mint),
      newRecipient: async () =>
        (await createSolanaWallet(families.urls.solana, generatePrivateKey())).address,
      networkFees: noFees,
    },
    {
      chain: familyChains.bitcoin,
      chainId: idOf(familyChains.bitcoin),
      currency: currencyOf(familyChains.bitcoin, "BTC"),
      perDollar: 1_667n,
      depository: bitcoinAddress(hexToBytes(familyKey("allocator"))),
      solver: bitcoinAddress(hexToBytes(solverKey)),
      balanceOf: async (account) => await bitcoinBalance(families.urls.esplora, account),
      newRecipient: async () =>
        createBitcoinWallet(families.urls.esplora, generatePrivateKey(), "bcrt").address,
      networkFees: async () => await bitcoinFees(families.bitcoin, firstHeight),
    },
    {
      chain: familyChains.hyperliquid,
      chainId: idOf(familyChains.hyperliquid),
      currency: currencyOf(familyChains.hyperliquid, "USDC"),
      perDollar: 100_000_000n,
      depository: hyperliquidDepository,
      solver: solver.address,
      balanceOf: async (account) => parseUnits(families.hyperliquid.control.balance(account as Hex), 8),
      newRecipient: async () => privateKeyToAddress(generatePrivateKey()),
      networkFees: noFees,
    },
  ];
}

async function ask<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`${new URL(url).pathname} returned ${response.status}`);
  return (await response.json()) as Answer;
}

/** The sum of an address's unspent outputs, including pending outputs. */
async function bitcoinBalance(esplora: string, address: string): Promise<bigint> {
  const outputs = await ask<{ value: number }[]>(`${esplora}/address/${address}/utxo`);
  return outputs.reduce((sum, { value }) => sum + BigInt(value), 0n);
}

/** The fees that miners earned from the transactions of all blocks above a height. */
async function bitcoinFees({ controls, esploraUrl }: RunningBitcoin, above: number): Promise<bigint> {
  let fees = 0n;
  const tip = Number(await controls.call("getblockcount"));
  for (let height = above + 1; height <= tip; height++) {
    const hash = await controls.call("getblockhash", height);
    const { tx } = (await controls.call("getblock", hash, 1)) as { tx: string[] };
    // The coinbase transaction pays no fee.
    for (const txid of tx.slice(1))
      fees += BigInt((await ask<{ fee: number }>(`${esploraUrl}/tx/${txid}`)).fee);
  }
  return fees;
}

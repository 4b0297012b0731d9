import { createSolanaWallet } from "./solana-wallet.ts";
import type { QuoteStep } from "@causeway/wire";
import { parseUnits, type Address } from "viem";
import { localAccount } from "../accounts.ts";
import { familyChains, familyKey } from "../families/family-plan.ts";
import type { RunningFamilies } from "../families/start-families.ts";
import type { System } from "../system.ts";
import { createUserWallet } from "../user-wallet.ts";
import { createBitcoinWallet } from "./bitcoin-wallet.ts";
import { createHyperliquidWallet } from "./hyperliquid-wallet.ts";
import type { FamilyWallet } from "./family-wallet.ts";

/**
 * The wallets of the local system's `index`-th user, by chain name. Each uses only its own chain and the
 * public API.
 */
export async function familyWallets(
  system: System,
  families: RunningFamilies,
  index = 0,
): Promise<ReadonlyMap<string, FamilyWallet>> {
  const { url: apiUrl } = system.endpoints.api;
  const evmKey = localAccount("user", index).privateKey;
  const key = familyKey("user", index);
  const evm = createUserWallet(
    evmKey,
    system.chains.map(({ id, rpcUrl }) => ({ chainId: id, url: rpcUrl })),
  );
  const [evmChain] = system.chains;
  if (evmChain === undefined)
    throw new RangeError("invariant violated: EVM chain of the local system is missing");
  const solana = await createSolanaWallet(families.urls.solana, key);
  const bitcoin = createBitcoinWallet(families.urls.esplora, key, "bcrt");
  const hyperliquid = createHyperliquidWallet(families.urls.hyperliquid, evmKey, evmChain.id);
  const wallets: readonly FamilyWallet[] = [
    ...system.chains.map(({ id, name }): FamilyWallet => ({
      chain: name,
      address: evm.address,
      balanceOf: async (currency) => await evm.balanceOf(id, currency as Address, evm.address),
      execute: async (steps) => (await evm.execute(steps)).at(-1)?.receipt.transactionHash ?? "",
    })),
    {
      chain: familyChains.solana,
      address: solana.address,
      balanceOf: async (currency) =>
        await solana.balanceOf(currency === NATIVE_SOLANA ? undefined : currency),
      execute: async (steps) => await executeItems(steps, async (data) => await solana.execute(data)),
    },
    {
      chain: familyChains.bitcoin,
      address: bitcoin.address,
      balanceOf: async () => await bitcoin.balance(),
      execute: async (steps) => await executeItems(steps, async (data) => await bitcoin.execute(data)),
    },
    {
      chain: familyChains.hyperliquid,
      address: hyperliquid.address,
      balanceOf: async () => parseUnits(await hyperliquid.withdrawable(), 8),
      execute: async (steps) =>
        await executeItems(steps, async (data, { kind }) => {
          if (kind === "signature") await hyperliquid.authorize(apiUrl, data);
          else await hyperliquid.execute(data);
          return "";
        }),
    },
  ];
  return new Map(wallets.map((wallet) => [wallet.chain, wallet]));
}

const NATIVE_SOLANA = "11111111111111111111111111111111";

/** Executes every incomplete item, in order. */
async function executeItems(
  steps: readonly QuoteStep[],
  act: (data: unknown, step: QuoteStep) => Promise<string>,
): Promise<string> {
  let last = "";
  for (const step of steps)
    for (const item of step.items) if (item.status === "incomplete") last = await act(item.data, step);
  return last;
}

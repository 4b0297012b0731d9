import { NATIVE_CURRENCY } from "@causeway/domain";
import { erc20Abi, type Address } from "viem";
import { Ledger } from "./ledger.ts";
import { currencyAddresses, type SoakChain } from "./world.ts";

/**
 * The change of each account in each currency between two blocks of a chain, according to the node's states.
 */
export async function observeChanges(
  chain: SoakChain,
  accounts: readonly Address[],
  lastBlock: bigint,
): Promise<Ledger> {
  const ledger = new Ledger();
  for (const currency of currencyAddresses(chain)) {
    const [before, after] = [
      await balancesAt(chain, currency, accounts, chain.startBlock),
      await balancesAt(chain, currency, accounts, lastBlock),
    ];
    accounts.forEach((account, index) =>
      ledger.add(chain.chain.id, currency, account, (after[index] ?? 0n) - (before[index] ?? 0n)),
    );
  }
  return ledger;
}

async function balancesAt(
  { client }: SoakChain,
  currency: Address,
  accounts: readonly Address[],
  blockNumber: bigint,
): Promise<bigint[]> {
  return await Promise.all(
    accounts.map(async (holder) =>
      currency === NATIVE_CURRENCY
        ? await client.getBalance({ address: holder, blockNumber })
        : await client.readContract({
            abi: erc20Abi,
            address: currency,
            functionName: "balanceOf",
            args: [holder],
            blockNumber,
          }),
    ),
  );
}

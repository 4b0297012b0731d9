import { hubAlias, hubTokenId } from "@causeway/attest";
import type { Address, Chain, Currency, NonEvmChain } from "@causeway/domain";
import { encodeAddress, familyOf } from "@causeway/families";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { CurrencyAmount } from "../balances/currency-amount.port.ts";
import type { HubChain } from "./hub.port.ts";

/** The solver's hub balances of every bridged currency, at the newest block. @throws RpcFault */
export async function hubBalances(
  chains: Pick<ChainDirectory, "evmChains" | "nonEvmChains">,
  hub: Pick<HubChain, "balance">,
  solver: { readonly address: Address; readonly chainName: string },
): Promise<readonly CurrencyAmount[]> {
  const configured = [...chains.evmChains, ...chains.nonEvmChains].map(({ chain }) => chain);
  const home = configured.find(({ name }) => name === solver.chainName);
  if (home === undefined) return [];
  const owner = hubAlias(hubChainOf(home), solver.address);
  return await Promise.all(
    configured.flatMap((chain) =>
      bridgedCurrencies(chain).map(async (currency) => {
        const tokenId = hubTokenId(hubChainOf(chain), encodeAddress(familyOf(chain), currency.address));
        return { chain: chain.name, currency, amount: await hub.balance(owner, tokenId, "latest") };
      }),
    ),
  );
}

/**
 * Balances of the EVM depositories in every bridged currency: the solver's funds and deposits not settled
 * yet. Omits chains whose node does not answer.
 */
export async function depositoryBalances(
  chains: Pick<ChainDirectory, "evmChains">,
): Promise<readonly CurrencyAmount[]> {
  const reads = chains.evmChains.map(async ({ chain, connection }) => {
    const currencies = bridgedCurrencies(chain);
    const { balances } = await connection.reader.balances(
      chain.contracts.depository,
      currencies.map(({ address }) => address),
    );
    return currencies.flatMap((currency) => {
      const amount = balances.get(currency.address);
      return amount === undefined ? [] : [{ chain: chain.name, currency, amount }];
    });
  });
  const results = await Promise.allSettled(reads);
  return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

function hubChainOf(chain: Chain | NonEvmChain) {
  return { name: chain.name, vmType: familyOf(chain) };
}

function bridgedCurrencies({ native, tokens }: Chain | NonEvmChain): readonly Currency[] {
  return [native, ...tokens].filter(({ supportsBridging }) => supportsBridging);
}

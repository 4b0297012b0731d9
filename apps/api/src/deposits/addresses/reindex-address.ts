import { ServiceError, type Address, type Currency } from "@causeway/domain";
import { formatAddress, parseCurrency } from "@causeway/families";
import type { ReindexAddressAnswer } from "@causeway/wire";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import { connectedChainOf } from "../../http/connected-chain.ts";
import type { TokenBook } from "../../markets/tokens/token-book.port.ts";
import { addressesOn } from "./addresses-on.ts";
import type { AddressServices } from "./address-services.ts";
import { scanAddresses } from "./watch-balances.ts";
import { depositAddressNotFound, invalidAddress, unsupportedChain } from "../../http/refusals.ts";

/** A deposit address to scan. */
export interface ReindexInput {
  readonly chainId: number;
  readonly depositAddress: string;
  /** The chain to scan instead of `chainId`. */
  readonly targetChainId: number | undefined;
  /** The only token to look for. */
  readonly currency: string | undefined;
}

/**
 * Scans one address now, and decides about its held funds again: gas may be cheaper, or a route may be open
 * again.
 * @throws ServiceError INVALID_ADDRESS, UNSUPPORTED_CHAIN, INVALID_INPUT_CURRENCY, NOT_FOUND,
 * SERVICE_UNAVAILABLE, RPC_HTTP_ERROR; RpcFault
 */
export async function reindexAddress(
  services: AddressServices & { readonly tokens: TokenBook },
  reindex: ReindexInput,
): Promise<ReindexAddressAnswer> {
  const home = chainOf(services, reindex.chainId, "chainId");
  const address = addressesOn(home).parse(reindex.depositAddress);
  if (address === undefined) throw invalidAddress("depositAddress");
  const connected =
    reindex.targetChainId === undefined
      ? chainOf(services, reindex.chainId, "chainId")
      : chainOf(services, reindex.targetChainId, "targetChainId");
  const { chain } = connected;
  const depositAddress = await services.depositAddresses.find(address);
  if (depositAddress === undefined) throw depositAddressNotFound(address, "depositAddress");
  if (!addressesOn(connected).has(depositAddress))
    throw new ServiceError(
      "UNSUPPORTED_CHAIN",
      `Deposit address ${address} does not exist on ${chain.displayName}`,
      {
        field: reindex.targetChainId === undefined ? "chainId" : "targetChainId",
      },
    );
  const currencies = await currenciesOf(services, connected, reindex.currency);
  const atBlock = await addressesOn(connected).scanBlock(services.reads);
  if (atBlock === undefined)
    throw new ServiceError("SERVICE_UNAVAILABLE", `${chain.displayName} has not been scanned yet; try again`);

  await services.uow.run(async ({ depositAddresses }) => {
    await depositAddresses.lock(address);
    // Not announced before the decision: repeated calls must not make a status flicker.
    await depositAddresses.release(chain.id, address);
  });
  const currencyAddresses = currencies.map((currency) => currency.address);
  const { found, failed } = await scanAddresses(services, connected, {
    addresses: [depositAddress],
    currencies: currencyAddresses,
    atBlock,
  });
  const symbols = new Map(currencies.map((currency) => [currency.address, currency.symbol]));
  return {
    message:
      found.length === 0
        ? "No funds found that are not already being processed"
        : "Funds found; processing started",
    triggeredCurrencies: found.map(({ currency, amount }) => ({
      currency: formatAddress(chain, currency),
      symbol: symbols.get(currency) ?? "",
      balance: amount.toString(),
    })),
    checkedCurrencies: currencyAddresses.length,
    failedCurrencies: failed.length,
    failedAddresses: failed.map(({ currency }) => formatAddress(chain, currency)),
  };
}

function chainOf({ chains }: AddressServices, id: number, field: string): AnyConnectedChain {
  const connected = connectedChainOf(chains, id);
  if (connected === undefined) throw unsupportedChain(id, field);
  return connected;
}

async function currenciesOf(
  { chains, tokens }: AddressServices & { readonly tokens: TokenBook },
  { chain }: AnyConnectedChain,
  text: string | undefined,
): Promise<readonly Pick<Currency, "address" | "symbol">[]> {
  if (text === undefined) return [chain.native, ...chain.tokens];
  const address: Address | undefined = parseCurrency(chain, text);
  const token =
    address === chain.native.address
      ? chain.native
      : address && (chains.currency(chain.id, address) ?? (await tokens.token(chain.id, address, true)));
  if (token === undefined)
    throw new ServiceError(
      "INVALID_INPUT_CURRENCY",
      `currency ${text.slice(0, 64)} is not a token contract on ${chain.displayName}`,
      { field: "currency" },
    );
  return [token];
}

import { parseAddress, ServiceError, type Address } from "@causeway/domain";
import { currencyForm, parseCurrency } from "@causeway/families";
import type { CurrenciesInput } from "@causeway/wire";
import { wholeNumber } from "@causeway/wire";
import type { ChainDirectory, AnyConnectedChain } from "../chains/chains.port.ts";
import { addressesOn } from "../deposits/index.ts";
import { connectedChainOf } from "../http/connected-chain.ts";
import { termRelevance } from "./term-relevance.ts";
import type { IndexedToken } from "./token-index.ts";
import { invalidAddress } from "../http/refusals.ts";

/** A parsed search. */
export interface CurrencyQuestion {
  readonly chains: readonly AnyConnectedChain[];
  /** The EVM address that the search names. Undefined: the search is not by address. */
  readonly address: Address | undefined;
  /** The currency address that the search names on a chain of any family. */
  addressOn(chain: AnyConnectedChain["chain"]): Address | undefined;
  /** Tokens that are listed explicitly, as `chain id:address`; undefined: all. */
  readonly exact: ReadonlySet<string> | undefined;
  /** How well a named token matches, 0 is best; undefined: not at all. */
  relevanceOf(token: IndexedToken, connected: AnyConnectedChain): number | undefined;
  readonly limit: number;
  /** Whether to look up tokens on their chains. */
  readonly shouldLookUpUnlisted: boolean;
}

/** @throws ServiceError INVALID_ADDRESS naming the field */
export function readCurrencyQuestion(
  directory: Pick<ChainDirectory, "evmChains" | "nonEvmChains" | "get" | "nonEvm" | "profile">,
  input: CurrenciesInput,
): CurrencyQuestion {
  const term = input.term?.trim().toLowerCase() ?? "";
  const everyChain = [...directory.evmChains, ...directory.nonEvmChains];
  const inputAddress = input.address;
  if (inputAddress !== undefined && isUnknownCurrency(inputAddress, directory))
    throw invalidAddress("address");
  const searchText = inputAddress ?? input.term?.trim() ?? "";
  const exact = input.tokens && new Set(input.tokens.flatMap((token) => tokenKey(token, directory)));
  const currencyId = input.currencyId?.toLowerCase();
  // A client's list may contain unknown chains.
  const chains =
    input.chainIds === undefined
      ? everyChain
      : [...new Set(input.chainIds)].flatMap((id) => connectedChainOf(directory, id) ?? []);
  return {
    chains,
    address: parseAddress(searchText),
    addressOn: (chain) => parseCurrency(chain, searchText),
    exact,
    limit: wholeNumber(input.limit) ?? 0,
    // These filters match only configured or listed tokens.
    shouldLookUpUnlisted:
      input.useExternalSearch === true &&
      input.defaultList !== true &&
      input.verified !== true &&
      input.currencyId === undefined &&
      input.depositAddressOnly !== true,
    relevanceOf: (token, connected) => {
      const { chain } = connected;
      const { currency, configured } = token;
      if (input.defaultList === true && !configured) return undefined;
      if (input.verified === true && !currency.verified) return undefined;
      if (currencyId !== undefined && currency.id.toLowerCase() !== currencyId) return undefined;
      if (exact?.has(`${currency.chainId}:${currency.address}`) === false) return undefined;
      const address = parseCurrency(chain, searchText);
      if (inputAddress !== undefined && currency.address !== address) return undefined;
      if (
        input.depositAddressOnly === true &&
        !(addressesOn(connected).isEnabled && currency.supportsBridging)
      )
        return undefined;
      return term === "" || address === currency.address ? 0 : termRelevance(token, term);
    },
  };
}

/** Whether a text is not a valid currency on any configured chain. */
function isUnknownCurrency(
  text: string,
  { evmChains, nonEvmChains }: Pick<ChainDirectory, "evmChains" | "nonEvmChains">,
): boolean {
  return (
    parseAddress(text) === undefined &&
    [...evmChains, ...nonEvmChains].every(({ chain }) => parseCurrency(chain, text) === undefined)
  );
}

/**
 * Normalizes `chain id:address`. Empty for an unknown chain of a wallet's list, whose addresses may have
 * another format.
 * @throws ServiceError INVALID_ADDRESS
 */
function tokenKey(
  token: string,
  { profile }: Pick<ChainDirectory, "profile">,
): readonly [string] | readonly [] {
  const [chainId = "", text = ""] = token.split(":", 2);
  const chain = profile(Number(chainId));
  if (chain === undefined) return [];
  const address = parseCurrency(chain, text);
  if (address === undefined)
    throw new ServiceError(
      "INVALID_ADDRESS",
      `tokens: ${token} does not name a ${currencyForm(chain)}; use chainId:address`,
      { field: "tokens" },
    );
  return [`${Number(chainId)}:${address}`];
}

import type { Address } from "@causeway/domain";
import { parseAddress, ServiceError } from "@causeway/domain";
import type { CurrenciesInput } from "@causeway/wire";
import { wholeNumber } from "@causeway/wire";
import type { ChainDirectory, ConnectedChain } from "../../ports/chains.ts";
import { termRelevance } from "./term-relevance.ts";
import type { IndexedToken } from "./token-index.ts";

/** A search whose words have found their meaning. */
export interface CurrencyQuestion {
  readonly chains: readonly ConnectedChain[];
  /** Tokens that are asked for by their address on these chains; undefined: not by address. */
  readonly address: Address | undefined;
  /** Tokens that are asked for one by one, as `chain id:address`; undefined: all. */
  readonly exact: ReadonlySet<string> | undefined;
  /** How well a named token answers, 0 the best; undefined: not at all. */
  fits(token: IndexedToken, connected: ConnectedChain): number | undefined;
  readonly limit: number;
  /** Tokens may be asked for on their chains. */
  readonly external: boolean;
}

/** @throws ServiceError INVALID_ADDRESS naming the field */
export function readCurrencyQuestion(
  { all, get }: Pick<ChainDirectory, "all" | "get">,
  input: CurrenciesInput,
): CurrencyQuestion {
  const term = input.term?.trim().toLowerCase() ?? "";
  const given = input.address === undefined ? undefined : parseAddress(input.address);
  if (input.address !== undefined && given === undefined)
    throw new ServiceError("INVALID_ADDRESS", "address must be a 20-byte address", { field: "address" });
  const address = given ?? parseAddress(term);
  const exact = input.tokens && new Set(input.tokens.flatMap((token) => tokenKey(token, get)));
  const currencyId = input.currencyId?.toLowerCase();
  // A client's list may name chains that are not here.
  const chains =
    input.chainIds === undefined ? all : [...new Set(input.chainIds)].flatMap((id) => get(id) ?? []);
  return {
    chains,
    address,
    exact,
    limit: wholeNumber(input.limit) ?? 0,
    // These want what this instance or a list vouches for.
    external:
      input.useExternalSearch === true &&
      input.defaultList !== true &&
      input.verified !== true &&
      input.currencyId === undefined &&
      input.depositAddressOnly !== true,
    fits: (token, { chain }) => {
      const { currency, configured } = token;
      if (input.defaultList === true && !configured) return undefined;
      if (input.verified === true && !currency.verified) return undefined;
      if (currencyId !== undefined && currency.id.toLowerCase() !== currencyId) return undefined;
      if (exact?.has(`${currency.chainId}:${currency.address}`) === false) return undefined;
      if (given !== undefined && currency.address !== given) return undefined;
      if (
        input.depositAddressOnly === true &&
        (chain.contracts.depositAddressFactory === undefined || !currency.supportsBridging)
      )
        return undefined;
      return term === "" || term === currency.address ? 0 : termRelevance(token, term);
    },
  };
}

/**
 * `chain id:address` as it is compared. A wallet's list may name tokens of chains that are not here, whose addresses have other forms: none.
 * @throws ServiceError INVALID_ADDRESS
 */
function tokenKey(token: string, get: ChainDirectory["get"]): readonly [string] | readonly [] {
  const [chainId = "", text = ""] = token.split(":", 2);
  if (get(Number(chainId)) === undefined) return [];
  const address = parseAddress(text);
  if (address === undefined)
    throw new ServiceError("INVALID_ADDRESS", `tokens holds ${token}, which names no 20-byte address`, {
      field: "tokens",
    });
  return [`${Number(chainId)}:${address}`];
}

import type { Address, Currency } from "@causeway/domain";
import { parseAddress } from "@causeway/domain";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import type { CurrencyQuestion } from "./currency-question.ts";

/** Maximum number of look-ups; each costs a call to a chain. */
const MAX_LOOK_UPS = 20;

interface TokenAddress {
  readonly chainId: number;
  readonly address: Address;
}

/**
 * Looks up named addresses, which are neither configured nor listed, on their chains.
 * @throws ServiceError RPC_HTTP_ERROR when a chain did not answer and nothing else was found: an empty answer
 * would be wrong
 */
export async function findUnlisted(
  { chains, tokens }: { readonly chains: Pick<ChainDirectory, "get">; readonly tokens: TokenBook },
  question: CurrencyQuestion,
  found: readonly { readonly currency: Currency }[],
): Promise<readonly Currency[]> {
  if (!question.shouldLookUpUnlisted) return [];
  const listed = new Set(found.map(({ currency }) => `${currency.chainId}:${currency.address}`));
  const lookUps = tokensToLookUp(question)
    .filter(({ chainId, address }) => chains.get(chainId) && !listed.has(`${chainId}:${address}`))
    .slice(0, MAX_LOOK_UPS);
  const answers = await Promise.allSettled(
    lookUps.map(async ({ chainId, address }) => await tokens.token(chainId, address, true)),
  );
  const reported = answers.flatMap((answer) => (answer.status === "fulfilled" ? (answer.value ?? []) : []));
  const fault = answers.find((answer) => answer.status === "rejected");
  if (fault !== undefined && reported.length === 0 && found.length === 0) throw fault.reason;
  return reported;
}

function tokensToLookUp({ chains, address, exact }: CurrencyQuestion): TokenAddress[] {
  const chainIds = new Set(chains.map(({ chain }) => chain.id));
  if (exact === undefined)
    return address === undefined ? [] : [...chainIds].map((chainId) => ({ chainId, address }));
  return [...exact].flatMap((key) => {
    const [chainId, text = ""] = key.split(":", 2);
    const named = parseAddress(text);
    const isRequested = named !== undefined && (address === undefined || address === named);
    return isRequested && chainIds.has(Number(chainId)) ? [{ chainId: Number(chainId), address: named }] : [];
  });
}

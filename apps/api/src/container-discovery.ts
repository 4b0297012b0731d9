import type { Lifecycle } from "@causeway/service-kit";
import { createTokenBook } from "./adapters/tokens/token-book.ts";
import { createTokenLists } from "./adapters/tokens/token-lists.ts";
import { createUnlistedTokens } from "./adapters/tokens/unlisted-tokens.ts";
import type { TokenListConfig } from "./config.ts";
import type { Services } from "./ports/services.ts";
import type { TokenBook } from "./ports/token-book.ts";
import type { TokenCatalog } from "./ports/token-catalog.ts";

/** The largest public lists have some megabytes. */
const MOST_LIST_BYTES = 16 * 1024 * 1024;

/** Every token that can be named. Waits for the first reading of the token lists, within its bound: a list that is away then is read later. */
export async function tokenBook(
  { chains, clock, events }: Pick<Services, "chains" | "clock" | "events">,
  { sources, refreshMs, timeoutMs }: TokenListConfig,
  lifecycle: Lifecycle,
): Promise<TokenBook & TokenCatalog> {
  const lists = createTokenLists({
    sources,
    chainIds: new Set(chains.all.map(({ chain }) => chain.id)),
    refreshMs,
    bounds: { maxBytes: MOST_LIST_BYTES, timeoutMs },
    onFault: (error, facts) => events.fault("token_list_fault", error, facts),
  });
  lifecycle.add("token lists", () => lists.close());
  await lists.refresh();
  return createTokenBook({ chains, lists, unlisted: createUnlistedTokens({ chains, clock }) });
}

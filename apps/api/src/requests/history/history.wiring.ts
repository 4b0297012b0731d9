import type { Sql } from "../../db/pool.postgres.ts";
import type { Services } from "../../db/services.port.ts";
import { currencyNamesOf } from "./currency-names.ts";
import type { RequestHistory } from "./request-history.port.ts";
import { postgresRequestHistory } from "./request-history.postgres.ts";
import type { Searches } from "./searches.wiring.ts";

/** Past requests. First stores the configured names of currencies, because requests are searched by them. */
export async function startHistory(
  { chains, sql }: Pick<Services, "chains"> & { readonly sql: Sql },
  searches: Searches,
): Promise<RequestHistory> {
  const history = postgresRequestHistory(sql, searches.sql);
  await history.storeNames(
    [...chains.evmChains, ...chains.nonEvmChains].flatMap(({ chain }) => currencyNamesOf(chain)),
  );
  return history;
}

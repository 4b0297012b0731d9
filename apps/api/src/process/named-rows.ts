import { ConfigError, type Env, readChains, readSettings, withVaultSecrets } from "@causeway/config";
import { formatAmount } from "@causeway/domain";
import type { Chain, Currency, NonEvmChain } from "@causeway/domain";
import { locationSettings } from "../config/settings.ts";

/** Fields of report rows that contain base units of the row's currency. */
const AMOUNTS: ReadonlySet<string> = new Set([
  "amount",
  "balance",
  "pending",
  "owed",
  "held_on_chain",
  "fees",
  "fronted",
  "fee_amount",
]);

type Row = Readonly<Record<string, unknown>>;

/**
 * Adds the names of chains to their ids, and readable amounts with symbols to base units. Rows of chains or
 * currencies that are not configured stay unchanged.
 */
export function namedRows(chains: ReadonlyArray<Chain | NonEvmChain>): (row: object) => object {
  const byId = new Map(chains.map((chain) => [String(chain.id), chain]));
  return (original) => {
    const row = original as Row;
    const chain = byId.get(String(row["chain_id"] ?? row["chainId"]));
    if (chain === undefined) return row;
    const currency = [chain.native, ...chain.tokens].find(({ address }) => address === row["currency"]);
    const named = Object.entries(row).flatMap(([field, value]): [string, unknown][] => {
      if (field === "chain_id" || field === "chainId")
        return "chain" in row
          ? [[field, value]]
          : [
              [field, value],
              ["chain", chain.name],
            ];
      const readable = currency && AMOUNTS.has(field) ? readableAmount(value, currency) : undefined;
      return readable === undefined
        ? [[field, value]]
        : [
            [field, value],
            [`${field}_readable`, readable],
          ];
    });
    return Object.fromEntries(named);
  };
}

/** Amounts are bigints in columns, and digits inside JSON. */
function readableAmount(value: unknown, { decimals, symbol }: Currency): string | undefined {
  const isDigits = typeof value === "string" && /^-?\d+$/.test(value);
  return typeof value === "bigint" || isDigits
    ? `${formatAmount(BigInt(value), decimals)} ${symbol}`
    : undefined;
}

/**
 * The enabled chains of the environment, to name them in rows. Empty without a valid configuration: rows then
 * have only ids and base units.
 */
export function chainsToName(processEnv: Env): ReadonlyArray<Chain | NonEvmChain> {
  try {
    const env = withVaultSecrets(processEnv);
    const { chains, nonEvmChains } = readChains({ ...readSettings(locationSettings, env), env });
    return [...chains, ...nonEvmChains];
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

import { ConfigError } from "@causeway/config";
import { parseUnits } from "viem";
import { keyNames, type SpendingLimit } from "../payments/policy/limits.port.ts";

const FIELDS = ["key", "chainId", "transactionUsd", "dayUsd", "maxFeePerGasGwei"] as const;
const NAME = "SPENDING_LIMITS";

/**
 * Reads a JSON array of limits.
 * @param chainIds the configured chains, and that of the hub
 * @throws ConfigError with all problems
 */
export function readSpendingLimits(text: string, chainIds: readonly number[]): readonly SpendingLimit[] {
  const entries = parseEntries(text);
  const problems: string[] = [];
  const limits = entries.map((entry, index) => {
    const limit = readEntry(entry, chainIds);
    problems.push(...limit.problems.map((problem) => `${NAME} entry ${index + 1} ${problem}`));
    return limit.value;
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return limits;
}

function parseEntries(text: string): readonly unknown[] {
  const expected = `${NAME} must be a JSON array of objects, for example [{"key":"solver","dayUsd":"100000"}]`;
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.length > 0) return value;
  } catch {
    // Reported below.
  }
  throw new ConfigError([expected]);
}

function readEntry(
  entry: unknown,
  chainIds: readonly number[],
): { readonly value: SpendingLimit; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const fields: Partial<Record<string, unknown>> =
    typeof entry === "object" && entry !== null && !Array.isArray(entry) ? { ...entry } : {};
  if (Object.keys(fields).length === 0) problems.push("must be an object with a limit");
  const unknown = Object.keys(fields).filter((name) => !(FIELDS as readonly string[]).includes(name));
  if (unknown.length > 0)
    problems.push(`has unknown fields: ${unknown.join(", ")}; allowed: ${FIELDS.join(", ")}`);
  const { key, chainId } = fields;
  if (key !== undefined && !isKeyName(key)) problems.push(`key must be one of ${keyNames.join(", ")}`);
  if (chainId !== undefined && !chainIds.some((id) => id === chainId))
    problems.push(`chainId must be the id of a configured chain: ${chainIds.join(", ")}`);
  const amount = (field: string, decimals: number): bigint | undefined => {
    const value = fields[field];
    if (value === undefined) return undefined;
    if (typeof value === "string" && /^\d{1,12}(\.\d{1,9})?$/.test(value)) return parseUnits(value, decimals);
    problems.push(`${field} must be a decimal number as text, for example "2500.50"`);
    return undefined;
  };
  const value = {
    key: isKeyName(key) ? key : undefined,
    chainId: typeof chainId === "number" ? chainId : undefined,
    transactionUsd: amount("transactionUsd", 18),
    dayUsd: amount("dayUsd", 18),
    maxFeePerGasWei: amount("maxFeePerGasGwei", 9),
  };
  const hasLimit = ["transactionUsd", "dayUsd", "maxFeePerGasGwei"].some(
    (field) => fields[field] !== undefined,
  );
  if (problems.length === 0 && !hasLimit)
    problems.push("must set transactionUsd, dayUsd or maxFeePerGasGwei");
  return { value, problems };
}

function isKeyName(value: unknown): value is (typeof keyNames)[number] {
  return keyNames.some((name) => name === value);
}

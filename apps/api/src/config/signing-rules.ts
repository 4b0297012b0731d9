import { ConfigError } from "@causeway/config";
import { NATIVE_CURRENCY, type Address } from "@causeway/domain";
import { parseUnits } from "viem";
import { z } from "zod";
import type { SigningRules } from "../payments/limited-signing/signing-rules.port.ts";

const NAME = "SIGNING_RULES";

const decimal = (decimals: number) =>
  z
    .string('must be a decimal number as text, for example "2500.50"')
    .regex(/^\d{1,12}(\.\d{1,9})?$/, 'must be a decimal number as text, for example "2500.50"')
    .transform((text) => parseUnits(text, decimals));
const usd = decimal(18);
const address = z
  .string("must be an address: 0x and 40 hex digits")
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be an address: 0x and 40 hex digits")
  .transform((text) => text.toLowerCase() as Address);

const chainSchema = z.strictObject({
  chainId: z.int("must be a chain id").positive("must be a chain id"),
  maxFeePerGasGwei: decimal(9),
  dataFeeUsdPerKb: usd.optional(),
  currencies: z
    .array(
      z.strictObject({
        address,
        decimals: z.int("must be an integer from 0 to 36").min(0).max(36),
        // At a price of zero, a currency would have no limit.
        maxPriceUsd: usd.refine((price) => price > 0n, "must be above 0"),
      }),
    )
    .refine(
      (currencies) => currencies.some((currency) => currency.address === NATIVE_CURRENCY),
      `must include the native token (${NATIVE_CURRENCY}): gas is counted with its price`,
    ),
  router: address.optional(),
  approvalProxy: address.optional(),
  hubContracts: z.array(address).optional(),
});

const rulesSchema = z.strictObject({
  key: z.enum(["solver", "executor"], "must be solver or executor"),
  transactionUsd: usd,
  dayUsd: usd,
  chains: z.array(chainSchema).min(1, "must have at least one chain"),
});

/** Reads the rules of a signer process from JSON. @throws ConfigError with all problems */
export function readSigningRules(text: string): SigningRules {
  const result = rulesSchema.safeParse(parseJson(text));
  if (!result.success)
    throw new ConfigError(
      result.error.issues.map(({ path, message }) => `${NAME} ${[...path, message].map(String).join(" ")}`),
    );
  const { key, transactionUsd, dayUsd, chains } = result.data;
  const ids = chains.map(({ chainId }) => chainId);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (repeated.length > 0) throw new ConfigError([`${NAME} chains has chain ${repeated[0]} twice; keep one`]);
  return {
    key,
    transactionUsd,
    dayUsd,
    chains: new Map(
      chains.map((one) => [
        one.chainId,
        {
          maxFeePerGasWei: one.maxFeePerGasGwei,
          dataFeeUsdPerKb: one.dataFeeUsdPerKb ?? 0n,
          currencies: new Map(
            one.currencies.map(({ address: currency, decimals, maxPriceUsd: priceUsd }) => [
              currency,
              { decimals, priceUsd },
            ]),
          ),
          contracts: {
            ...(one.router !== undefined && { router: one.router }),
            ...(one.approvalProxy !== undefined && { approvalProxy: one.approvalProxy }),
          },
          hubContracts: one.hubContracts ?? [],
        },
      ]),
    ),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError([`${NAME} must be JSON`]);
  }
}

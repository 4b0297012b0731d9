import { hasWrongChecksum } from "@causeway/domain";
import type { Parsed, Setting } from "./env.ts";
import { parseExactDecimal } from "./exact-decimal.ts";
import { Secret } from "./secret.ts";

interface Named {
  readonly name: string;
  readonly describe: string;
}

/**
 * With `default` the value is never absent, with `optional` it may be undefined, with neither the variable is
 * required.
 */
interface Coercer<T> {
  (setting: Named & { readonly default: T }): Setting<T>;
  (setting: Named & { readonly optional: true }): Setting<T | undefined>;
  (setting: Named): Setting<T>;
}

function coercer<T>(kind: string, parse: (text: string) => Parsed<T>, fromFile = false): Coercer<T> {
  return (setting: Named & { readonly default?: T; readonly optional?: true }): Setting<T> => ({
    name: setting.name,
    describe: setting.describe,
    kind,
    parse,
    fromFile,
    whenAbsent:
      "default" in setting || setting.optional === true
        ? { kind: "value", value: setting.default as T }
        : { kind: "required" },
  });
}

const valid = <T>(value: T): Parsed<T> => ({ ok: true, value });
const invalid = (problem: string): Parsed<never> => ({ ok: false, problem });

/** Any text. */
export const text: Coercer<string> = coercer("text", valid);

/** Text of a given form; `form` is how the documentation names it. */
export function matching(form: string, pattern: RegExp): Coercer<string> {
  return coercer(form, (raw) => (pattern.test(raw) ? valid(raw) : invalid(`must be ${form}`)));
}

/**
 * What is wrong with an address that `hasWrongChecksum`. It names no other spelling: that would vouch for the
 * mistyped address.
 */
export const WRONG_CHECKSUM =
  "has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case";

/** EVM addresses in text of a given form. Those in mixed case must have the checksum of EIP-55. */
export function evmAddresses(form: string, pattern: RegExp): Coercer<string> {
  return coercer(form, (raw) => {
    if (!pattern.test(raw)) return invalid(`must be ${form}`);
    const addresses = raw.match(/0x[0-9a-fA-F]{40}/g) ?? [];
    const wrong = addresses.findIndex(hasWrongChecksum);
    if (wrong < 0) return valid(raw);
    return invalid(`${addresses.length === 1 ? "" : `entry ${wrong + 1} `}${WRONG_CHECKSUM}`);
  });
}

/** Whole number within bounds, both included. */
export function integer(min: number, max: number): Coercer<number> {
  return coercer(`integer ${min}..${max}`, (raw) => {
    const value = /^-?\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
    return value >= min && value <= max ? valid(value) : invalid(`must be an integer from ${min} to ${max}`);
  });
}

/** Decimal number within bounds, both included. Never for amounts of money. */
export function decimal(min: number, max: number): Coercer<number> {
  return coercer(`number ${min}..${max}`, (raw) => {
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(raw) ? Number(raw) : Number.NaN;
    return value >= min && value <= max ? valid(value) : invalid(`must be a number from ${min} to ${max}`);
  });
}

/** USD amount as decimal text; the value has 18 decimals. */
export const usd: Coercer<bigint> = coercer("USD amount, e.g. `0.25`", (raw) => {
  const value = parseExactDecimal(raw, 18);
  return value === undefined ? invalid("must be a USD amount as a decimal number") : valid(value);
});

/** `true` or `false`, nothing else: a typo must not switch a safety off. */
export const flag: Coercer<boolean> = coercer("`true` or `false`", (raw) =>
  raw === "true" || raw === "false" ? valid(raw === "true") : invalid("must be `true` or `false`"),
);

/** One of a fixed set of words. */
export function choice<const W extends string>(...words: readonly W[]): Coercer<W> {
  const list = words.map((w) => `\`${w}\``).join(", ");
  return coercer(`one of ${list}`, (raw) => {
    const word = words.find((w) => w === raw);
    return word === undefined ? invalid(`must be one of ${list}`) : valid(word);
  });
}

/** Absolute URL of one of the given schemes, without a trailing slash. */
export function url(...schemes: readonly string[]): Coercer<string> {
  const kind = kindOfUrl(schemes);
  return coercer(kind, (raw) =>
    isUrlOf(raw, schemes) ? valid(raw.replace(/\/+$/, "")) : invalid(`must be a ${kind}`),
  );
}

/** Comma-separated texts, blanks around them removed. */
export const list: Coercer<readonly string[]> = coercer("comma-separated list", (raw) => {
  const items = raw.split(",").map((item) => item.trim());
  return items.includes("")
    ? invalid("must be a comma-separated list without empty elements")
    : valid<readonly string[]>(items);
});

type TrustedProxies = false | number | readonly string[];

const PROXIES = "`false`, a number of proxies from 1 to 16, or addresses and ranges separated by commas";

/**
 * Reverse proxies whose `X-Forwarded-For` entry is trusted: none, how many, or their addresses and ranges.
 */
export const trustedProxies: Coercer<TrustedProxies> = coercer(PROXIES, (raw): Parsed<TrustedProxies> => {
  if (raw === "false") return valid(false);
  if (/^([1-9]|1[0-6])$/.test(raw)) return valid(Number(raw));
  const areAddresses = /^(?=[^,]*[.:])[0-9a-fA-F.:/]+(,[0-9a-fA-F.:/]+)*$/.test(raw);
  return areAddresses ? valid(raw.split(",")) : invalid(`must be ${PROXIES}`);
});

/** A value that is never shown. Also read from the file named by `<NAME>_FILE`. */
export const secret: Coercer<Secret> = coercer("secret text", (raw) => valid(new Secret(raw)), true);

/** A URL that carries credentials, kept as a secret. Also read from the file named by `<NAME>_FILE`. */
export function secretUrl(...schemes: readonly string[]): Coercer<Secret> {
  const kind = `${kindOfUrl(schemes)}, secret`;
  return coercer(
    kind,
    (raw) => (isUrlOf(raw, schemes) ? valid(new Secret(raw)) : invalid(`must be a ${kind}`)),
    true,
  );
}

/**
 * 32-byte private key in hex, kept as a secret in lower case with `0x`. Also read from the file named by
 * `<NAME>_FILE`.
 */
export const privateKey: Coercer<Secret> = coercer(
  "32-byte hex private key, secret",
  (raw) => {
    const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(raw)?.[1];
    return hex === undefined
      ? invalid("must be 32 bytes of hex")
      : valid(new Secret(`0x${hex.toLowerCase()}`));
  },
  true,
);

/**
 * True when `text` is an absolute URL whose scheme (without `:`) is one of `schemes`. The two slashes must be
 * written: without them `redis:6379` is a URL too, of the path 6379 on no host.
 */
export function isUrlOf(text: string, schemes: readonly string[]): boolean {
  const parsed = URL.parse(text);
  return parsed !== null && schemes.includes(parsed.protocol.slice(0, -1)) && /^[^:]+:\/\//.test(text);
}

function kindOfUrl(schemes: readonly string[]): string {
  return `URL (${schemes.map((scheme) => `${scheme}://`).join(", ")})`;
}

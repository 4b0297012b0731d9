import { hasWrongChecksum, WRONG_CHECKSUM } from "@causeway/domain";
import type { Parsed, Setting } from "./env.ts";
import { Secret } from "./secret.ts";

interface Named {
  readonly name: string;
  readonly describe: string;
}

/**
 * Defines a setting of one kind. An unset variable gives `default`, or undefined with `optional`; with
 * neither, it is required.
 */
interface Kind<T, Options = unknown> {
  (setting: Named & Options & { readonly default: T }): Setting<T>;
  (setting: Named & Options & { readonly optional: true }): Setting<T | undefined>;
  (setting: Named & Options): Setting<T>;
}

/** How the values of a kind are parsed. */
interface Rules<T> {
  /** In the documentation and in problems, for example `integer 1..65535`. */
  readonly form: string;
  readonly parse: (text: string) => Parsed<T>;
  /** Whether `<NAME>_FILE` may name a file with the value. */
  readonly fromFile?: boolean;
}

type Definition<T> = Named & { readonly default?: T; readonly optional?: true };

function define<T>(setting: Definition<T>, { form, parse, fromFile = false }: Rules<T>): Setting<T> {
  return {
    name: setting.name,
    describe: setting.describe,
    kind: form,
    parse,
    fromFile,
    whenAbsent:
      "default" in setting || setting.optional === true
        ? { kind: "value", value: setting.default as T }
        : { kind: "required" },
  };
}

/** A kind that is the same for all settings. */
function kind<T>(rules: Rules<T>): Kind<T> {
  return (setting: Definition<T>) => define(setting, rules);
}

/** A kind with further options, such as bounds. */
function kindWith<T, Options>(rulesOf: (options: Options) => Rules<T>): Kind<T, Options> {
  return (setting: Definition<T> & Options) => define(setting, rulesOf(setting));
}

const valid = <T>(value: T): Parsed<T> => ({ ok: true, value });
const invalid = (problem: string): Parsed<never> => ({ ok: false, problem });

/** Any text. */
export const text = kind<string>({ form: "text", parse: valid });

/** Text that a pattern allows; `form` is its name in the documentation. */
interface Pattern {
  readonly form: string;
  readonly pattern: RegExp;
}

export const matching = kindWith<string, Pattern>(({ form, pattern }) => ({
  form,
  parse: (raw) => (pattern.test(raw) ? valid(raw) : invalid(`must be ${form}`)),
}));

/** EVM addresses in text that a pattern allows. Those in mixed case must have a valid EIP-55 checksum. */
export const evmAddresses = kindWith<string, Pattern>(({ form, pattern }) => ({
  form,
  parse: (raw) => {
    if (!pattern.test(raw)) return invalid(`must be ${form}`);
    const addresses = raw.match(/0x[0-9a-fA-F]{40}/g) ?? [];
    const wrong = addresses.findIndex(hasWrongChecksum);
    if (wrong < 0) return valid(raw);
    return invalid(`${addresses.length === 1 ? "" : `entry ${wrong + 1} `}${WRONG_CHECKSUM}`);
  },
}));

/** Integer between two bounds, both included. */
export const integer = kindWith<number, { readonly min: number; readonly max: number }>(({ min, max }) => ({
  form: `integer ${min}..${max}`,
  parse: (raw) => {
    const value = /^-?\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
    return value >= min && value <= max ? valid(value) : invalid(`must be an integer from ${min} to ${max}`);
  },
}));

const USD_FORM = "a USD amount as a decimal number, for example 0.25";

/** USD amount, kept as decimal text with at most 18 decimals. */
export const usd = kind<string>({
  form: USD_FORM,
  parse: (raw) => (/^\d{1,9}(\.\d{1,18})?$/.test(raw) ? valid(raw) : invalid(`must be ${USD_FORM}`)),
});

/** `true` or `false`, nothing else: a typo must not turn off a check. */
export const flag = kind<boolean>({
  form: "`true` or `false`",
  parse: (raw) =>
    raw === "true" || raw === "false" ? valid(raw === "true") : invalid("must be `true` or `false`"),
});

/** One of a fixed set of values. */
export function choice<const V extends string>({
  values,
  ...setting
}: Named & { readonly values: readonly V[]; readonly default?: NoInfer<V> }): Setting<V> {
  const list = values.map((value) => `\`${value}\``).join(", ");
  return define<V>(setting, {
    form: `one of ${list}`,
    parse: (raw) => {
      const value = values.find((item) => item === raw);
      return value === undefined ? invalid(`must be one of ${list}`) : valid(value);
    },
  });
}

interface Schemes {
  readonly schemes: readonly string[];
}

/** Absolute URL with one of the schemes; a trailing slash is removed. */
export const url = kindWith<string, Schemes>(({ schemes }) => {
  const form = formOfUrl(schemes);
  return {
    form,
    parse: (raw) => (isUrlOf(raw, schemes) ? valid(raw.replace(/\/+$/, "")) : invalid(`must be a ${form}`)),
  };
});

/** Texts separated by commas; blanks around them are removed. */
export const list = kind<readonly string[]>({
  form: "comma-separated list",
  parse: (raw) => {
    const items = raw.split(",").map((item) => item.trim());
    return items.includes("")
      ? invalid("must be a comma-separated list without empty elements")
      : valid(items);
  },
});

type TrustedProxies = false | number | readonly string[];

const PROXIES = "`false`, a number of proxies from 1 to 16, or addresses and ranges separated by commas";

/** Reverse proxies whose `X-Forwarded-For` entry is trusted: none, a number of them, or their addresses. */
export const trustedProxies = kind<TrustedProxies>({
  form: PROXIES,
  parse: (raw) => {
    if (raw === "false") return valid(false);
    if (/^([1-9]|1[0-6])$/.test(raw)) return valid(Number(raw));
    const areAddresses = /^(?=[^,]*[.:])[0-9a-fA-F.:/]+(,[0-9a-fA-F.:/]+)*$/.test(raw);
    return areAddresses ? valid(raw.split(",")) : invalid(`must be ${PROXIES}`);
  },
});

/** A value that is never printed. */
export const secret = kind<Secret>({
  form: "secret text",
  parse: (raw) => valid(new Secret(raw)),
  fromFile: true,
});

/** A URL that contains credentials, and is therefore never printed. */
export const secretUrl = kindWith<Secret, Schemes>(({ schemes }) => {
  const form = `${formOfUrl(schemes)}, secret`;
  return {
    form,
    parse: (raw) => (isUrlOf(raw, schemes) ? valid(new Secret(raw)) : invalid(`must be a ${form}`)),
    fromFile: true,
  };
});

/** A private key of 32 bytes, kept in lowercase hex with `0x` and never printed. */
export const privateKey = kind<Secret>({
  form: "32-byte hex private key, secret",
  parse: (raw) => {
    const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(raw)?.[1];
    return hex === undefined
      ? invalid("must be 32 bytes of hex")
      : valid(new Secret(`0x${hex.toLowerCase()}`));
  },
  fromFile: true,
});

/** As `privateKey`, for an ed25519 key. Also accepts a key file of Solana's tools: seed and public key. */
export const ed25519Key = kind<Secret>({
  form: "32-byte hex seed or a JSON array of 64 bytes, secret",
  parse: (raw) => {
    const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(raw)?.[1] ?? seedIn(raw);
    return hex === undefined
      ? invalid("must be 32 bytes of hex, or a JSON array of 64 bytes (a key file of Solana's tools)")
      : valid(new Secret(`0x${hex.toLowerCase()}`));
  },
  fromFile: true,
});

function seedIn(raw: string): string | undefined {
  const bytes =
    /^\[([\d\s,]+)\]$/
      .exec(raw)?.[1]
      ?.split(",")
      .map((item) => item.trim()) ?? [];
  const areBytes = bytes.length === 64 && bytes.every((item) => /^\d{1,3}$/.test(item) && Number(item) < 256);
  return areBytes ? Buffer.from(bytes.slice(0, 32).map(Number)).toString("hex") : undefined;
}

/**
 * Whether `text` is an absolute URL with one of the schemes (without `:`). The two slashes are required:
 * without them, `redis:6379` would parse as a URL with the path 6379 and no host.
 */
export function isUrlOf(text: string, schemes: readonly string[]): boolean {
  const parsed = URL.parse(text);
  return parsed !== null && schemes.includes(parsed.protocol.slice(0, -1)) && /^[^:]+:\/\//.test(text);
}

function formOfUrl(schemes: readonly string[]): string {
  return `URL (${schemes.map((scheme) => `${scheme}://`).join(", ")})`;
}

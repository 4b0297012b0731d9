import type { Hex } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import {
  apiKeyParams,
  changeApiKeyRequest,
  createApiKeyRequest,
  linkFundingAddressRequest,
  fundingChallengeRequest,
  rotateApiKeyRequest,
} from "@causeway/wire";
import { readFileSync } from "node:fs";
import type { z } from "zod";
import type { IssuedApiKey } from "../../callers/api-key-register.port.ts";
import type { KeyAdmin } from "../../callers/key-admin.port.ts";
import { apiKeyJson, keyChanges, newKeySettings } from "../../callers/api-key-json.ts";
import { administer, commandLine, runCommand, UsageError } from "./run-command.ts";

export const KEYS_USAGE = `  operator keys create --label <text> --scopes <quote,execute,fast-fill,read> [--referrers <a,b>] [--origins <a,b>] [--rules <JSON or @file>]
                       [--quote-per-minute <n>] [--other-per-minute <n>]
                              creates an API key and shows its secret once. The key sponsors no call that carries native tokens, unless a
                              rule allows it, for example {"maxCallValueUsd":"100"}
  operator keys list          all API keys, including revoked ones
  operator keys change <id>   takes the options of create; changes only the given ones
  operator keys rules <id> [--rules <JSON or @file>]   shows or replaces what may be paid from the app balance
  operator keys rotate <id> [--grace <seconds>]        issues another secret; the old one stays valid for the grace period
                              (default: 0, which makes it invalid within a second; at most 2592000, 30 days)
  operator keys revoke <id>   permanent; takes effect in every process within a second
  operator keys link <id> --address <wallet> [--signature <hex>]
                              without --signature: shows the message that the wallet must sign; with it: links the wallet, whose app balance then pays
`;

/** Opens the store of the keys. */
export type OpenKeys = () => { readonly admin: KeyAdmin; close(): Promise<void> };

/** `operator keys`: prints a JSON line for each key. Never throws: the exit code reports the outcome. */
export async function runKeys(args: readonly string[], open: OpenKeys): Promise<number> {
  return await runCommand(KEYS_USAGE, async () => await administer(open, parseArguments(args)));
}

type Action = (admin: KeyAdmin) => Promise<readonly object[]>;

const text = { type: "string" } as const;
const options = {
  label: text,
  scopes: text,
  referrers: text,
  origins: text,
  rules: text,
  "quote-per-minute": text,
  "other-per-minute": text,
  grace: text,
  address: text,
  signature: text,
} as const;
type Option = keyof typeof options;
type Values = Readonly<Partial<Record<Option, string>>>;

const settingsOptions: readonly Option[] = [
  "label",
  "scopes",
  "referrers",
  "origins",
  "rules",
  "quote-per-minute",
  "other-per-minute",
];

/** @throws UsageError */
function parseArguments([command = "", ...rest]: readonly string[]): Action {
  const { values, positionals } = commandLine({ args: [...rest], options, allowPositionals: true });
  const allowOnly = (...allowed: readonly Option[]): void => {
    const unsupported = Object.keys(values).find((name) => !allowed.includes(name as Option));
    if (unsupported !== undefined)
      throw new UsageError(`--${unsupported} is not an option of keys ${command}`);
  };
  const requireNoId = (): void => {
    if (positionals.length > 0) throw new UsageError(`keys ${command} takes no id`);
  };
  const requireId = (): string => {
    if (positionals.length !== 1) throw new UsageError(`keys ${command} requires exactly one key id`);
    return validate(apiKeyParams, { id: positionals[0] }).id;
  };

  switch (command) {
    case "create": {
      allowOnly(...settingsOptions);
      requireNoId();
      const settings = newKeySettings(validate(createApiKeyRequest, settingsFrom(values)));
      return async (admin) => [issuedJson(await admin.create(settings))];
    }
    case "list":
      allowOnly();
      requireNoId();
      return async (admin) => (await admin.list()).map(apiKeyJson);
    case "change": {
      allowOnly(...settingsOptions);
      const id = requireId();
      const change = keyChanges(validate(changeApiKeyRequest, settingsFrom(values)));
      if (Object.keys(change).length === 0) throw new UsageError("keys change requires at least one option");
      return async (admin) => [apiKeyJson(await admin.change(id, change))];
    }
    case "rules": {
      allowOnly("rules");
      const id = requireId();
      if (values.rules === undefined) return async (admin) => [await rulesOf(admin, id)];
      const change = keyChanges(validate(changeApiKeyRequest, settingsFrom(values)));
      return async (admin) => [apiKeyJson(await admin.change(id, change)).rules];
    }
    case "rotate": {
      allowOnly("grace");
      const id = requireId();
      const grace = values.grace === undefined ? {} : { graceSeconds: number(values.grace) };
      const { graceSeconds } = validate(rotateApiKeyRequest, grace);
      return async (admin) => [issuedJson(await admin.rotate(id, graceSeconds))];
    }
    case "revoke": {
      allowOnly();
      const id = requireId();
      return async (admin) => [apiKeyJson(await admin.revoke(id))];
    }
    case "link": {
      allowOnly("address", "signature");
      const id = requireId();
      const { address, signature } = values;
      if (signature === undefined) {
        const wallet = lower(validate(fundingChallengeRequest, { address }).address);
        return async (admin) => [await admin.challengeFundingAddress(id, wallet)];
      }
      const answer = validate(linkFundingAddressRequest, { address, signature });
      return async (admin) => [
        apiKeyJson(await admin.linkFundingAddress(id, lower(answer.address), lower(answer.signature))),
      ];
    }
    default:
      throw new UsageError(command === "" ? "keys requires a command" : `unknown command: keys ${command}`);
  }
}

/** The equivalent request body of the admin API. */
function settingsFrom(values: Values): object {
  const list = (value: string | undefined): string[] | undefined =>
    value === undefined ? undefined : value === "" ? [] : value.split(",").map((part) => part.trim());
  const quotePerMinute = values["quote-per-minute"];
  const otherPerMinute = values["other-per-minute"];
  const limits = {
    ...(quotePerMinute === undefined ? {} : { quotePerMinute: number(quotePerMinute) }),
    ...(otherPerMinute === undefined ? {} : { otherPerMinute: number(otherPerMinute) }),
  };
  return {
    label: values.label,
    scopes: list(values.scopes),
    referrers: list(values.referrers),
    origins: list(values.origins),
    rules: values.rules === undefined ? undefined : readRules(values.rules),
    limits: Object.keys(limits).length === 0 ? undefined : limits,
  };
}

function readRules(rules: string): unknown {
  try {
    return JSON.parse(rules.startsWith("@") ? readFileSync(rules.slice(1), "utf8") : rules);
  } catch (error) {
    throw new UsageError(`--rules: ${error instanceof Error ? error.message : "not JSON"}`);
  }
}

/** NaN if the text is not a number: the schema then refuses it. */
const number = (digits: string): number => (/^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN);

function validate<Schema extends z.ZodType>(schema: Schema, value: object): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UsageError(
    result.error.issues.map(({ path, message }) => `${path.join(".") || "value"} ${message}`).join("; "),
  );
}

async function rulesOf(admin: KeyAdmin, id: string): Promise<object> {
  const record = (await admin.list()).find((key) => key.id === id);
  if (record === undefined) throw new ServiceError("NOT_FOUND", `API key ${id} not found`);
  return apiKeyJson(record).rules;
}

const issuedJson = ({ key, record }: IssuedApiKey): object => ({ key, apiKey: apiKeyJson(record) });

const lower = (hex: string): Hex => hex.toLowerCase() as Hex;

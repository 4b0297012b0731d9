import type { SponsorshipRulesJson } from "@causeway/wire";
import { type ApiKeyAnswer, rulesFromJson, rulesToJson } from "@causeway/wire";
import type { ApiKeyRecord, ApiKeySettings } from "./api-key-register.port.ts";
import type { ApiScope, KeyLimits } from "../http/api-keys.port.ts";

/** The settings of a key, as parsed by the schemas. */
interface SettingsJson {
  readonly label?: string | undefined;
  readonly scopes?: readonly ApiScope[] | undefined;
  readonly referrers?: readonly string[] | undefined;
  readonly origins?: readonly string[] | undefined;
  readonly rules?: SponsorshipRulesJson | undefined;
  readonly limits?:
    | { readonly quotePerMinute?: number | undefined; readonly otherPerMinute?: number | undefined }
    | undefined;
}

/** The changes of a key: only the fields that are set. */
export function keyChanges({
  label,
  scopes,
  referrers,
  origins,
  rules,
  limits,
}: SettingsJson): Partial<ApiKeySettings> {
  return {
    ...(label === undefined ? {} : { label }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(referrers === undefined ? {} : { referrers }),
    ...(origins === undefined ? {} : { origins }),
    ...(rules === undefined ? {} : { rules: rulesFromJson(rules) }),
    ...(limits === undefined ? {} : { limits: keyLimits(limits) }),
  };
}

/** All settings of a new key. */
export function newKeySettings(settings: {
  readonly [Name in keyof SettingsJson]-?: Exclude<SettingsJson[Name], undefined>;
}): ApiKeySettings {
  const { label, scopes, referrers, origins, rules, limits } = settings;
  return { label, scopes, referrers, origins, rules: rulesFromJson(rules), limits: keyLimits(limits) };
}

function keyLimits({ quotePerMinute, otherPerMinute }: NonNullable<SettingsJson["limits"]>): KeyLimits {
  return {
    ...(quotePerMinute === undefined ? {} : { quotePerMinute }),
    ...(otherPerMinute === undefined ? {} : { otherPerMinute }),
  };
}

export function apiKeyJson(record: ApiKeyRecord): ApiKeyAnswer {
  return {
    id: record.id,
    label: record.label,
    scopes: [...record.scopes],
    referrers: [...record.referrers],
    origins: [...record.origins],
    fundingAddress: record.fundingAddress ?? null,
    rules: rulesToJson(record.rules),
    limits: keyLimits(record.limits),
    createdAt: record.createdAtMs,
    updatedAt: record.updatedAtMs,
    revokedAt: record.revokedAtMs ?? null,
    previousSecretUntil: record.previousUntilMs ?? null,
  };
}

import { defaultSponsorshipRules, ServiceError } from "@causeway/domain";
import type { ApiKeyIdentity, ApiKeys } from "../../apps/api/src/http/api-keys.port.ts";
import type { KeyAdmin } from "../../apps/api/src/callers/key-admin.port.ts";

/** API keys, by their full text. */
export function fakeApiKeys(keys: Readonly<Record<string, ApiKeyIdentity>>): ApiKeys {
  return {
    find: async (text) => (Object.hasOwn(keys, text) ? keys[text] : undefined),
    isKnown: (text) => Object.hasOwn(keys, text),
  };
}

/** A key with every scope and no limits, with the changes that a test needs. */
export function anApiKey(change: Partial<ApiKeyIdentity> = {}): ApiKeyIdentity {
  return {
    id: "00112233445566aa",
    label: "test",
    scopes: ["quote", "execute", "fast-fill", "read"],
    referrers: [],
    origins: [],
    fundingAddress: undefined,
    rules: defaultSponsorshipRules,
    limits: {},
    ...change,
  };
}

/** A key administration that has no keys. */
export function fakeKeyAdmin(overrides: Partial<KeyAdmin> = {}): KeyAdmin {
  const none = (): Promise<never> => Promise.reject(new ServiceError("NOT_FOUND", "API key not found"));
  return {
    create: none,
    list: async () => [],
    change: none,
    rotate: none,
    revoke: none,
    challengeFundingAddress: none,
    linkFundingAddress: none,
    ...overrides,
  };
}

import { expect, test } from "vitest";
import type { ApiKeyIdentity, ApiKeys } from "../../apps/api/src/http/api-keys.port.ts";

/** A valid key as clients send it, and the identity that it belongs to. */
export interface ValidKey {
  readonly keys: ApiKeys;
  readonly text: string;
  readonly identity: ApiKeyIdentity;
}

/** What every source of API keys must guarantee. */
export function apiKeysContract(name: string, make: () => Promise<ValidKey>): void {
  test(`${name}: a key identifies its owner, however often it is used`, async () => {
    const { keys, text, identity } = await make();
    expect(await keys.find(text)).toEqual(identity);
    expect(await keys.find(text)).toEqual(identity);
    expect(keys.isKnown(text)).toBe(true);
  });

  test(`${name}: an unknown key, a wrong secret and an empty text identify no one`, async () => {
    const { keys, text } = await make();
    const wrongSecret = `${text.slice(0, -1)}${text.endsWith("A") ? "B" : "A"}`;
    for (const unknown of [wrongSecret, `x${text}`, "", "constructor"])
      expect(await keys.find(unknown), unknown).toBeUndefined();
    expect(keys.isKnown("")).toBe(false);
  });
}

/** The parsed value of `API_KEYS`. */
export interface ApiKeyList {
  /** Label by key. */
  readonly keys: ReadonlyMap<string, string>;
  /** One sentence each; none contains a key. */
  readonly problems: readonly string[];
}

/** 32 hex characters have 128 bits. */
const MIN_KEY_LENGTH = 32;

/**
 * Parses `API_KEYS`: `<key>:<label>` joined with `;`, optionally with a trailing `;`. The first `:` is the
 * separator, so a label may contain more. Rejects duplicate keys: removing one of the two entries would not
 * revoke the key.
 */
export function readApiKeys(text: string): ApiKeyList {
  const entries = text.split(";").map((entry) => entry.trim());
  if (entries.at(-1) === "") entries.pop();
  const keys = new Map<string, string>();
  const problems: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const where = `API_KEYS entry ${index + 1}`;
    const colon = entry.indexOf(":");
    const key = (colon < 0 ? entry : entry.slice(0, colon)).trim();
    const label = colon < 0 ? "" : entry.slice(colon + 1).trim();
    if (colon < 0 || label === "") problems.push(`${where} has no label; use <key>:<label>`);
    // A header cannot carry any other character.
    if (!/^[\x21-\x7e]+$/.test(key))
      problems.push(`${where} has an empty key or one with characters not allowed in a header`);
    else if (key.length < MIN_KEY_LENGTH)
      problems.push(
        `${where} has a key of ${key.length} characters, expected at least ${MIN_KEY_LENGTH}; generate one with \`openssl rand -hex 32\``,
      );
    if (keys.has(key)) problems.push(`${where} repeats the key of an earlier entry`);
    keys.set(key, label);
  }
  return { keys, problems };
}

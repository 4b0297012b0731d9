/** Something that must not appear in a log: the text itself, or a pattern for its kind. */
export interface Secret {
  /** A description for the report; never the secret. */
  readonly name: string;
  readonly pattern: string | RegExp;
}

/** Names of the secrets that a text contains, without duplicates, in the given order. */
export function secretsIn(text: string, secrets: readonly Secret[]): string[] {
  const plain = text.toLowerCase();
  return secrets
    .filter(({ pattern }) =>
      typeof pattern === "string" ? plain.includes(pattern.toLowerCase()) : pattern.test(text),
    )
    .map(({ name }) => name);
}

/**
 * Secrets that are created while the suite runs: their values are unknown beforehand, but their
 * pattern is known.
 */
export const generatedSecrets: readonly Secret[] = [
  { name: "an API key", pattern: /cwk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/ },
  { name: "credentials in a URL", pattern: /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@:"']+:[^\s/@"']+@/i },
];

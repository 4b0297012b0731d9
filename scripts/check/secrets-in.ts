/** Something that must not appear in a log: the text itself, or a pattern that all of its kind match. */
export interface Secret {
  /** A description for the report; never the secret. */
  readonly name: string;
  readonly form: string | RegExp;
}

/** Names of the secrets that a text contains, without duplicates, in the given order. */
export function secretsIn(text: string, secrets: readonly Secret[]): string[] {
  const plain = text.toLowerCase();
  return secrets
    .filter(({ form }) => (typeof form === "string" ? plain.includes(form.toLowerCase()) : form.test(text)))
    .map(({ name }) => name);
}

/**
 * Secrets that are created while the suite runs: their values are unknown beforehand, but their form is
 * known.
 */
export const madeSecrets: readonly Secret[] = [
  { name: "an API key", form: /cwk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/ },
  { name: "credentials in a URL", form: /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@:"']+:[^\s/@"']+@/i },
];

/** Something that must not be in a log: the text itself, or the form that all of its kind have. */
export interface Secret {
  /** What it is, for the report; never the secret. */
  readonly name: string;
  readonly form: string | RegExp;
}

/** Names of the secrets that a text contains, each once, in the order given. */
export function secretsIn(text: string, secrets: readonly Secret[]): string[] {
  const plain = text.toLowerCase();
  return secrets
    .filter(({ form }) => (typeof form === "string" ? plain.includes(form.toLowerCase()) : form.test(text)))
    .map(({ name }) => name);
}

/** Secrets that are made while the suite runs: not known beforehand, but all of a kind have the same form. */
export const madeSecrets: readonly Secret[] = [
  { name: "an API key", form: /cwk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/ },
  { name: "credentials in a URL", form: /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@:"']+:[^\s/@"']+@/i },
];

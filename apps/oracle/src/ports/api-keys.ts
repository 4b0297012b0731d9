/** API keys that may call the oracle. */
export interface ApiKeys {
  /** The label of a key. Undefined for an unknown key. */
  labelOf(key: string): string | undefined;
}

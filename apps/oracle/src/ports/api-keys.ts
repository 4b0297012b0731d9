/** Who may ask. */
export interface ApiKeys {
  /** Whose key it is; undefined for a key that is none. */
  labelOf(key: string): string | undefined;
}

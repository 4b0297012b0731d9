import type { SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";

export const tokenSettings = {
  tokenLists: setting.list({
    name: "TOKEN_LISTS",
    default: [],
    describe:
      "Token lists in the tokenlists.org format, as file paths or `https` URLs. If several lists contain a token, the first one counts. Listed tokens can be searched and are shown as verified, so use only lists whose maintainers you trust. Other tokens are read from their chain.",
  }),
};

export const fixedTokenListPolicy = {
  /** How often the lists are reloaded. A list that cannot be read keeps its previous content. */
  refreshMs: 3_600_000,
  /** Timeout of loading one list, and the longest time that the start of a process waits for the lists. */
  timeoutMs: 5_000,
};

export interface TokenListConfig {
  /** File paths and `https` URLs. */
  readonly sources: readonly string[];
  readonly refreshMs: number;
  readonly timeoutMs: number;
}

export function tokenListConfig({ tokenLists }: SettingValues<typeof tokenSettings>): TokenListConfig {
  return { sources: tokenLists, ...fixedTokenListPolicy };
}

/** Over plain http, an attacker could add tokens, which would then be shown as verified. */
export function tokenListProblems({
  tokenLists = [],
}: Partial<SettingValues<typeof tokenSettings>>): readonly string[] {
  const isInsecure = (source: string): boolean =>
    /^[a-z][a-z0-9+.-]*:\/\//i.test(source) &&
    !setting.isUrlOf(source, ["https"]) &&
    !/^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(source);
  return tokenLists.some(isInsecure) ? ["TOKEN_LISTS must be file paths or https URLs"] : [];
}

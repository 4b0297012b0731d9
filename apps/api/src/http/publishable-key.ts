import type { ApiKeyIdentity, ApiScope } from "./api-keys.port.ts";

/** All scopes that a publishable key can have. */
export const publishableScopes: ReadonlySet<ApiScope> = new Set<ApiScope>(["quote", "read"]);

/** Whether the key is embedded in web pages, where anyone can read it. */
export function isPublishable({ origins }: Pick<ApiKeyIdentity, "origins">): boolean {
  return origins.length > 0;
}

import type { ApiKeyIdentity, ApiScope } from "./api-keys.port.ts";

/** All that a publishable key can be for. */
export const publishableScopes: ReadonlySet<ApiScope> = new Set<ApiScope>(["quote", "read"]);

/** Whether the key stands in web pages, so that everybody can have it. */
export function isPublishable({ origins }: Pick<ApiKeyIdentity, "origins">): boolean {
  return origins.length > 0;
}

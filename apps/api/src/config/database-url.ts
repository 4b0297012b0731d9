import { type Env, readSettings, withVaultSecrets } from "@causeway/config";
import { storageSettings } from "./storage.ts";

/**
 * Reads DATABASE_URL for commands that need nothing else: from the variable, its `_FILE` or the secrets
 * directory.
 * @throws ConfigError
 */
export function readDatabaseUrl(env: Env): string {
  const { databaseUrl } = readSettings({ databaseUrl: storageSettings.databaseUrl }, withVaultSecrets(env));
  return databaseUrl.reveal();
}

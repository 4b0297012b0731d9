import type { Secret } from "@causeway/config";
import { ConfigError } from "@causeway/config";
import type { Hex } from "@causeway/domain";

/**
 * The worker signs with all accounts of the service; the API and the operator's commands sign at most with
 * the solver's account.
 */
export type ProcessRole = "api" | "worker" | "operator";

/** A setting for keys and the setting for their addresses. */
export interface AccountSettings {
  readonly keyName: string;
  readonly keys: readonly Secret[];
  readonly addressName: string;
  readonly addresses: readonly Hex[];
  /** @throws Error when the key is not valid */
  accountOf(privateKey: string): Hex;
  /** Formats an account as the address setting accepts it. */
  format(account: Hex): string;
}

export interface ResolvedAccounts {
  readonly accounts: readonly Hex[];
  readonly warnings: readonly string[];
}

/**
 * Returns the accounts of the keys and addresses. The worker needs the keys; the API only derives addresses
 * from them.
 * @throws ConfigError without a key in it
 */
export function resolveAccounts(role: ProcessRole, settings: AccountSettings): ResolvedAccounts {
  const { keyName, keys, addressName, addresses, format } = settings;
  if (keys.length === 0) {
    if (role === "worker" && addresses.length > 0)
      throw new ConfigError([`${keyName} is required in the worker because ${addressName} is set`]);
    return { accounts: addresses, warnings: [] };
  }
  const derived = keys.map((key) => accountOfKey(settings, key));
  const formatted = derived.map(format).join(",");
  const isSame =
    derived.every((account) => addresses.includes(account)) &&
    addresses.every((address) => derived.includes(address));
  if (addresses.length > 0 && !isSame)
    throw new ConfigError([`${addressName} must be ${formatted}, the address of ${keyName}`]);
  return { accounts: derived, warnings: warningsOf(role, settings, formatted) };
}

/** Warnings that name the value of the missing address setting. */
function warningsOf(
  role: ProcessRole,
  { keyName, addressName, addresses }: AccountSettings,
  formatted: string,
): readonly string[] {
  if (role === "api")
    return [
      `${keyName} is ignored: the API does not need it. Remove it from the environment of the API, and set ${addressName}=${formatted} there if it is not set`,
    ];
  if (role === "operator" || addresses.length > 0) return [];
  return [
    `${addressName} is not set: set ${addressName}=${formatted} in the environments of the worker and the API. Remove ${keyName} from the API's environment only; the worker needs it`,
  ];
}

/** @throws ConfigError without the key in it */
export function accountOfKey(
  { keyName, accountOf }: Pick<AccountSettings, "keyName" | "accountOf">,
  key: Secret,
): Hex {
  try {
    return accountOf(key.reveal());
  } catch {
    // The cause may contain the key.
    throw new ConfigError([`${keyName} is not a valid private key`]);
  }
}

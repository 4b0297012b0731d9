import { ConfigError, type Secret } from "@causeway/config";
import type { Address } from "@causeway/domain";
import { readFormerKeys } from "./former-keys.ts";
import { evmAccount } from "./key-accounts.ts";
import { readFormerSigners, readKeySource, type SigningKey } from "./key-source.ts";
import { accountOfKey, resolveAccounts, type ProcessRole } from "./resolve-accounts.ts";

/** The settings of an EVM account: `<prefix>_PRIVATE_KEY`, `<prefix>_SIGNER` and `<prefix>_ADDRESS`. */
export interface EvmAccountSettings {
  readonly prefix: "SOLVER" | "EXECUTOR" | "DEPOSIT_ADDRESS_OPERATOR" | "ALLOCATOR";
  readonly privateKey: Secret | undefined;
  readonly signer: Secret | undefined;
  readonly address: string | undefined;
}

export interface EvmAccounts {
  readonly accounts: readonly Address[];
  readonly keys: readonly SigningKey[];
  readonly warnings: readonly string[];
}

const format = (account: string): string => account;

/**
 * The account that a private key, a signer or an address names. Only a process that signs needs more than the
 * address.
 * @throws ConfigError without a key in it
 */
export function resolveEvmAccount(role: ProcessRole, settings: EvmAccountSettings): EvmAccounts {
  const { prefix, privateKey, signer } = settings;
  const addressName = `${prefix}_ADDRESS`;
  const addresses = evmAddresses(settings.address);
  if (signer === undefined) {
    const resolved = resolveAccounts(role, {
      keyName: `${prefix}_PRIVATE_KEY`,
      keys: privateKey ? [privateKey] : [],
      addressName,
      addresses,
      accountOf: evmAccount,
      format,
    });
    return {
      ...resolved,
      ...toEvmAccounts(resolved.accounts),
      keys: privateKey ? [keyOf(prefix, privateKey)] : [],
    };
  }
  if (privateKey !== undefined)
    throw new ConfigError([`${prefix}_PRIVATE_KEY and ${prefix}_SIGNER are both set; keep one`]);
  const source = readKeySource(`${prefix}_SIGNER`, signer.reveal());
  const [address] = addresses;
  if (address === undefined)
    throw new ConfigError([`${addressName} is required with ${prefix}_SIGNER: the address of its key`]);
  return {
    accounts: [address],
    keys: [{ address, source }],
    warnings: role === "api" ? [`${prefix}_SIGNER is ignored: the API does not need it`] : [],
  };
}

/**
 * The solver's account, and its key if this process may sign with it; the API may too.
 * @param signsElsewhere whether a signer process signs the API's orders
 * @throws ConfigError without a key in it
 */
export function resolveSolver(
  role: ProcessRole,
  settings: Omit<EvmAccountSettings, "prefix">,
  signsElsewhere: boolean,
): { readonly account: Address; readonly key: SigningKey | undefined } {
  const { accounts, keys } = resolveEvmAccount(role === "api" ? "operator" : role, {
    prefix: "SOLVER",
    ...settings,
  });
  const [account] = accounts;
  const [key] = keys;
  if (signsElsewhere && role === "api") {
    if (account === undefined) throw new ConfigError(["SOLVER_ADDRESS is required with ORDER_SIGNER_URL"]);
    return { account, key: undefined };
  }
  // A command that only reads and writes the database needs no key.
  if (role === "operator" && account !== undefined) return { account, key };
  if (account === undefined || key === undefined)
    throw new ConfigError([
      role === "api"
        ? "SOLVER_PRIVATE_KEY is required: 32-byte hex private key, secret. Or set ORDER_SIGNER_URL and SOLVER_ADDRESS, so that the API has no key"
        : "SOLVER_PRIVATE_KEY is required: 32-byte hex private key, secret. Or set SOLVER_SIGNER and SOLVER_ADDRESS",
    ]);
  return { account, key };
}

/** Former keys of the solver. @throws ConfigError without a key in it */
export function resolveFormerSolvers(
  role: ProcessRole,
  settings: {
    readonly keys: Secret | undefined;
    readonly signers: Secret | undefined;
    readonly addresses: string | undefined;
  },
): EvmAccounts {
  const remote = readFormerSigners(settings.signers?.reveal() ?? "");
  const privateKeys = readFormerKeys(settings.keys?.reveal() ?? "");
  const isRemote = (address: Address): boolean => remote.some((signer) => signer.address === address);
  const resolved = resolveAccounts(role, {
    keyName: "SOLVER_FORMER_KEYS",
    keys: privateKeys,
    addressName: "SOLVER_FORMER_ADDRESSES",
    addresses: evmAddresses(settings.addresses).filter((address) => !isRemote(address)),
    accountOf: evmAccount,
    format,
  });
  return {
    accounts: [...toEvmAccounts(resolved.accounts).accounts, ...remote.map(({ address }) => address)],
    keys: [...privateKeys.map((key) => keyOf("SOLVER_FORMER", key)), ...remote],
    warnings: resolved.warnings,
  };
}

function keyOf(prefix: string, privateKey: Secret): SigningKey {
  const keyName = `${prefix}_PRIVATE_KEY`;
  const address = accountOfKey({ keyName, accountOf: evmAccount }, privateKey);
  return { address, source: { kind: "raw", privateKey } };
}

function toEvmAccounts(accounts: readonly string[]): { readonly accounts: readonly Address[] } {
  return { accounts: accounts as readonly Address[] };
}

/** The settings accept only addresses, separated by commas. */
function evmAddresses(text: string | undefined): readonly Address[] {
  return (
    text
      ?.toLowerCase()
      .match(/0x[0-9a-f]{40}/g)
      ?.map((address) => address as Address) ?? []
  );
}

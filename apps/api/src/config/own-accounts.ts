import type { Secret, SettingValues } from "@causeway/config";
import { ConfigError, gather, isLocalKey } from "@causeway/config";
import type { Address, Hex, NonEvmChain } from "@causeway/domain";
import { parseAccount, ServiceError, formatAddress } from "@causeway/domain";
import { readFormerKeys } from "./former-keys.ts";
import { bitcoinAccount, evmAccount, solanaAccount } from "./key-accounts.ts";
import { accountOfKey, resolveAccounts } from "./resolve-accounts.ts";
import type { AccountSettings, ProcessRole, ResolvedAccounts } from "./resolve-accounts.ts";
import type { solverSettings } from "./solver.ts";

/** Accounts of the service: EVM addresses in lowercase, others as canonical bytes. */
export interface OwnAccounts {
  readonly solver: Address;
  /** Undefined: no gasless execution. */
  readonly executor: Address | undefined;
  /** Undefined: no deposit addresses are issued. */
  readonly depositAddressOperator: Address | undefined;
  readonly formerSolvers: readonly Address[];
  /** The solver's account on Solana; undefined if no such chain is enabled. */
  readonly solana: Hex | undefined;
  /** The solver's account on Bitcoin; undefined if no such chain is enabled. */
  readonly bitcoin: Hex | undefined;
  /** The extended public key of deposit addresses on Bitcoin; undefined: none are issued there. */
  readonly bitcoinDepositKey?: string | undefined;
}

/** Keys of these accounts that only the worker has. */
export interface WorkerKeys {
  readonly executor: Secret | undefined;
  readonly depositAddressOperator: Secret | undefined;
  /** They sign for former orders and pay nothing. */
  readonly formerSolvers: readonly Secret[];
  readonly solana: Secret | undefined;
  readonly bitcoin: Secret | undefined;
  /** The extended private key of deposit addresses on Bitcoin. */
  readonly bitcoinDepositKey?: Secret | undefined;
}

type SolverSettings = Partial<SettingValues<typeof solverSettings>>;

/**
 * Reads the accounts of the service, each given by its address, its key, or both. Accounts with an invalid
 * setting, which `settings` lacks, are skipped.
 * @throws ConfigError with all problems; none contains a key
 */
export function readOwnAccounts(
  role: ProcessRole,
  settings: SolverSettings,
  nonEvmChains: readonly NonEvmChain[],
): { readonly accounts: OwnAccounts; readonly keys: WorkerKeys; readonly warnings: readonly string[] } {
  const problems: string[] = [];
  const formerKeys = gather(problems, () => readFormerKeys(settings.solverFormerKeys?.reveal() ?? ""));
  const keys: WorkerKeys = {
    executor: settings.executorPrivateKey,
    depositAddressOperator: settings.depositAddressOperatorPrivateKey,
    formerSolvers: formerKeys ?? [],
    solana: settings.solverSolanaKey,
    bitcoin: settings.solverBitcoinKey,
    bitcoinDepositKey: settings.depositAddressBitcoinXprv,
  };
  const resolved = (
    from: readonly (keyof SolverSettings)[],
    resolve: () => ResolvedAccounts,
  ): ResolvedAccounts =>
    (from.every((field) => field in settings) ? gather(problems, resolve) : undefined) ?? {
      accounts: [],
      warnings: [],
    };

  const executor = resolved(["executorPrivateKey", "executorAddress"], () =>
    resolveAccounts(role, {
      ...evm,
      keyName: "EXECUTOR_PRIVATE_KEY",
      keys: keys.executor ? [keys.executor] : [],
      addressName: "EXECUTOR_ADDRESS",
      addresses: evmAddresses(settings.executorAddress),
    }),
  );
  const depositAddressOperator = resolved(
    ["depositAddressOperatorPrivateKey", "depositAddressOperatorAddress"],
    () =>
      resolveAccounts(role, {
        ...evm,
        keyName: "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY",
        keys: keys.depositAddressOperator ? [keys.depositAddressOperator] : [],
        addressName: "DEPOSIT_ADDRESS_OPERATOR_ADDRESS",
        addresses: evmAddresses(settings.depositAddressOperatorAddress),
      }),
  );
  const formerSolvers = resolved(["solverFormerKeys", "solverFormerAddresses"], () =>
    formerKeys === undefined
      ? { accounts: [], warnings: [] }
      : resolveAccounts(role, {
          ...evm,
          keyName: "SOLVER_FORMER_KEYS",
          keys: keys.formerSolvers,
          addressName: "SOLVER_FORMER_ADDRESSES",
          addresses: evmAddresses(settings.solverFormerAddresses),
        }),
  );
  const byVm = new Map(nonEvmChains.toReversed().map((chain) => [chain.vmType, chain]));
  const solana = resolved(["solverSolanaKey", "solverSolanaAddress"], () =>
    resolveNonEvm(role, byVm.get("svm"), {
      ofKey: solanaAccount,
      keyName: "SOLVER_SOLANA_KEY",
      key: keys.solana,
      addressName: "SOLVER_SOLANA_ADDRESS",
      address: settings.solverSolanaAddress,
    }),
  );
  const bitcoin = resolved(["solverBitcoinKey", "solverBitcoinAddress"], () =>
    resolveNonEvm(role, byVm.get("bvm"), {
      ofKey: bitcoinAccount,
      // The solver's key spends from no other kind of address.
      onlyForm: { name: "P2WPKH", pattern: /^0x00[0-9a-f]{40}$/ },
      keyName: "SOLVER_BITCOIN_KEY",
      key: keys.bitcoin,
      addressName: "SOLVER_BITCOIN_ADDRESS",
      address: settings.solverBitcoinAddress,
    }),
  );
  const deposits = gather(problems, () => readBitcoinDepositKey(role, settings));
  const { solverPrivateKey } = settings;
  const solver =
    solverPrivateKey &&
    gather(problems, () =>
      accountOfKey({ keyName: "SOLVER_PRIVATE_KEY", ofKey: evmAccount }, solverPrivateKey),
    );
  problems.push(
    ...sharedAccountProblems([
      ["SOLVER_PRIVATE_KEY", solver],
      [keys.executor ? "EXECUTOR_PRIVATE_KEY" : "EXECUTOR_ADDRESS", executor.accounts[0]],
      [
        keys.depositAddressOperator
          ? "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY"
          : "DEPOSIT_ADDRESS_OPERATOR_ADDRESS",
        depositAddressOperator.accounts[0],
      ],
      ...formerSolvers.accounts.map((account, at): [string, Hex] => [
        `${keys.formerSolvers.length > 0 ? "SOLVER_FORMER_KEYS" : "SOLVER_FORMER_ADDRESSES"} entry ${at + 1}`,
        account,
      ]),
    ]),
  );
  if (problems.length > 0 || solver === undefined) throw new ConfigError(problems);
  return {
    accounts: {
      solver,
      executor: executor.accounts[0],
      depositAddressOperator: depositAddressOperator.accounts[0],
      formerSolvers: formerSolvers.accounts,
      solana: solana.accounts[0],
      bitcoin: bitcoin.accounts[0],
      bitcoinDepositKey: deposits?.key,
    },
    keys,
    warnings: [
      ...[executor, depositAddressOperator, formerSolvers, solana, bitcoin].flatMap(
        ({ warnings }) => warnings,
      ),
      ...(deposits?.warnings ?? []),
    ],
  };
}

/**
 * The extended public key of deposit addresses on Bitcoin. That the two keys belong together and to the
 * network is checked when the chain is connected.
 * @throws ConfigError without a key in it
 */
function readBitcoinDepositKey(
  role: ProcessRole,
  { depositAddressBitcoinXpub: key, depositAddressBitcoinXprv: privateKey }: SolverSettings,
): { readonly key: string | undefined; readonly warnings: readonly string[] } {
  if (key !== undefined && /^.prv/.test(key))
    throw new ConfigError(["DEPOSIT_ADDRESS_BITCOIN_XPUB must be an extended public key, got a private one"]);
  if (role === "worker" && (key === undefined) !== (privateKey === undefined))
    throw new ConfigError([
      "DEPOSIT_ADDRESS_BITCOIN_XPUB and DEPOSIT_ADDRESS_BITCOIN_XPRV must both be set in the worker, or neither",
    ]);
  const isDiscarded = role === "api" && privateKey !== undefined;
  return {
    key,
    warnings: isDiscarded
      ? [
          "DEPOSIT_ADDRESS_BITCOIN_XPRV is ignored: the API does not need it. Remove it from the API's environment",
        ]
      : [],
  };
}

/** Publicly known keys are not allowed outside the local environment. */
export function publicKeyProblems(settings: SolverSettings, environment: string): readonly string[] {
  const keys: readonly (readonly [string, Secret | undefined])[] = [
    ["SOLVER_PRIVATE_KEY", settings.solverPrivateKey],
    ["EXECUTOR_PRIVATE_KEY", settings.executorPrivateKey],
    ["DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY", settings.depositAddressOperatorPrivateKey],
    ["SOLVER_SOLANA_KEY", settings.solverSolanaKey],
    ["SOLVER_BITCOIN_KEY", settings.solverBitcoinKey],
    ...(gather([], () => readFormerKeys(settings.solverFormerKeys?.reveal() ?? "")) ?? []).map(
      (key, at) => [`SOLVER_FORMER_KEYS entry ${at + 1}`, key] as const,
    ),
  ];
  return keys.flatMap(([name, key]) =>
    key !== undefined && isLocalKey(key.reveal())
      ? [`${name} is a publicly known key of local systems and not allowed in ENVIRONMENT ${environment}`]
      : [],
  );
}

const evm: Pick<AccountSettings, "ofKey" | "format"> = { ofKey: evmAccount, format: (account) => account };

/** The settings accept only addresses, separated by commas. */
function evmAddresses(text: string | undefined): readonly Address[] {
  return (
    text
      ?.toLowerCase()
      .match(/0x[0-9a-f]{40}/g)
      ?.map((address) => address as Address) ?? []
  );
}

/** @throws ConfigError when the chain is enabled and the account is missing or malformed */
function resolveNonEvm(
  role: ProcessRole,
  chain: NonEvmChain | undefined,
  {
    key,
    address,
    onlyForm,
    ...settings
  }: Pick<AccountSettings, "keyName" | "addressName" | "ofKey"> & {
    readonly key: Secret | undefined;
    readonly address: string | undefined;
    readonly onlyForm?: AddressForm;
  },
): ResolvedAccounts {
  const { keyName, addressName } = settings;
  if (chain === undefined) {
    const isDiscarded = role === "api" && key !== undefined;
    return {
      accounts: [],
      warnings: isDiscarded ? [`${keyName} is ignored: the API does not need it`] : [],
    };
  }
  if (key === undefined && (role === "worker" || address === undefined))
    throw new ConfigError([
      `${role === "worker" ? keyName : addressName} is required because chain ${chain.name} is enabled`,
    ]);
  return resolveAccounts(role, {
    ...settings,
    keys: key ? [key] : [],
    addresses: address === undefined ? [] : [nonEvmAddress(chain, addressName, address, onlyForm)],
    format: (account) => formatAddress(chain, account),
  });
}

/** The one kind of address, by its bytes, that an account may have on a chain with several. */
interface AddressForm {
  readonly name: string;
  readonly pattern: RegExp;
}

/** @throws ConfigError */
function nonEvmAddress(chain: NonEvmChain, name: string, text: string, form: AddressForm | undefined): Hex {
  try {
    const account = parseAccount(chain, text, name);
    if (form?.pattern.test(account) !== false) return account;
    throw new ConfigError([`${name} must be a ${form.name} address of ${chain.displayName}`]);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ConfigError([`${name} must be an address of ${chain.displayName}`]);
  }
}

/**
 * A user's call must never run as the account that holds the inventory, or that moves money from deposit
 * addresses.
 */
function sharedAccountProblems(named: readonly (readonly [string, Hex | undefined])[]): readonly string[] {
  const used = named.flatMap(([name, account]) => (account === undefined ? [] : [{ name, account }]));
  return used.flatMap(({ name, account }, at) => {
    const other = used.slice(0, at).find((earlier) => earlier.account === account);
    return other === undefined ? [] : [`${name} must be a different account than ${other.name}`];
  });
}

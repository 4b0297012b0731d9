import type { Secret, SettingValues } from "@causeway/config";
import { ConfigError, gather, isLocalKey } from "@causeway/config";
import { ServiceError, type Address, type Hex, type NonEvmChain } from "@causeway/domain";
import { formatAddress, parseAccount } from "@causeway/families";
import { resolveEvmAccount, resolveFormerSolvers, resolveSolver, type EvmAccounts } from "./evm-account.ts";
import { readFormerKeys } from "./former-keys.ts";
import { bitcoinAccount, solanaAccount } from "./key-accounts.ts";
import type { SigningKey } from "./key-source.ts";
import { resolveAccounts } from "./resolve-accounts.ts";
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

/** Keys of these accounts. Those of Solana and Bitcoin are always in this process. */
export interface WorkerKeys {
  readonly solver: SigningKey;
  readonly executor: SigningKey | undefined;
  readonly depositAddressOperator: SigningKey | undefined;
  /** Former keys of the solver, which sign for former orders and complete the payments that they began. */
  readonly formerSolvers: readonly SigningKey[];
  readonly solana: Secret | undefined;
  readonly bitcoin: Secret | undefined;
  /** The extended private key of deposit addresses on Bitcoin. */
  readonly bitcoinDepositKey?: Secret | undefined;
}

/** The keys that are configured in a process. */
export interface ConfiguredKeys extends Omit<WorkerKeys, "solver"> {
  /** Undefined only in an API that signs no orders itself. */
  readonly solver: SigningKey | undefined;
}

type SolverSettings = Partial<SettingValues<typeof solverSettings>>;

const NONE: EvmAccounts = { accounts: [], keys: [], warnings: [] };

/**
 * Reads the accounts of the service, each given by its address, its key, or both. Accounts with an invalid
 * setting, which `settings` lacks, are skipped.
 * @throws ConfigError with all problems; none contains a key
 */
export function readOwnAccounts(
  role: ProcessRole,
  settings: SolverSettings,
  nonEvmChains: readonly NonEvmChain[],
): { readonly accounts: OwnAccounts; readonly keys: ConfiguredKeys; readonly warnings: readonly string[] } {
  const problems: string[] = [];
  const resolveIfValid = <T>(fields: readonly (keyof SolverSettings)[], resolve: () => T): T | undefined =>
    fields.every((field) => field in settings) ? gather(problems, resolve) : undefined;

  const executor =
    resolveIfValid(["executorPrivateKey", "executorSigner", "executorAddress"], () =>
      resolveEvmAccount(role, {
        prefix: "EXECUTOR",
        privateKey: settings.executorPrivateKey,
        signer: settings.executorSigner,
        address: settings.executorAddress,
      }),
    ) ?? NONE;
  const depositAddressOperator =
    resolveIfValid(
      ["depositAddressOperatorPrivateKey", "depositAddressOperatorSigner", "depositAddressOperatorAddress"],
      () =>
        resolveEvmAccount(role, {
          prefix: "DEPOSIT_ADDRESS_OPERATOR",
          privateKey: settings.depositAddressOperatorPrivateKey,
          signer: settings.depositAddressOperatorSigner,
          address: settings.depositAddressOperatorAddress,
        }),
    ) ?? NONE;
  const formerSolvers =
    resolveIfValid(["solverFormerKeys", "solverFormerSigners", "solverFormerAddresses"], () =>
      resolveFormerSolvers(role, {
        keys: settings.solverFormerKeys,
        signers: settings.solverFormerSigners,
        addresses: settings.solverFormerAddresses,
      }),
    ) ?? NONE;
  const chainOfVm = new Map(nonEvmChains.toReversed().map((chain) => [chain.vmType, chain]));
  const solana =
    resolveIfValid(["solverSolanaKey", "solverSolanaAddress"], () =>
      resolveNonEvm(role, chainOfVm.get("svm"), {
        accountOf: solanaAccount,
        keyName: "SOLVER_SOLANA_KEY",
        key: settings.solverSolanaKey,
        addressName: "SOLVER_SOLANA_ADDRESS",
        address: settings.solverSolanaAddress,
      }),
    ) ?? NONE;
  const bitcoin =
    resolveIfValid(["solverBitcoinKey", "solverBitcoinAddress"], () =>
      resolveNonEvm(role, chainOfVm.get("bvm"), {
        accountOf: bitcoinAccount,
        // The solver's key can spend only from this kind of address.
        requiredForm: { name: "P2WPKH", pattern: /^0x00[0-9a-f]{40}$/ },
        keyName: "SOLVER_BITCOIN_KEY",
        key: settings.solverBitcoinKey,
        addressName: "SOLVER_BITCOIN_ADDRESS",
        address: settings.solverBitcoinAddress,
      }),
    ) ?? NONE;
  const solver = resolveIfValid(["solverPrivateKey", "solverSigner", "solverAddress", "orderSignerUrl"], () =>
    resolveSolver(
      role,
      {
        privateKey: settings.solverPrivateKey,
        signer: settings.solverSigner,
        address: settings.solverAddress,
      },
      settings.orderSignerUrl !== undefined,
    ),
  );
  const bitcoinDepositKey = gather(problems, () => readBitcoinDepositKey(role, settings));
  const hyperliquid = chainOfVm.get("hypevm");
  if (role === "worker" && hyperliquid !== undefined && solver?.key && solver.key.source.kind !== "raw")
    problems.push(
      `SOLVER_PRIVATE_KEY is required because chain ${hyperliquid.name} is enabled: payments on Hyperliquid are signed in the worker, and SOLVER_SIGNER is not supported there`,
    );
  problems.push(
    ...sharedAccountProblems([
      [nameOf("SOLVER", settings.solverPrivateKey), solver?.account],
      [nameOf("EXECUTOR", settings.executorPrivateKey), executor.accounts[0]],
      [
        nameOf("DEPOSIT_ADDRESS_OPERATOR", settings.depositAddressOperatorPrivateKey),
        depositAddressOperator.accounts[0],
      ],
      ...formerSolvers.accounts.map((account, index): [string, Hex] => [
        `${formerSolvers.keys.length > 0 ? "SOLVER_FORMER_KEYS" : "SOLVER_FORMER_ADDRESSES"} entry ${index + 1}`,
        account,
      ]),
    ]),
  );
  if (problems.length > 0 || solver === undefined) throw new ConfigError(problems);
  return {
    accounts: {
      solver: solver.account,
      executor: executor.accounts[0],
      depositAddressOperator: depositAddressOperator.accounts[0],
      formerSolvers: formerSolvers.accounts,
      solana: solana.accounts[0],
      bitcoin: bitcoin.accounts[0],
      bitcoinDepositKey: bitcoinDepositKey?.key,
    },
    keys: {
      solver: solver.key,
      executor: executor.keys[0],
      depositAddressOperator: depositAddressOperator.keys[0],
      formerSolvers: formerSolvers.keys,
      solana: settings.solverSolanaKey,
      bitcoin: settings.solverBitcoinKey,
      bitcoinDepositKey: settings.depositAddressBitcoinXprv,
    },
    warnings: [
      ...[executor, depositAddressOperator, formerSolvers, solana, bitcoin].flatMap(
        ({ warnings }) => warnings,
      ),
      ...(bitcoinDepositKey?.warnings ?? []),
    ],
  };
}

/**
 * The extended public key of deposit addresses on Bitcoin. Whether it matches the private key and the network
 * is checked when the chain is connected.
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
      (key, index) => [`SOLVER_FORMER_KEYS entry ${index + 1}`, key] as const,
    ),
  ];
  return keys.flatMap(([name, key]) =>
    key !== undefined && isLocalKey(key.reveal())
      ? [`${name} is a publicly known key of local systems and not allowed in ENVIRONMENT ${environment}`]
      : [],
  );
}

function nameOf(prefix: string, privateKey: Secret | undefined): string {
  return `${prefix}_${privateKey === undefined ? "ADDRESS" : "PRIVATE_KEY"}`;
}

/** @throws ConfigError when the chain is enabled and the account is missing or malformed */
function resolveNonEvm(
  role: ProcessRole,
  chain: NonEvmChain | undefined,
  {
    key,
    address,
    requiredForm,
    ...settings
  }: Pick<AccountSettings, "keyName" | "addressName" | "accountOf"> & {
    readonly key: Secret | undefined;
    readonly address: string | undefined;
    readonly requiredForm?: AddressForm;
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
    addresses: address === undefined ? [] : [nonEvmAddress(chain, addressName, address, requiredForm)],
    format: (account) => formatAddress(chain, account),
  });
}

/** The kind of address that an account must have, on a chain with several kinds. */
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
 * Problems with shared accounts: a user's call must never run as the account that holds the inventory or that
 * sweeps deposit addresses.
 */
function sharedAccountProblems(named: readonly (readonly [string, Hex | undefined])[]): readonly string[] {
  const used = named.flatMap(([name, account]) => (account === undefined ? [] : [{ name, account }]));
  return used.flatMap(({ name, account }, index) => {
    const sharing = used.slice(0, index).find((earlier) => earlier.account === account);
    return sharing === undefined ? [] : [`${name} must be a different account than ${sharing.name}`];
  });
}

import type { Address, Hex } from "@causeway/domain";
import { localAccount, type LocalAccount } from "@causeway/localnet";
import { lower } from "./memory-evm.ts";

/** The accounts of a sequence. All have private keys, because real nodes accept only signed transactions. */

const privateKeys = new Map<Address, Hex>();
const account = (role: LocalAccount["role"], index = 0): Address => {
  const { address, privateKey } = localAccount(role, index);
  privateKeys.set(lower(address), privateKey);
  return lower(address);
};

// The service starts with the first account of each role. Each rotation moves it to the next one.
const three = (role: LocalAccount["role"]): readonly [Address, Address, Address] => [
  account(role, 0),
  account(role, 1),
  account(role, 2),
];
export const SOLVERS = three("solver");
export const EXECUTORS = three("executor");
/** The factory of deposit addresses is deployed with the first one. */
export const OPERATORS = three("depositAddressOperator");
/** All keys that the service has at any time in a sequence. */
export const OUR_KEYS: readonly Address[] = [...SOLVERS, ...EXECUTORS, ...OPERATORS];

/** Owns the factory of deposit addresses. */
export const FACTORY_OWNER = account("owner");
export const USERS: readonly Address[] = [account("user", 0), account("user", 1), account("user", 2)];
export const APP_WALLETS: readonly Address[] = [account("user", 3), account("user", 4)];

/** @throws if no account of a sequence has the address */
export function privateKeyOf(address: Address): Hex {
  const key = privateKeys.get(address);
  if (key === undefined)
    throw new Error(`invariant violated: no account of a sequence has address ${address}`);
  return key;
}

/** What may differ between two starts of the service. */
export interface Configuration {
  readonly solver: Address;
  /** `SOLVER_FORMER_KEYS`. */
  readonly formerSolvers: readonly Address[];
  readonly executor: Address;
  readonly operator: Address;
  /** Ids of the currencies of app balances. */
  readonly balanceCurrencies: readonly string[];
}

export const FIRST_CONFIGURATION: Configuration = {
  solver: SOLVERS[0],
  formerSolvers: [],
  executor: EXECUTORS[0],
  operator: OPERATORS[0],
  balanceCurrencies: ["eth", "usdc", "tst", "weth", "odd"],
};

import type { Address } from "@causeway/domain";
import { keccakOf } from "@causeway/domain";
import { toHex } from "viem";

/** The accounts of the service. It begins with the first of each role; rotation moves it to the next. */

export const addressOf = (name: string): Address => `0x${keccakOf(toHex(name)).slice(26)}`;
const named = (role: string): readonly [Address, Address, Address] => [
  addressOf(role),
  addressOf(`second ${role}`),
  addressOf(`third ${role}`),
];

export const SOLVERS = named("solver");
export const EXECUTORS = named("executor");
export const OPERATORS = named("deposit address operator");
/** Every key that the service has, had or will have. */
export const OUR_KEYS: readonly Address[] = [...SOLVERS, ...EXECUTORS, ...OPERATORS];

/** The keys in the configuration of one start of the service. */
export interface Keys {
  readonly solver: Address;
  /** `SOLVER_FORMER_KEYS`. */
  readonly formerSolvers: readonly Address[];
  readonly executor: Address;
  readonly operator: Address;
}

export const FIRST_KEYS: Keys = {
  solver: SOLVERS[0],
  formerSolvers: [],
  executor: EXECUTORS[0],
  operator: OPERATORS[0],
};

import type { Address, Hex } from "../ids/hex.ts";
import { cloneCodeHash } from "./clone-address.ts";

/** Answers of a deposit address factory; undefined if the call reverted. */
export interface FactoryFacts {
  readonly initCodeHash: Hex | undefined;
  readonly operator: Hex | undefined;
  readonly owner: Hex | undefined;
  /** Depository of the clones' implementation: it receives everything paid to the factory's addresses. */
  readonly depository: Hex | undefined;
}

/** What the configuration expects of a factory. */
export interface ExpectedFactory {
  readonly factory: Address;
  readonly depository: Address;
  /** Undefined: this instance has no key for deposit addresses. */
  readonly operator: Address | undefined;
  /** Accounts of this instance's other keys, which send users' calls or receive payments. */
  readonly otherKeys: readonly Address[];
}

/**
 * What is wrong with a factory, if anything. `unsafe`: funds at its addresses could be stolen or lost, so the
 * service must not start with it. `unusable`: its funds stay in place until the operator is set.
 */
export type FactoryProblem = { readonly kind: "unsafe" | "unusable"; readonly message: string };

export function judgeFactory(
  { initCodeHash, operator, owner, depository }: FactoryFacts,
  expected: ExpectedFactory,
): FactoryProblem | undefined {
  const { factory } = expected;
  const unsafe = (message: string): FactoryProblem => ({ kind: "unsafe", message });
  if (initCodeHash !== cloneCodeHash(factory))
    return unsafe(
      `contracts.depositAddressFactory ${factory} is not a deposit address factory of this version`,
    );
  const actualDepository = addressIn(depository);
  if (actualDepository !== expected.depository)
    return unsafe(
      `the deposit address factory ${factory} deposits into ${actualDepository ?? "an unknown depository"}, expected ${expected.depository}: deploy a factory for the configured depository`,
    );
  for (const [role, account] of Object.entries({ operator: addressIn(operator), owner: addressIn(owner) }))
    if (account !== undefined && expected.otherKeys.includes(account))
      return unsafe(
        `the ${role} of the deposit address factory ${factory} is ${account}, a key of this service that sends other transactions: calls made for users could move the funds at deposit addresses; give the role to a separate key`,
      );
  const actualOperator = addressIn(operator);
  if (expected.operator === undefined || actualOperator !== expected.operator)
    return {
      kind: "unusable",
      message: `the operator of the deposit address factory ${factory} is ${actualOperator ?? "unknown"}, expected ${expected.operator ?? "none: no operator is configured"}`,
    };
  return undefined;
}

/** The address in an answer of one word. */
function addressIn(word: Hex | undefined): Address | undefined {
  return word?.length === 66 ? `0x${word.slice(-40).toLowerCase()}` : undefined;
}

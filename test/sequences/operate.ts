import type { Address } from "@causeway/domain";
import { depositAddressFactoryAbi } from "@causeway/contracts";
import { encodeFunctionData, erc20Abi } from "viem";
import { EXECUTORS, FACTORY_OWNER, OPERATORS, SOLVERS } from "./keys.ts";
import { NATIVE } from "./memory-evm.ts";
import type { SequenceWorld } from "./world.ts";

/** What an operator does according to docs/operations. */

/** More blocks than any reorg of a sequence replaces. */
const SAFE_BLOCKS = 9;
/** Wei that stay with a former solver key to pay the gas of moving its other funds. */
const LEFT_BEHIND = 100n * 10n ** 18n;

/**
 * Runs rounds until every payment with a nonce is final.
 * @returns false if some are not final after four rounds
 */
async function finishPayments(world: SequenceWorld): Promise<boolean> {
  for (let round = 0; round < 4; round++) {
    await world.round(SAFE_BLOCKS);
    const { rows } = await world.pool.query("select from slots where state in ('open', 'mined') limit 1");
    if (rows.length === 0) return true;
  }
  return false;
}

function next<T>(list: readonly T[], current: T): T | undefined {
  return list[list.indexOf(current) + 1];
}

/**
 * Moves the solver's funds to its next key, and restarts the service with it.
 * @returns undefined if no key is left or payments are in progress
 */
export async function rotateSolver(world: SequenceWorld, isKept: boolean): Promise<true | undefined> {
  const { configuration: before } = world;
  const solver = next<Address>(SOLVERS, before.solver);
  if (solver === undefined || !(await finishPayments(world))) return undefined;
  for (const { memory, chain } of world.chains) {
    for (const { address } of chain.tokens) {
      const amount = memory.balance(address, before.solver);
      if (amount > 0n)
        await memory.send(before.solver, {
          to: address,
          data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [solver, amount] }),
        });
    }
    const native = memory.balance(NATIVE, before.solver);
    if (native > LEFT_BEHIND) await memory.send(before.solver, { to: solver, value: native - LEFT_BEHIND });
  }
  await world.mine(SAFE_BLOCKS);
  if (!isKept) world.loseSolver(before.solver);
  const formerSolvers = isKept ? [...before.formerSolvers, before.solver] : before.formerSolvers;
  await world.restart({ ...before, solver, formerSolvers });
  return true;
}

/**
 * Restarts the service with the next executor key.
 * @returns undefined if no key is left or payments are in progress
 */
export async function rotateExecutor(world: SequenceWorld): Promise<true | undefined> {
  const executor = next<Address>(EXECUTORS, world.configuration.executor);
  if (executor === undefined || !(await finishPayments(world))) return undefined;
  await world.restart({ ...world.configuration, executor });
  return true;
}

/**
 * Makes the next key the operator of deposit addresses, and restarts the service with it.
 * @returns undefined if no key is left or payments are in progress
 */
export async function rotateOperator(world: SequenceWorld): Promise<true | undefined> {
  const operator = next<Address>(OPERATORS, world.configuration.operator);
  if (operator === undefined || !(await finishPayments(world))) return undefined;
  for (const { memory, chain } of world.chains)
    if (chain.contracts.depositAddressFactory !== undefined)
      await memory.send(FACTORY_OWNER, {
        to: chain.contracts.depositAddressFactory,
        data: encodeFunctionData({
          abi: depositAddressFactoryAbi,
          functionName: "setOperator",
          args: [operator],
        }),
      });
  await world.mine(SAFE_BLOCKS);
  await world.restart({ ...world.configuration, operator });
  return true;
}

/** Restarts the service with these currencies of app balances. */
export async function listCurrencies(
  world: SequenceWorld,
  balanceCurrencies: readonly string[],
): Promise<void> {
  await world.restart({ ...world.configuration, balanceCurrencies });
}

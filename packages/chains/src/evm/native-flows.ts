import type { Address, CallFrame } from "@causeway/domain";
import type { AccountChange } from "@causeway/families/evm";

/**
 * Kinds of frames that move value from the caller to the called contract; the others only run code or read.
 */
const PAYING: ReadonlySet<string> = new Set(["CALL", "CREATE", "CREATE2", "SELFDESTRUCT"]);

/** Whether such a call moves its value, rather than only passing it to borrowed code. */
export function movesValue({ type }: Pick<CallFrame, "type">): boolean {
  return PAYING.has(type);
}

/**
 * What a transaction does to balances, nonces and codes, according to its call tree: the value of its calls,
 * and what it created. Balances and nonces before it are reported as zero: only the differences have a
 * meaning. Authorizations, and native tokens that move without a call, are not part of the tree. Pure.
 *
 * @param gasWei what the sender pays for the gas
 */
export function nativeFlows(root: CallFrame, gasWei: bigint): Map<Address, AccountChange> {
  const changes = new Map<Address, AccountChange>();
  const add = (account: Address, wei: bigint, nonces: bigint, codeChanged = false): void => {
    const before = changes.get(account);
    changes.set(account, {
      balanceBefore: 0n,
      balanceAfter: (before?.balanceAfter ?? 0n) + wei,
      nonceBefore: 0n,
      nonceAfter: (before?.nonceAfter ?? 0n) + nonces,
      codeChanged: codeChanged || before?.codeChanged === true,
    });
  };
  const visit = ({ type, from, to, value, error, calls }: CallFrame): void => {
    if (error !== undefined) return;
    const isCreation = type === "CREATE" || type === "CREATE2";
    if (isCreation) add(from, 0n, 1n);
    if (to !== undefined && movesValue({ type })) {
      add(from, -value, 0n);
      add(to, value, 0n, isCreation);
    }
    for (const call of calls) visit(call);
  };
  add(root.from, -gasWei, 1n);
  visit(root);
  return changes;
}

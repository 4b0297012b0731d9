import type { Address, CallFrame } from "@causeway/domain";
import type { AccountChange } from "@causeway/families/evm";

/**
 * Frame types that transfer value from the caller to the called contract; the others only run code or read.
 */
const PAYING: ReadonlySet<string> = new Set(["CALL", "CREATE", "CREATE2", "SELFDESTRUCT"]);

/** Whether such a call transfers its value, instead of only passing it to delegated code. */
export function movesValue({ type }: Pick<CallFrame, "type">): boolean {
  return PAYING.has(type);
}

/**
 * The effects of a transaction on balances, nonces and codes, according to its call tree: the value of its
 * calls, and the contracts it created. Balances and nonces before it are reported as zero, so only the
 * differences are meaningful. Authorizations, and native tokens that move without a call, are not part of the
 * tree. Pure.
 *
 * @param gasWei gas fee that the sender pays
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

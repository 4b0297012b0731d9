import type { Address, FrameLog, Hex } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { CallEffects } from "@causeway/families/evm";

export interface EffectRules {
  /** The sender of the transaction. Only it may spend, and its nonce increases by one. */
  readonly sender: Address;
  /** Our accounts, lower case, including the sender if it is ours. */
  readonly protectedAccounts: readonly Address[];
  /** Maximum decrease of the sender's native balance: the priced value, and the gas if it was priced. */
  readonly allowedSpendWei: bigint;
}

/** What a call would cost us; `currency` is the zero address for the native token. */
export interface ForbiddenEffect {
  readonly kind: "unseen" | "nativeSpent" | "nonceUsed" | "codeChanged" | "tokensMoved" | "allowanceGiven";
  readonly account: Address | undefined;
  readonly currency: Address | undefined;
  /** Human-readable; contains only addresses and amounts from the chain. */
  readonly message: string;
}

/** keccak256 of the events' signatures. */
const TRANSFER: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER_SINGLE: Hex = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const TRANSFER_BATCH: Hex = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";
const ERC777_SENT: Hex = "0x06b541ddaa720db2b10a4d0cdac39b8d360425fc073085fac19bc82614677987";
const ERC777_BURNED: Hex = "0xa78a9be3a7b862d26933ad85fb11d80ef66b8f972d7cbba06621d583943a4098";
const WETH_WITHDRAWAL: Hex = "0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65";
const APPROVAL: Hex = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
const APPROVAL_FOR_ALL: Hex = "0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31";
const PERMIT2_APPROVAL: Hex = "0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b";
const PERMIT2_PERMIT: Hex = "0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec";
const AUTHORIZED_OPERATOR: Hex = "0xf4caeb2d6ca8932a215a353d0703c326ec2d81fc68170f320eb2ab49e9df61f9";

interface Movement {
  readonly kind: "tokensMoved" | "allowanceGiven";
  /** Index of the losing account among the words of topics and data, without the event's own topic. */
  readonly loser: number;
}

/** Words are counted across topics and data, because old tokens do not index their event fields. */
const movements: ReadonlyMap<Hex, Movement> = new Map<Hex, Movement>([
  [TRANSFER, { kind: "tokensMoved", loser: 0 }],
  [TRANSFER_SINGLE, { kind: "tokensMoved", loser: 1 }],
  [TRANSFER_BATCH, { kind: "tokensMoved", loser: 1 }],
  [ERC777_SENT, { kind: "tokensMoved", loser: 1 }],
  [ERC777_BURNED, { kind: "tokensMoved", loser: 1 }],
  [WETH_WITHDRAWAL, { kind: "tokensMoved", loser: 0 }],
  [APPROVAL, { kind: "allowanceGiven", loser: 0 }],
  [APPROVAL_FOR_ALL, { kind: "allowanceGiven", loser: 0 }],
  [PERMIT2_APPROVAL, { kind: "allowanceGiven", loser: 0 }],
  [PERMIT2_PERMIT, { kind: "allowanceGiven", loser: 0 }],
  [AUTHORIZED_OPERATOR, { kind: "allowanceGiven", loser: 1 }],
]);

/**
 * What a sponsored call would cost us beyond what was priced; undefined if nothing. Pure.
 *
 * A Transfer from our accounts counts no matter which contract emits it: a contract that pretends to move
 * our tokens must not be sponsored either.
 */
export function judgeEffects(effects: CallEffects, rules: EffectRules): ForbiddenEffect | undefined {
  if (effects.kind === "unseen") {
    const message = "the node could not trace the call";
    return { kind: "unseen", account: undefined, currency: undefined, message };
  }
  const guarded = new Set(rules.protectedAccounts.map((account) => account.toLowerCase() as Address));
  for (const account of guarded) {
    const forbidden = judgeAccount(effects, account, rules);
    if (forbidden !== undefined) return forbidden;
  }
  for (const log of effects.logs) {
    const forbidden = judgeLog(log, guarded);
    if (forbidden !== undefined) return forbidden;
  }
  return undefined;
}

function judgeAccount(
  effects: Extract<CallEffects, { kind: "seen" }>,
  account: Address,
  rules: EffectRules,
): ForbiddenEffect | undefined {
  const change = effects.accounts.get(account);
  if (change === undefined) return undefined;
  const isSender = account === rules.sender.toLowerCase();
  const spent = change.balanceBefore - change.balanceAfter;
  const allowed = isSender ? rules.allowedSpendWei : 0n;
  if (spent > allowed) {
    const message = `the call would spend ${spent} wei of ${account}, but at most ${allowed} wei is allowed`;
    return { kind: "nativeSpent", account, currency: NATIVE_CURRENCY, message };
  }
  if (change.codeChanged) {
    const message = `the call would change the code of ${account}`;
    return { kind: "codeChanged", account, currency: undefined, message };
  }
  if (
    change.nonceAfter - change.nonceBefore > (isSender ? 1n : 0n) ||
    change.nonceAfter < change.nonceBefore
  ) {
    const message = `the call would use nonces of ${account}`;
    return { kind: "nonceUsed", account, currency: undefined, message };
  }
  return undefined;
}

function judgeLog(log: FrameLog, guarded: ReadonlySet<Address>): ForbiddenEffect | undefined {
  const [event, ...indexed] = log.topics;
  const movement = event === undefined ? undefined : movements.get(event);
  if (movement === undefined) return undefined;
  const word = indexed[movement.loser] ?? wordAt(log.data, movement.loser - indexed.length);
  const account: Address | undefined = word === undefined ? undefined : `0x${word.slice(-40)}`;
  if (account === undefined || !guarded.has(account)) return undefined;
  const action = movement.kind === "tokensMoved" ? "take tokens from" : "approve others to spend tokens of";
  return {
    kind: movement.kind,
    account,
    currency: log.address,
    message: `the call would ${action} ${account} (token ${log.address})`,
  };
}

function wordAt(data: Hex, index: number): string | undefined {
  const word = data.slice(2 + index * 64, 2 + (index + 1) * 64);
  return word.length === 64 ? word : undefined;
}

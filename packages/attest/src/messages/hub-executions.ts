import type { Address, Hex, Hex32, Order } from "@causeway/domain";
import { decodeAddress } from "@causeway/families";
import type { FamilyOf } from "./chain-families.ts";
import { readDepositMessage } from "./depository-deposit.ts";
import type { ReportedDeposit } from "./depository-deposit.ts";
import type { Execution } from "./execution.ts";
import { encodeHubAction } from "./hub-action.ts";
import { hubAlias, hubTokenId, orderAddress } from "./hub-addressing.ts";
import type { HubChain, OrderDeposit } from "./hub-addressing.ts";
import { depositKey, initiationKey, withdrawalKey } from "./settlement-keys.ts";

// The settlement rules: which hub account holds a deposit, and which actions settle it. Oracles apply the
// rules to what they read from chains, the service to its own records, so differences between the two are
// detected. Recorded vectors and the contracts' tests verify the rules themselves.

/** Placeholder id of a deposit that names no order. */
export const NO_DEPOSIT_ID: Hex32 = `0x${"00".repeat(32)}`;

/** A final deposit. */
export interface HubDeposit extends OrderDeposit {
  readonly currency: string;
  readonly amount: bigint;
}

/**
 * The deposit of a message. If the deposit has an id, check first that the message contains the time: the
 * hub account of the order depends on it.
 */
export function depositIn(message: ReportedDeposit): HubDeposit {
  const timestamp = BigInt(message.extraData?.timestamp ?? 0);
  return { ...readDepositMessage(message).result, timestamp };
}

/** A balance of a hub account. */
export interface HubCredit {
  readonly holder: Address;
  readonly tokenId: bigint;
  readonly amount: bigint;
}

/**
 * What the hub credits for a deposit: the account of its order holds it or, without an order id, the account
 * of its depositor.
 * @throws as `orderAddress` and `hubTokenId`
 */
export function creditOf(chain: HubChain, deposit: HubDeposit): HubCredit {
  const hasId = deposit.depositId !== NO_DEPOSIT_ID;
  return {
    holder: hasId ? orderAddress(chain, deposit) : hubAlias(chain, deposit.depositor),
    tokenId: hubTokenId(chain, deposit.currency),
    amount: deposit.amount,
  };
}

/**
 * Mints the deposits of one part of a transaction, in chain order. A transaction with too many deposits for
 * one execution is split into parts.
 * @param transactionId canonical, see `canonicalTransactionId`
 * @throws as `creditOf`
 */
export function depositExecution(
  chain: HubChain,
  transactionId: string,
  part: number,
  deposits: readonly HubDeposit[],
): Execution {
  return {
    idempotencyKey: depositKey(chain.name, transactionId, part),
    actions: deposits.map((deposit) => {
      const { holder, ...token } = creditOf(chain, deposit);
      return encodeHubAction({ kind: "mint", to: holder, ...token });
    }),
  };
}

/**
 * Actions of a refund: each whole deposit moves to the solver, in the order of the inputs.
 * @throws as `hubAlias`, and what `familyOf` throws
 */
export function refundActions(
  familyOf: FamilyOf,
  order: Pick<Order, "solverChainId" | "solver">,
  deposits: readonly HubCredit[],
): readonly Hex[] {
  return depositsToSolver(solverAccount(familyOf, order), deposits);
}

/**
 * Actions of a fill: the deposits move to the solver, whose account then pays the order's fees.
 * @throws as `refundActions`
 */
export function fillActions(
  familyOf: FamilyOf,
  order: Order,
  deposits: readonly HubCredit[],
): readonly Hex[] {
  const solver = solverAccount(familyOf, order);
  const fees = order.fees.map((fee) => {
    const recipient = decodeAddress(familyOf(fee.recipientChainId), fee.recipient);
    const currency = decodeAddress(familyOf(fee.currencyChainId), fee.currency);
    return encodeHubAction({
      kind: "transfer",
      from: solver,
      to: hubAlias(hubChain(familyOf, fee.recipientChainId), recipient),
      tokenId: hubTokenId(hubChain(familyOf, fee.currencyChainId), currency),
      amount: fee.amount,
    });
  });
  return [...depositsToSolver(solver, deposits), ...fees];
}

/** The hub accounts of a withdrawal. */
export interface WithdrawalAccounts {
  /** The owner's account. */
  readonly ownerAlias: Address;
  /** The account that holds the amount until the withdrawal is settled; see `withdrawalAddress`. */
  readonly address: Address;
  readonly tokenId: bigint;
}

/** Moves the amount of a withdrawal from its owner to its address. */
export function initiationExecution(
  hubName: string,
  { ownerAlias, address, tokenId }: WithdrawalAccounts,
  amount: bigint,
): Execution {
  return {
    idempotencyKey: initiationKey(hubName, tokenId, address),
    actions: [encodeHubAction({ kind: "transfer", from: ownerAlias, to: address, tokenId, amount })],
  };
}

/** Burns the amount of an executed withdrawal, or returns the amount of an expired one to its owner. */
export function withdrawalExecution(
  withdrawalId: Hex32,
  outcome: "executed" | "expired",
  { ownerAlias, address, tokenId }: WithdrawalAccounts,
  amount: bigint,
): Execution {
  const action =
    outcome === "executed"
      ? encodeHubAction({ kind: "burn", from: address, tokenId, amount })
      : encodeHubAction({ kind: "transfer", from: address, to: ownerAlias, tokenId, amount });
  return { idempotencyKey: withdrawalKey(withdrawalId, outcome), actions: [action] };
}

function depositsToSolver(solver: Address, deposits: readonly HubCredit[]): readonly Hex[] {
  return deposits.map(({ holder, ...token }) =>
    encodeHubAction({ kind: "transfer", from: holder, to: solver, ...token }),
  );
}

function solverAccount(familyOf: FamilyOf, order: Pick<Order, "solverChainId" | "solver">): Address {
  return hubAlias(hubChain(familyOf, order.solverChainId), order.solver);
}

function hubChain(familyOf: FamilyOf, name: string): HubChain {
  return { name, vmType: familyOf(name) };
}

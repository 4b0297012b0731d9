import type { NonceMappingAnswer } from "@causeway/chains";
import type { Hex, Hex32, VmType } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";

// What a chain family provides so that the common behaviors and hostile cases can be tested on it. Texts are
// in the family's canonical format. Amounts are in base units.

/** Why a case cannot occur or cannot be tested on this family. The table shows it. */
export interface NotApplicable {
  readonly notApplicable: string;
}

/** Sets up a situation on the family's chain; or the reason why the family cannot. */
export type Scene<Args extends readonly unknown[], Result> =
  | ((...args: Args) => Promise<Result>)
  | NotApplicable;

export function isNotApplicable(scene: unknown): scene is NotApplicable {
  return typeof scene === "object" && scene !== null && "notApplicable" in scene;
}

/** The nonce mappings that the hub reports, for families whose transfers carry no id. */
export interface MappingBook {
  /** Sets the entry of a wallet's nonce. Undefined removes the entry. */
  set(chainName: string, wallet: Hex, nonce: bigint, entry: NonceMappingAnswer["entry"]): void;
  /** Sets the time of the hub's final block, in Unix seconds. Until then it is far in the future. */
  setAsOf(seconds: bigint): void;
}

/**
 * The transaction to ask about. `urls` replaces the honest nodes: as many URLs as {@link FamilyWorld.urls},
 * in the same order.
 */
export interface TransactionQuestion {
  readonly transactionId: string;
  readonly urls?: readonly string[];
}

/** A transaction for which the oracle must report exactly these deposits. */
export interface ExpectedDeposits extends TransactionQuestion {
  readonly deposits: readonly {
    /** The position of the deposit in its transaction: the third part of the on-chain id. */
    readonly index: string;
    readonly depositor: string;
    readonly currency: string;
    readonly amount: bigint;
    /** Undefined if the deposit carries no id. */
    readonly depositId: Hex32 | undefined;
  }[];
}

/** A transaction for which nothing may be signed, and the answer that the oracle must give. */
export interface NoDeposit extends TransactionQuestion {
  /** `empty` means status 200 without messages. */
  readonly as: "empty" | "rejected" | "not_found" | "not_final" | "invalid_request" | "upstream_unavailable";
}

export interface Payment {
  readonly recipient: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** The payments that the solver makes for an order in one transaction. */
export interface PaymentPlan {
  readonly orderId: Hex32;
  readonly payments: readonly Payment[];
}

/** A payload that the chain's allocator signed. */
export interface SignedWithdrawal {
  readonly payload: Hex;
  /** The family's id of the payload, computed independently of the code under test where possible. */
  readonly withdrawalId: Hex32;
  /** Executes the payload and returns the transaction's id. Rejects if the chain refuses the transaction. */
  execute(): Promise<string>;
  /** Makes the execution of the payload impossible. */
  readonly expire: Scene<[], void>;
}

export interface WithdrawalPlan extends Payment {
  /** The withdrawal address on the hub; EVM-like payloads use it as their nonce. */
  readonly address: Hex;
}

/** One family on its node or simulator. Each call sets up a new situation and keeps all earlier ones. */
export interface FamilyWorld {
  readonly family: VmType;
  /** Every URL of the honest node that the chain's configuration contains. */
  readonly urls: readonly string[];
  /** The configuration of the chain for an oracle that uses these URLs. */
  chainAt(urls: readonly string[]): ConfiguredChain;

  /** Two different accounts that the solver may pay. Neither is a depository. */
  readonly recipients: readonly [string, string];
  /** The default currency of deposits and payments. */
  readonly currency: string;
  /** Another currency that can be deposited. */
  readonly otherCurrency: string | NotApplicable;
  /**
   * An amount that can be deposited, paid and withdrawn. Twice that amount, and one unit more or less, are
   * possible too.
   */
  readonly amount: bigint;
  /** `extraData` of an order's output and refunds on this chain. */
  readonly extraData: Hex;
  /** A currency or address of another family, in that family's format; invalid here. */
  readonly foreignAddress: string;
  /** Other ways to write a transaction's id than the canonical one. */
  otherFormats(transactionId: string): readonly string[];
  /** Fields of the node's answers that a real node may omit. Each needs a reason next to it in the code. */
  readonly omissibleFields: readonly string[];

  /** Makes a usual deposit of a user, in a block that is not final yet if the chain has such blocks. */
  deposit(plan: {
    readonly depositId: Hex32 | undefined;
    readonly currency: string;
    readonly amount: bigint;
  }): Promise<ExpectedDeposits>;
  /**
   * Makes a usual payment by the solver, in the same kind of block as a deposit. Returns the transaction's
   * id.
   */
  pay(plan: PaymentPlan): Promise<string>;
  withdrawal(plan: WithdrawalPlan): Promise<SignedWithdrawal>;
  /** Makes all earlier transactions final. */
  finalize(): Promise<void>;
  /** Why every new transaction is final immediately. Absent if transactions become final later. */
  readonly finalAtOnce?: NotApplicable;

  readonly deposits: {
    /** Two deposits with two ids in one transaction. */
    readonly twoInOne: Scene<[ids: readonly [Hex32, Hex32]], ExpectedDeposits>;
    /** A transaction unrelated to the depository. */
    readonly none: Scene<[], NoDeposit>;
    /** A deposit in a block that was reorged out, but that the node can still return. */
    readonly orphaned: Scene<[id: Hex32], NoDeposit>;
    /** A deposit that only one node reports as final. */
    readonly splitNode: Scene<[id: Hex32], NoDeposit>;
    /** A deposit that is complete, except that the transaction failed. */
    readonly failed: Scene<[id: Hex32], NoDeposit>;
    /** A deposit into an account that looks like the depository, or by a contract that does. */
    readonly lookAlike: Scene<[id: Hex32], NoDeposit>;
    /** A deposit of a token that reports a wrong amount. */
    readonly lyingToken: Scene<[id: Hex32], ExpectedDeposits | NoDeposit>;
    /** A deposit of a token that takes a fee. The received amount counts. */
    readonly feeOnTransfer: Scene<[id: Hex32], ExpectedDeposits>;
    /** A reported deposit without a transfer, or with a smaller transfer. */
    readonly withoutTransfer: Scene<[id: Hex32], ExpectedDeposits | NoDeposit>;
    /** One transfer that the chain reports as two deposits. */
    readonly reportedTwice: Scene<[ids: readonly [Hex32, Hex32]], ExpectedDeposits | NoDeposit>;
    /** A deposit in another account's transaction. The depositor is the account that the deposit names. */
    readonly throughForwarder: Scene<[id: Hex32], ExpectedDeposits>;
    /** Bytes that look like an id, but in the wrong place. */
    readonly idElsewhere: Scene<[id: Hex32], ExpectedDeposits | NoDeposit>;
    /** Invalid ids: zero, sixteen leading zero bytes, cut short. */
    readonly invalidIds: Scene<[], readonly ExpectedDeposits[]>;
    /** Funds that arrived without a deposit. */
    readonly withoutDeposit: Scene<[], NoDeposit | ExpectedDeposits>;
    /** A plain transfer of the native token with the id in its data. */
    readonly plainWithId: Scene<[id: Hex32], NoDeposit | ExpectedDeposits>;
    /** A transfer from the depository to itself, such as change or a sweep. */
    readonly ownTransfer: Scene<[id: Hex32], NoDeposit>;
    /** A deposit that only nodes of another network report. */
    readonly otherNetwork: Scene<[id: Hex32], NoDeposit>;
    /** A deposit in a block without a time. */
    readonly withoutTime: Scene<[id: Hex32], NoDeposit>;
  };

  readonly payments: {
    /** A payment that failed. */
    readonly failed: Scene<[PaymentPlan], string>;
    /** A transaction that succeeded although the payment in it was reverted. */
    readonly innerReverted: Scene<[PaymentPlan], string>;
    /** One payment that names two orders. */
    readonly forTwoOrders: Scene<[orderIds: readonly [Hex32, Hex32], payment: Payment], string>;
    /** A payment that the recipient returns in the same transaction, completely or partially. */
    readonly returnedByRecipient: Scene<[PaymentPlan], string>;
    /** A payment that an unknown contract reports. The order's `extraData` names that contract. */
    readonly reportedByStranger: Scene<[PaymentPlan], string>;
    /** `extraData` that names the unknown contract. */
    readonly strangersExtraData: Hex;
    /** Orders with calls that the solver must make. */
    readonly calls:
      | {
          readonly encoded: readonly [Hex, Hex];
          /** Makes the calls with the indexes `which`, in that order, and pays. */
          pay(plan: PaymentPlan, which: readonly number[]): Promise<string>;
        }
      | NotApplicable;
    /** A payment in a block without a time. */
    readonly withoutTime: Scene<[PaymentPlan], TransactionQuestion>;
    /** A payment for another order, with this order's id elsewhere in the transaction. */
    readonly idElsewhere: Scene<[PaymentPlan], string>;
  };

  readonly withdrawals: {
    /** An execution whose transaction succeeded although its inner call failed. */
    readonly failedInside: Scene<[WithdrawalPlan], Pick<SignedWithdrawal, "payload" | "withdrawalId">>;
    /** An execution with other outputs, another amount or another recipient. */
    readonly otherOutputs: Scene<[WithdrawalPlan], Pick<SignedWithdrawal, "payload" | "withdrawalId">>;
    /** A payload whose expiration only a block that is not final has passed. */
    readonly expiryNotFinal: Scene<[WithdrawalPlan], Pick<SignedWithdrawal, "payload" | "withdrawalId">>;
    /** Invalid payloads: cut short, with extra bytes, or in another encoding of the same content. */
    readonly malformed: Scene<[WithdrawalPlan], readonly Hex[]>;
  };

  /** Cases that only this family has, by their name in {@link familyCases}. */
  readonly familyCases: Readonly<Record<string, Scene<[FamilyCaseTools], void>>>;
  close(): Promise<void>;
}

/** The checks that are available to a case of only one family. */
export interface FamilyCaseTools {
  /** Checks that the oracle signs exactly these deposits. */
  attests(expected: ExpectedDeposits): Promise<void>;
  refuses(expected: NoDeposit): Promise<void>;
  /**
   * Checks that the oracle attests, or refuses, the fill that `pay` makes for an order of `payments` on this
   * chain.
   */
  fills(payments: readonly Payment[], pay: (orderId: Hex32) => Promise<string>): Promise<void>;
  refusesFill(payments: readonly Payment[], pay: (orderId: Hex32) => Promise<string>): Promise<void>;
  /** Checks that the oracle reports the withdrawal as pending, executed or expired, or refuses to answer. */
  withdrawal(
    plan: Payment,
    make: (plan: WithdrawalPlan) => Promise<Pick<SignedWithdrawal, "payload" | "withdrawalId">>,
    status: "pending" | "executed" | "expired" | "refused",
    transactionId?: string,
  ): Promise<void>;
  /** A new order id. */
  newId(): Hex32;
}

/** The names of the cases that only one family has. */
export const familyCases: Readonly<Partial<Record<VmType, readonly string[]>>> = {
  "bitcoin-vm": [
    "unconfirmed and replaced with a higher fee",
    "two OP_RETURNs with ids",
    "an id in capitals",
    "a depositor named by another account",
    "a coinbase input",
    "two depositories paid",
    "spent with only one confirmation",
  ],
  "solana-vm": [
    "a memo that holds the id and more",
    "a deposit by a program with its own vault",
    "accounts from a lookup table",
    "a token account that changed its owner",
  ],
  "hyperliquid-vm": [
    "more decimals than the currency has",
    "an amount in scientific notation",
    "another dex",
    "a sub-account",
    "a late mapping",
    "a missing mapping",
    "a mapping that may still be set",
  ],
  "tron-vm": [
    "out of energy",
    "the id in the memo of a payment to another recipient",
    "a block that is not solidified",
  ],
};

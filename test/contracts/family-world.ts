import type { NonceMappingAnswer } from "@causeway/chains";
import type { Hex, Hex32, VmType } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";

// What a chain family provides so that its behaviors and the hostile cases can be tested on it. Texts are in
// the family's canonical format, amounts in base units.

/** Why a case cannot occur, or cannot be tested, on this family. Shown in the table. */
export interface NotApplicable {
  readonly notApplicable: string;
}

/** A situation that a family sets up on its chain, or why it cannot. */
export type Scene<Args extends readonly unknown[], Result> =
  | ((...args: Args) => Promise<Result>)
  | NotApplicable;

export function isNotApplicable(scene: unknown): scene is NotApplicable {
  return typeof scene === "object" && scene !== null && "notApplicable" in scene;
}

/** The nonce mappings that the hub reports, for families whose transfers carry no id. */
export interface MappingBook {
  /** Undefined removes the entry. */
  set(chainName: string, wallet: Hex, nonce: bigint, entry: NonceMappingAnswer["entry"]): void;
  /** Time of the hub's final block in Unix seconds. Far in the future until set. */
  setAsOf(seconds: bigint): void;
}

/**
 * What to ask about, and the nodes to ask instead of the honest ones: as many URLs as {@link
 * FamilyWorld.urls}, in the same order.
 */
export interface Asked {
  readonly transactionId: string;
  readonly urls?: readonly string[];
}

/** A transaction whose answer must contain exactly these deposits. */
export interface MadeDeposits extends Asked {
  readonly deposits: readonly {
    /** The third part of the on-chain id. */
    readonly index: string;
    readonly depositor: string;
    readonly currency: string;
    readonly amount: bigint;
    /** Undefined if it carries none. */
    readonly depositId: Hex32 | undefined;
  }[];
}

/** A transaction for which nothing may be signed, and how the oracle answers instead. */
export interface NoDeposit extends Asked {
  /** `empty` is 200 without messages. */
  readonly as: "empty" | "rejected" | "not_found" | "not_final" | "invalid_request" | "upstream_unavailable";
}

export interface Payment {
  readonly recipient: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** A payment by the solver for an order, in one transaction. */
export interface PaymentPlan {
  readonly orderId: Hex32;
  readonly payments: readonly Payment[];
}

/** A payload that the chain's allocator signed. */
export interface MadeWithdrawal {
  readonly payload: Hex;
  /** The family's id of the payload, computed independently of the code under test where possible. */
  readonly withdrawalId: Hex32;
  /** Executes it and returns the transaction's id. Rejects if the chain refuses it. */
  execute(): Promise<string>;
  /** Lets the payload become impossible to execute. */
  readonly expire: Scene<[], void>;
}

export interface WithdrawalPlan extends Payment {
  /** The withdrawal address on the hub; EVM-like payloads use it as their nonce. */
  readonly address: Hex;
}

/** One family on its node or simulator. Each call sets up a new situation and leaves earlier ones intact. */
export interface FamilyWorld {
  readonly family: VmType;
  /** Every HTTP URL of the honest node that the chain's configuration contains. */
  readonly urls: readonly string[];
  /** The chain for an oracle that asks these URLs instead. */
  chainAt(urls: readonly string[]): ConfiguredChain;

  /** Two different recipients that the solver may pay; not depositories. */
  readonly recipients: readonly [string, string];
  /** The default currency of deposits and payments. */
  readonly currency: string;
  /** Another currency that can be deposited. */
  readonly otherCurrency: string | NotApplicable;
  /**
   * An amount that can be deposited, paid and withdrawn. So can twice that amount, and one unit less or more.
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

  /** An ordinary deposit of a user, in a block that is not final yet if the chain has such blocks. */
  deposit(plan: {
    readonly depositId: Hex32 | undefined;
    readonly currency: string;
    readonly amount: bigint;
  }): Promise<MadeDeposits>;
  /** An ordinary payment by the solver, as final as a deposit. */
  pay(plan: PaymentPlan): Promise<string>;
  withdrawal(plan: WithdrawalPlan): Promise<MadeWithdrawal>;
  /** Makes everything so far final. */
  finalize(): Promise<void>;
  /** Why new transactions are always final immediately; undefined if they are not. */
  readonly finalAtOnce?: NotApplicable;

  readonly deposits: {
    /** Two deposits with two ids in one transaction. */
    readonly twoInOne: Scene<[ids: readonly [Hex32, Hex32]], MadeDeposits>;
    /** A transaction unrelated to the depository. */
    readonly none: Scene<[], NoDeposit>;
    /** A deposit in a block that was reorged out; its node still knows the block, or still has it. */
    readonly orphaned: Scene<[id: Hex32], NoDeposit>;
    /** A deposit that is final according to one node only. */
    readonly splitNode: Scene<[id: Hex32], NoDeposit>;
    /** A deposit that is complete, except that the transaction failed. */
    readonly failed: Scene<[id: Hex32], NoDeposit>;
    /** A deposit into an account, or by a contract, that only looks like the depository. */
    readonly lookAlike: Scene<[id: Hex32], NoDeposit>;
    /** A deposit of a token that lies about the amount that moved. */
    readonly lyingToken: Scene<[id: Hex32], MadeDeposits | NoDeposit>;
    /** A deposit of a token that takes a fee: what arrived counts. */
    readonly feeOnTransfer: Scene<[id: Hex32], MadeDeposits>;
    /** A claimed deposit without a transfer, or of more than was transferred. */
    readonly withoutTransfer: Scene<[id: Hex32], MadeDeposits | NoDeposit>;
    /** One transfer that is reported twice as a deposit. */
    readonly reportedTwice: Scene<[ids: readonly [Hex32, Hex32]], MadeDeposits | NoDeposit>;
    /** A deposit by another account's transaction; the depositor is the one that the deposit names. */
    readonly throughForwarder: Scene<[id: Hex32], MadeDeposits>;
    /** Bytes that look like an id, in the wrong place. */
    readonly idElsewhere: Scene<[id: Hex32], MadeDeposits | NoDeposit>;
    /** Invalid ids: zero, sixteen leading zero bytes, cut short. */
    readonly invalidIds: Scene<[], readonly MadeDeposits[]>;
    /** Money that arrived without a deposit. */
    readonly withoutDeposit: Scene<[], NoDeposit | MadeDeposits>;
    /** A plain transfer of the native token with the id in its data. */
    readonly plainWithId: Scene<[id: Hex32], NoDeposit | MadeDeposits>;
    /** A transfer from the depository to itself: change or a sweep. */
    readonly ownTransfer: Scene<[id: Hex32], NoDeposit>;
    /** Nodes of another network. */
    readonly otherNetwork: Scene<[id: Hex32], NoDeposit>;
    /** A deposit whose block has no time. */
    readonly withoutTime: Scene<[id: Hex32], NoDeposit>;
  };

  readonly payments: {
    /** A payment that failed. */
    readonly failed: Scene<[PaymentPlan], string>;
    /** A transaction that succeeded although the payment in it was reverted. */
    readonly innerReverted: Scene<[PaymentPlan], string>;
    /** One payment that names two orders. */
    readonly forTwoOrders: Scene<[orderIds: readonly [Hex32, Hex32], payment: Payment], string>;
    /** A payment that the recipient returns, in whole or in part, in the same transaction. */
    readonly returnedByRecipient: Scene<[PaymentPlan], string>;
    /** A payment reported by an unknown contract that the order's `extraData` names. */
    readonly reportedByStranger: Scene<[PaymentPlan], string>;
    /** The `extraData` that names the unknown contract. */
    readonly strangersExtraData: Hex;
    /** The calls of an order that the solver makes. */
    readonly calls:
      | {
          readonly encoded: readonly [Hex, Hex];
          /** Makes the calls `which`, in that order, and pays. */
          pay(plan: PaymentPlan, which: readonly number[]): Promise<string>;
        }
      | NotApplicable;
    /** A payment whose block has no time. */
    readonly withoutTime: Scene<[PaymentPlan], Asked>;
    /** A payment that names another order although this order's id is somewhere in it. */
    readonly idElsewhere: Scene<[PaymentPlan], string>;
  };

  readonly withdrawals: {
    /** An execution whose transaction succeeded although its inner call failed. */
    readonly failedInside: Scene<[WithdrawalPlan], Pick<MadeWithdrawal, "payload" | "withdrawalId">>;
    /** An execution with other outputs, another amount or another recipient. */
    readonly otherOutputs: Scene<[WithdrawalPlan], Pick<MadeWithdrawal, "payload" | "withdrawalId">>;
    /** A payload that is past its expiration only by a block that is not final. */
    readonly expiryNotFinal: Scene<[WithdrawalPlan], Pick<MadeWithdrawal, "payload" | "withdrawalId">>;
    /** Invalid payloads: cut short, with extra bytes, or in another encoding of the same content. */
    readonly malformed: Scene<[WithdrawalPlan], readonly Hex[]>;
  };

  /** Cases that only this family has, by their names in {@link ownCases}. */
  readonly own: Readonly<Record<string, Scene<[OwnTools], void>>>;
  close(): Promise<void>;
}

/** The checks for a case that only one family has. */
export interface OwnTools {
  /** The oracle answers with exactly these deposits, signed. */
  attests(made: MadeDeposits): Promise<void>;
  refuses(made: NoDeposit): Promise<void>;
  /** The oracle attests or refuses the fill that `pay` makes for an order of `payments` on this chain. */
  fills(payments: readonly Payment[], pay: (orderId: Hex32) => Promise<string>): Promise<void>;
  refusesFill(payments: readonly Payment[], pay: (orderId: Hex32) => Promise<string>): Promise<void>;
  /** The oracle reports the withdrawal as pending, executed, expired, or refuses. */
  withdrawal(
    plan: Payment,
    make: (plan: WithdrawalPlan) => Promise<Pick<MadeWithdrawal, "payload" | "withdrawalId">>,
    says: "pending" | "executed" | "expired" | "refused",
    transactionId?: string,
  ): Promise<void>;
  /** A new order id. */
  newId(): Hex32;
}

/** Cases that only one family has. */
export const ownCases: Readonly<Partial<Record<VmType, readonly string[]>>> = {
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

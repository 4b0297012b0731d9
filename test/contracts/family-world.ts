import type { NonceMappingAnswer } from "@causeway/chains";
import type { AttestationChain, Hex, Hex32, VmType } from "@causeway/domain";

// What a chain family gives so that its behaviours and the hostile cases can be tried on it. Texts are in the
// family's canonical spelling, amounts in smallest units.

/** Why a case cannot occur, or cannot be tried, on this family. Shown in the table. */
export interface NotApplicable {
  readonly notApplicable: string;
}

/** Something that a family arranges on its chain, or why it cannot be there. */
export type Scene<Args extends readonly unknown[], Result> =
  | ((...args: Args) => Promise<Result>)
  | NotApplicable;

export function isNotApplicable(scene: unknown): scene is NotApplicable {
  return typeof scene === "object" && scene !== null && "notApplicable" in scene;
}

/** What the hub is made to say of nonces; for families whose transfers carry no id. */
export interface MappingBook {
  /** Undefined takes the entry away. */
  set(chainName: string, wallet: Hex, nonce: bigint, entry: NonceMappingAnswer["entry"]): void;
  /** Time of the hub's final block, Unix seconds. Far in the future until it is set. */
  setAsOf(seconds: bigint): void;
}

/**
 * Something to be asked about, and whom: the nodes at these URLs (as many, and in the order, as
 * {@link FamilyWorld.urls}) instead of the honest ones.
 */
export interface Asked {
  readonly transactionId: string;
  readonly urls?: readonly string[];
}

/** A transaction that must be answered with exactly these deposits. */
export interface MadeDeposits extends Asked {
  readonly deposits: readonly {
    /** Third part of the on-chain id. */
    readonly index: string;
    readonly depositor: string;
    readonly currency: string;
    readonly amount: bigint;
    /** Undefined: it carries none. */
    readonly depositId: Hex32 | undefined;
  }[];
}

/** A transaction for which nothing may be signed, and how that is said. */
export interface NoDeposit extends Asked {
  /** `empty`: 200 with no message. */
  readonly as: "empty" | "rejected" | "not_found" | "not_final" | "invalid_request" | "upstream_unavailable";
}

export interface Payment {
  readonly recipient: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** A payment of the solver for an order, in one transaction. */
export interface PaymentWish {
  readonly orderId: Hex32;
  readonly payments: readonly Payment[];
}

/** A payload that the chain's allocator signed. */
export interface MadeWithdrawal {
  readonly payload: Hex;
  /** The family's id of the payload, computed by other means than the code under test where there are any. */
  readonly withdrawalId: Hex32;
  /** Carries it out; returns the id of the transaction that did. Rejects when the chain refuses it. */
  execute(): Promise<string>;
  /** Lets pass whatever makes it impossible for ever. */
  readonly expire: Scene<[], void>;
}

export interface WithdrawalWish extends Payment {
  /** The withdrawal address on the hub: EVM-like payloads use it as their nonce. */
  readonly address: Hex;
}

/**
 * One family, on its node or simulator. Everything is arranged afresh by each call; no call disturbs what an
 * earlier one arranged.
 */
export interface FamilyWorld {
  readonly family: VmType;
  /** Of the honest node: every URL that the chain's configuration holds. HTTP. */
  readonly urls: readonly string[];
  /** The chain for an oracle, asking these URLs instead. */
  chainAt(urls: readonly string[]): AttestationChain;

  /** Whom the solver may pay; no depositories. Two different ones. */
  readonly recipients: readonly [string, string];
  /** What is deposited and paid by default. */
  readonly currency: string;
  /** Another currency that can be deposited. */
  readonly otherCurrency: string | NotApplicable;
  /** An amount that can be deposited, paid and withdrawn; so can the double, and one unit less and more. */
  readonly amount: bigint;
  /** `extraData` of an order's output and refunds on this chain. */
  readonly extraData: Hex;
  /** A currency or address of another family, in that one's spelling: none of this one. */
  readonly foreignAddress: string;
  /** Ways to write an id of a transaction that are not its one spelling, though they mean the same. */
  otherSpellings(transactionId: string): readonly string[];
  /**
   * Fields of the node's answers whose absence a real node means something by (not a lie by leaving out).
   * Each with a reason beside it in the code.
   */
  readonly omissibleFields: readonly string[];

  /** A user's ordinary deposit, in a block that is not final yet where there is such a thing. */
  deposit(wish: {
    readonly depositId: Hex32 | undefined;
    readonly currency: string;
    readonly amount: bigint;
  }): Promise<MadeDeposits>;
  /** An ordinary payment of the solver, as final as a deposit. */
  pay(wish: PaymentWish): Promise<string>;
  withdrawal(wish: WithdrawalWish): Promise<MadeWithdrawal>;
  /** Makes everything so far final. */
  finalize(): Promise<void>;
  /** Undefined where something new is not final at once; else why it always is. */
  readonly finalAtOnce?: NotApplicable;

  readonly deposits: {
    /** Two deposits of two ids in one transaction. */
    readonly twoInOne: Scene<[ids: readonly [Hex32, Hex32]], MadeDeposits>;
    /** A transaction that has nothing to do with the depository. */
    readonly none: Scene<[], NoDeposit>;
    /** 8.4 #1: it was in a block that others replaced; its node still knows it, or still has it. */
    readonly orphaned: Scene<[id: Hex32], NoDeposit>;
    /** 8.4 #2: deep enough only by what another node says. */
    readonly splitNode: Scene<[id: Hex32], NoDeposit>;
    /** 8.4 #3: everything of a deposit, but the transaction failed. */
    readonly failed: Scene<[id: Hex32], NoDeposit>;
    /** 8.4 #4: to an account, or by a contract, that only looks like the depository. */
    readonly lookAlike: Scene<[id: Hex32], NoDeposit>;
    /** 8.4 #5: of a token that lies about what it moved. */
    readonly lyingToken: Scene<[id: Hex32], MadeDeposits | NoDeposit>;
    /** 8.4 #6: the token keeps something for itself: what arrived counts. */
    readonly feeOnTransfer: Scene<[id: Hex32], MadeDeposits>;
    /** 8.4 #6: what is claimed to be deposited without having moved, or more than moved. */
    readonly withoutTransfer: Scene<[id: Hex32], MadeDeposits | NoDeposit>;
    /** 8.4 #7: one transfer, said twice to be a deposit. */
    readonly saidTwice: Scene<[ids: readonly [Hex32, Hex32]], MadeDeposits | NoDeposit>;
    /** 8.4 #8: by somebody else's transaction: the depositor is whom the deposit names. */
    readonly throughForwarder: Scene<[id: Hex32], MadeDeposits>;
    /** 8.4 #9: bytes that look like an id where none belongs. */
    readonly idElsewhere: Scene<[id: Hex32], MadeDeposits | NoDeposit>;
    /** 8.4 #10: ids that are none (zero, sixteen leading zero bytes, cut short). */
    readonly idsThatAreNone: Scene<[], readonly MadeDeposits[]>;
    /** 8.4 #11: money that arrived without a deposit. */
    readonly arrivedSilently: Scene<[], NoDeposit | MadeDeposits>;
    /** 8.4 #12: a plain transfer of native coin with the id in its data. */
    readonly plainWithId: Scene<[id: Hex32], NoDeposit | MadeDeposits>;
    /** 8.4 #13: the depository to itself, its change, a sweep. */
    readonly ownTransfer: Scene<[id: Hex32], NoDeposit>;
    /** 8.4 #33: nodes of another network. */
    readonly otherNetwork: Scene<[id: Hex32], NoDeposit>;
    /** 8.4 #17: its block's time is missing. */
    readonly withoutTime: Scene<[id: Hex32], NoDeposit>;
  };

  readonly payments: {
    /** 8.4 #3, #18: it failed. */
    readonly failed: Scene<[PaymentWish], string>;
    /** 8.4 #18: it succeeded, but what paid was undone within it. */
    readonly innerUndone: Scene<[PaymentWish], string>;
    /** 8.4 #19: pays once, and names two orders. */
    readonly forTwoOrders: Scene<[orderIds: readonly [Hex32, Hex32], payment: Payment], string>;
    /** 8.4 #20: the recipient gives all or part of it back in the same transaction. */
    readonly takenBack: Scene<[PaymentWish], string>;
    /** 8.4 #21: said by a contract that nobody configured; the order's `extraData` names it. */
    readonly saidByStranger: Scene<[PaymentWish], string>;
    /** Its `extraData`. */
    readonly strangersExtraData: Hex;
    /** 8.4 #22: the solver makes calls of an order. */
    readonly calls:
      | {
          readonly encoded: readonly [Hex, Hex];
          /** Makes those of `which`, in that order, and pays. */
          pay(wish: PaymentWish, which: readonly number[]): Promise<string>;
        }
      | NotApplicable;
    /** 8.4 #17: a payment whose block has no time. */
    readonly withoutTime: Scene<[PaymentWish], Asked>;
    /** Names another order although the order's id is somewhere in it. */
    readonly idElsewhere: Scene<[PaymentWish], string>;
  };

  readonly withdrawals: {
    /** 8.4 #28: its transaction ran, and what it was to do failed. */
    readonly failedInside: Scene<[WithdrawalWish], Pick<MadeWithdrawal, "payload" | "withdrawalId">>;
    /** 8.4 #28: carried out with other outputs, another amount or another recipient. */
    readonly otherOutputs: Scene<[WithdrawalWish], Pick<MadeWithdrawal, "payload" | "withdrawalId">>;
    /** 8.4 #27: past its expiration by a block that is not final. */
    readonly expiryNotFinal: Scene<[WithdrawalWish], Pick<MadeWithdrawal, "payload" | "withdrawalId">>;
    /** Payloads that are none: cut, with bytes behind, in another encoding of the same. */
    readonly malformed: Scene<[WithdrawalWish], readonly Hex[]>;
  };

  /** Cases that only this family has, by their names in {@link ownCases}. */
  readonly own: Readonly<Record<string, Scene<[OwnTools], void>>>;
  close(): Promise<void>;
}

/** What a case of one family is judged with. */
export interface OwnTools {
  /** The oracle answers with exactly these deposits, signed. */
  attests(made: MadeDeposits): Promise<void>;
  refuses(made: NoDeposit): Promise<void>;
  /**
   * An order of `payments` on this chain: the fill by the transaction that `pay` makes is attested, or
   * refused.
   */
  fills(payments: readonly Payment[], pay: (orderId: Hex32) => Promise<string>): Promise<void>;
  refusesFill(payments: readonly Payment[], pay: (orderId: Hex32) => Promise<string>): Promise<void>;
  /** A withdrawal is pending, executed, expired, or refused. */
  withdrawal(
    wish: Payment,
    make: (wish: WithdrawalWish) => Promise<Pick<MadeWithdrawal, "payload" | "withdrawalId">>,
    says: "pending" | "executed" | "expired" | "refused",
    transactionId?: string,
  ): Promise<void>;
  /** A new id of an order. */
  newId(): Hex32;
}

/** Cases that only one family has. */
export const ownCases: Readonly<Partial<Record<VmType, readonly string[]>>> = {
  "bitcoin-vm": [
    "unconfirmed and replaced by a higher fee",
    "two OP_RETURNs with ids",
    "an id in capitals",
    "a depositor named by somebody else",
    "a coinbase input",
    "two depositories paid",
    "spent by one confirmation only",
  ],
  "solana-vm": [
    "a memo that holds the id and more",
    "a deposit by a program with a vault of its own",
    "accounts from a lookup table",
    "a token account that changed its owner",
  ],
  "hyperliquid-vm": [
    "more decimals than the currency has",
    "an amount in scientific notation",
    "another dex",
    "a sub-account",
    "a mapping that came late",
    "a mapping that is missing",
    "a mapping that may still come",
  ],
  "tron-vm": [
    "out of energy",
    "the id in the memo of a payment to somebody else",
    "a block that is not solidified",
  ],
};

import type { Address } from "@causeway/domain";
import { LighterError } from "./refusal.ts";
import type { SignedTransfer } from "./signed-transfer.ts";

/** USDC, the currency of fees. */
const USDC_ASSET = 3n;

/** A Lighter account. */
export interface LighterAccount {
  readonly index: bigint;
  /** Its owner's account on Ethereum; an owner can have several Lighter accounts. */
  readonly l1Address: Address;
  /**
   * Registered keys by index: the public key (80 hex digits) and the nonce that its next transaction must
   * have.
   */
  readonly keys: Map<bigint, { publicKey: string; nonce: bigint }>;
  /** Base units by `asset/route`. */
  readonly balances: Map<string, bigint>;
}

/** Balances of all accounts. */
export class LighterLedger {
  readonly accounts = new Map<bigint, LighterAccount>();

  open(index: bigint, l1Address: Address): LighterAccount {
    if (this.accounts.has(index)) throw new RangeError(`account ${index} already exists`);
    const account: LighterAccount = { index, l1Address, keys: new Map(), balances: new Map() };
    this.accounts.set(index, account);
    return account;
  }

  /** @throws LighterError if the account does not exist */
  account(index: bigint): LighterAccount {
    const account = this.accounts.get(index);
    if (account === undefined) throw new LighterError(21_100, "account not found");
    return account;
  }

  balance(index: bigint, asset: bigint, route: bigint): bigint {
    return this.account(index).balances.get(`${asset}/${route}`) ?? 0n;
  }

  credit(index: bigint, asset: bigint, route: bigint, amount: bigint): void {
    this.account(index).balances.set(`${asset}/${route}`, this.balance(index, asset, route) + amount);
  }

  /** Whether the sender's balance covers the amount and the fee, which is charged on the same route. */
  covers({
    fromAccountIndex: from,
    assetIndex,
    fromRouteType: route,
    amount,
    usdcFee,
  }: SignedTransfer): boolean {
    const isInDollars = assetIndex === USDC_ASSET;
    const needed = amount + (isInDollars ? usdcFee : 0n);
    const hasFee = isInDollars || this.balance(from, USDC_ASSET, route) >= usdcFee;
    return this.balance(from, assetIndex, route) >= needed && hasFee;
  }

  /**
   * Executes the transfer; check it with {@link covers} first. The fee goes to Lighter's own account, which
   * is not simulated.
   */
  move(transfer: SignedTransfer): void {
    const { fromAccountIndex: from, toAccountIndex: to, assetIndex, amount } = transfer;
    this.credit(from, assetIndex, transfer.fromRouteType, -amount);
    this.credit(from, USDC_ASSET, transfer.fromRouteType, -transfer.usdcFee);
    this.credit(to, assetIndex, transfer.toRouteType, amount);
  }

  undo(transfer: SignedTransfer): void {
    this.move({ ...transfer, amount: -transfer.amount, usdcFee: -transfer.usdcFee });
  }
}

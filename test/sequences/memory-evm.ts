import type { InnerCall } from "@causeway/chains";
import { TRANSFER_TOPIC, addressTopic } from "@causeway/chains";
import type { Address, Hex } from "@causeway/domain";
import { concat, pad, toHex } from "viem";

/**
 * A hand-written state machine of accounts, tokens and a few contracts. It runs the real calls of users and
 * the service, with the same logs, and records money movements as plain facts for the test's own books.
 */

/** Balances, allowances, nonces and flags by a text key. Snapshots copy the whole map. */
export type Cells = Map<string, bigint>;

/** One movement of funds on the chain. The zero address as currency means the native token. */
export interface Movement {
  readonly currency: Address;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
}

/** Funds that the depository received under an id. */
export interface DepositMade {
  readonly id: Hex;
  readonly depositor: Address;
  readonly currency: Address;
  readonly amount: bigint;
}

export interface Frame {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
}

/**
 * What a contract does when it is called. Returns the return data.
 * @throws Reverted
 */
export type Contract = (evm: Execution, frame: Frame) => Hex;

/** Ends a call and reverts its effects. */
export class Reverted extends Error {
  override readonly name = "Reverted";
}

export interface BlockContext {
  readonly number: bigint;
  readonly timestamp: bigint;
}

export const NATIVE: Address = "0x0000000000000000000000000000000000000000";
export const lower = (address: string): Address => address.toLowerCase() as Address;
export const word = (value: bigint | Address): Hex =>
  typeof value === "bigint" ? toHex(value, { size: 32 }) : pad(value, { size: 32 });

const APPROVAL_TOPIC: Hex = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
const INTRINSIC_GAS = 21_000n;
const CALL_GAS = 5_000n;
const TOKEN_GAS = 25_000n;

/** One execution of a call on a state. Changes `cells`, and collects logs, movements and deposits. */
export class Execution {
  readonly logs: { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex }[] = [];
  readonly movements: Movement[] = [];
  readonly deposits: DepositMade[] = [];
  readonly inner: InnerCall[] = [];
  readonly cells: Cells;
  readonly block: BlockContext;
  gas = 0n;
  private readonly contracts: ReadonlyMap<Address, Contract>;
  private readonly clones: Contract;

  /**
   * @param clones code of every contract that was created on chain: its address has a cell `clone:<address>`
   */
  constructor(
    cells: Cells,
    contracts: ReadonlyMap<Address, Contract>,
    block: BlockContext,
    clones: Contract,
  ) {
    this.cells = cells;
    this.contracts = contracts;
    this.block = block;
    this.clones = clones;
  }

  /**
   * Runs a whole transaction, except for its fee.
   * @throws Reverted, with everything undone
   */
  run(frame: Frame): Hex {
    this.gas = INTRINSIC_GAS + BigInt((frame.data.length - 2) / 2) * 12n;
    return this.call(frame);
  }

  call(frame: Frame): Hex {
    const before = new Map(this.cells);
    const [logs, movements, deposits] = [this.logs.length, this.movements.length, this.deposits.length];
    this.gas += CALL_GAS;
    const inner = {
      from: frame.from,
      to: frame.to,
      selector: frame.data.length < 10 ? undefined : (frame.data.slice(0, 10) as Hex),
      value: frame.value,
      userOperations: undefined,
    };
    this.inner.push(inner);
    try {
      if (frame.value > 0n) this.moveNative(frame.from, frame.to, frame.value);
      const contract = this.codeAt(frame.to);
      return contract === undefined ? "0x" : contract(this, frame);
    } catch (error) {
      if (!(error instanceof Reverted)) throw error;
      this.cells.clear();
      for (const [key, value] of before) this.cells.set(key, value);
      this.logs.length = logs;
      this.movements.length = movements;
      this.deposits.length = deposits;
      Object.assign(inner, { value: 0n });
      throw error;
    }
  }

  codeAt(address: Address): Contract | undefined {
    return (
      this.contracts.get(address) ??
      (this.cells.get(`clone:${address}`) === undefined ? undefined : this.clones)
    );
  }

  emit(address: Address, topics: readonly Hex[], data: Hex): void {
    this.logs.push({ address, topics, data });
  }

  get(key: string): bigint {
    return this.cells.get(key) ?? 0n;
  }

  set(key: string, value: bigint): void {
    if (value < 0n) throw new Error(`${key} would become ${value}`);
    this.cells.set(key, value);
  }

  balance(currency: Address, holder: Address): bigint {
    return this.get(balanceKey(currency, holder));
  }

  moveNative(from: Address, to: Address, amount: bigint): void {
    this.move(NATIVE, from, to, amount);
  }

  moveToken(token: Address, from: Address, to: Address, amount: bigint): void {
    this.gas += TOKEN_GAS;
    this.move(token, from, to, amount);
    this.emit(token, [TRANSFER_TOPIC, addressTopic(from), addressTopic(to)], word(amount));
  }

  /** Moves tokens by an allowance. */
  pullToken(token: Address, spender: Address, from: Address, to: Address, amount: bigint): void {
    const key = allowanceKey(token, from, spender);
    const allowed = this.get(key);
    if (allowed < amount) throw new Reverted("ERC20: insufficient allowance");
    this.set(key, allowed - amount);
    this.moveToken(token, from, to, amount);
  }

  approve(token: Address, owner: Address, spender: Address, amount: bigint): void {
    this.gas += TOKEN_GAS;
    this.set(allowanceKey(token, owner, spender), amount);
    this.emit(token, [APPROVAL_TOPIC, addressTopic(owner), addressTopic(spender)], word(amount));
  }

  private move(currency: Address, from: Address, to: Address, amount: bigint): void {
    const balance = this.balance(currency, from);
    if (balance < amount) throw new Reverted("the balance does not cover the transfer");
    this.set(balanceKey(currency, from), balance - amount);
    this.set(balanceKey(currency, to), this.balance(currency, to) + amount);
    if (amount > 0n) this.movements.push({ currency, from, to, amount });
  }
}

export const balanceKey = (currency: Address, holder: Address): string => `balance:${currency}:${holder}`;
export const allowanceKey = (token: Address, owner: Address, spender: Address): string =>
  `allowance:${token}:${owner}:${spender}`;
export const nonceKey = (account: Address): string => `nonce:${account}`;

/**
 * A word of calldata after the selector, by its index.
 * @throws Reverted if the calldata is too short
 */
export function argument(data: Hex, index: number): bigint {
  const digits = data.slice(10 + 64 * index, 74 + 64 * index);
  if (digits.length < 64) throw new Reverted("calldata is too short");
  return BigInt(`0x${digits}`);
}

export function addressArgument(data: Hex, index: number): Address {
  return `0x${argument(data, index).toString(16).padStart(40, "0")}`;
}

/** The data of an event without indexed fields. */
export function fields(...values: readonly (bigint | Hex)[]): Hex {
  return concat(
    values.map((value) =>
      typeof value === "bigint" ? word(value) : value.length === 66 ? (value as Hex) : word(value as Address),
    ),
  );
}

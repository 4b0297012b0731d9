import type { Hex, Hex32 } from "@causeway/domain";
import { createHash, randomBytes } from "node:crypto";

/**
 * How a chain prevents a payment from counting twice: its bytes expire, or it spends outputs that can be
 * spent only once.
 */
export type FakeChainKind = "expiring" | "outputs";

/** A transfer to the solver's account. */
export interface FakeDeposit {
  readonly type: "deposit";
  readonly from: Hex;
  /** Default: `from`. */
  readonly depositor?: Hex;
  readonly currency: Hex;
  readonly amount: bigint;
  /** Default: the configured depository. */
  readonly depository?: Hex;
  readonly id?: Hex;
  readonly nonce?: bigint;
  readonly salt: string;
}

/** A payment from the solver's account. */
export interface FakePayment {
  readonly type: "payment";
  readonly to: Hex;
  readonly currency: Hex;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly id?: Hex;
  readonly salt: string;
  /** The last block height at which the payment can be mined. */
  readonly lastHeight?: bigint;
  /** The outputs that the payment spends. */
  readonly outputs?: readonly Hex32[];
}

export type FakeTransaction = FakeDeposit | FakePayment;

export interface FakeBlock {
  readonly number: bigint;
  readonly hash: Hex32;
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly transactions: readonly { readonly id: Hex; readonly transaction: FakeTransaction }[];
}

export interface FakeOutput {
  readonly id: Hex32;
  readonly amount: bigint;
}

/** The blocks that nodes know. The newest blocks may be missing. */
export interface FakeView {
  readonly blocks: readonly FakeBlock[];
  readonly finalHeight: bigint;
}

/** A block is final once this many blocks follow it. */
const FINAL_DEPTH = 3n;

export function fakeBytes(transaction: FakeTransaction): Hex {
  const json = JSON.stringify(transaction, (_, value: unknown) =>
    typeof value === "bigint" ? { units: value.toString() } : value,
  );
  return `0x${Buffer.from(json).toString("hex")}`;
}

export function fakeTransaction(raw: Hex): FakeTransaction {
  return JSON.parse(Buffer.from(raw.slice(2), "hex").toString(), (_, value: unknown) =>
    typeof value === "object" && value !== null && "units" in value ? BigInt(value.units as string) : value,
  ) as FakeTransaction;
}

/**
 * A small chain on which only the solver's account matters. The test mines its blocks, and can reorg out
 * blocks that are not final. No payment counts twice. All clients of a chain see the same state.
 */
export class FakeNonEvmChain {
  readonly kind: FakeChainKind;
  readonly native: Hex;
  /** The fee of a payment, in native tokens. */
  cost = 10n;
  /** How many of the newest blocks are missing on nodes. */
  lag = 0;
  /** Whether all nodes fail. */
  isDown = false;
  /** Whether nodes accept bytes and then lose them. */
  losesBytes = false;
  /** The error with which nodes refuse bytes. Undefined if they accept them. */
  refusal: string | undefined;
  /** Whether reads report earlier deposits again. */
  repeatsDeposits = false;
  /** Counts payments: each starts with a different output of the solver, as in some wallets. */
  nextOutput = 0;
  readonly #opening: ReadonlyMap<Hex, bigint>;
  readonly #nowMs: () => number;
  readonly #refusals = new Map<Hex, string>();
  readonly #listeners = new Set<() => void>();
  #blocks: FakeBlock[] = [];
  #pool = new Map<Hex, FakeTransaction>();
  #broken = false;

  constructor(
    kind: FakeChainKind,
    native: Hex,
    opening: ReadonlyMap<Hex, bigint>,
    nowMs: () => number = () => Date.now(),
  ) {
    this.#nowMs = nowMs;
    this.kind = kind;
    this.native = native;
    this.#opening = opening;
    this.mine();
  }

  /** Sends funds to the solver. The transfer is pending until the next block. Returns its id. */
  deposit(deposit: Omit<FakeDeposit, "type" | "salt">): Hex {
    return this.addToPool(fakeBytes({ ...deposit, type: "deposit", salt: randomBytes(8).toString("hex") }));
  }

  /**
   * The id of a transaction. Its length is Solana's if bytes expire, and Bitcoin's if they spend outputs.
   */
  idOf(raw: Hex): Hex {
    return `0x${createHash(this.kind === "expiring" ? "sha512" : "sha256")
      .update(raw)
      .digest("hex")}`;
  }

  /** Adds bytes to the mempool. Returns the transaction's id. */
  addToPool(raw: Hex): Hex {
    const id = this.idOf(raw);
    const isMined = this.#blocks.some((block) => block.transactions.some((mined) => mined.id === id));
    if (!isMined) this.#pool.set(id, fakeTransaction(raw));
    return id;
  }

  mine(blocks = 1): void {
    for (let at = 0; at < blocks; at++) {
      const number = BigInt(this.#blocks.length);
      const transactions: { id: Hex; transaction: FakeTransaction }[] = [];
      for (const [id, transaction] of this.#pool) {
        if (this.#broken || !this.#canMine(transaction, number, transactions)) continue;
        transactions.push({ id, transaction });
        this.#pool.delete(id);
      }
      const hash: Hex32 = `0x${randomBytes(32).toString("hex")}`;
      this.#blocks.push({ number, hash, timestamp: BigInt(Math.floor(this.#nowMs() / 1000)), transactions });
    }
    for (const listener of this.#listeners) listener();
  }

  /** Mines until every pending transaction is final. */
  mineUntilFinal(): void {
    this.mine(1 + Number(FINAL_DEPTH));
  }

  /**
   * Replaces the newest blocks with empty ones; their transactions do not return to the mempool.
   *
   * @throws RangeError if a block is final
   */
  reorg(depth: number): void {
    if (BigInt(depth) >= FINAL_DEPTH) throw new RangeError("final blocks cannot be reorged out");
    this.#blocks.splice(-depth, depth);
    this.#pool.clear();
    this.#broken = true;
    this.mine(depth);
    this.#broken = false;
  }

  /** Drops every pending transaction. */
  dropPool(): void {
    this.#pool.clear();
  }

  /** Makes an account refuse payments for this reason. */
  refusePaymentsTo(recipient: Hex, why: string): void {
    this.#refusals.set(recipient, why);
  }

  refusalFor(recipient: Hex): string | undefined {
    return this.#refusals.get(recipient);
  }

  /** The blocks that nodes know now. */
  view(): FakeView {
    const blocks = this.#blocks.slice(0, Math.max(1, this.#blocks.length - this.lag));
    return { blocks, finalHeight: BigInt(blocks.length) - FINAL_DEPTH };
  }

  isPooled(id: Hex): boolean {
    return this.#pool.has(id);
  }

  /** The solver's balance of a currency in a view. */
  balance(currency: Hex, { blocks }: FakeView = this.view()): bigint {
    let sum = this.#opening.get(currency) ?? 0n;
    for (const { transaction } of blocks.flatMap(({ transactions }) => transactions)) {
      if (transaction.currency === currency)
        sum += transaction.type === "deposit" ? transaction.amount : -transaction.amount;
      if (transaction.type === "payment" && currency === this.native) sum -= transaction.fee;
    }
    return sum;
  }

  /** The solver's outputs that no block has spent. */
  outputs({ blocks }: FakeView = this.view()): readonly FakeOutput[] {
    const opening = this.#opening.get(this.native) ?? 0n;
    const outputs = new Map<Hex32, bigint>();
    // There are several initial outputs, so that payments can be made concurrently.
    for (let at = 0n; at < 8n; at++) outputs.set(outputId("opening", at), opening / 8n);
    for (const { id, transaction } of blocks.flatMap(({ transactions }) => transactions)) {
      if (transaction.currency !== this.native) continue;
      if (transaction.type === "deposit") {
        outputs.set(outputId(id, 0n), transaction.amount);
        continue;
      }
      let spent = 0n;
      for (const output of transaction.outputs ?? []) {
        spent += outputs.get(output) ?? 0n;
        outputs.delete(output);
      }
      outputs.set(outputId(id, 1n), spent - transaction.amount - transaction.fee);
    }
    return [...outputs].map(([id, amount]) => ({ id, amount }));
  }

  /** The amount that an account received from the solver in canonical blocks. */
  received(recipient: Hex, currency: Hex): bigint {
    return this.payments()
      .filter(({ payment }) => payment.to === recipient && payment.currency === currency)
      .reduce((sum, { payment }) => sum + payment.amount, 0n);
  }

  /** Every payment of the solver in canonical blocks, oldest first. */
  payments(): readonly { readonly id: Hex; readonly payment: FakePayment }[] {
    return this.#blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ id, transaction }) =>
        transaction.type === "payment" ? [{ id, payment: transaction }] : [],
      ),
    );
  }

  onNews(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #canMine(
    transaction: FakeTransaction,
    height: bigint,
    others: readonly { readonly transaction: FakeTransaction }[],
  ): boolean {
    if (transaction.type === "deposit") return true;
    if (transaction.lastHeight !== undefined && height > transaction.lastHeight) return false;
    if (transaction.outputs === undefined) return true;
    const view = { blocks: this.#blocks, finalHeight: 0n };
    const unspent = new Set(this.outputs(view).map(({ id }) => id));
    const spentOutputs = new Set(
      others.flatMap(({ transaction: other }) => (other.type === "payment" ? (other.outputs ?? []) : [])),
    );
    return transaction.outputs.every((output) => unspent.has(output) && !spentOutputs.has(output));
  }
}

function outputId(source: string, n: bigint): Hex32 {
  return `0x${createHash("sha256").update(`${source}:${n}`).digest("hex")}`;
}

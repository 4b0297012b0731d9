import { lighterTransferText, type Address, type Hex } from "@causeway/domain";
import { recoverMessageAddress } from "viem";
import { ExchangeLedger } from "./ledger.ts";
import { ExchangeRefusal } from "./refusal.ts";
import { readSignedTransfer, type SignedTransfer } from "./signed-transfer.ts";

/** What a record says of where a transaction stands, by the exchange's numbers. */
export const STATUS = { queued: 1, committed: 2, executed: 3, failed: 4, rejected: 5 } as const;

/** A transaction as the exchange records it. */
export interface TransactionRecord {
  readonly hash: string;
  readonly type: number;
  /** As its sender wrote it. */
  readonly info: string;
  readonly transfer: SignedTransfer;
  readonly status: (typeof STATUS)[keyof typeof STATUS];
  /** 0 while no block holds it. */
  readonly blockHeight: number;
  readonly sequenceIndex: number;
  /** Unix milliseconds. */
  readonly queuedAt: number;
  /** 0 until it took effect. */
  readonly executedAt: number;
}

/** How far a transaction goes by itself, once it is taken. */
export type Pace = "queued" | "committed" | "executed";

export interface ExchangeOptions {
  /** What signers must name; default 304. */
  readonly chainId?: bigint;
  /** Where it stands on Ethereum: another one for each network. */
  readonly contract?: Address;
  /** Unix milliseconds; default the time of this machine. */
  readonly now?: () => number;
  /** The hash that the exchange's own signer gives these fields. */
  readonly hashOf: (transfer: SignedTransfer) => Promise<string>;
}

const TRANSFER_TYPE = 12;
const MAIN_CONTRACT: Address = `0x${"3b".repeat(20)}`;

/**
 * A local Lighter: accounts, keys, balances and transfers between them, by the rules of the real one as far
 * as they are known. It takes a transaction whose hash is the one the signer gives its
 * fields, whose key is registered and whose nonce is the key's next; a transfer to another owner needs the
 * owner's own signature of its text. Signatures of keys are looked at for their form only: no verifier of
 * them is at hand.
 */
export class LighterExchange {
  readonly ledger = new ExchangeLedger();
  readonly chainId: bigint;
  readonly contract: Address;
  /** In the order in which they were taken. */
  readonly records: TransactionRecord[] = [];
  /** The state in which transactions stop until a test advances them. */
  pace: Pace = "executed";
  private readonly now: () => number;
  private readonly hashOf: ExchangeOptions["hashOf"];
  private aheadMs = 0;
  private height = 1_000;
  private sequence = 27_657_305_907;

  constructor({ chainId = 304n, contract = MAIN_CONTRACT, now = Date.now, hashOf }: ExchangeOptions) {
    this.chainId = chainId;
    this.contract = contract;
    this.now = now;
    this.hashOf = hashOf;
  }

  /** The exchange's clock, Unix milliseconds. */
  get time(): number {
    return this.now() + this.aheadMs;
  }

  passTime(ms: number): void {
    this.aheadMs += ms;
  }

  record(hash: string): TransactionRecord | undefined {
    return this.records.find((one) => one.hash === hash);
  }

  /**
   * Takes a signed transaction and moves it as far as the pace says.
   *
   * @returns its hash
   * @throws ExchangeRefusal
   */
  async take(type: number, info: string): Promise<string> {
    if (type !== TRANSFER_TYPE) throw new ExchangeRefusal(21_500, "invalid tx type");
    const transfer = readSignedTransfer(info);
    const hash = await this.hashOf(transfer);
    if (this.record(hash) !== undefined) throw new ExchangeRefusal(21_505, "tx already exists");
    await this.check(transfer);
    this.records.push({
      hash,
      type,
      info,
      transfer,
      status: STATUS.queued,
      blockHeight: 0,
      sequenceIndex: (this.sequence += 1),
      queuedAt: this.time,
      executedAt: 0,
    });
    if (this.pace !== "queued") this.execute(hash);
    if (this.pace === "executed" && this.record(hash)?.status === STATUS.committed) this.settle(hash);
    return hash;
  }

  /**
   * Puts a queued transaction into a block, or rejects it when it cannot be made any more: then its nonce
   * stays free.
   */
  execute(hash: string): void {
    const { transfer } = this.expect(hash, STATUS.queued);
    const key = this.keyOf(transfer);
    const isLate = transfer.expiredAt <= BigInt(this.time);
    if (isLate || key.nonce !== transfer.nonce || !this.ledger.covers(transfer)) {
      this.change(hash, { status: STATUS.rejected });
      return;
    }
    key.nonce += 1n;
    this.ledger.move(transfer);
    this.change(hash, { status: STATUS.committed, blockHeight: this.nextBlock(), executedAt: this.time });
  }

  /** Settles a transaction that is in a block. */
  settle(hash: string): void {
    this.expect(hash, STATUS.committed);
    this.change(hash, { status: STATUS.executed });
  }

  /**
   * Takes the block of a transaction back before it is settled: what it moved returns, its nonce is free
   * again.
   */
  takeBack(hash: string): void {
    const { transfer } = this.expect(hash, STATUS.committed);
    this.keyOf(transfer).nonce -= 1n;
    this.ledger.undo(transfer);
    this.change(hash, { status: STATUS.rejected, blockHeight: 0, executedAt: 0 });
  }

  /** Fails a queued transaction inside a block: its nonce is used, nothing moves. */
  fail(hash: string): void {
    const { transfer } = this.expect(hash, STATUS.queued);
    this.keyOf(transfer).nonce += 1n;
    this.change(hash, { status: STATUS.failed, blockHeight: this.nextBlock(), executedAt: this.time });
  }

  /** Refuses a queued transaction outside of any block: its nonce stays free. */
  reject(hash: string): void {
    this.expect(hash, STATUS.queued);
    this.change(hash, { status: STATUS.rejected });
  }

  private async check(transfer: SignedTransfer): Promise<void> {
    const { fromAccountIndex, toAccountIndex, nonce, expiredAt } = transfer;
    const sender = this.ledger.account(fromAccountIndex);
    const recipient = this.ledger.account(toAccountIndex);
    const key = this.keyOf(transfer);
    if (fromAccountIndex === toAccountIndex && transfer.fromRouteType === transfer.toRouteType)
      throw new ExchangeRefusal(21_502, "invalid self transfer");
    if (expiredAt <= BigInt(this.time)) throw new ExchangeRefusal(21_511, "transaction expired");
    // One that is queued has its nonce already.
    const waiting = this.records.filter(
      (one) =>
        one.status === STATUS.queued &&
        one.transfer.fromAccountIndex === fromAccountIndex &&
        one.transfer.apiKeyIndex === transfer.apiKeyIndex,
    ).length;
    if (nonce !== key.nonce + BigInt(waiting)) throw new ExchangeRefusal(21_104, "invalid nonce");
    if (!this.ledger.covers(transfer)) throw new ExchangeRefusal(21_503, "not enough asset balance");
    if (sender.l1Address === recipient.l1Address) return;
    if ((await this.ownerOf(transfer)) !== sender.l1Address)
      throw new ExchangeRefusal(21_136, "invalid l1 signature");
  }

  /** Who signed the text of a transfer with an account on Ethereum. */
  private async ownerOf(transfer: SignedTransfer): Promise<string | undefined> {
    const message = lighterTransferText({ ...transfer, lighterChainId: this.chainId });
    try {
      const signer = await recoverMessageAddress({ message, signature: transfer.l1Sig as Hex });
      return signer.toLowerCase();
    } catch {
      // A malformed signature has no signer.
      return undefined;
    }
  }

  private keyOf({ fromAccountIndex, apiKeyIndex }: SignedTransfer): { publicKey: string; nonce: bigint } {
    const key = this.ledger.account(fromAccountIndex).keys.get(apiKeyIndex);
    if (key === undefined) throw new ExchangeRefusal(21_109, "api key not found");
    return key;
  }

  private nextBlock(): number {
    return (this.height += 1);
  }

  private expect(hash: string, status: TransactionRecord["status"]): TransactionRecord {
    const found = this.record(hash);
    if (found?.status !== status)
      throw new RangeError(`transaction ${hash} has status ${found?.status}, not ${status}`);
    return found;
  }

  private change(hash: string, fields: Partial<TransactionRecord>): void {
    const at = this.records.findIndex((one) => one.hash === hash);
    const before = this.records[at];
    if (before !== undefined) this.records[at] = { ...before, ...fields };
  }
}

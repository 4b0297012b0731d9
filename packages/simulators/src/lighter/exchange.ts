import { lighterTransferText, type Address, type Hex } from "@causeway/domain";
import { recoverMessageAddress } from "viem";
import { LighterLedger } from "./ledger.ts";
import { LighterError } from "./refusal.ts";
import { readSignedTransfer, type SignedTransfer } from "./signed-transfer.ts";

/** Statuses of a transaction, with Lighter's numbers. */
export const STATUS = { queued: 1, committed: 2, executed: 3, failed: 4, rejected: 5 } as const;

/** A recorded transaction. */
export interface TransactionRecord {
  readonly hash: string;
  readonly type: number;
  /** As submitted by its sender. */
  readonly info: string;
  readonly transfer: SignedTransfer;
  readonly status: (typeof STATUS)[keyof typeof STATUS];
  /** 0 while it is not in a block. */
  readonly blockHeight: number;
  readonly sequenceIndex: number;
  /** Unix milliseconds. */
  readonly queuedAt: number;
  /** 0 until it is executed. */
  readonly executedAt: number;
}

/** The status that an accepted transaction reaches automatically. */
export type Pace = "queued" | "committed" | "executed";

export interface ExchangeOptions {
  /** The chain id that signers must use. Default: 304. */
  readonly chainId?: bigint;
  /** Address of Lighter's contract on Ethereum, different for each network. */
  readonly contract?: Address;
  /** Unix milliseconds. Default: the machine's time. */
  readonly now?: () => number;
  /** The hash of these fields according to Lighter's own signer. */
  readonly hashOf: (transfer: SignedTransfer) => Promise<string>;
}

const TRANSFER_TYPE = 12;
const MAIN_CONTRACT: Address = `0x${"3b".repeat(20)}`;

/**
 * A local Lighter: accounts, keys, balances and transfers between them, by the known rules of Lighter.
 * It accepts a transaction if its hash matches its fields, its key is registered and its nonce is the key's
 * next; a transfer to another owner also needs the owner's own signature of its text. Only the format of API
 * key signatures is checked, because no verifier is available.
 */
export class LighterExchange {
  readonly ledger = new LighterLedger();
  readonly chainId: bigint;
  readonly contract: Address;
  /** In order of acceptance. */
  readonly records: TransactionRecord[] = [];
  /** The status at which transactions stop until a test advances them. */
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

  /** The simulated clock, Unix milliseconds. */
  get time(): number {
    return this.now() + this.aheadMs;
  }

  passTime(ms: number): void {
    this.aheadMs += ms;
  }

  record(hash: string): TransactionRecord | undefined {
    return this.records.find((record) => record.hash === hash);
  }

  /**
   * Accepts a signed transaction and advances it as configured by the pace.
   *
   * @returns its hash
   * @throws LighterError
   */
  async submit(type: number, info: string): Promise<string> {
    if (type !== TRANSFER_TYPE) throw new LighterError(21_500, "invalid tx type");
    const transfer = readSignedTransfer(info);
    const hash = await this.hashOf(transfer);
    if (this.record(hash) !== undefined) throw new LighterError(21_505, "tx already exists");
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
   * Puts a queued transaction into a block, or rejects it if it is no longer valid; then its nonce stays
   * free.
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

  /** Executes a transaction that is in a block. */
  settle(hash: string): void {
    this.expect(hash, STATUS.committed);
    this.change(hash, { status: STATUS.executed });
  }

  /**
   * Reverts the block of a transaction before execution: its transfer is undone and its nonce is free again.
   */
  orphan(hash: string): void {
    const { transfer } = this.expect(hash, STATUS.committed);
    this.keyOf(transfer).nonce -= 1n;
    this.ledger.undo(transfer);
    this.change(hash, { status: STATUS.rejected, blockHeight: 0, executedAt: 0 });
  }

  /** Fails a queued transaction in a block: its nonce is used, and nothing is transferred. */
  fail(hash: string): void {
    const { transfer } = this.expect(hash, STATUS.queued);
    this.keyOf(transfer).nonce += 1n;
    this.change(hash, { status: STATUS.failed, blockHeight: this.nextBlock(), executedAt: this.time });
  }

  /** Rejects a queued transaction outside any block: its nonce stays free. */
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
      throw new LighterError(21_502, "invalid self transfer");
    if (expiredAt <= BigInt(this.time)) throw new LighterError(21_511, "transaction expired");
    // A queued transaction already holds its nonce.
    const waiting = this.records.filter(
      (record) =>
        record.status === STATUS.queued &&
        record.transfer.fromAccountIndex === fromAccountIndex &&
        record.transfer.apiKeyIndex === transfer.apiKeyIndex,
    ).length;
    if (nonce !== key.nonce + BigInt(waiting)) throw new LighterError(21_104, "invalid nonce");
    if (!this.ledger.covers(transfer)) throw new LighterError(21_503, "not enough asset balance");
    if (sender.l1Address === recipient.l1Address) return;
    if ((await this.ownerOf(transfer)) !== sender.l1Address)
      throw new LighterError(21_136, "invalid l1 signature");
  }

  /** The Ethereum account that signed the text of a transfer. */
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
    if (key === undefined) throw new LighterError(21_109, "api key not found");
    return key;
  }

  private nextBlock(): number {
    return (this.height += 1);
  }

  private expect(hash: string, status: TransactionRecord["status"]): TransactionRecord {
    const record = this.record(hash);
    if (record?.status !== status)
      throw new RangeError(`transaction ${hash} has status ${record?.status}, not ${status}`);
    return record;
  }

  private change(hash: string, fields: Partial<TransactionRecord>): void {
    const index = this.records.findIndex((record) => record.hash === hash);
    const record = this.records[index];
    if (record !== undefined) this.records[index] = { ...record, ...fields };
  }
}

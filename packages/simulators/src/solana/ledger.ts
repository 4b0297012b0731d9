import {
  address,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  lamports,
  type Transaction,
} from "@solana/kit";
import { base58 } from "@scure/base";
import { FailedTransactionMetadata, LiteSVM } from "litesvm";
import { AccountHistory, type StoredAccount } from "./account-history.ts";
import { executionError } from "./execution-error.ts";
import { RpcError } from "./rpc-server.ts";
import { Slots, type Commitment, type SlotOptions } from "./slots.ts";
import {
  accountKeysOf,
  metaOf,
  mintOf,
  type ResolvedMessage,
  type AccountSnapshot,
  type TransactionRecord,
} from "./transaction-record.ts";

const CLOCK_SYSVAR = "SysvarC1ock11111111111111111111111111111111";

/**
 * One node: a real virtual machine with the features of a cluster: blocks, lagging commitment levels and the
 * lifetime of transactions.
 */
export class Ledger {
  readonly slots: Slots;
  readonly genesisHash: string;
  private readonly svm: LiteSVM;
  private readonly accounts = new AccountHistory();
  private readonly transactions = new Map<string, TransactionRecord>();
  /** Signatures by account, oldest first. */
  private readonly signaturesByAccount = new Map<string, string[]>();

  constructor(options: SlotOptions & { readonly genesisHash: string }) {
    this.genesisHash = options.genesisHash;
    this.slots = new Slots(options);
    // Recent blockhashes and duplicates are checked in this class, because the machine knows only one hash.
    this.svm = new LiteSVM().withNativeMints().withBlockhashCheck(false).withTransactionHistory(0n);
    this.publishTime();
  }

  /** Starts the next block. */
  nextSlot(skipped = 0): void {
    this.slots.next(skipped);
    this.publishTime();
  }

  /** Sets the chain's time from the current block on. */
  setTime(seconds: number): void {
    this.slots.current.time = Math.max(seconds, this.slots.current.time);
    this.publishTime();
  }

  /**
   * Undoes everything from `slot` on, as if the cluster had voted for another fork.
   *
   * @throws Error if the slot is final
   */
  dropFrom(slot: number): void {
    this.slots.dropFrom(slot);
    for (const { address: accountAddress, account } of this.accounts.dropFrom(slot))
      this.write(accountAddress, account);
    for (const [signature, record] of this.transactions)
      if (record.slot >= slot) {
        this.transactions.delete(signature);
        for (const key of accountKeysOf(record.message)) {
          const list = this.signaturesByAccount.get(key);
          list?.splice(list.indexOf(signature), 1);
        }
      }
    this.publishTime();
  }

  /** Deploys a program. Without an upgrade authority, no one can upgrade it. */
  addProgram(id: string, program: Uint8Array, upgradeAuthority?: string): void {
    this.svm.addProgram(address(id), program);
    // A program account contains a tag and the address of its program data account, which contains a tag, a
    // slot, an optional upgrade authority, and the program.
    const programData = base58.encode(this.read(id)?.data.subarray(4, 36) ?? new Uint8Array());
    const account = this.read(programData);
    if (account === undefined) throw new Error(`program ${id} was not deployed`);
    account.data.fill(0, 12, 45);
    if (upgradeAuthority !== undefined) {
      account.data[12] = 1;
      account.data.set(base58.decode(upgradeAuthority), 13);
    }
    this.write(programData, account);
  }

  /** Sets an account without a transaction, at all commitment levels. */
  setAccount(accountAddress: string, account: StoredAccount): void {
    this.write(accountAddress, account);
    this.accounts.recordChange(accountAddress, 0, undefined, account);
    this.accounts.recordChange(accountAddress, this.slots.current.slot, account, account);
  }

  account(accountAddress: string, slot: number): StoredAccount | undefined {
    if (accountAddress === CLOCK_SYSVAR) return this.clockAt(slot);
    return this.accounts.accountAt(accountAddress, slot, () => this.read(accountAddress));
  }

  /** All token accounts of a wallet, of both token programs. */
  tokenAccountsOf(
    wallet: string,
    slot: number,
  ): readonly { readonly address: string; readonly account: StoredAccount }[] {
    return this.accounts.addresses().flatMap((accountAddress) => {
      const account = this.account(accountAddress, slot);
      if (account === undefined || mintOf(account) === undefined) return [];
      return base58.encode(account.data.subarray(32, 64)) === wallet
        ? [{ address: accountAddress, account }]
        : [];
    });
  }

  minBalance(bytes: number): bigint {
    return this.svm.minimumBalanceForRentExemption(BigInt(bytes));
  }

  transaction(signature: string, commitment: Commitment): TransactionRecord | undefined {
    const record = this.transactions.get(signature);
    return record !== undefined && record.slot <= this.slots.at(commitment) ? record : undefined;
  }

  /** Signatures of one account, newest first. */
  transactionsOf(accountAddress: string, commitment: Commitment): readonly TransactionRecord[] {
    return (this.signaturesByAccount.get(accountAddress) ?? [])
      .map((signature) => this.transaction(signature, commitment))
      .filter((record) => record !== undefined)
      .toReversed();
  }

  transactionsIn(slot: number): readonly TransactionRecord[] {
    return [...this.transactions.values()].filter((record) => record.slot === slot);
  }

  /** Simulates a transaction on the newest state. @throws RpcError if the bytes are not a transaction */
  simulate(raw: Uint8Array): {
    readonly error: unknown;
    readonly logs: readonly string[];
    readonly units: bigint;
  } {
    const { transaction, message } = this.decode(raw);
    if (this.slots.recent(message.recentBlockhash) === undefined)
      return { error: "BlockhashNotFound", logs: [], units: 0n };
    const result = this.svm.simulateTransaction(transaction);
    const isFailed = result instanceof FailedTransactionMetadata;
    const meta = result.meta();
    return {
      error: isFailed ? executionError(result) : null,
      logs: meta.logs(),
      units: meta.computeUnitsConsumed(),
    };
  }

  /**
   * Adds a transaction to the current block, even if it fails, as long as it can pay its fee.
   *
   * @throws RpcError if no block can contain it
   */
  include(raw: Uint8Array): string {
    const { transaction, message, signatures } = this.decode(raw);
    const [signature = ""] = signatures;
    // Nodes respond like this to a transaction that they already have.
    if (this.transactions.has(signature)) throw refusal("AlreadyProcessed");
    if (this.slots.recent(message.recentBlockhash) === undefined) throw refusal("BlockhashNotFound");
    const keys = accountKeysOf(message);
    const before = this.readAccounts(keys);
    const result = this.svm.sendTransaction(transaction);
    const isFailed = result instanceof FailedTransactionMetadata;
    const meta = isFailed ? result.meta() : result;
    const error = isFailed ? executionError(result) : null;
    const after = this.readAccounts(keys);
    // A transaction that fails before its first instruction is not in a block and pays no fee.
    if (isFailed && (before[0]?.account?.lamports ?? 0n) === (after[0]?.account?.lamports ?? 0n))
      throw refusal(error);
    const { slot } = this.slots.current;
    keys.forEach((key, index) => {
      this.accounts.recordChange(key, slot, before[index]?.account, after[index]?.account);
      const list = this.signaturesByAccount.get(key) ?? [];
      list.push(signature);
      this.signaturesByAccount.set(key, list);
    });
    const record = { signature, slot, raw, signatures, message, error };
    this.transactions.set(signature, { ...record, meta: metaOf(message, meta, error, before, after) });
    return signature;
  }

  private decode(raw: Uint8Array): {
    transaction: Transaction;
    message: ResolvedMessage;
    signatures: readonly string[];
  } {
    // Size of a network packet on Solana.
    if (raw.length > 1_232) throw new RpcError(-32602, "base64 encoded too large");
    try {
      const transaction = getTransactionDecoder().decode(raw);
      const signatures = Object.values(transaction.signatures).map((bytes) =>
        bytes === null ? base58.encode(new Uint8Array(64)) : getBase58Decoder().decode(bytes),
      );
      return { transaction, message: this.resolve(transaction), signatures };
    } catch (error) {
      if (error instanceof RpcError) throw error;
      throw new RpcError(-32602, `failed to deserialize the transaction: ${String(error)}`);
    }
  }

  private resolve(transaction: Transaction): ResolvedMessage {
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    if (message.version === 1) throw new RpcError(-32602, "transactions of version 1 are not supported");
    const tables = "addressTableLookups" in message ? (message.addressTableLookups ?? []) : [];
    const lookups = tables.map((table) => ({
      accountKey: table.lookupTableAddress as string,
      writableIndexes: table.writableIndexes,
      readonlyIndexes: table.readonlyIndexes,
    }));
    const entries = (which: "writableIndexes" | "readonlyIndexes") =>
      lookups.flatMap((lookup) => lookup[which].map((index) => this.tableEntry(lookup.accountKey, index)));
    return {
      version: message.version,
      header: message.header,
      staticAccounts: message.staticAccounts,
      loadedWritable: entries("writableIndexes"),
      loadedReadonly: entries("readonlyIndexes"),
      lookups,
      recentBlockhash: message.lifetimeToken,
      instructions: message.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
        programIdIndex: programAddressIndex,
        accounts: accountIndices ?? [],
        data: base58.encode(Uint8Array.from(data ?? [])),
      })),
    };
  }

  private tableEntry(table: string, index: number): string {
    const data = this.read(table)?.data;
    // The keys follow a header of 56 bytes.
    const entry = data?.subarray(56 + 32 * index, 88 + 32 * index);
    if (entry?.length !== 32) throw refusal("InvalidAddressLookupTableIndex");
    return base58.encode(entry);
  }

  private readAccounts(keys: readonly string[]): readonly AccountSnapshot[] {
    return keys.map((key) => {
      const account = this.read(key);
      const mint = mintOf(account);
      return { account, decimals: mint === undefined ? 0 : (this.read(mint)?.data[44] ?? 0) };
    });
  }

  private read(accountAddress: string): StoredAccount | undefined {
    const stored = this.svm.getAccount(address(accountAddress));
    if (!stored.exists || stored.lamports === 0n) return undefined;
    const { programAddress, executable, data } = stored;
    return { lamports: stored.lamports, owner: programAddress, executable, data: Uint8Array.from(data) };
  }

  private write(accountAddress: string, account: StoredAccount | undefined): void {
    const {
      lamports: balance,
      owner,
      executable,
      data,
    } = account ?? {
      lamports: 0n,
      owner: "11111111111111111111111111111111",
      executable: false,
      data: new Uint8Array(),
    };
    this.svm.setAccount({
      address: address(accountAddress),
      lamports: lamports(balance),
      programAddress: address(owner),
      executable,
      data,
      space: BigInt(data.length),
    });
  }

  private clockAt(slot: number): StoredAccount | undefined {
    const block = this.slots.block(slot);
    if (block === undefined) return undefined;
    const data = Buffer.alloc(40);
    data.writeBigUInt64LE(BigInt(slot), 0);
    data.writeBigInt64LE(BigInt(block.time), 32);
    return {
      lamports: 1_169_280n,
      owner: "Sysvar1111111111111111111111111111111111111",
      executable: false,
      data,
    };
  }

  private publishTime(): void {
    const { slot, time } = this.slots.current;
    this.svm.warpToSlot(BigInt(slot));
    const clock = this.svm.getClock();
    clock.unixTimestamp = BigInt(time);
    this.svm.setClock(clock);
  }
}

function refusal(error: unknown): RpcError {
  const text = typeof error === "string" ? error : JSON.stringify(error);
  return new RpcError(-32002, `Transaction simulation failed: ${text}`, { err: error, logs: [] });
}

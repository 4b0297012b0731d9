import { base58, base64 } from "@scure/base";
import type { StoredAccount } from "./account-history.ts";
import type { Ledger } from "./ledger.ts";
import { RpcError, type Methods } from "./rpc-server.ts";
import { BLOCKHASH_WINDOW, type Commitment } from "./slots.ts";
import { amountOf, mintOf, tokenAmount, type TransactionRecord } from "./transaction-record.ts";

type Params = readonly unknown[];
type Fields = Readonly<Record<string, unknown>>;

export interface MethodOptions {
  /** Lamports of the faucet account, which pays for `requestAirdrop`. */
  readonly airdrop: (to: string, lamports: bigint) => Promise<string>;
  /** Whether sent transactions are accepted and then dropped, as by a node whose leader drops them. */
  readonly isDropping: () => boolean;
}

/** The methods of a node, over its ledger. The default commitment is finalized, as on real nodes. */
export function methodsOf(ledger: Ledger, options: MethodOptions): Methods {
  const { slots } = ledger;
  const context = (slot: number, value: unknown): unknown => ({
    context: { apiVersion: "3.0.0", slot },
    value,
  });
  /** The slot to read at. Refuses while it is below the caller's `minContextSlot`. */
  const slotFor = (config: Fields): number => {
    const slot = slots.at(commitmentOf(config));
    const minSlot = config["minContextSlot"];
    if (typeof minSlot === "number" && slot < minSlot)
      throw new RpcError(-32016, "Minimum context slot has not been reached", { contextSlot: slot });
    return slot;
  };
  const tokenAccount = (
    accountAddress: string,
    slot: number,
  ): { account: StoredAccount; decimals: number } => {
    const account = ledger.account(accountAddress, slot);
    const mint = mintOf(account);
    if (account === undefined || mint === undefined)
      throw new RpcError(-32602, "Invalid param: could not find account");
    return { account, decimals: ledger.account(mint, slot)?.data[44] ?? 0 };
  };
  const parsedTokens = (account: StoredAccount, slot: number): unknown => {
    const mint = mintOf(account) ?? "";
    const decimals = ledger.account(mint, slot)?.data[44] ?? 0;
    const info = {
      mint,
      owner: base58.encode(account.data.subarray(32, 64)),
      state: "initialized",
      isNative: false,
      tokenAmount: tokenAmount(amountOf(account.data), decimals),
    };
    const program =
      account.owner === "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" ? "spl-token" : "spl-token-2022";
    const { lamports, owner, executable } = account;
    const space = account.data.length;
    return {
      lamports,
      owner,
      executable,
      rentEpoch: 0,
      space,
      data: { program, parsed: { type: "account", info }, space },
    };
  };
  const blockOf = (slot: number, commitment: Commitment) => {
    if (slot > slots.at(commitment)) throw new RpcError(-32004, `Block not available for slot ${slot}`);
    const block = slots.block(slot);
    if (block === undefined)
      throw new RpcError(
        -32007,
        `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
      );
    return block;
  };
  const answerOf = (record: TransactionRecord, config: Fields): unknown => {
    const { slot, raw, message, signatures, meta } = record;
    if (message.version === 0 && typeof config["maxSupportedTransactionVersion"] !== "number")
      throw new RpcError(
        -32015,
        'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
      );
    const transaction =
      config["encoding"] === "base64"
        ? [base64.encode(raw), "base64"]
        : { signatures, message: jsonMessage(message) };
    return { slot, blockTime: slots.block(slot)?.time ?? null, transaction, meta, version: message.version };
  };

  const methods: Readonly<Record<string, (params: Params) => unknown>> = {
    getHealth: () => "ok",
    getVersion: () => ({ "solana-core": "3.0.0", "feature-set": 0 }),
    getGenesisHash: () => ledger.genesisHash,
    getSlot: ([config]) => slotFor(fieldsOf(config)),
    getBlockHeight: ([config]) => slots.block(slotFor(fieldsOf(config)))?.height,
    getFirstAvailableBlock: () => slots.first,
    getEpochInfo: ([config]) => {
      const slot = slotFor(fieldsOf(config));
      const slotsInEpoch = 432_000;
      return {
        absoluteSlot: slot,
        blockHeight: slots.block(slot)?.height,
        epoch: Math.floor(slot / slotsInEpoch),
        slotIndex: slot % slotsInEpoch,
        slotsInEpoch,
        transactionCount: null,
      };
    },
    getLatestBlockhash: ([config]) => {
      const slot = slotFor(fieldsOf(config));
      const { hash, height } = blockOf(slot, "processed");
      return context(slot, { blockhash: hash, lastValidBlockHeight: height + BLOCKHASH_WINDOW });
    },
    isBlockhashValid: ([hash, config]) => {
      const fields = fieldsOf(config);
      return context(slotFor(fields), slots.recent(String(hash), commitmentOf(fields)) !== undefined);
    },
    getBlockTime: ([slot]) => blockOf(Number(slot), "confirmed").time,
    getBlock: ([slot, config]) => {
      const fields = fieldsOf(config);
      const block = blockOf(Number(slot), commitmentOf(fields));
      const records = ledger.transactionsIn(block.slot);
      const detail = fields["transactionDetails"] ?? "full";
      return {
        blockhash: block.hash,
        previousBlockhash: block.previousHash,
        parentSlot: block.parentSlot,
        blockHeight: block.height,
        blockTime: block.time,
        ...(detail === "signatures" && { signatures: records.map(({ signature }) => signature) }),
        ...(detail === "full" && { transactions: records.map((record) => answerOf(record, fields)) }),
      };
    },
    getMinimumBalanceForRentExemption: ([bytes]) => ledger.minBalance(Number(bytes)),
    getFeeForMessage: ([message, config]) => {
      const [signers = 1] = base64.decode(String(message)).subarray(0, 2);
      return context(slotFor(fieldsOf(config)), 5_000 * (signers >= 128 ? 1 : signers));
    },
    getRecentPrioritizationFees: () => [{ slot: slots.at("processed"), prioritizationFee: 0 }],
    getBalance: ([accountAddress, config]) => {
      const slot = slotFor(fieldsOf(config));
      return context(slot, ledger.account(keyOf(accountAddress), slot)?.lamports ?? 0);
    },
    getAccountInfo: ([accountAddress, config]) => {
      const fields = fieldsOf(config);
      const slot = slotFor(fields);
      return context(slot, jsonAccount(ledger.account(keyOf(accountAddress), slot), fields));
    },
    getMultipleAccounts: ([list, config]) => {
      const fields = fieldsOf(config);
      const slot = slotFor(fields);
      if (!Array.isArray(list) || list.length > 100)
        throw new RpcError(-32602, "Too many inputs provided; max 100");
      return context(
        slot,
        list.map((accountAddress: unknown) =>
          jsonAccount(ledger.account(keyOf(accountAddress), slot), fields),
        ),
      );
    },
    getTokenAccountBalance: ([accountAddress, config]) => {
      const slot = slotFor(fieldsOf(config));
      const { account, decimals } = tokenAccount(keyOf(accountAddress), slot);
      return context(slot, tokenAmount(amountOf(account.data), decimals));
    },
    getTokenAccountsByOwner: ([owner, filter, config]) => {
      const fields = fieldsOf(config);
      const slot = slotFor(fields);
      const { mint, programId } = fieldsOf(filter);
      const tokenAccounts = ledger
        .tokenAccountsOf(keyOf(owner), slot)
        .filter(({ account }) =>
          mint === undefined ? account.owner === programId : mintOf(account) === mint,
        );
      return context(
        slot,
        tokenAccounts.map(({ address, account }) => ({
          pubkey: address,
          account:
            fields["encoding"] === "jsonParsed" ? parsedTokens(account, slot) : jsonAccount(account, fields),
        })),
      );
    },
    requestAirdrop: async ([to, amount]) => await options.airdrop(keyOf(to), BigInt(Number(amount))),
    simulateTransaction: ([bytes, config]) => {
      const fields = fieldsOf(config);
      const { error, logs, units } = ledger.simulate(bytesOf(bytes, fields));
      return context(slotFor(fields), {
        err: error,
        logs,
        unitsConsumed: units,
        accounts: null,
        returnData: null,
      });
    },
    sendTransaction: ([bytes, config]) => {
      const fields = fieldsOf(config);
      const raw = bytesOf(bytes, fields);
      if (fields["skipPreflight"] !== true) {
        const { error, logs } = ledger.simulate(raw);
        // The preflight of a transaction that is sent again fails, but it is already in a block, which takes
        // precedence.
        if (error !== null && ledger.transaction(signatureOf(raw), "processed") === undefined)
          throw new RpcError(-32002, `Transaction simulation failed: ${JSON.stringify(error)}`, {
            err: error,
            logs,
            unitsConsumed: 0,
          });
      }
      if (options.isDropping()) return signatureOf(raw);
      return ledger.include(raw);
    },
    getSignatureStatuses: ([signatures]) => {
      if (!Array.isArray(signatures)) throw new RpcError(-32602, "Invalid params");
      return context(
        slots.at("processed"),
        signatures.map((signature: unknown) => {
          const record = ledger.transaction(String(signature), "processed");
          if (record === undefined) return null;
          const confirmationStatus = commitmentLevelOf(ledger, record);
          return {
            slot: record.slot,
            confirmations: confirmationStatus === "finalized" ? null : slots.current.slot - record.slot,
            err: record.error,
            status: record.error === null ? { Ok: null } : { Err: record.error },
            confirmationStatus,
          };
        }),
      );
    },
    getTransaction: ([signature, config]) => {
      const fields = fieldsOf(config);
      const record = ledger.transaction(String(signature), commitmentOf(fields));
      return record === undefined ? null : answerOf(record, fields);
    },
    getSignaturesForAddress: ([accountAddress, config]) => {
      const fields = fieldsOf(config);
      slotFor(fields);
      let list = ledger.transactionsOf(keyOf(accountAddress), commitmentOf(fields));
      const { before, until } = fields;
      if (typeof before === "string") {
        const index = list.findIndex(({ signature }) => signature === before);
        list = index === -1 ? [] : list.slice(index + 1);
      }
      if (typeof until === "string") {
        const index = list.findIndex(({ signature }) => signature === until);
        list = index === -1 ? list : list.slice(0, index);
      }
      const limit = typeof fields["limit"] === "number" ? fields["limit"] : 1_000;
      if (limit > 1_000 || limit < 1) throw new RpcError(-32602, "Invalid limit; max 1000");
      return list.slice(0, limit).map((record) => ({
        signature: record.signature,
        slot: record.slot,
        err: record.error,
        memo: null,
        blockTime: slots.block(record.slot)?.time ?? null,
        confirmationStatus: commitmentLevelOf(ledger, record),
      }));
    },
  };
  return new Map(Object.entries(methods));
}

function commitmentLevelOf(ledger: Ledger, record: TransactionRecord): Commitment {
  if (record.slot <= ledger.slots.at("finalized")) return "finalized";
  return record.slot <= ledger.slots.at("confirmed") ? "confirmed" : "processed";
}

function fieldsOf(config: unknown): Fields {
  if (typeof config === "string") return { encoding: config };
  return typeof config === "object" && config !== null ? (config as Fields) : {};
}

function commitmentOf(config: Fields): Commitment {
  const { commitment = "finalized" } = config;
  if (commitment === "processed" || commitment === "confirmed" || commitment === "finalized")
    return commitment;
  throw new RpcError(-32602, `Invalid params: unknown variant ${JSON.stringify(commitment)}`);
}

function keyOf(text: unknown): string {
  if (typeof text === "string" && text.length <= 44) {
    try {
      if (base58.decode(text).length === 32) return text;
    } catch {
      // The text is not base58; it is refused below.
    }
  }
  throw new RpcError(-32602, "Invalid param: Invalid");
}

function bytesOf(text: unknown, config: Fields): Uint8Array {
  try {
    return config["encoding"] === "base64" ? base64.decode(String(text)) : base58.decode(String(text));
  } catch {
    throw new RpcError(-32602, "invalid base64 or base58 encoding");
  }
}

/** The first of a transaction's signatures, which follow their count. */
function signatureOf(raw: Uint8Array): string {
  return base58.encode(raw.subarray(1, 65));
}

function jsonAccount(account: StoredAccount | undefined, config: Fields): unknown {
  if (account === undefined) return null;
  const { lamports, owner, executable, data } = account;
  const slice = fieldsOf(config["dataSlice"]);
  const { offset, length } = slice;
  const visibleData =
    typeof offset === "number" && typeof length === "number" ? data.subarray(offset, offset + length) : data;
  const encoded = config["encoding"] === "base58" ? base58.encode(visibleData) : base64.encode(visibleData);
  const encoding = config["encoding"] === "base58" ? "base58" : "base64";
  return { lamports, owner, executable, rentEpoch: 0, space: data.length, data: [encoded, encoding] };
}

function jsonMessage(message: TransactionRecord["message"]): unknown {
  const { header, lookups, version, staticAccounts, recentBlockhash, instructions } = message;
  return {
    accountKeys: staticAccounts,
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
    },
    recentBlockhash,
    instructions: instructions.map((instruction) => ({ ...instruction, stackHeight: 1 })),
    ...(version === 0 && { addressTableLookups: lookups }),
  };
}

import {
  parseAddress,
  parseHex32,
  type Address,
  type HyperliquidSigningProfile,
  type Hex,
  type Hex32,
  type HyperliquidAction,
} from "@causeway/domain";
import { garbage, redact, RpcFault } from "../rpc-fault.ts";

/**
 * Parses the answers of Hyperliquid and its explorer, checking every field. Pure; throws RpcFault for
 * anything other than what was requested.
 */

/** One transaction on Hyperliquid. Every block is final. */
export interface HyperliquidTransaction {
  readonly hash: Hex32;
  /** Unix milliseconds of its block. */
  readonly time: bigint;
  readonly block: bigint;
  /** The signer. */
  readonly user: Address;
  /** Why the transaction failed; undefined if it succeeded. */
  readonly error: string | undefined;
  /** Undefined if the action is not a `usdSend` or `sendAsset`. */
  readonly action: HyperliquidAction | undefined;
  /** The effect of this kind of action is unknown: it may contain any transfer (`multiSig` does). */
  readonly isOpaque: boolean;
}

export type TransferKind = "usdSend" | "sendAsset" | "spotSend";

/** Known actions that are never a `usdSend` or `sendAsset`. */
const OTHER_ACTIONS: ReadonlySet<string> = new Set([
  "spotSend",
  "withdraw3",
  "usdClassTransfer",
  "vaultTransfer",
  "subAccountTransfer",
  "subAccountSpotTransfer",
]);

/** Kinds of ledger entries that no `usdSend` or `sendAsset` creates. */
const OTHER_KINDS: ReadonlySet<string> = new Set([
  "deposit",
  "withdraw",
  "accountClassTransfer",
  "accountActivationGas",
  "subAccountTransfer",
  "vaultCreate",
  "vaultDeposit",
  "vaultDistribution",
  "vaultLeaderCommission",
  "vaultWithdraw",
  "liquidation",
  "rewardsClaim",
  "spotGenesis",
  "cStakingTransfer",
]);

/** The ledger's names for transfers from one account to another. */
const TRANSFER_KINDS: ReadonlyMap<string, TransferKind> = new Map([
  ["internalTransfer", "usdSend"],
  ["send", "sendAsset"],
  ["spotTransfer", "spotSend"],
]);

/** A transfer in an account's ledger: enough to find its transaction, too little to judge it. */
export interface LedgerTransfer {
  readonly hash: Hex32;
  readonly time: bigint;
  /** The kind of action that usually creates such an entry. */
  readonly kind: TransferKind;
  readonly user: Address;
  readonly destination: Address;
  /** Decimal text. */
  readonly amount: string;
  /** Undefined if the ledger omits it: for a `usdSend`, and for transfers by contracts and agents. */
  readonly nonce: bigint | undefined;
}

/** An entry of an unknown kind: a transfer under a new name, or something else. */
export interface UnknownEntry {
  readonly hash: Hex32;
  readonly time: bigint;
  readonly type: string;
  /** The sender and the recipient; undefined if the entry omits them. */
  readonly user: Address | undefined;
  readonly destination: Address | undefined;
}

/** One page of a ledger. */
export interface LedgerPage {
  /** Number of entries of any kind. */
  readonly size: number;
  readonly transfers: readonly LedgerTransfer[];
  readonly unknown: readonly UnknownEntry[];
}

/** A spot token. */
export interface SpotToken {
  readonly name: string;
  readonly tokenId: Hex;
  readonly index: number;
  /** Decimals of the currency in which its deposits are attested. */
  readonly decimals: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The requested transaction; undefined if the explorer reports that it does not exist. */
export function readTransactionAnswer(
  answer: unknown,
  hash: Hex32,
  profile: HyperliquidSigningProfile,
): HyperliquidTransaction | undefined {
  const method = "txDetails";
  if (answer === null) return undefined;
  const fields = record(method, answer, "response");
  if (fields["type"] === "error") {
    const message = typeof fields["message"] === "string" ? fields["message"] : "message is missing";
    // Any other reason to refuse (rate, age of the block, an outage) proves nothing about the transaction.
    if (/not found|unknown (?:transaction|tx|hash)/i.test(message)) return undefined;
    throw new RpcFault({ kind: "refused", method, reason: redact(message) });
  }
  if (fields["type"] !== method) throw garbage(method, "response has a different type than requested");
  if (fields["tx"] === null) return undefined;
  const transaction = readTransaction(fields["tx"], method, profile);
  if (transaction.hash !== hash) throw garbage(method, "response concerns a different transaction");
  return transaction;
}

/** The explorer's list of an account's transactions, which is incomplete in an unspecified way. */
export function readUserDetails(
  answer: unknown,
  user: Address,
  profile: HyperliquidSigningProfile,
): readonly HyperliquidTransaction[] {
  const method = "userDetails";
  const fields = record(method, answer, "response");
  if (fields["type"] === "error") {
    const message = typeof fields["message"] === "string" ? fields["message"] : "message is missing";
    throw new RpcFault({ kind: "refused", method, reason: redact(message) });
  }
  const { txs } = fields;
  if (fields["type"] !== method || !Array.isArray(txs)) throw garbage(method, "response is not a list");
  const transactions = txs.map((tx: unknown) => readTransaction(tx, method, profile));
  if (transactions.some((tx) => tx.user !== user))
    throw garbage(method, "transaction belongs to another account");
  return transactions;
}

function readTransaction(
  tx: unknown,
  method: string,
  profile: HyperliquidSigningProfile,
): HyperliquidTransaction {
  const fields = record(method, tx, "transaction");
  const { hash, error } = fields;
  const id = typeof hash === "string" ? parseHex32(hash) : undefined;
  if (id === undefined) throw garbage(method, "transaction has no hash");
  if (error !== null && typeof error !== "string")
    throw garbage(method, "response does not state whether the transaction failed");
  return {
    hash: id,
    time: natural(method, fields, "time"),
    block: natural(method, fields, "block"),
    user: account(method, fields, "user"),
    error: error ?? undefined,
    ...readAction(record(method, fields["action"], "action"), method, profile),
  };
}

function readAction(
  fields: Fields,
  method: string,
  { chainField }: HyperliquidSigningProfile,
): Pick<HyperliquidTransaction, "action" | "isOpaque"> {
  const text = (name: string): string => {
    const value = fields[name];
    if (typeof value !== "string") throw garbage(method, `action has no ${name}`);
    return value;
  };
  switch (fields["type"]) {
    case "usdSend":
      return knownAction({
        type: "UsdSend",
        chain: text(chainField),
        destination: text("destination"),
        amount: text("amount"),
        time: natural(method, fields, "time"),
      });
    case "sendAsset":
      return knownAction({
        type: "SendAsset",
        chain: text(chainField),
        destination: text("destination"),
        sourceDex: text("sourceDex"),
        destinationDex: text("destinationDex"),
        token: text("token"),
        amount: text("amount"),
        fromSubAccount: text("fromSubAccount"),
        nonce: natural(method, fields, "nonce"),
      });
    default:
      if (typeof fields["type"] !== "string") throw garbage(method, "action has no type");
      return { action: undefined, isOpaque: !OTHER_ACTIONS.has(fields["type"]) };
  }
}

function knownAction(action: HyperliquidAction): Pick<HyperliquidTransaction, "action" | "isOpaque"> {
  return { action, isOpaque: false };
}

/** Entries of an account's ledger; entries that are known not to be transfers are only counted. */
export function readLedger(answer: unknown, user: Address, from: bigint, to: bigint): LedgerPage {
  const method = "userNonFundingLedgerUpdates";
  if (!Array.isArray(answer)) throw garbage(method, "response is not a list");
  const transfers: LedgerTransfer[] = [];
  const unknown: UnknownEntry[] = [];
  for (const entry of answer as unknown[]) {
    const fields = record(method, entry, "entry");
    const time = natural(method, fields, "time");
    if (time < from || time > to) throw garbage(method, "entry is outside the requested time range");
    const delta = record(method, fields["delta"], "delta of an entry");
    const { type } = delta;
    if (typeof type !== "string") throw garbage(method, "entry has no type");
    const kind = TRANSFER_KINDS.get(type);
    if (OTHER_KINDS.has(type)) continue;
    const hash = typeof fields["hash"] === "string" ? parseHex32(fields["hash"]) : undefined;
    if (hash === undefined) throw garbage(method, "entry has no hash");
    if (kind === undefined) {
      unknown.push({
        hash,
        time,
        type,
        user: accountOrNone(delta["user"]),
        destination: accountOrNone(delta["destination"]),
      });
      continue;
    }
    const amount = delta[kind === "usdSend" ? "usdc" : "amount"];
    if (typeof amount !== "string") throw garbage(method, "transfer has no amount");
    const transfer: LedgerTransfer = {
      hash,
      time,
      kind,
      user: account(method, delta, "user"),
      destination: account(method, delta, "destination"),
      amount,
      nonce: isAbsent(delta["nonce"]) ? undefined : natural(method, delta, "nonce"),
    };
    if (transfer.user !== user && transfer.destination !== user)
      throw garbage(method, "transfer belongs to another account");
    transfers.push(transfer);
  }
  return { size: answer.length, transfers, unknown };
}

export function readSpotMeta(answer: unknown): readonly SpotToken[] {
  const method = "spotMeta";
  const { tokens } = record(method, answer, "response");
  if (!Array.isArray(tokens)) throw garbage(method, "response has no tokens");
  return tokens.map((token: unknown) => {
    const fields = record(method, token, "a token");
    const { name, tokenId } = fields;
    if (typeof name !== "string") throw garbage(method, "token has no name");
    if (typeof tokenId !== "string" || !/^0x[0-9a-fA-F]{32}$/.test(tokenId))
      throw garbage(method, "token has no id");
    const decimals = natural(method, fields, "szDecimals");
    if (decimals > 18n) throw garbage(method, "token has too many decimals");
    return {
      name,
      tokenId: tokenId.toLowerCase() as Hex,
      index: Number(natural(method, fields, "index")),
      decimals: Number(decimals),
    };
  });
}

/** The withdrawable amount of an account on a dex, and Hyperliquid's own clock, ms. */
export function readClearinghouse(answer: unknown): { readonly withdrawable: string; readonly time: bigint } {
  const method = "clearinghouseState";
  const fields = record(method, answer, "response");
  const { withdrawable } = fields;
  if (typeof withdrawable !== "string") throw garbage(method, "response has no field withdrawable");
  return { withdrawable, time: natural(method, fields, "time") };
}

/** Spot balances by the token's index. */
export function readSpotBalances(
  answer: unknown,
): ReadonlyMap<number, { readonly total: string; readonly hold: string }> {
  const method = "spotClearinghouseState";
  const { balances } = record(method, answer, "response");
  if (!Array.isArray(balances)) throw garbage(method, "response has no balances");
  return new Map(
    balances.map((balance: unknown) => {
      const fields = record(method, balance, "a balance");
      const { total, hold } = fields;
      if (typeof total !== "string" || typeof hold !== "string")
        throw garbage(method, "balance has no amount");
      return [Number(natural(method, fields, "token")), { total, hold }] as const;
    }),
  );
}

/** Fee of a transfer to an account, in USDC as decimal text. */
export function readTransferCheck(answer: unknown): {
  readonly fee: string;
  readonly isSanctioned: boolean;
} {
  const method = "preTransferCheck";
  const { fee, isSanctioned } = record(method, answer, "response");
  if (typeof fee !== "string" || typeof isSanctioned !== "boolean")
    throw garbage(method, "response has no fee");
  return { fee, isSanctioned };
}

/** Why Hyperliquid refused a posted action; undefined if the action was executed. */
export function readPosted(answer: unknown): { readonly refusal: string } | undefined {
  const method = "exchange";
  const { status, response } = record(method, answer, "response");
  if (status === "ok") return undefined;
  if (status === "err" && typeof response === "string") return { refusal: redact(response) };
  throw garbage(method, "response neither accepts nor refuses the action");
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function record(method: string, value: unknown, name: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw garbage(method, `${name} is not an object`);
  return value as Fields;
}

/** Refuses numbers above 2^53, which JSON.parse may have rounded. */
function natural(method: string, fields: Fields, name: string): bigint {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw garbage(method, `${name} is not a non-negative integer`);
  return BigInt(value);
}

function accountOrNone(value: unknown): Address | undefined {
  return typeof value === "string" ? parseAddress(value) : undefined;
}

function account(method: string, fields: Fields, name: string): Address {
  const address = accountOrNone(fields[name]);
  if (address === undefined) throw garbage(method, `${name} is not an account`);
  return address;
}

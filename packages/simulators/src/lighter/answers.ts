import { exactText } from "./exact-text.ts";
import { STATUS, type LighterExchange, type TransactionRecord } from "./exchange.ts";
import { LighterError } from "./refusal.ts";

/** Responses of Lighter and its explorer, in their documented formats. */

const STATUS_NAMES: ReadonlyMap<TransactionRecord["status"], string> = new Map([
  [STATUS.queued, "pending"],
  [STATUS.committed, "committed"],
  [STATUS.executed, "executed"],
  [STATUS.failed, "failed"],
  [STATUS.rejected, "rejected"],
]);

/** `GET /api/v1/tx`. */
export function transactionAnswer(exchange: LighterExchange, record: TransactionRecord): string {
  const { transfer } = record;
  return exactText({
    code: 200,
    hash: record.hash,
    type: record.type,
    info: record.info,
    event_info: "{}",
    status: record.status,
    transaction_index: 443,
    l1_address: exchange.ledger.account(transfer.fromAccountIndex).l1Address,
    account_index: transfer.fromAccountIndex,
    nonce: transfer.nonce,
    expire_at: transfer.expiredAt,
    block_height: record.blockHeight,
    queued_at: record.queuedAt,
    executed_at: record.executedAt,
    sequence_index: record.sequenceIndex,
    parent_hash: "",
    api_key_index: transfer.apiKeyIndex,
    transaction_time: record.executedAt * 1_000,
    committed_at: 0,
    verified_at: 0,
  });
}

/** `GET /api/v1/account`. @throws LighterError */
export function accountAnswer({ ledger }: LighterExchange, index: bigint): string {
  const account = ledger.account(index);
  return exactText({
    code: 200,
    total: 1,
    accounts: [
      {
        code: 200,
        account_type: 0,
        index,
        l1_address: account.l1Address,
        status: 1,
        collateral: formatDecimal(ledger.balance(index, 3n, 0n)),
        available_balance: formatDecimal(ledger.balance(index, 3n, 0n)),
        assets: [...account.balances]
          .filter(([name]) => name.endsWith("/1"))
          .map(([name, balance]) => ({
            symbol: name === "3/1" ? "USDC" : "ETH",
            asset_id: BigInt(name.slice(0, -2)),
            balance: formatDecimal(balance),
            locked_balance: "0.000000",
          })),
        positions: [],
      },
    ],
  });
}

/** `GET /api/v1/nextNonce`. @throws LighterError */
export function nextNonceAnswer({ ledger }: LighterExchange, account: bigint, key: bigint): string {
  const registeredKey = ledger.account(account).keys.get(key);
  if (registeredKey === undefined) throw new LighterError(21_109, "api key not found");
  return exactText({ code: 200, nonce: registeredKey.nonce });
}

/** `GET /accounts/{index}/logs` of the explorer: the transfers of an account, newest first. */
export function logsAnswer(
  records: readonly TransactionRecord[],
  account: string,
  page: { limit: number; offset: number },
): string {
  const lines = records
    .filter(({ transfer }) =>
      [`${transfer.fromAccountIndex}`, `${transfer.toAccountIndex}`].includes(account),
    )
    .toReversed()
    .slice(page.offset, page.offset + page.limit)
    .map((record) => ({
      tx_type: "L2Transfer",
      hash: record.hash,
      time: new Date(record.queuedAt).toISOString(),
      pubdata: {
        l2_transfer_pubdata_v2: {
          from_account_index: record.transfer.fromAccountIndex.toString(),
          to_account_index: record.transfer.toAccountIndex.toString(),
          fee_account_index: "0",
          asset_index: record.transfer.assetIndex.toString(),
          from_route_type: record.transfer.fromRouteType.toString(),
          to_route_type: record.transfer.toRouteType.toString(),
          amount: formatDecimal(record.transfer.amount),
          usdc_fee: formatDecimal(record.transfer.usdcFee),
        },
      },
      pubdata_type: "L2TransferV2",
      block_number: record.blockHeight,
      batch_number: Math.floor(record.blockHeight / 100),
      status: STATUS_NAMES.get(record.status) ?? "pending",
    }));
  return exactText(lines);
}

export function refusalAnswer({ lighterCode: exchangeCode, message }: LighterError): string {
  return exactText({ code: exchangeCode, message });
}

/** Formats base units of an asset with six decimals. */
function formatDecimal(units: bigint): string {
  return `${units / 1_000_000n}.${(units % 1_000_000n).toString().padStart(6, "0")}`;
}

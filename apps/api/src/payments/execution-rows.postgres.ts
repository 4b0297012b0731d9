import { getTableColumns } from "drizzle-orm";
import type { Row } from "../db/define-query.postgres.ts";
import type { DestinationExecution, ExecutionRecord, NewExecution } from "./executions.port.ts";
import { executions } from "./executions.tables.ts";

const {
  originUsd: _origin,
  destinationUsd: _destination,
  settled: _settled,
  ...newColumns
} = getTableColumns(executions);

/** The columns of a {@link NewExecution}. */
export const NEW_EXECUTION = newColumns;

export function newExecutionRow(execution: NewExecution): Row<typeof NEW_EXECUTION> {
  const { call, destination } = execution;
  return {
    requestId: execution.requestId,
    keyId: execution.keyId,
    wallet: execution.wallet ?? null,
    bodyHash: execution.bodyHash,
    chainId: execution.chainId,
    callTo: call.to,
    callData: call.data,
    callValue: call.value,
    callAuthorizations: call.authorizationList ?? null,
    gasLimit: Number(execution.gasLimit),
    maxFeePerGas: execution.maxFeePerGas,
    nativePriceUsd: execution.nativePriceUsd,
    salePriceUsd: execution.salePriceUsd ?? null,
    flatUsd: execution.flatUsd,
    destination: destination === undefined ? null : destinationToJson(destination),
    userAddress: execution.user ?? null,
    target: execution.target,
    day: execution.day,
    costUsd: execution.costUsd,
    createdAtMs: execution.createdAtMs,
  };
}

export function executionOf(row: typeof executions.$inferSelect): ExecutionRecord {
  return {
    requestId: row.requestId,
    keyId: row.keyId,
    wallet: row.wallet ?? undefined,
    bodyHash: row.bodyHash,
    chainId: row.chainId,
    call: {
      to: row.callTo,
      data: row.callData,
      value: row.callValue,
      authorizationList: row.callAuthorizations ?? undefined,
    },
    gasLimit: BigInt(row.gasLimit),
    maxFeePerGas: row.maxFeePerGas,
    nativePriceUsd: row.nativePriceUsd,
    salePriceUsd: row.salePriceUsd ?? undefined,
    flatUsd: row.flatUsd,
    destination: row.destination === null ? undefined : destinationFromJson(row.destination),
    user: row.userAddress ?? undefined,
    target: row.target,
    day: row.day,
    costUsd: row.costUsd,
    createdAtMs: row.createdAtMs,
    originUsd: row.originUsd ?? undefined,
    destinationUsd: row.destinationUsd ?? undefined,
    settled: row.settled,
  };
}

/** The key of `nativePriceUsd` in stored JSON. Never changes: workers of two versions share the rows. */
const STORED_PRICE = "coinUsd";

/** JSON with amounts as decimal strings. */
export function destinationToJson({ nativePriceUsd, ...destination }: DestinationExecution): string {
  return JSON.stringify({ ...destination, [STORED_PRICE]: nativePriceUsd }, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}

type StoredJson<T> = { readonly [Name in keyof T]: T[Name] extends bigint ? string : T[Name] };

function destinationFromJson(text: string): DestinationExecution {
  const { calls, authorizationList, extraGas, plainGas, maxFeePerGas, salePriceUsd, ...stored } = JSON.parse(
    text,
  ) as StoredJson<Omit<DestinationExecution, "calls" | "nativePriceUsd" | "salePriceUsd">> & {
    readonly [STORED_PRICE]: string;
    readonly salePriceUsd?: string;
    readonly calls: readonly StoredJson<DestinationExecution["calls"][number]>[];
  };
  return {
    calls: calls.map(({ to, data, value }) => ({ to, data, value: BigInt(value) })),
    authorizationList,
    extraGas: BigInt(extraGas),
    plainGas: BigInt(plainGas),
    maxFeePerGas: BigInt(maxFeePerGas),
    nativePriceUsd: BigInt(stored[STORED_PRICE]),
    ...(salePriceUsd !== undefined && { salePriceUsd: BigInt(salePriceUsd) }),
  };
}

import type { Authorization } from "@causeway/chains";
import type { Address, Hex } from "@causeway/domain";
import type { DestinationExecution, ExecutionRecord, NewExecution } from "./executions.port.ts";

export interface ExecutionRow {
  request_id: string;
  key_id: string;
  wallet: string | null;
  question_hash: string;
  chain_id: number;
  call_to: string;
  call_data: string;
  call_value: bigint;
  call_authorizations: string | null;
  gas_limit: number;
  max_fee_per_gas: bigint;
  coin_usd: bigint;
  sale_price_usd: bigint | null;
  flat_usd: bigint;
  destination: string | null;
  user_address: string | null;
  target: string;
  day: number;
  cost_usd: bigint;
  created_at_ms: number;
  origin_usd: bigint | null;
  destination_usd: bigint | null;
  settled: boolean;
}

export const NEW_EXECUTION_COLUMNS =
  "request_id, key_id, wallet, question_hash, chain_id, call_to, call_data, call_value, call_authorizations, gas_limit, max_fee_per_gas, coin_usd, sale_price_usd, flat_usd, destination, user_address, target, day, cost_usd, created_at_ms";
export const EXECUTION_COLUMNS = `${NEW_EXECUTION_COLUMNS}, origin_usd, destination_usd, settled`;

/** One value for each of {@link NEW_EXECUTION_COLUMNS}, under its name. */
export function newExecutionJson(execution: NewExecution): Readonly<Record<string, unknown>> {
  const { call, destination } = execution;
  return {
    request_id: execution.requestId,
    key_id: execution.keyId,
    wallet: execution.wallet ?? null,
    question_hash: execution.questionHash,
    chain_id: execution.chainId,
    call_to: call.to,
    call_data: call.data,
    call_value: call.value,
    call_authorizations: call.authorizationList === undefined ? null : JSON.stringify(call.authorizationList),
    gas_limit: execution.gasLimit,
    max_fee_per_gas: execution.maxFeePerGas,
    coin_usd: execution.coinUsd,
    sale_price_usd: execution.salePriceUsd ?? null,
    flat_usd: execution.flatUsd,
    destination: destination === undefined ? null : destinationToJson(destination),
    user_address: execution.user ?? null,
    target: execution.target,
    day: execution.day,
    cost_usd: execution.costUsd,
    created_at_ms: execution.createdAtMs,
  };
}

export function executionOf(row: ExecutionRow): ExecutionRecord {
  return {
    requestId: row.request_id as Hex,
    keyId: row.key_id,
    wallet: (row.wallet as Address | null) ?? undefined,
    questionHash: row.question_hash as Hex,
    chainId: row.chain_id,
    call: {
      to: row.call_to as Address,
      data: row.call_data as Hex,
      value: row.call_value,
      authorizationList:
        row.call_authorizations === null
          ? undefined
          : (JSON.parse(row.call_authorizations) as readonly Authorization[]),
    },
    gasLimit: BigInt(row.gas_limit),
    maxFeePerGas: row.max_fee_per_gas,
    coinUsd: row.coin_usd,
    salePriceUsd: row.sale_price_usd ?? undefined,
    flatUsd: row.flat_usd,
    destination: row.destination === null ? undefined : destinationFromJson(row.destination),
    user: (row.user_address as Address | null) ?? undefined,
    target: row.target as Address,
    day: row.day,
    costUsd: row.cost_usd,
    createdAtMs: row.created_at_ms,
    originUsd: row.origin_usd ?? undefined,
    destinationUsd: row.destination_usd ?? undefined,
    settled: row.settled,
  };
}

/** Amounts as decimal text. */
export function destinationToJson(destination: DestinationExecution): string {
  return JSON.stringify(destination, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}

type Written<T> = { readonly [Name in keyof T]: T[Name] extends bigint ? string : T[Name] };

function destinationFromJson(text: string): DestinationExecution {
  const { calls, authorizationList, extraGas, plainGas, maxFeePerGas, coinUsd, salePriceUsd } = JSON.parse(
    text,
  ) as Written<Omit<DestinationExecution, "calls" | "salePriceUsd">> & {
    readonly salePriceUsd?: string;
    readonly calls: readonly Written<DestinationExecution["calls"][number]>[];
  };
  return {
    calls: calls.map(({ to, data, value }) => ({ to, data, value: BigInt(value) })),
    authorizationList,
    extraGas: BigInt(extraGas),
    plainGas: BigInt(plainGas),
    maxFeePerGas: BigInt(maxFeePerGas),
    coinUsd: BigInt(coinUsd),
    ...(salePriceUsd !== undefined && { salePriceUsd: BigInt(salePriceUsd) }),
  };
}

import { bigint, customType, numeric } from "drizzle-orm/pg-core";

/** A 64-bit integer below 2^53: an id, a chain id, a height, or milliseconds since the epoch. */
export const int8 = (name: string) => bigint(name, { mode: "number" });

/** A 64-bit integer of any size. */
export const largeInt8 = (name: string) => bigint(name, { mode: "bigint" });

/** An unsigned 256-bit integer: an amount in base units, or USD with 18 decimals. */
export const uint = (name: string) => numeric(name, { precision: 78, scale: 0, mode: "bigint" });

/** JSON that is stored as text, because `jsonb` refuses some characters that clients may send. */
export const json = customType<{ data: unknown; driverData: string }>({
  dataType: () => "text",
  fromDriver: (value) => JSON.parse(value),
  toDriver: (value) => JSON.stringify(value),
});

export const bytes = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** The id of a database transaction. */
export const xid8 = customType<{ data: string }>({ dataType: () => "xid8" });

import { toHex, type Hex } from "viem";
import type { SignedOperation } from "./operations.ts";

export type { Hex };

/** A user operation as a bundler reads it: numbers as hex. */
export type UserOperation = Readonly<Record<string, string>>;

export function toWireOperation({ operation }: SignedOperation): UserOperation {
  return Object.fromEntries(
    Object.entries(operation).flatMap(([name, value]) => {
      if (typeof value === "bigint") return [[name, toHex(value)]];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

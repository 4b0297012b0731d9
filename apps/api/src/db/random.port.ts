import type { Hex32 } from "@causeway/domain";

/** Unpredictable bytes as an argument. */
export interface Random {
  bytes32(): Hex32;
}

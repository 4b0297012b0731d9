export * from "./depository-instructions.ts";
export * from "./derived-addresses.ts";
export * from "./payment-instructions.ts";
export type * from "./plain-instruction.ts";
export * from "./programs.ts";
export { createSolanaRail } from "./rail.ts";
export { createSolanaUsers, type SolanaUsers, type SolanaUsersOptions } from "./users.ts";

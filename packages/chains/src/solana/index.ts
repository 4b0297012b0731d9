export * from "@causeway/families/solana";
export * from "./payment-instructions.ts";
export { createSolanaRail } from "./rail.ts";
export { createSolanaUsers, type SolanaUsers, type SolanaUsersOptions } from "./users.ts";

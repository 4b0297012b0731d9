export * from "@causeway/families/solana";
export * from "./payment-instructions.ts";
export { connectSolana } from "./connection.ts";

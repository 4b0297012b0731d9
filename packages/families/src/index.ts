export { attestedDepository, type DepositoryReading } from "./attested-depository.ts";
export type * from "./evidence.ts";
export type * from "./nonce-mappings.ts";
export { saysRateLimit, type NodeErrorFacts } from "./rate-limit.ts";
export * from "./rpc-fault.ts";

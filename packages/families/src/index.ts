export { final, refuted } from "./answer.ts";
export { attestedDepository, type DepositoryReading } from "./attested-depository.ts";
export { presentFirst } from "./depositories.ts";
export type * from "./evidence.ts";
export type * from "./family.ts";
export type * from "./nonce-mappings.ts";
export { saysRateLimit, type NodeErrorFacts } from "./rate-limit.ts";
export * from "./rpc-fault.ts";

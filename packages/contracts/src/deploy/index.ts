export * from "./builds.ts";
export * from "./chain-plan.ts";
export * from "./create2.ts";
export * from "./hub-plan.ts";
export * from "./plan.ts";
export { matchBytecode, type BytecodeMismatch } from "./match-bytecode.ts";

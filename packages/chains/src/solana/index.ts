export * from "./depository-instructions.ts";
export * from "./derived-addresses.ts";
export type * from "./plain-instruction.ts";
export * from "./programs.ts";

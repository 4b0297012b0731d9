export * from "./ids/hex.ts";
export * from "./chain/chain.ts";
export * from "./order/order.ts";
export * from "./request/terms.ts";
export * from "./errors.ts";

export type { HyperliquidControl, Lie } from "./hyperliquid-control.ts";
export { LOCAL_USDC, type HyperliquidOptions, type HyperliquidToken } from "./hyperliquid-options.ts";
export { startHyperliquid, type RunningHyperliquid } from "./hyperliquid-server.ts";

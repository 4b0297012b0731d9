export type { ExchangeControl, Lie } from "./exchange-control.ts";
export { LOCAL_USDC, type ExchangeOptions, type ExchangeToken } from "./exchange-options.ts";
export { startExchange, type RunningExchange } from "./exchange-server.ts";

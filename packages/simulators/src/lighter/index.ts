export { type EndpointFaults, type LighterEndpoint } from "./endpoint.ts";
export { LighterExchange, STATUS, type Pace, type TransactionRecord } from "./exchange.ts";
export {
  startLighter,
  type LighterOptions,
  type LighterWallet,
  type RunningLighter,
  type TransferRequest,
} from "./start-lighter.ts";

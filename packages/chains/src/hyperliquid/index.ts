export { hyperliquidEvidence, type HyperliquidEvidenceOptions } from "./evidence.ts";
export { connectExchange } from "./connection.ts";
export {
  decodeSignedAction,
  encodeSignedAction,
  nonceOfSigned,
  signExchangeAction,
  type SignedAction,
} from "./signed-action.ts";

export { hyperliquidEvidence, type HyperliquidEvidenceOptions } from "./evidence.ts";
export { connectHyperliquid } from "./connection.ts";
export {
  decodeSignedAction,
  encodeSignedAction,
  nonceOfSigned,
  signExchangeAction,
  type SignedAction,
} from "./signed-action.ts";

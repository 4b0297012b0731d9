export { hyperliquidEvidence, type HyperliquidEvidenceOptions } from "./evidence.ts";

export { lighterEvidence, type LighterEvidenceOptions } from "./evidence.ts";

export { bitcoinEvidence } from "./evidence.ts";
export { connectBitcoin } from "./connection.ts";
export {
  depositTransaction,
  typicalDepositFee,
  type DepositTransaction,
  type DepositTerms,
} from "./deposit-psbt.ts";
export { dustLimit, feeFor, vsizeOf } from "./sizes-and-dust.ts";
export { connectBitcoinUsers } from "./users.ts";

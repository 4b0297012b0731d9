export {
  fieldsOf,
  isHash,
  isInteger,
  readBlockBytes,
  readBlockHash,
  readBlockTime,
  readBytes,
  readUnspentOutputs,
  readFeeRate,
  readNodeFeeRate,
  readOutspend,
  readPlaced,
  readScannedOutputs,
  readBlockStatus,
  type BlockStatus,
  type PlacedTransaction,
  type ReportedOutput,
  type ReportedSpend,
  type ScannedOutput,
} from "./answers.ts";
export { judgeDeposit, pays } from "./deposits.ts";
export type { BitcoinFacts } from "./facts.ts";
export { bitcoin, depositoryOf, needsSpent, type BitcoinRules, type SpendingTransaction } from "./family.ts";
export { finalityOf, FIRST_BLOCKS } from "./finality.ts";
export { carriesOnlyOrderId, judgePayments } from "./payments.ts";
export {
  bytesIn,
  hexOf,
  idOf,
  isCoinbase,
  readRawBlock,
  readRawTransaction,
  type BitcoinInput,
  type BitcoinOutput,
  type BitcoinTransaction,
  type BitcoinUnlocking,
} from "./answers/raw-transaction.ts";
export {
  addressBytesOfScript,
  addressOfScript,
  isKeyProgram,
  isWitnessProgram,
  scriptOf,
  scriptOfAddress,
} from "./address-codec/scripts.ts";
export { signsAllOutputs } from "./payments/sighash.ts";
export { certainId, effectOf, meaningOf, readWithdrawal, type WithdrawalPlan } from "./withdrawals.ts";

export { secondsOf, solidTransaction, type SolidTransaction, type Reported } from "./finality/agreement.ts";
export {
  readBlock,
  readConstantResult,
  readContent,
  readInfo,
  type TransactionInfo,
  type TronBlock,
} from "./answers.ts";
export { depositsIn } from "./deposits.ts";
export type { TronFacts } from "./facts.ts";
export { tron } from "./family.ts";
export { finalityOf } from "./finality.ts";
export { paymentsIn } from "./payments.ts";
export { readRawTransaction } from "./answers/raw-transaction.ts";
export { hashOfId, tvmAddress, tronAddress } from "./address-codec/tron-address.ts";
export { readWithdrawal } from "./withdrawals.ts";

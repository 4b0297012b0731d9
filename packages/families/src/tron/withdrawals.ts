/** Tron uses the same depository contract as EVM chains, with the same payloads. */
export { readWithdrawal } from "../evm/withdrawals.ts";

/** The depository on Tron is the one of EVM chains, and so are its payloads. */
export { readWithdrawal } from "../evm/withdrawals.ts";

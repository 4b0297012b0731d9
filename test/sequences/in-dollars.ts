import { formatUsd } from "@causeway/domain";

/** @param usd with 18 decimals */
export const inDollars = (usd: bigint): string =>
  `${usd < 0n ? "-" : ""}${formatUsd(usd < 0n ? -usd : usd)} USD`;

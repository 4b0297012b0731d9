import { familyChains } from "../families/family-plan.ts";

/** Where the funds are: the name of a chain in `GET /chains`, and the symbol of a currency. */
export interface TourStop {
  readonly chain: string;
  readonly symbol: string;
}

/** One transfer of the tour. Amounts in whole units. */
export interface TourLeg {
  readonly from: TourStop;
  readonly to: TourStop;
  readonly amount: string;
}

const evm = (symbol: string): TourStop => ({ chain: "local-a", symbol });
const solana: TourStop = { chain: familyChains.solana, symbol: "USDC" };
const bitcoin: TourStop = { chain: familyChains.bitcoin, symbol: "BTC" };
const hyperliquid: TourStop = { chain: familyChains.hyperliquid, symbol: "USDC" };

/**
 * Through every family and back: EVM → Solana → EVM → Bitcoin → EVM → Hyperliquid → EVM. Each leg spends less
 * than the previous one delivered.
 */
export const tourLegs: readonly TourLeg[] = [
  { from: evm("USDC"), to: solana, amount: "400" },
  { from: solana, to: evm("USDC"), amount: "350" },
  { from: evm("USDC"), to: bitcoin, amount: "300" },
  { from: bitcoin, to: evm("USDC"), amount: "0.002" },
  { from: evm("USDC"), to: hyperliquid, amount: "100" },
  { from: hyperliquid, to: evm("USDC"), amount: "50" },
];

export {
  bitcoinAddress,
  bitcoinControls,
  BitcoinRefusal,
  type FundedOutput,
  type BitcoinControls,
} from "./controls.ts";
export { startBitcoin, type BitcoinOptions, type RunningBitcoin } from "./start.ts";

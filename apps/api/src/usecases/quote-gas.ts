import { approveGas, depositGas, fillGas, transferGas } from "@causeway/contracts";
import type { QuoteGas } from "../ports/quote.ts";

const payment = { native: fillGas.native, nativeToContract: fillGas.routerNative, erc20: fillGas.erc20 };

/** Gas units that quotes are priced with, as measured on the contracts. A refund is paid like a fill: by the solver, its input ending with the order id. */
export const measuredQuoteGas: QuoteGas = {
  steps: {
    approve: approveGas,
    depositNative: depositGas.native,
    depositErc20: depositGas.erc20,
    transferErc20: depositGas.erc20Transfer,
    transferNative: transferGas.native,
  },
  fill: payment,
  refund: payment,
  exchangedFill: fillGas.proxyCall,
  routed: {
    native: 50_000n,
    pulled: 110_000n,
    wrap: 35_000n,
    unwrap: 25_000n,
    depositNative: depositGas.native,
    depositErc20: depositGas.erc20 + approveGas,
    pay: payment.nativeToContract,
  },
};

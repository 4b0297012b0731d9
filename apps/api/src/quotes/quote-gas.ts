import { approveGas, depositGas, fillGas, routeGas, transferGas } from "@causeway/contracts";
import type { QuoteGas, RoutedGas } from "../markets/quote-policy.port.ts";

const payment = { native: fillGas.native, nativeToContract: fillGas.routerNative, erc20: fillGas.erc20 };

/** Base gas of any transaction. */
const BASE_GAS = transferGas.native;

/** Measured as whole routes, then split so that a swap can be inserted between the parts. */
const routed = ((): RoutedGas => {
  const depositNative = depositGas.native - BASE_GAS;
  const payErc20 = transferGas.erc20 - BASE_GAS;
  const native = routeGas.depositNative - depositNative;
  const pulled = routeGas.payErc20 - payErc20;
  return {
    native,
    pulled,
    depositNative,
    depositErc20: routeGas.depositErc20 - pulled,
    pay: payErc20,
    wrap: routeGas.wrapAndPay - native - payErc20,
    unwrap: routeGas.unwrapAndPay - pulled - (routeGas.payNative - native),
  };
})();

/**
 * Gas units for pricing, measured on the contracts. A refund costs the same as a fill: the solver sends it,
 * with the order id at the end of its input.
 */
export const measuredQuoteGas: QuoteGas = {
  steps: {
    approve: approveGas,
    depositNative: depositGas.native,
    depositErc20: depositGas.erc20,
    transferErc20: depositGas.erc20Transfer,
    transferNative: transferGas.native,
    sendNative: fillGas.native,
    sendNativeToContract: fillGas.routerNative,
  },
  fill: payment,
  refund: payment,
  swapFill: fillGas.proxyCall,
  routed,
};

import { approveGas, depositGas, fillGas, routeGas, transferGas } from "@causeway/contracts";
import type { QuoteGas, RoutedGas } from "../markets/quote-policy.port.ts";

const payment = { native: fillGas.native, nativeToContract: fillGas.routerNative, erc20: fillGas.erc20 };

/** What any transaction costs before it does anything. */
const BEGUN = transferGas.native;

/** Whole routes were measured: taken apart, so that an exchange can stand between their parts. */
const routed = ((): RoutedGas => {
  const depositNative = depositGas.native - BEGUN;
  const payErc20 = transferGas.erc20 - BEGUN;
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
 * Gas units that quotes are priced with, as measured on the contracts. A refund is paid like a fill: by the
 * solver, its input ending with the order id.
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

import { expect, test } from "vitest";
import type { Currency } from "../chain/chain.ts";
import { NATIVE_CURRENCY } from "../ids/hex.ts";
import { pairClassOf } from "./fee-policy.ts";

const currency = (id: string, priceId: string, kind: Currency["class"]): Currency => ({
  chainId: 1,
  address: NATIVE_CURRENCY,
  id,
  symbol: id,
  name: id,
  decimals: 18,
  class: kind,
  priceId,
  supportsBridging: true,
  supportsPermit: false,
  resetsApproval: false,
  logoUri: undefined,
  verified: true,
  maxFillAmount: undefined,
});

test("a pair is priced by the more expensive of its classes, except for one asset or two forms of it", () => {
  const [usdc, usdt] = [currency("usdc", "usd-coin", "stable"), currency("usdt", "tether", "stable")];
  const [ether, weth] = [currency("eth", "ethereum", "major"), currency("weth", "ethereum", "major")];
  const rare = currency("rare", "rare", "minor");
  expect(pairClassOf(usdc, usdc)).toBe("sameAsset");
  expect(pairClassOf(ether, weth)).toBe("wrap");
  expect(pairClassOf(usdc, usdt)).toBe("stable");
  expect(pairClassOf(usdc, ether)).toBe("major");
  expect(pairClassOf(rare, ether)).toBe("minor");
  expect(pairClassOf(usdc, rare)).toBe("minor");
});

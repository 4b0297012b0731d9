import { loadChains } from "@causeway/config";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { termRelevance } from "./term-relevance.ts";

const configsDir = resolve(import.meta.dirname, "../../../../configs");
const ARBITRUM = ["DEPOSITORY", "ROUTER", "APPROVAL_PROXY", "RECEIVER"].map((part, index) => [
  `ARBITRUM_${part}_ADDRESS`,
  `0x${String(index + 1).repeat(40)}`,
]);

test.each(["usdt0", "usdt", "usd₮0", "usd₮"])("finds the shipped USDT0 by %s", (term) => {
  const env = Object.fromEntries([...ARBITRUM, ["ARBITRUM_RPC_URL", "https://node.test"]]);
  const [chain] = loadChains({ environment: "mainnets.prod", configsDir, env }).chains;
  const currency = chain?.tokens.find(({ id }) => id === "usdt");
  if (currency === undefined) throw new TypeError("no USDT on Arbitrum");
  const [symbol, name] = [currency.symbol.toLowerCase(), currency.name.toLowerCase()];
  expect(termRelevance({ symbol, name, currency }, term)).toBeLessThanOrEqual(2);
});

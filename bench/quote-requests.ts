import { NATIVE_CURRENCY, type Chain } from "@causeway/domain";
import type { QuoteBody } from "@causeway/localnet";
import { getAddress, keccak256, parseEther, parseUnits, stringToBytes } from "viem";

/**
 * Two quotes for each user, one paid in the native currency and one in USDC; every second user bridges
 * in the other direction. The users have no funds: a quote does not require them.
 */
export function quoteBodies([first, second]: readonly [Chain, Chain], users: number): QuoteBody[] {
  return Array.from({ length: users }, (_, index) => {
    const [origin, destination] = index % 2 === 0 ? [first, second] : [second, first];
    const common = {
      user: getAddress(`0x${keccak256(stringToBytes(`bench user ${index}`)).slice(-40)}`),
      originChainId: origin.id,
      destinationChainId: destination.id,
      tradeType: "EXACT_INPUT" as const,
    };
    const [pay, receive] = [usdcOf(origin), usdcOf(destination)];
    return [
      {
        ...common,
        originCurrency: NATIVE_CURRENCY,
        destinationCurrency: NATIVE_CURRENCY,
        amount: parseEther("0.1").toString(),
      },
      {
        ...common,
        originCurrency: pay.address,
        destinationCurrency: receive.address,
        amount: parseUnits("25", pay.decimals).toString(),
      },
    ];
  }).flat();
}

function usdcOf(chain: Chain): Chain["tokens"][number] {
  const token = chain.tokens.find(({ symbol }) => symbol === "USDC");
  if (token === undefined) throw new Error(`${chain.displayName} has no USDC`);
  return token;
}

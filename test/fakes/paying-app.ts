import type { Address, SponsorshipRules } from "@causeway/domain";
import { defaultSponsorshipRules } from "@causeway/domain";
import type { QuoteKey } from "../../apps/api/src/balances/sponsors.port.ts";
import { aChain, ORIGIN, type QuoteWorld, usdcOn } from "./quote-world.ts";

/** The wallet of the app that owns {@link aPayingAppKey}. */
export const sponsor: Address = "0x9999999999999999999999999999999999999999";

export interface AppBalances {
  /** The sponsor's balance in base units of USDC. */
  readonly balance?: bigint;
  /** What the sponsor and the user have spent today, in USD with 18 decimals. */
  readonly todayUsd?: bigint;
  /** Active holds, in USD with 18 decimals. */
  readonly heldUsd?: bigint;
}

/** The quote world with app balances in USDC. The wallet {@link sponsor} has one. */
export function withAppBalances(
  world: QuoteWorld,
  { balance = 10n ** 12n, todayUsd = 0n, heldUsd = 0n }: AppBalances = {},
): QuoteWorld {
  const asset = { chainId: ORIGIN, currency: usdcOn(ORIGIN) };
  const usdc = aChain(ORIGIN).tokens[0];
  if (usdc === undefined) throw new Error("the chain has no USDC");
  return {
    ...world,
    appBalance: {
      chainId: ORIGIN,
      currencies: [usdc],
      confirmations: 1,
      minTopUpUsd: 0n,
      claimLifetimeSeconds: 600,
    },
    sponsors: {
      book: async (wallet) => ({
        wallet,
        lines: wallet === sponsor ? [{ asset, balance, pending: 0n, owed: 0n }] : [],
        heldUsd,
        held: heldUsd === 0n ? [] : [{ asset, amount: heldUsd / 10n ** 12n, usd: heldUsd }],
      }),
      spending: async () => ({ todayUsd, userTodayUsd: todayUsd, targetTodayUsd: 0n }),
    },
  };
}

export function aPayingAppKey(
  rules: Partial<SponsorshipRules> = {},
  change: Partial<QuoteKey> = {},
): QuoteKey {
  return {
    id: "key-1",
    fundingAddress: sponsor,
    origins: [],
    rules: { ...defaultSponsorshipRules, ...rules },
    ...change,
  };
}

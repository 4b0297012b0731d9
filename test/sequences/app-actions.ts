import { acceptClaim } from "../../apps/api/src/balances/accept-claim.ts";
import { offerClaim } from "../../apps/api/src/balances/offer-claim.ts";
import { requestFastFill } from "../../apps/api/src/executions/request-fast-fill.ts";
import type { ActionOf, Outcome } from "./action.ts";
import { currencyAt, homeOf, keyOf, pick } from "./lookups.ts";
import { transferData } from "./payments.ts";
import { TOP_UP_TAIL, type SequenceWorld } from "./world.ts";

/** Sends money from an app's wallet to the solver, marked as a top-up of the app's balance. */
export async function topUp(
  world: SequenceWorld,
  app: number,
  asset: "usdc" | "eth",
  amount: bigint,
): Promise<Outcome> {
  const { memory } = homeOf(world);
  const wallet = world.apps[app]?.fundingAddress;
  if (wallet === undefined) return "skipped";
  if (asset === "eth")
    await memory.send(wallet, { to: world.solver, data: `0x${TOP_UP_TAIL}`, value: amount });
  else
    await memory.send(wallet, {
      to: currencyAt(world, 0, asset),
      data: `${transferData(world.solver, amount)}${TOP_UP_TAIL}`,
    });
  return "done";
}

/** Claims `part` percent of the claimable balance of an app. */
export async function claim(world: SequenceWorld, { app, asset, part }: ActionOf<"claim">): Promise<Outcome> {
  const wallet = world.apps[app]?.fundingAddress;
  if (wallet === undefined) return "skipped";
  const random = { bytes32: () => world.bytes32() };
  const claimed = {
    wallet,
    chainId: homeOf(world).chain.id,
    currency: currencyAt(world, 0, asset),
    recipient: wallet,
  };
  const whole = await offerClaim({ ...world.api, random }, { ...claimed, amount: undefined });
  const offer =
    part === 100
      ? whole
      : await offerClaim(
          { ...world.api, random },
          { ...claimed, amount: (whole.amount * BigInt(part)) / 100n },
        );
  await acceptClaim({ ...world.api, signatures: { isSignedBy: async () => true } }, offer.claimId, "0x");
  return "done";
}

/**
 * Fast fills a quote with an app's balance. `part` is the percentage of the quoted input that the app covers.
 */
export async function fastFill(
  world: SequenceWorld,
  { quote, app, part, isNamed }: ActionOf<"fastFill">,
): Promise<Outcome> {
  const quoted = pick(world.quotes, quote);
  const key = keyOf(world, app);
  if (quoted === undefined || key === undefined) return "skipped";
  const { memory } = world.chainOf(quoted.terms.origin.chainId);
  const deposit = memory.pool.find(({ input }) => input.includes(quoted.terms.orderId.slice(2)));
  await requestFastFill(world.api, {
    key,
    requestId: quoted.requestId,
    ...(part < 100 && { inputAmount: (quoted.terms.origin.amount * BigInt(part)) / 100n }),
    ...(isNamed && deposit !== undefined && { txHash: deposit.hash }),
  });
  await world.act();
  return "done";
}

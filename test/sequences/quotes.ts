import type { Address } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { ActionOf } from "./action.ts";
import { allowRefusal } from "./allow-refusal.ts";
import { fastFill } from "./app-actions.ts";
import { currencyAt, keyOf, amountWorth } from "./lookups.ts";
import { BURNER, FICKLE, SINK } from "./memory-contracts.ts";
import { NATIVE } from "./memory-evm.ts";
import { pay } from "./payments.ts";
import type { SequenceWorld } from "./world.ts";

/** Requests a quote, and fast fills and pays it if the action says so. */
export async function requestQuote(world: SequenceWorld, action: ActionOf<"quote">): Promise<void> {
  const [origin, other] = action.isReversed ? ([1, 0] as const) : ([0, 1] as const);
  const isOnOneChain = action.extra === "sameChain" || action.extra === "solverOnSameChain";
  const destination = isOnOneChain ? origin : other;
  const user = world.users[action.user] ?? NATIVE;
  // An open address accepts any amount, so an exact output cannot be quoted for it.
  const tradeType =
    action.extra === "address"
      ? "EXACT_INPUT"
      : action.extra === "trueExactOutput"
        ? "EXACT_OUTPUT"
        : action.tradeType;
  // On one chain a payment to the user could be a fill or a refund.
  const recipient =
    action.recipient === "fresh" || isOnOneChain
      ? world.freshAddress()
      : action.recipient === "user"
        ? user
        : action.recipient === "fickle"
          ? FICKLE
          : SINK;
  const input: QuoteInput = {
    user,
    originChainId: world.chains[origin].chain.id,
    destinationChainId: world.chains[destination].chain.id,
    originCurrency: currencyAt(world, origin, action.from),
    destinationCurrency: currencyAt(world, destination, action.to),
    amount: (tradeType === "EXACT_INPUT"
      ? amountWorth(world, origin, action.from, action.usd)
      : amountWorth(world, destination, action.to, action.usd)
    ).toString(),
    tradeType,
    recipient,
    explicitDeposit: action.explicitDeposit,
    ...(action.refundTo === "other" && { refundTo: world.freshAddress() }),
    ...(action.ttl !== undefined && { ttl: action.ttl }),
    ...(action.slippage !== undefined && { slippageTolerance: action.slippage }),
    ...(action.forceRefund && { referrer: "debug-force-refund" }),
  };
  const request = { ...input, ...extraOf(world, action, user) };
  const isSponsored = request.subsidizeFees === true;
  const app = isSponsored ? (action.app ?? 0) : action.app;
  await world.quote(request, app === undefined ? undefined : keyOf(world, app));
  if (action.isFastFilled)
    await allowRefusal(world, async () => {
      await fastFill(world, { kind: "fastFill", quote: 0, app: 0, part: 100, isNamed: false });
    });
  if (action.paid !== undefined)
    // On one chain there is no deposit to detect, so the wallet reports its payment.
    await pay(world, {
      kind: "pay",
      quote: 0,
      way: action.paid,
      isReported: action.extra === "sameChain",
    });
}

function extraOf(
  world: SequenceWorld,
  { extra, app }: ActionOf<"quote">,
  user: Address,
): Partial<QuoteInput> {
  // The fees go to another app, because a sponsor that pays itself loses nothing.
  const feeRecipient = world.apps[(app ?? 0) === 0 ? 1 : 0];
  const appFees = [{ recipient: feeRecipient?.fundingAddress ?? user, fee: "900" }];
  const call = (to: Address) => ({ to, value: "0", data: "0x12345678" as const });
  switch (extra) {
    case "none":
    case "sameChain":
      return {};
    case "solverOnSameChain":
      return { forceSolverExecution: true };
    case "paidCalls":
      return { txs: [{ ...call(SINK), value: "1000" }] };
    case "topupMoreGas":
      return { topupGas: true, topupGasAmount: "9000000" };
    case "fixedRate":
      return { subsidizeFees: true, fixedRate: "1:1" };
    case "boundedSponsorship":
      return { subsidizeFees: true, appFees, maxSubsidizationAmount: "30000" };
    case "trueExactOutput":
      return { tradeType: "EXACT_OUTPUT", enableTrueExactOutput: true };
    case "harmlessCalls":
      return { txs: [call(SINK)] };
    case "burningCalls":
      return { txs: [call(BURNER)] };
    case "appFees":
      return { appFees };
    case "sponsored":
      return { subsidizeFees: true };
    case "sponsoredAppFees":
      return { subsidizeFees: true, appFees };
    case "topupGas":
      return { topupGas: true };
    case "address":
      return { useDepositAddress: true, recoveryAddress: user, refundTo: user };
    case "strictAddress":
      return { useDepositAddress: true, strict: true, recoveryAddress: user, refundTo: user };
    default:
      return extra satisfies never;
  }
}

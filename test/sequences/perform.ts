import type { Address } from "@causeway/domain";
import type { Action, ActionOf, Outcome } from "./action.ts";
import { allowRefusal } from "./allow-refusal.ts";
import { claim, fastFill, topUp } from "./app-actions.ts";
import { meddle } from "./deposit-addresses.ts";
import { execute } from "./executions.ts";
import { FIRST_CONFIGURATION, OUR_KEYS } from "./keys.ts";
import { currencyAt, amountWorth } from "./lookups.ts";
import { swapCall } from "./memory-dex.ts";
import { NATIVE } from "./memory-evm.ts";
import { listCurrencies, rotateExecutor, rotateOperator, rotateSolver } from "./operate.ts";
import { pay, report } from "./payments.ts";
import { requestQuote } from "./quotes.ts";
import type { SequenceWorld } from "./world.ts";

const ONE_USD = 10n ** 18n;
/** Sponsorship rules of an app, by the name of the change. */
const rulesByChange = {
  loose: { maxCallValueUsd: 10n ** 20n, allowUnsubmitted: true },
  tight: {
    maxCallValueUsd: ONE_USD,
    maxHoldsUsd: 100n * ONE_USD,
    maxFastFillUsd: 60n * ONE_USD,
    dailyUsd: ONE_USD,
  },
  nothing: { maxCallValueUsd: 0n, maxHoldsUsd: 0n, maxFastFillUsd: 0n, dailyUsd: 0n },
} as const;
/** Ids of the currencies of app balances, by the name of the list. */
const currenciesByList = {
  all: FIRST_CONFIGURATION.balanceCurrencies,
  usdc: ["usdc"],
  withoutTst: ["usdc", "eth"],
  withoutUsdc: ["eth", "tst", "weth", "odd"],
} as const;

/** Performs one action. Refusals of the service are outcomes; any other error is a failure of the test. */
export async function perform(world: SequenceWorld, action: Action): Promise<Outcome> {
  switch (action.kind) {
    case "quote":
      return await allowRefusal(world, async () => await requestQuote(world, action));
    case "pay":
      return await pay(world, action);
    case "blocks":
      await world.round(action.count);
      return "done";
    case "wait":
      // Chains and workers continue during the wait. One block may omit a new transaction, so there are two.
      await world.round(2);
      world.forward(action.seconds * 1000);
      await world.act();
      await world.round(1);
      return "done";
    case "reorg":
      await reorg(world, action);
      world.forward(2_000);
      await world.act();
      return "done";
    case "gas":
      await world.chains[action.chain].memory.setBaseFee(BigInt(action.gwei) * 10n ** 9n);
      return "done";
    case "topUp":
      return await topUp(world, action.app, action.asset, amountWorth(world, 0, action.asset, action.usd));
    case "claim":
      return await allowRefusal(world, async () => await claim(world, action));
    case "fastFill":
      return await allowRefusal(world, async () => await fastFill(world, action));
    case "execute":
      return await allowRefusal(world, async () => await execute(world, action));
    case "meddle":
      return await meddle(world, action);
    case "report":
      return await allowRefusal(world, async () => await report(world, action));
    case "loseJobs":
      await world.loseJobs();
      return "done";
    case "rotate":
      return await rotate(world, action);
    case "crash":
      // Commits and broadcasts are rare, so fewer of them are skipped than of all moments.
      world.scheduleCrash({
        moment: action.moment,
        skipped: action.moment === "" ? action.skipped * 7 : action.skipped % 8,
      });
      if (action.during === "call") return "done";
      return await runUntilCrash(world, async () => await world.round());
    case "trade":
      return await trade(world, action);
    case "node":
      return world.trouble(action.chain, { kind: action.trouble, extent: action.extent }, action.rounds)
        ? "done"
        : "skipped";
    case "rules":
      if (action.change === "revoked") await world.revoke(action.app);
      else await world.setRules(action.app, rulesByChange[action.change]);
      return "done";
    case "currencies":
      await listCurrencies(world, currenciesByList[action.list]);
      return "done";
    case "twoWorkers":
      await world.mine(action.blocks);
      await world.act(2);
      return "done";
    case "price":
      // `run-sequence.ts` moves prices, because its books must record the change.
      return "skipped";
    default:
      return action satisfies never;
  }
}

async function reorg(world: SequenceWorld, { chain, depth, fate }: ActionOf<"reorg">): Promise<void> {
  const { memory } = world.chains[chain];
  const isOurs = (sender: Address): boolean => OUR_KEYS.includes(sender);
  if (fate !== "signedAgain") return await memory.reorg(depth, fate, isOurs);
  const { length } = memory.blocks;
  const dropped = memory.blocks
    .slice(length - depth)
    .flatMap(({ transactions }) => transactions.map(({ transaction }) => transaction))
    .filter(({ from }) => !isOurs(from));
  await memory.reorg(depth, "droppedUsers", isOurs);
  for (const { from, to, input: data, value } of dropped) await memory.send(from, { to, data, value });
}

async function trade(
  world: SequenceWorld,
  { chain, asset, isBuying, usd }: ActionOf<"trade">,
): Promise<Outcome> {
  if (world.services.liquidity.sources(world.chains[chain].chain.id).length === 0) return "skipped";
  const paid = isBuying ? "usdc" : asset;
  const path = [currencyAt(world, chain, paid), currencyAt(world, chain, isBuying ? asset : "usdc")];
  const trader = world.users[2] ?? NATIVE;
  const amount = amountWorth(world, chain, paid, usd);
  await world.chains[chain].memory.send(
    trader,
    swapCall({ exactIn: true, path, amount, limit: 0n, to: trader }),
  );
  return "done";
}

/** Runs `work`; "done" if the process crashed during it. */
async function runUntilCrash(world: SequenceWorld, work: () => Promise<void>): Promise<Outcome> {
  const before = world.crashes;
  await work();
  return world.crashes > before ? "done" : "skipped";
}

async function rotate(world: SequenceWorld, { role, isKept }: ActionOf<"rotate">): Promise<Outcome> {
  const rotated =
    role === "solver"
      ? await rotateSolver(world, isKept)
      : role === "executor"
        ? await rotateExecutor(world)
        : await rotateOperator(world);
  return rotated === true ? "done" : "skipped";
}

import type { ChainReader, RecipientStanding, TokenBehavior } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import type { QuoteInput } from "@causeway/wire";
import { decodeFunctionData, erc20Abi } from "viem";
import { expect, test } from "vitest";
import {
  aQuoteInput,
  DESTINATION,
  foreignOn,
  market,
  ORIGIN,
  quoteWorld,
  usdcOn,
  user,
} from "../../../../../test/fakes/quote-world.ts";
import type { QuoteWorldOptions } from "../../../../../test/fakes/quote-world.ts";
import { createQuote } from "../create-quote.ts";

const recipient: Address = "0x2222222222222222222222222222222222222222";
const PLAIN: TokenBehavior = { transfers: "exact", resetsApproval: false };
const UNKNOWN: TokenBehavior = { transfers: undefined, resetsApproval: undefined };
const fromForeign = { originCurrency: foreignOn(ORIGIN), amount: "1000000000000" };
const toForeign = { destinationCurrency: foreignOn(DESTINATION) };

/** A world in which unknown tokens behave like this, with a record of the checks. */
function tokenWorld(
  behavior: TokenBehavior,
  standing: RecipientStanding | "unknown" = "open",
  world: QuoteWorldOptions = {},
) {
  const checks: string[] = [];
  const services = {
    ...quoteWorld({ pools: market(), ...world }),
    quirks: {
      behavior: (_chainId: number, token: Address) => {
        checks.push(token);
        return behavior;
      },
      recipient: (_chainId: number, token: Address, to: Address) => {
        checks.push(`${token}>${to}`);
        return standing === "unknown" ? undefined : standing;
      },
    },
  };
  const quote = async (input: Partial<QuoteInput>) => await createQuote(services, aQuoteInput(input));
  return { services, checks, quote };
}

/** Amounts of the approvals in the quote, in order. */
async function approvals(behavior: TokenBehavior, world: QuoteWorldOptions): Promise<bigint[]> {
  const { steps } = await tokenWorld(behavior, "open", world).quote(fromForeign);
  return transactionsOf(steps)
    .filter(({ data }) => data.startsWith("0x095ea7b3"))
    .map(({ data }) =>
      BigInt(decodeFunctionData({ abi: erc20Abi, data: data as `0x${string}` }).args?.[1] ?? -1),
    );
}

test("resets an allowance that is too low when the token requires it, or when its behavior is unknown", async () => {
  const low: QuoteWorldOptions = { account: { allowance: 5n } };
  expect(await approvals({ ...PLAIN, resetsApproval: true }, low)).toEqual([0n, 1_000_000_000_000n]);
  expect(await approvals({ ...PLAIN, resetsApproval: undefined }, low)).toEqual([0n, 1_000_000_000_000n]);
  expect(await approvals(PLAIN, low)).toEqual([1_000_000_000_000n]);
  expect(await approvals({ ...PLAIN, resetsApproval: true }, {})).toEqual([1_000_000_000_000n]);
});

test("does not check the behavior of configured tokens", async () => {
  const { checks, quote } = tokenWorld(PLAIN);
  await quote({ destinationCurrency: usdcOn(DESTINATION), recipient });
  expect(checks).toEqual([]);
  await quote({ ...fromForeign, ...toForeign, recipient });
  expect(checks).toEqual([
    foreignOn(ORIGIN),
    foreignOn(DESTINATION),
    `${foreignOn(DESTINATION)}>${recipient}`,
  ]);
});

test("pays a recipient that has code and is not a token, and does not check users who pay themselves", async () => {
  const { quote, services } = tokenWorld(PLAIN, "open", { recipientHasCode: true });
  await expect(quote({ recipient })).resolves.toBeDefined();
  const codeReads: string[] = [];
  const recipientCodes = {
    hasCode: (_chainId: number, account: Address) => {
      codeReads.push(account);
      return false;
    },
  };
  await createQuote(
    { ...services, recipientCodes },
    aQuoteInput({ destinationCurrency: usdcOn(DESTINATION) }),
  );
  expect(codeReads).toEqual([]);
  expect(user).not.toBe(recipient);
});

test.each<[string, TokenBehavior, "open" | "unknown"]>([
  ["a token of unknown behavior", UNKNOWN, "open"],
  ["a recipient that the token may block", PLAIN, "unknown"],
])("dry-runs the fill of %s before the terms are stored", async (_what, behavior, standing) => {
  const { services, quote } = tokenWorld(behavior, standing, { account: { allowance: 2n ** 255n } });
  let dryRuns = 0;
  const frame = { type: "CALL", address: foreignOn(DESTINATION) };
  const revert = { type: "errorString", label: "REVERTED", message: "you are on a list" } as const;
  const reader: Partial<ChainReader> = {
    trace: async () => {
      dryRuns++;
      return {
        kind: "reverts",
        failure: { ...revert, details: { topLevel: frame, innermost: frame, path: [frame], revert } },
      };
    },
  };
  Object.assign(services.chains.get(DESTINATION)?.connection.reader ?? {}, reader);
  await expect(quote({ ...toForeign, recipient })).rejects.toMatchObject({
    code: "DESTINATION_TX_FAILED",
    facts: { data: "you are on a list", failedCallData: { from: services.solver } },
  });
  expect(dryRuns).toBe(1);
  expect(services.stored).toEqual([]);
});

test("does not dry-run the fill of a token that behaves normally", async () => {
  // The node of this world cannot trace or simulate.
  await expect(tokenWorld(PLAIN).quote({ ...toForeign, recipient })).resolves.toBeDefined();
});

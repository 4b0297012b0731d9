import { holdStates, movementContexts, walletAccounts } from "@causeway/domain";
import { z } from "zod";
import { because } from "../because.ts";
import {
  address,
  amount,
  answerHash32,
  answerHex,
  decimal,
  digits,
  evmAddress,
  hash32,
  hexData,
  milliseconds,
  numberOrDigits,
  signedDigits,
  text,
} from "../scalars.ts";
import { amountObject } from "./currency.ts";

/** Rows of one page at most. */
export const MOST_BALANCE_ROWS = 50;

export const walletParams = z.object({
  wallet: address.describe("The funding wallet."),
});

/** Query of the lists that go back in time. */
export const pageQuery = z.object({
  limit: numberOrDigits(`a number up to ${MOST_BALANCE_ROWS}`, MOST_BALANCE_ROWS)
    .optional()
    .describe(`Rows of the page, at most ${MOST_BALANCE_ROWS}; default 20.`),
  continuation: text(200).optional().describe("Of the page before, as it came."),
});

/** Query of `GET /balance-events/{wallet}`. */
export const balanceEventsQuery = pageQuery.extend({
  cursor: numberOrDigits("the id of an event", Number.MAX_SAFE_INTEGER)
    .optional()
    .describe("Id of the last event of the page before; `continuation` says the same."),
});

const continuation = z.string().optional().describe("Gives the next page; absent on the last one.");

const balanceEntry = amountObject
  .extend({
    pendingAmount: digits.describe("Smallest units set aside for executions and claims under way."),
    owedAmount: digits.describe("Smallest units that the next credit repays first."),
  })
  .meta({ id: "BalanceEntry" });

export const balancesAnswer = amountObject
  .extend({
    balances: z.array(balanceEntry).describe("Every currency that the wallet has or owes anything in."),
    totalBalanceUsd: z.number().describe("Worth of all balances less what is owed."),
    outstandingFastFillBalanceUsd: z.number().describe("Held for fast fills whose deposit is not confirmed."),
    availableBalanceUsd: z.number().describe("For new fast fills and claims: total less outstanding."),
  })
  .meta({ id: "AppBalances" });

export const balanceEventsAnswer = z
  .object({
    wallet: evmAddress,
    balances: z
      .array(z.object({ chainId: z.int(), currency: evmAddress, amount: signedDigits }))
      .describe("What the wallet has now, smallest units."),
    events: z.array(
      z.object({
        id: z.int(),
        wallet: evmAddress,
        account: z
          .enum(walletAccounts)
          .describe("`balance`: usable. `pending`: set aside. `owed`: a debt, kept below zero."),
        chainId: z.int(),
        currency: evmAddress,
        delta: signedDigits.describe("Smallest units."),
        balanceAfter: signedDigits.describe("Of this account in this currency."),
        context: z.enum(movementContexts),
        reason: z.string(),
        requestId: z
          .union([answerHash32, z.null()])
          .describe("The request, or the claim, that it belongs to."),
        createdAt: z.iso.datetime(),
      }),
    ),
    continuation,
  })
  .meta({ id: "BalanceEvents" });

export const holdsAnswer = z
  .object({
    exposureUsd: decimal.describe("Sum of the active holds of the wallet."),
    holds: z.array(
      z.object({
        requestId: answerHash32,
        state: z
          .enum(holdStates)
          .describe(
            "`active`: vouched for. `released`: the deposit came, or nothing was paid. `permanent`: the deposit never came and the balance paid.",
          ),
        amountUsd: decimal,
        chainId: z.int().describe("Where the fill is paid."),
        currency: evmAddress,
        amount: digits.describe("What the fill pays, smallest units."),
        apiKey: z.string().describe("Id of the key that ordered it."),
        placedAt: z.iso.datetime(),
        resolvedAt: z.union([z.iso.datetime(), z.null()]),
        ageSeconds: z.int().nonnegative().describe("From placing to resolving, or to now."),
      }),
    ),
    continuation,
  })
  .meta({ id: "Holds" });

export const claimRequest = z
  .object(
    {
      chainId: numberOrDigits("a chain id: an integer, or its digits in a string").describe(
        "Home chain of the app balances.",
      ),
      currency: address.describe("The zero address is the native currency."),
      recipient: address,
      amount: amount.optional().describe("What the recipient gets, smallest units; absent: all there is."),
    },
    because("must be a JSON object"),
  )
  .meta({ id: "ClaimRequest" });

export const claimAnswer = z
  .object({
    steps: z.array(
      z
        .object({
          id: z.literal("authorize"),
          action: z.string(),
          description: z.string(),
          kind: z.literal("signature"),
          requestId: answerHash32,
          depositAddress: z.literal("").describe("As in every step; a claim has no deposit."),
          items: z.array(
            z.object({
              status: z.literal("incomplete"),
              data: z.object({
                sign: z.object({
                  signatureKind: z.literal("eip191"),
                  message: answerHash32.describe("The 32 bytes are signed raw, by the wallet."),
                }),
                post: z.object({
                  endpoint: z.string(),
                  method: z.literal("POST"),
                  body: z.object({ kind: z.literal("claim"), requestId: answerHash32 }),
                }),
              }),
            }),
          ),
        })
        .meta({ id: "ClaimStep" }),
    ),
    claim: z.object({
      amount: digits.describe("What the recipient gets, smallest units."),
      fee: digits.describe("What the payout costs, taken beside the amount, same currency."),
      expiresAt: milliseconds.describe("Sign and post before, ms since epoch."),
    }),
  })
  .meta({ id: "ClaimSteps" });

export const claimsAnswer = z
  .object({
    claims: z.array(
      z.object({
        claimId: answerHash32,
        wallet: evmAddress,
        recipient: evmAddress,
        currency: amountObject,
        fee: digits.describe("Smallest units of the same currency."),
        txHash: z.union([answerHex, z.null()]).describe("Of the payout, once it is in a block."),
        status: z
          .enum(["pending", "success", "failure"])
          .describe("`failure`: it could not be paid, and amount and fee are balance again."),
        failReason: z.union([z.string(), z.null()]),
        createdAt: z.iso.datetime(),
      }),
    ),
    continuation,
  })
  .meta({ id: "Claims" });

export const permitQuery = z.object({
  signature: hexData.max(20_000, "must not be longer").describe("Of the step's message."),
});

export const permitRequest = z
  .object(
    {
      kind: text(64).describe("As in the step's `post.body`."),
      requestId: hash32,
      api: text(64).optional(),
      referrer: text(512).optional(),
    },
    because("must be a JSON object"),
  )
  .meta({ id: "PermitRequest" });

/** A permit names its request; a claim is known by what was posted. */
export const permitAnswer = z
  .object({ message: z.string(), requestId: answerHash32.optional() })
  .meta({ id: "PermitAnswer" });

export type BalancesAnswer = z.infer<typeof balancesAnswer>;
export type BalanceEventsAnswer = z.infer<typeof balanceEventsAnswer>;
export type HoldsAnswer = z.infer<typeof holdsAnswer>;
export type ClaimAnswer = z.infer<typeof claimAnswer>;
export type ClaimsAnswer = z.infer<typeof claimsAnswer>;

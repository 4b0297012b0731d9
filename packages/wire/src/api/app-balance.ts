import { holdStates, movementContexts, walletAccounts } from "@causeway/domain";
import { z } from "zod";
import { message } from "../message.ts";
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

/** Maximum rows per page. */
export const MAX_BALANCE_ROWS = 50;

export const walletParams = z.object({
  wallet: address.describe("The funding wallet."),
});

/** Query of the lists that have several pages. */
export const pageQuery = z.object({
  limit: numberOrDigits(`a number up to ${MAX_BALANCE_ROWS}`, MAX_BALANCE_ROWS)
    .optional()
    .describe(`Rows per page, at most ${MAX_BALANCE_ROWS}; default 20.`),
  continuation: text(200).optional().describe("The `continuation` of the previous page, unchanged."),
});

/** Query of `GET /balance-events/{wallet}`. */
export const balanceEventsQuery = pageQuery.extend({
  cursor: numberOrDigits("the id of an event", Number.MAX_SAFE_INTEGER)
    .optional()
    .describe("Id of the last event on the previous page; equivalent to `continuation`."),
});

const continuation = z.string().optional().describe("Pass it to get the next page; absent on the last page.");

const balanceEntry = amountObject
  .extend({
    pendingAmount: digits.describe("Base units reserved for executions and claims in progress."),
    owedAmount: digits.describe("Debt in base units. The next credit repays it first."),
  })
  .meta({ id: "BalanceEntry" });

export const balancesAnswer = amountObject
  .extend({
    balances: z.array(balanceEntry).describe("Every currency in which the wallet has a balance or a debt."),
    totalBalanceUsd: z.number().describe("Value of all balances minus debts."),
    outstandingFastFillBalanceUsd: z
      .number()
      .describe("Held for fast fills whose deposit is not confirmed yet."),
    availableBalanceUsd: z
      .number()
      .describe("Available for new fast fills and claims: total minus outstanding."),
  })
  .meta({ id: "AppBalances" });

export const balanceEventsAnswer = z
  .object({
    wallet: evmAddress,
    balances: z
      .array(z.object({ chainId: z.int(), currency: evmAddress, amount: signedDigits }))
      .describe("Current balances, in base units."),
    events: z.array(
      z.object({
        id: z.int(),
        wallet: evmAddress,
        account: z
          .enum(walletAccounts)
          .describe("`balance`: usable. `pending`: reserved. `owed`: a debt, recorded as a negative amount."),
        chainId: z.int(),
        currency: evmAddress,
        delta: signedDigits.describe("Base units."),
        balanceAfter: signedDigits.describe("Balance of this account in this currency after the event."),
        context: z.enum(movementContexts),
        reason: z.string(),
        requestId: z.union([answerHash32, z.null()]).describe("Request or claim that caused the event."),
        createdAt: z.iso.datetime(),
      }),
    ),
    continuation,
  })
  .meta({ id: "BalanceEvents" });

export const holdsAnswer = z
  .object({
    exposureUsd: decimal.describe("Sum of the wallet's active holds."),
    holds: z.array(
      z.object({
        requestId: answerHash32,
        state: z
          .enum(holdStates)
          .describe(
            "`active`: guaranteed by the balance. `released`: the deposit arrived, or nothing was paid. `permanent`: the deposit never arrived and the balance was charged.",
          ),
        amountUsd: decimal,
        chainId: z.int().describe("Chain of the fill."),
        currency: evmAddress,
        amount: digits.describe("Amount that the fill pays, in base units."),
        apiKey: z.string().describe("Id of the API key that requested the fast fill."),
        placedAt: z.iso.datetime(),
        resolvedAt: z.union([z.iso.datetime(), z.null()]),
        ageSeconds: z.int().nonnegative().describe("Seconds from placement to resolution, or until now."),
      }),
    ),
    continuation,
  })
  .meta({ id: "Holds" });

export const claimRequest = z
  .object(
    {
      chainId: numberOrDigits("a chain id: an integer, or its digits in a string").describe(
        "Chain on which app balances are held.",
      ),
      currency: address.describe("The zero address means the native token."),
      recipient: address,
      amount: amount
        .optional()
        .describe(
          "Amount the recipient receives, in base units; default: the whole available balance minus the fee.",
        ),
    },
    message("must be a JSON object"),
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
          depositAddress: z.literal("").describe("Always empty: a claim has no deposit."),
          items: z.array(
            z.object({
              status: z.literal("incomplete"),
              data: z.object({
                sign: z.object({
                  signatureKind: z.literal("eip191"),
                  message: answerHash32.describe("The wallet signs the 32 raw bytes, not their hex text."),
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
      amount: digits.describe("Amount the recipient receives, in base units."),
      fee: digits.describe("Fee of the payout, charged on top of `amount` in the same currency."),
      expiresAt: milliseconds.describe("Deadline for posting the signature, ms since epoch."),
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
        fee: digits.describe("Base units of the same currency."),
        txHash: z.union([answerHex, z.null()]).describe("Hash of the payout transaction, once it is mined."),
        status: z
          .enum(["pending", "success", "failure"])
          .describe("`failure`: the payout failed, and amount and fee were returned to the balance."),
        failReason: z.union([z.string(), z.null()]),
        createdAt: z.iso.datetime(),
      }),
    ),
    continuation,
  })
  .meta({ id: "Claims" });

export const permitQuery = z.object({
  signature: hexData
    .max(20_000, "must have at most 20000 characters")
    .describe("Signature over the step's message."),
});

export const permitRequest = z
  .object(
    {
      kind: text(64).describe("The `kind` from the step's `post.body`."),
      requestId: hash32,
      api: text(64).optional(),
      referrer: text(512).optional(),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "PermitRequest" });

/** For a permit, the answer contains its `requestId`; for a claim, only the message. */
export const permitAnswer = z
  .object({ message: z.string(), requestId: answerHash32.optional() })
  .meta({ id: "PermitAnswer" });

export type BalancesAnswer = z.infer<typeof balancesAnswer>;
export type BalanceEventsAnswer = z.infer<typeof balanceEventsAnswer>;
export type HoldsAnswer = z.infer<typeof holdsAnswer>;
export type ClaimAnswer = z.infer<typeof claimAnswer>;
export type ClaimsAnswer = z.infer<typeof claimsAnswer>;

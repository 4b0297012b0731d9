import { z } from "zod";
import { message, strictMessage } from "../message.ts";
import { count, evmAddress, milliseconds, text } from "../scalars.ts";
import { sponsorshipRules } from "./sponsorship-rules.ts";

const MAX_ENTRIES = 100;
const HEX_SIGNATURE = "must be 0x and the hex digits of at most 10000 bytes";

/** Scopes of a key. */
export const apiScope = z.enum(
  ["quote", "execute", "fast-fill", "read"],
  message("must be quote, execute, fast-fill or read"),
);

const label = text(128).min(1, "must not be empty");
const scopes = z
  .array(apiScope, message("must be an array of scopes"))
  .min(1, "must name at least one scope")
  .describe("`quote`, `execute`, `fast-fill`, `read`.");
const referrers = z
  .array(text(512), message("must be an array of strings"))
  .max(MAX_ENTRIES)
  .describe("Referrers that executions may use; empty allows any.");
const origins = z
  .array(
    text(512).refine(
      (origin) => /^https?:$/.test(URL.parse(origin)?.protocol ?? "") && URL.parse(origin)?.origin === origin,
      "must be an origin such as https://app.example",
    ),
    message("must be an array of origins"),
  )
  .max(MAX_ENTRIES)
  .describe(
    "Browser origins of a publishable key. Such a key may only have the scopes `quote` and `read`, and works from these origins only.",
  );
const perMinute = z
  .int(message("must be a whole number"))
  .min(1, "must be at least 1")
  .max(1_000_000, "must be at most 1000000");
const limits = z
  .strictObject(
    { quotePerMinute: perMinute.optional(), otherPerMinute: perMinute.optional() },
    strictMessage("must be an object"),
  )
  .describe("Rate limits of this key, in requests per minute, instead of the defaults.");

/** Body of `POST /admin/keys`. */
export const createApiKeyRequest = z
  .strictObject(
    {
      label,
      scopes,
      referrers: referrers.default([]),
      origins: origins.default([]),
      rules: sponsorshipRules.default({}),
      limits: limits.default({}),
    },
    strictMessage("must be a JSON object"),
  )
  .meta({ id: "CreateApiKeyRequest" });

/** Body of `PATCH /admin/keys/{id}`: replaces each named field as a whole. */
export const changeApiKeyRequest = z
  .strictObject(
    {
      label: label.optional(),
      scopes: scopes.optional(),
      referrers: referrers.optional(),
      origins: origins.optional(),
      rules: sponsorshipRules.optional(),
      limits: limits.optional(),
    },
    strictMessage("must be a JSON object"),
  )
  .meta({ id: "ChangeApiKeyRequest" });

/** Body of `POST /admin/keys/{id}/rotate`. */
export const rotateApiKeyRequest = z
  .strictObject(
    {
      graceSeconds: count("seconds")
        .max(30 * 86_400, "must be at most 30 days")
        .default(0)
        .describe("Seconds for which the old secret stays valid."),
    },
    strictMessage("must be a JSON object"),
  )
  .meta({ id: "RotateApiKeyRequest" });

const wallet = z
  .string(message("must be a 20-byte address"))
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be a 20-byte address");

/** Body of `POST /admin/keys/{id}/funding-address/challenge`. */
export const fundingChallengeRequest = z
  .strictObject({ address: wallet }, strictMessage("must be a JSON object"))
  .meta({ id: "FundingChallengeRequest" });

export const fundingChallengeAnswer = z
  .object({
    message: z
      .string()
      .describe(
        "Message that the wallet signs as a personal message (EIP-191; EIP-1271 for contract wallets).",
      ),
    expiresAt: milliseconds.describe("Time (ms since epoch) after which a new challenge is required."),
  })
  .meta({ id: "FundingChallenge" });

/** Body of `POST /admin/keys/{id}/funding-address`. */
export const linkFundingAddressRequest = z
  .strictObject(
    {
      address: wallet,
      signature: z
        .string(message(HEX_SIGNATURE))
        // A single check: a second one would also run for values of other types.
        .regex(/^0x([0-9a-fA-F]{2}){1,10000}$/, HEX_SIGNATURE),
    },
    strictMessage("must be a JSON object"),
  )
  .meta({ id: "LinkFundingAddressRequest" });

export const apiKeyParams = z.object({
  id: z
    .string(message("must be the id of a key"))
    .regex(/^[0-9a-f]{16}$/, "must be the id of a key: 16 hex digits"),
});

export const apiKeyAnswer = z
  .object({
    id: z.string(),
    label: z.string(),
    scopes: z.array(apiScope),
    referrers: z.array(z.string()),
    origins: z.array(z.string()),
    fundingAddress: evmAddress.nullable().describe("Wallet whose app balance pays for this key."),
    rules: sponsorshipRules,
    limits: z.object({ quotePerMinute: z.int().optional(), otherPerMinute: z.int().optional() }),
    createdAt: milliseconds,
    updatedAt: milliseconds,
    revokedAt: milliseconds.nullable(),
    previousSecretUntil: milliseconds.nullable().describe("The previous secret stays valid until this time."),
  })
  .meta({ id: "ApiKey" });

export const issuedApiKeyAnswer = z
  .object({ key: z.string().describe("The secret of the key. It is shown only once."), apiKey: apiKeyAnswer })
  .meta({ id: "IssuedApiKey" });

export const apiKeysAnswer = z.object({ apiKeys: z.array(apiKeyAnswer) }).meta({ id: "ApiKeys" });

export type ApiKeyAnswer = z.infer<typeof apiKeyAnswer>;

import { z } from "zod";
import { milliseconds } from "../scalars.ts";

const SCOPE = "must be all, chain:<chain id> or route:<origin chain id>-<destination chain id>";
const scope = z
  .string(SCOPE)
  .regex(/^(all|chain:\d{1,15}|route:\d{1,15}-\d{1,15})$/, SCOPE)
  .describe(
    "`all`; `chain:8453`: everything from and to that chain; `route:1-8453`: from the first chain to the second.",
  );
const note = (name: string) =>
  z
    .string(`${name} must be text`)
    .min(1, `${name} must not be empty`)
    .max(200, `${name} must have at most 200 characters`);

/** Body of `POST /admin/pauses`. */
export const pauseRequest = z
  .strictObject({
    scope,
    by: note("by").describe("Who pauses it."),
    reason: note("reason").describe("Why. Clients do not see it."),
  })
  .meta({ id: "PauseRequest" });

/** Query of `DELETE /admin/pauses`. */
export const pauseQuery = z.strictObject({ scope });

export const pauseAnswer = z
  .object({
    scope: z.string(),
    by: z.string(),
    reason: z.string(),
    since: milliseconds.describe("ms since epoch."),
  })
  .meta({ id: "Pause" });

export const pausesAnswer = z.object({ pauses: z.array(pauseAnswer) }).meta({ id: "Pauses" });

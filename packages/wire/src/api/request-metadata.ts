import { z } from "zod";
import { because } from "../because.ts";
import { hash32, text } from "../scalars.ts";

/** Body of `POST /requests/metadata`. */
export const requestMetadata = z
  .object(
    {
      requestId: hash32,
      additionalMetadata: z.object(
        { moonPayId: text(256).describe("Id of the card payment that funds the request.") },
        because("must be an object"),
      ),
    },
    because("must be a JSON object"),
  )
  .meta({ id: "RequestMetadata" });

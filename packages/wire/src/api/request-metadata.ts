import { z } from "zod";
import { message } from "../message.ts";
import { hash32, text } from "../scalars.ts";

/** Body of `POST /requests/metadata`. */
export const requestMetadata = z
  .object(
    {
      requestId: hash32,
      additionalMetadata: z.object(
        { moonPayId: text(256).describe("Id of the card payment that funds the request.") },
        message("must be an object"),
      ),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "RequestMetadata" });

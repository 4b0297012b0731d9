import { messageAnswer, requestMetadata } from "@causeway/wire";
import { errors, type TypedServer } from "../http/typed.route.ts";

/**
 * `POST /requests/metadata`: clients attach the id of a card payment to a request; nothing here reads it, so
 * nothing is stored.
 */
export function requestMetadataRoute(app: TypedServer): void {
  app.post(
    "/requests/metadata",
    {
      schema: {
        tags: ["requests"],
        operationId: "addRequestMetadata",
        summary: "Attach metadata to a request",
        description: "For clients that send the id of a card payment. The id is validated but not stored.",
        body: requestMetadata,
        response: { 200: messageAnswer, ...errors(400, 401, 403, 413, 415, 429, 500, 503) },
      },
    },
    () => ({ message: "Metadata accepted; this service does not store it" }),
  );
}

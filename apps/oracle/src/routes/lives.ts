import { sendJson } from "@causeway/service-kit";
import { livesAnswer } from "@causeway/wire";
import type { TypedServer } from "./typed.ts";

const ALIVE = JSON.stringify({ status: "ok" });

export function livesRoute(app: TypedServer): void {
  app.get(
    "/lives/v1",
    {
      schema: {
        tags: ["oracle"],
        operationId: "getLives",
        summary: "Check that the process is running",
        response: { 200: livesAnswer },
      },
    },
    async (_request, reply) => sendJson(reply, ALIVE),
  );
}

import { parseAddress, ServiceError } from "@causeway/domain";
import { depositAddressAnswer, depositAddressQuery } from "@causeway/wire";
import type { RouteServices } from "../../http/route-services.port.ts";
import { hasSecretKey, requireSecretKey } from "../../http/access.route.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";
import { hash } from "../../http/wire-values.ts";
import { depositAddressNotFound, invalidAddress } from "../../http/refusals.ts";

/** `GET /deposit-addresses/v1`: what came to a deposit address, and what became of it. */
export function depositAddressesRoute(
  app: TypedServer,
  { depositAddresses }: Pick<RouteServices, "depositAddresses">,
): void {
  app.get(
    "/deposit-addresses/v1",
    {
      config: { access: { kind: "key", scope: "read" } },
      schema: {
        tags: ["requests"],
        operationId: "getDepositAddress",
        summary: "Get a deposit address, its funds and its deposits",
        querystring: depositAddressQuery,
        response: { 200: depositAddressAnswer, ...errors(400, 401, 403, 404, 429, 500, 503) },
      },
    },
    async ({ apiKey, query }) => {
      const asked = question(query);
      if ("address" in asked)
        requireSecretKey({ apiKey }, "read", "look up deposit addresses by address, only by requestId");
      const found = await depositAddresses.lookUp(asked, hasSecretKey({ apiKey }) ? apiKey?.id : undefined);
      if (found === undefined) throw depositAddressNotFound(query.address);
      return found;
    },
  );
}

function question(query: {
  readonly address?: string | undefined;
  readonly requestId?: string | undefined;
}): Parameters<RouteServices["depositAddresses"]["lookUp"]>[0] {
  if ((query.address === undefined) === (query.requestId === undefined))
    throw new ServiceError("INVALID_REQUEST", "Exactly one of address and requestId is required", {
      field: "address",
    });
  if (query.requestId !== undefined) return { requestId: hash(query.requestId) };
  const address = parseAddress(query.address ?? "");
  if (address === undefined) throw invalidAddress("address");
  return { address };
}

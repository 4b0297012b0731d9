import { parseAddress, ServiceError } from "@causeway/domain";
import { depositAddressAnswer, depositAddressQuery } from "@causeway/wire";
import type { Calls } from "../../http/use-cases.port.ts";
import { hasSecretKey, requireSecretKey } from "../../http/access.route.ts";
import { lookUpAddress } from "./look-up-address.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";
import { parseHash } from "../../http/wire-values.ts";
import { depositAddressNotFound, invalidAddress } from "../../http/refusals.ts";

/** Deposit addresses on Bitcoin are P2WPKH, on Solana accounts of 32 bytes. */
const NON_EVM_ADDRESSES = [/^(?:bc|tb|bcrt)1q[02-9ac-hj-np-z]{38}$/, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/];

/** `GET /deposit-addresses/v1`: the funds of a deposit address, and its deposits. */
export function depositAddressesRoute(app: TypedServer, { call }: Calls<typeof lookUpAddress>): void {
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
      const lookup = readLookup(query);
      if ("address" in lookup)
        requireSecretKey({ apiKey }, "read", "look up deposit addresses by address, only by requestId");
      const answer = await call(lookUpAddress, lookup, hasSecretKey({ apiKey }) ? apiKey?.id : undefined);
      if (answer === undefined) throw depositAddressNotFound(query.address);
      return answer;
    },
  );
}

function readLookup(query: {
  readonly address?: string | undefined;
  readonly requestId?: string | undefined;
}): Parameters<typeof lookUpAddress>[1] {
  if ((query.address === undefined) === (query.requestId === undefined))
    throw new ServiceError("INVALID_REQUEST", "Exactly one of address and requestId is required", {
      field: "address",
    });
  if (query.requestId !== undefined) return { requestId: parseHash(query.requestId) };
  const { address = "" } = query;
  const isNonEvm = NON_EVM_ADDRESSES.some((form) => form.test(address));
  if (parseAddress(address) === undefined && !isNonEvm) throw invalidAddress("address");
  return { address: parseAddress(address) ?? address };
}

import { ServiceError } from "@causeway/domain";
import type { ApiKeyRecord, ApiKeyRegister, ApiKeySettings, IssuedApiKey } from "./api-key-register.port.ts";
import type { Clock } from "../db/clock.port.ts";
import { isPublishable, publishableScopes } from "../http/publishable-key.ts";

export interface KeyServices {
  readonly register: ApiKeyRegister;
  readonly clock: Clock;
}

/**
 * Creates a key. Its text is only in the response.
 * @throws ServiceError INVALID_REQUEST when a key with browser origins could do more than quote and read
 */
export async function createKey(
  { register, clock }: KeyServices,
  settings: ApiKeySettings,
): Promise<IssuedApiKey> {
  return await register.issue(validate(settings), clock.nowMs());
}

/**
 * Changes the given settings.
 * @throws ServiceError NOT_FOUND, INVALID_REQUEST
 */
export async function changeKey(
  { register, clock }: KeyServices,
  id: string,
  change: Partial<ApiKeySettings>,
): Promise<ApiKeyRecord> {
  const record = await register.get(id);
  if (record === undefined || record.revokedAtMs !== undefined) throw keyNotFound(id);
  const { scopes, origins } = validate({ ...record, ...change });
  refusePublishableWallet({ origins, fundingAddress: record.fundingAddress }, "origins");
  const validated = {
    ...change,
    ...(change.scopes === undefined ? {} : { scopes }),
    ...(change.origins === undefined ? {} : { origins }),
  };
  return (await register.change(id, validated, clock.nowMs())) ?? throwNotFound(id);
}

/**
 * Gives the key a new secret; the old one is valid for `graceSeconds` more.
 * @throws ServiceError NOT_FOUND
 */
export async function rotateKey(
  { register, clock }: KeyServices,
  id: string,
  graceSeconds: number,
): Promise<IssuedApiKey> {
  const nowMs = clock.nowMs();
  return (await register.rotate(id, nowMs + graceSeconds * 1000, nowMs)) ?? throwNotFound(id);
}

/**
 * Revokes the key permanently.
 * @throws ServiceError NOT_FOUND when it never existed
 */
export async function revokeKey({ register, clock }: KeyServices, id: string): Promise<ApiKeyRecord> {
  return (await register.revoke(id, clock.nowMs())) ?? throwNotFound(id);
}

function validate<Settings extends Pick<ApiKeySettings, "scopes" | "origins">>(settings: Settings): Settings {
  const scopes = [...new Set(settings.scopes)];
  const origins = [...new Set(settings.origins)];
  // Every visitor of the page has the key, so it must not be able to spend.
  if (isPublishable({ origins }) && scopes.some((scope) => !publishableScopes.has(scope)))
    throw new ServiceError(
      "INVALID_REQUEST",
      "scopes of an API key with origins must contain only quote and read",
      {
        field: "scopes",
      },
    );
  return { ...settings, scopes, origins };
}

/**
 * A publishable key must not have a wallet: every visitor could see the wallet's balance and activity.
 * @throws ServiceError INVALID_REQUEST, naming `field`
 */
export function refusePublishableWallet(
  { origins, fundingAddress }: Pick<ApiKeyRecord, "origins" | "fundingAddress">,
  field: "origins" | "address",
): void {
  if (isPublishable({ origins }) && fundingAddress !== undefined)
    throw new ServiceError("INVALID_REQUEST", "An API key must not have both origins and a funding address", {
      field,
    });
}

export const keyNotFound = (id: string): ServiceError =>
  new ServiceError("NOT_FOUND", `API key ${id} not found or revoked`);

function throwNotFound(id: string): never {
  throw keyNotFound(id);
}

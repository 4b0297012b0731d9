import type { KeyAdmin } from "./key-admin.port.ts";
import type { Random } from "../db/random.port.ts";
import type { Signatures } from "../chains/signatures.port.ts";
import { changeKey, createKey, revokeKey, rotateKey } from "./manage-api-keys.ts";
import type { KeyServices } from "./manage-api-keys.ts";
import { challengeFundingAddress, linkFundingAddress } from "./link-funding-address.ts";

export function keyAdmin(
  services: KeyServices & { readonly random: Random; readonly signatures: Signatures },
): KeyAdmin {
  return {
    create: (settings) => createKey(services, settings),
    list: () => services.register.list(),
    change: (id, change) => changeKey(services, id, change),
    rotate: (id, graceSeconds) => rotateKey(services, id, graceSeconds),
    revoke: (id) => revokeKey(services, id),
    challengeFundingAddress: (id, address) => challengeFundingAddress(services, id, address),
    linkFundingAddress: (id, address, signature) => linkFundingAddress(services, id, address, signature),
  };
}

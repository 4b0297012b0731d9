import type { Address, Hex } from "@causeway/domain";
import type { ApiKeyRecord, ApiKeySettings, IssuedApiKey } from "./api-key-register.port.ts";

/** Administration of API keys. Throws ServiceError NOT_FOUND and INVALID_REQUEST. */
export interface KeyAdmin {
  create(settings: ApiKeySettings): Promise<IssuedApiKey>;
  list(): Promise<readonly ApiKeyRecord[]>;
  change(id: string, change: Partial<ApiKeySettings>): Promise<ApiKeyRecord>;
  rotate(id: string, graceSeconds: number): Promise<IssuedApiKey>;
  revoke(id: string): Promise<ApiKeyRecord>;
  /** Returns the message that the wallet must sign for `linkFundingAddress`. */
  challengeFundingAddress(
    id: string,
    address: Address,
  ): Promise<{ readonly message: string; readonly expiresAtMs: number }>;
  linkFundingAddress(id: string, address: Address, signature: Hex): Promise<ApiKeyRecord>;
}

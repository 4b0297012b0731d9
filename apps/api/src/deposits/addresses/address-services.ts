import type { Address, RequestTerms } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { DepositAddressReads } from "./deposit-addresses.port.ts";
import type { Random } from "../../db/random.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { OwnKeys } from "../../chains/index.ts";
import type { TransitionServices } from "../../requests/index.ts";

/** Dependencies of watching deposit addresses and deciding about their funds. */
export interface AddressServices
  extends
    TransitionServices,
    OwnKeys,
    Pick<
      Services,
      "chains" | "events" | "formerSigners" | "uow" | "reads" | "enginePolicy" | "quotePolicy" | "queuedLegs"
    > {
  readonly depositAddresses: DepositAddressReads;
  readonly random: Random;
  readonly solver: Address;
  /** Returns the terms of a quote for this input. Stores nothing. @throws ServiceError as a quote does */
  quoteTerms(input: QuoteInput, keyId: string | undefined): Promise<RequestTerms>;
}

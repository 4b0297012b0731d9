import type { AddressFormat } from "../../apps/api/src/chains/address-format.port.ts";

/** The format of EVM chains: addresses and ids are their own hex text. */
export const hexAddressFormat: AddressFormat = { address: (_, bytes) => bytes, transaction: (_, id) => id };

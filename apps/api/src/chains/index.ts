/** The interface of this room for other rooms; everything else is private. */
export { formatTransactionIds, addressFormatOf } from "./format-ids.ts";
export { fillContractOf } from "./fill-contract.ts";
export {
  type DrainingKeys,
  drainingSigners,
  laneSigners,
  ownAccounts,
  type OwnKeys,
  signerOf,
} from "./lane-signers.ts";
export { orderSignerOf } from "./order-signer.ts";
export { isPlaceholder } from "./placeholder-user.ts";

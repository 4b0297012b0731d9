import { TRANSFER_TOPIC, type CallPlan, type ReceiptFact } from "@causeway/families/evm";

/** `transfer(address,uint256)` */
const TRANSFER_SELECTOR = "0xa9059cbb";
const WORD_DIGITS = 64;

/**
 * Whether a mined transaction called a token's `transfer` and the token moved nothing to the recipient: some
 * tokens return false instead of reverting. Oracles rely on the same event, so a payment without it is never
 * attested.
 */
export function isSilentTransfer({ to, data }: CallPlan, { status, logs }: ReceiptFact): boolean {
  if (status !== "success" || !data.startsWith(TRANSFER_SELECTOR)) return false;
  const recipient = `0x${data.slice(TRANSFER_SELECTOR.length, TRANSFER_SELECTOR.length + WORD_DIGITS)}`;
  return !logs.some(
    ({ address, topics }) => address === to && topics[0] === TRANSFER_TOPIC && topics[2] === recipient,
  );
}

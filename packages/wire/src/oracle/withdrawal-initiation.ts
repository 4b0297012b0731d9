import { z } from "zod";
import { message } from "../message.ts";
import { answerHash32, digits, evmAddress } from "../scalars.ts";
import { address, canonicalAmount, chainName, hash32, hexData, peerOptions } from "./scalars.ts";
import { answerExtras, execution } from "./signatures.ts";

/** The fields that identify a withdrawal from the hub. */
export const hubWithdrawal = {
  settlementChainId: chainName.describe("Chain name of the hub."),
  expectedAmount: canonicalAmount,
  chainId: chainName.describe("Chain to withdraw to."),
  currency: address,
  withdrawer: address.describe("Owner of the hub balance."),
  withdrawerChainId: chainName,
  recipient: address,
  withdrawalNonce: hash32,
};

/** The withdrawal fields as echoed in responses. */
export const hubWithdrawalEcho = z.object({
  settlementChainId: z.string(),
  expectedAmount: digits,
  chainId: z.string(),
  currency: z.string(),
  withdrawer: z.string(),
  withdrawerChainId: z.string(),
  recipient: z.string(),
  withdrawalNonce: answerHash32,
});

/** Body of `POST /attestations/withdrawal-initiation/v1`. */
export const withdrawalInitiationRequest = z
  .object(
    {
      ...hubWithdrawal,
      signature: hexData.describe(
        "EIP-191 signature by the withdrawer, an EVM account, of the 32 bytes sha256(JSON). The JSON has no spaces and only text fields, in this order. Each entry is the JSON field, then in parentheses its source: another request field or the value described. Without parentheses, the source is the request field of the same name. Entries: `amount` (`expectedAmount`), `chainId`, `currency`, `depository` (not in the request: address of the depository that pays), `nonce` (`withdrawalNonce`), `operation` (always the text `withdrawal`), `oracleContract` (not in the request: the Oracle contract of the hub), `owner` (`withdrawer`), `ownerChainId` (`withdrawerChainId`), `recipient`, `settlementChainId`, `settlementNetwork` (not in the request: chain id of the hub in decimal digits).",
      ),
      ...peerOptions,
    },
    message("must be an object"),
  )
  .meta({ id: "WithdrawalInitiationRequest" });

/**
 * Moves the amount from the owner's account on the hub to the address of this withdrawal. Only the execution
 * is signed.
 */
export const withdrawalInitiationAnswer = z
  .object({
    message: z.object({ data: hubWithdrawalEcho, result: z.object({ withdrawalAddress: evmAddress }) }),
    execution,
    ...answerExtras,
  })
  .meta({ id: "WithdrawalInitiationAnswer" });

export type WithdrawalInitiationRequest = z.infer<typeof withdrawalInitiationRequest>;
export type WithdrawalInitiationAnswer = z.infer<typeof withdrawalInitiationAnswer>;

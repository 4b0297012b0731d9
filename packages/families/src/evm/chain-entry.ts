import {
  hasWrongChecksum,
  NATIVE_CURRENCY,
  parseAddress,
  WRONG_CHECKSUM,
  type Address,
} from "@causeway/domain";
import type { FamilyEntry } from "../chain-entry.ts";
import { evmCodec } from "./address-codec.ts";
import type { EvmFacts } from "./facts.ts";
import { finalityPolicy } from "./finality/finality-policy.ts";

const BLOCK_TIME_SECONDS = 12;

export const evm: FamilyEntry<"evm", EvmFacts> = {
  id: "evm",
  codec: evmCodec,
  files: {
    answers: async () => await import("./answers.ts"),
    deposits: async () => await import("./deposits.ts"),
    payments: async () => await import("./payments.ts"),
    withdrawals: async () => await import("./withdrawals.ts"),
    finality: async () => await import("./finality.ts"),
    family: async () => await import("./family.ts"),
  },
  facts: ({ entry, place, problems }) => {
    const chainId = entry.chainId ?? Number(entry.hubChainId ?? Number.NaN);
    if (!Number.isSafeInteger(chainId) || chainId < 1)
      problems.push(`${place}: chainId is missing; set it, or use the EVM chain id as hubChainId`);
    if (entry.chainId !== undefined && entry.hubChainId !== undefined && entry.hubChainId !== String(chainId))
      problems.push(`${place}: hubChainId of an EVM chain must equal its chainId`);
    const { fillContracts, isZksyncStack } = entry.additionalData;
    const { router, approvalProxy } = entry.contracts ?? {};
    const contractTexts = fillContracts ?? [router, approvalProxy].filter((address) => address !== undefined);
    return {
      chainId,
      finality: finalityPolicy(entry.additionalData, `${place}.additionalData`, problems),
      blockTimeSeconds: entry.blockTimeSeconds ?? BLOCK_TIME_SECONDS,
      fillContracts: contractTexts.map((text, index) =>
        evmAddress(text, `${place}: fill contract ${index}`, problems),
      ),
      isZksyncStack,
    };
  },
  network: ({ chainId }) => ["chain id", chainId],
  // Contracts often have one address on all EVM chains.
  isIdentifiedByDepository: () => false,
  depository: evmAddress,
  hubChainId: ({ chainId }) => String(chainId),
};

function evmAddress(text: string, place: string, problems: string[]): Address {
  const address = parseAddress(text);
  if (hasWrongChecksum(text)) problems.push(`${place}: ${WRONG_CHECKSUM}`);
  if (address !== undefined && address !== NATIVE_CURRENCY) return address;
  problems.push(`${place}: must be a 20-byte address, not zero`);
  return NATIVE_CURRENCY;
}

import {
  API_FAMILIES,
  familyIdOf,
  hasWrongChecksum,
  NON_EVM_FAMILIES,
  VM_TYPES,
  WRONG_CHECKSUM,
  type FamilyId,
  type VmType,
} from "@causeway/domain";
import {
  DEFAULT_CONFIRMATIONS,
  encodeAddress,
  families,
  nativeCurrency,
  type FamilyEntry,
} from "@causeway/families";
import { z } from "zod";
import { placeholderName } from "./placeholder.ts";
import { currencyFields, feeFields, httpUrl, profileFields } from "./profile-fields.ts";

/** Non-EVM families whose chains the API pays on. */
export const paidFamilies = Object.values(NON_EVM_FAMILIES);

/** Families that only oracles support: the API skips their entries. */
export const attestedOnlyFamilies: readonly string[] = VM_TYPES.filter(
  (vm) => !(Object.values(API_FAMILIES) as readonly VmType[]).includes(vm),
);

/** In the format of the family, which `vmType` names. */
const familyText = z.string().min(1).max(128);

/** Jupiter's swap program, version 6. */
const JUPITER_PROGRAM = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4";

const token = z.strictObject({ address: familyText, ...currencyFields });

/**
 * A non-EVM chain of `configs/chains.<ENVIRONMENT>.json` that the API pays on: Solana, Bitcoin or
 * Hyperliquid. Addresses are in the format of the family. The oracle checks what only attestation needs.
 */
export const nonEvmEntry = z
  .strictObject({
    ...profileFields,
    vmType: z.enum(paidFamilies),
    tokens: z.array(token).default([]),
    /** Solana: the depository program; Bitcoin and Hyperliquid: the receiving address. */
    depository: familyText,
    additionalDepositories: z.array(familyText).optional(),
    /** Solana: the program of deposit addresses; absent: they are not enabled. */
    depositAddressProgram: familyText.optional(),
    /** Solana: accounts that must have the roles of the depository, for `operator doctor`; `none`: no one. */
    depositoryRoles: z
      .strictObject({ upgradeAuthority: familyText, owner: familyText, allocator: familyText })
      .optional(),
    /**
     * Bitcoin: confirmations that quotes count on. `additionalData.finalizationBlocks` decides when a deposit
     * counts: both must be the same number.
     */
    confirmations: z.int().min(1).max(1_000).default(DEFAULT_CONFIRMATIONS),
    /** Templates of the explorer's paths, e.g. `/tx/{TX_HASH}`; absent: the usual paths. */
    explorerPaths: z
      .strictObject({
        transaction: z.string().startsWith("/").optional(),
        address: z.string().startsWith("/").optional(),
        token: z.string().startsWith("/").optional(),
      })
      .optional(),
    fees: z.strictObject({
      ...feeFields,
      /** Only for Bitcoin: the highest fee rate that is paid, in satoshis per virtual byte. */
      maxSatPerVbyte: z.int().min(1).max(500).optional(),
    }),
    /** Only for Hyperliquid. */
    exchange: z
      .strictObject({
        /** Where clients post signed actions. */
        publicApiUrl: httpUrl,
      })
      .optional(),
    /** Only for Solana: swaps any token of the user before the deposit. */
    swapAggregator: z
      .strictObject({
        /** A swap API like Jupiter's, without `/quote`. Absent: nothing is swapped. */
        url: httpUrl.optional(),
        /** Sent as `x-api-key`. */
        apiKey: z.string().min(1).optional(),
        /** Programs that may make its swaps. */
        programs: z.array(familyText).min(1).default([JUPITER_PROGRAM]),
      })
      .optional(),
    /** Validated completely when it is read for attestations. */
    additionalData: z
      .looseObject({
        signingProfile: z.enum(["default", "hyperliquid"]).default("default"),
        exchangeNetwork: z.enum(["Mainnet", "Testnet"]).default("Mainnet"),
        usdcTokenId: z.string().optional(),
        bitcoinNetwork: z.enum(["mainnet", "testnet", "testnet4", "signet", "regtest"]).default("mainnet"),
        finalizationBlocks: z.int().optional(),
        esploraCompatibleApiUrl: httpUrl.optional(),
      })
      .prefault({}),
  })
  .superRefine((entry, context) => {
    const {
      vmType,
      depository,
      additionalDepositories = [],
      tokens,
      exchange,
      depositAddressProgram,
      depositoryRoles,
      swapAggregator,
    } = entry;
    const problem = (path: (string | number)[], message: string) =>
      context.addIssue({ code: "custom", path, message });
    if (hasWrongChecksum(depository)) problem(["depository"], WRONG_CHECKSUM);
    for (const [index, former] of additionalDepositories.entries())
      if (hasWrongChecksum(former)) problem(["additionalDepositories", index], WRONG_CHECKSUM);
    if (!isAccount(vmType, depository))
      problem(["depository"], `must be a ${vmType} address other than the native currency`);
    for (const [index, one] of tokens.entries())
      if (!isAddress(vmType, one.address) || one.address === nativeCurrency(vmType))
        problem(["tokens", index, "address"], `must be a ${vmType} currency other than the native one`);
    for (const { path, message } of paidRules(vmType)?.problems(entry) ?? []) problem(path, message);
    if (depositAddressProgram !== undefined) {
      if (!withAddressProgram.includes(vmType))
        problem(["depositAddressProgram"], `is supported only on ${withAddressProgram.join(", ")}`);
      else if (!isAccount(vmType, depositAddressProgram) || depositAddressProgram === depository)
        problem(["depositAddressProgram"], `must be a ${vmType} address other than the depository`);
    }
    if (depositoryRoles !== undefined && !withAddressProgram.includes(vmType))
      problem(["depositoryRoles"], `is supported only on ${withAddressProgram.join(", ")}`);
    for (const [role, account] of Object.entries(depositoryRoles ?? {}))
      if (!isAddress(vmType, account) && !(account === "none" && role !== "allocator"))
        problem(
          ["depositoryRoles", role],
          `must be a ${vmType} address${role === "allocator" ? "" : " or none"}, got ${account}`,
        );
    if (entry.fees.maxSatPerVbyte !== undefined && vmType !== NON_EVM_FAMILIES.bvm)
      problem(["fees", "maxSatPerVbyte"], `is supported only on ${NON_EVM_FAMILIES.bvm}`);
    if (exchange !== undefined && !withExchange.includes(vmType))
      problem(["exchange"], `is supported only on ${withExchange.join(", ")}`);
    if (swapAggregator !== undefined && !withSwapAggregator.includes(vmType))
      problem(["swapAggregator"], `is supported only on ${withSwapAggregator.join(", ")}`);
    for (const [index, program] of (swapAggregator?.programs ?? []).entries())
      if (!isAddress(vmType, program))
        problem(["swapAggregator", "programs", index], `must be a ${vmType} address`);
  });

/** A valid entry of a non-EVM chain. */
export type NonEvmEntry = z.infer<typeof nonEvmEntry>;

function isAddress(vm: VmType, text: string): boolean {
  if (placeholderName(text) !== undefined) return true;
  try {
    encodeAddress(vm, text);
    return true;
  } catch {
    return false;
  }
}

function isAccount(vm: VmType, text: string): boolean {
  if (placeholderName(text) !== undefined) return true;
  const isAccountOf = paidRules(vm)?.isAccount ?? (() => true);
  return isAddress(vm, text) && text !== nativeCurrency(vm) && isAccountOf(text);
}

const withAddressProgram = VM_TYPES.filter((vm) => paidRules(vm)?.hasAddressProgram);
const withExchange = VM_TYPES.filter((vm) => paidRules(vm)?.hasExchange);
const withSwapAggregator = VM_TYPES.filter((vm) => paidRules(vm)?.hasSwapAggregator);

function paidRules(vm: VmType): FamilyEntry<FamilyId, unknown>["paid"] {
  return families[familyIdOf(vm)].paid;
}

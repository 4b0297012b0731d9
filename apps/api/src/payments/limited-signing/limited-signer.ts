import { signatureToHex, type Signer } from "@causeway/attest";
import { signTransaction, type UnsignedTransaction } from "@causeway/chains";
import { ServiceError, type Address, type Hex } from "@causeway/domain";
import type { Logger } from "@causeway/service-kit";
import { parseTransaction } from "viem";
import { judgeValue } from "../policy/daily-limit.ts";
import type { Refusal } from "../policy/limits.port.ts";
import { judgeTransaction } from "./judge-transaction.ts";
import type { CountSigning, SigningRecord, SigningRules } from "./signing-rules.port.ts";

export interface LimitedSigning {
  readonly signer: Signer;
  readonly rules: SigningRules;
  readonly record: SigningRecord;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly count: CountSigning;
}

/**
 * Signs a transaction that the rules allow, after it was counted.
 * @param serialized the transaction without a signature
 * @returns the signature, 65 bytes
 * @throws ServiceError FORBIDDEN with the rule that the transaction breaks; SignerUnavailable (retryable)
 */
export async function signLimited(
  { signer, rules, record, log, count }: LimitedSigning,
  serialized: Hex,
): Promise<Hex> {
  const unsigned = serialized.toLowerCase() as Hex;
  const transaction = readTransaction(unsigned);
  const { chainId, nonce, to } = transaction;
  const facts = { account: signer.address, chainId, nonce, to };
  const refuse = ({ rule, found, limit }: Refusal): never => {
    log.warn({ event: "signature_refused", ...facts, rule, found, limit });
    count("refused", rule);
    throw new ServiceError("FORBIDDEN", `${rule}: found ${found}, allowed: ${limit}`);
  };
  const judged = judgeTransaction(rules, transaction);
  if (judged.kind === "refused") return refuse(judged.refusal);
  let signature: Hex | undefined;
  await signTransaction(transaction, async (digest, preimage) => {
    // The fields that were read must be all that is signed: another encoding, or an access list, was not
    // checked.
    if (preimage.unsigned !== unsigned)
      throw new ServiceError(
        "INVALID_REQUEST",
        "unsigned must be a transaction in its shortest encoding, without an access list",
        { field: "unsigned" },
      );
    const { dayUsd } = rules;
    const sumUsd = await record.count({ chainId, nonce, usd: judged.usd, maxUsd: dayUsd });
    const aheadMs = record.aheadMs();
    if (aheadMs > 0) log.warn({ event: "signing_record_ahead", aheadMs });
    const dailyRefusal = judgeValue(sumUsd, 0n, {
      transactionUsd: undefined,
      dayUsd,
      maxFeePerGasWei: undefined,
    });
    if (dailyRefusal !== undefined)
      return refuse({ ...dailyRefusal, limit: dailyRefusal.limit.replace("per UTC day", "in 24 hours") });
    const signed = await signer.signDigest(digest, preimage);
    signature = signatureToHex(signed);
    return signed;
  });
  if (signature === undefined) throw new Error("invariant violated: a transaction without a signature");
  log.info({ event: "transaction_signed", ...facts });
  count("signed");
  return signature;
}

function readTransaction(unsigned: Hex): UnsignedTransaction {
  try {
    const parsed = parseTransaction(unsigned as `0x02${string}`);
    const { type, chainId, nonce = 0, to, value = 0n, data = "0x", gas } = parsed;
    const { maxFeePerGas, maxPriorityFeePerGas = 0n } = parsed;
    const authorizationList = "authorizationList" in parsed ? parsed.authorizationList : undefined;
    const isSupportedType = (type as string) === "eip1559" || (type as string) === "eip7702";
    if (
      isSupportedType &&
      to &&
      gas !== undefined &&
      maxFeePerGas !== undefined &&
      maxPriorityFeePerGas <= maxFeePerGas
    )
      return {
        chainId,
        nonce,
        to: to.toLowerCase() as Address,
        value,
        data,
        gas,
        maxFeePerGas,
        maxPriorityFeePerGas,
        ...(authorizationList !== undefined && {
          authorizationList: authorizationList as UnsignedTransaction["authorizationList"] & object,
        }),
      };
  } catch {
    // Reported below.
  }
  throw new ServiceError(
    "INVALID_REQUEST",
    "unsigned must be a serialized EIP-1559 or EIP-7702 transaction with a recipient, without a signature",
    { field: "unsigned" },
  );
}

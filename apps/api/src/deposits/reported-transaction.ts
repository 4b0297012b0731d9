import { ServiceError, type TxHash } from "@causeway/domain";
import { parseTransaction } from "@causeway/families";
import type { ChainDirectory } from "../chains/chains.port.ts";
import { unsupportedChain } from "../http/refusals.ts";

/** A transaction that a client reports. It counts only as its chain shows it. */
export interface TransactionReport {
  readonly chainId: number;
  /** In the notation of the chain. */
  readonly txHash: string;
}

/**
 * Reads a transaction report, with its id in the format of its chain.
 * @throws ServiceError UNSUPPORTED_CHAIN, INVALID_REQUEST
 */
export function readReport<R extends TransactionReport>(
  chains: Pick<ChainDirectory, "profile">,
  report: R,
): Omit<R, "txHash"> & { readonly txHash: TxHash } {
  const chain = chains.profile(report.chainId);
  if (chain === undefined) throw unsupportedChain(report.chainId);
  const txHash = parseTransaction(chain, report.txHash);
  if (txHash === undefined)
    throw new ServiceError("INVALID_REQUEST", `txHash is not a transaction id of ${chain.displayName}`, {
      field: "txHash",
    });
  return { ...report, txHash };
}

import {
  amountToUsdUp,
  formatAmount,
  formatUsd,
  type Currency,
  type DepositId,
  type Hex,
} from "@causeway/domain";
import { formatAddress, formatTransactionId, parseAnyTransaction } from "@causeway/families";
import { releaseRefund } from "../../payments/release-refund.ts";
import type { Release, ReleaseServices } from "../../payments/release-refund.ts";
import { messageOf } from "./failure-text.ts";
import { commandLine, DONE, printLine, runCommand, UsageError } from "./run-command.ts";

export const REFUND_USAGE = `  operator refund <depositId|txHash|requestId> [--yes]
                              shows a refund that is waiting for the operator; with --yes, releases it: the worker pays it even above the daily limit, and it counts toward that limit.
                              exit code 0: released now or already released; 1: refused; 3: run it again with --yes. Reads the worker's environment.
`;

const UNCONFIRMED = 3;

/** How the operator names a deposit: by its row id, transaction hash or request id. */
export type DepositName = { readonly id: DepositId } | { readonly hash: Hex };

/** Opens the services that release refunds. */
export type OpenRefunds = () => {
  readonly services: ReleaseServices;
  find(name: DepositName): Promise<readonly DepositId[]>;
  /**
   * USD per whole unit, 18 decimals; undefined: the source has no price.
   *
   * @throws when the source does not answer
   */
  readPriceUsd(currency: Currency): Promise<bigint | undefined>;
  close(): Promise<void>;
};

class RefusedError extends Error {}

/** `operator refund`: prints a JSON line for each step. Never throws: the exit code reports the outcome. */
export async function runRefund(args: readonly string[], open: OpenRefunds): Promise<number> {
  return await runCommand(REFUND_USAGE, async () => {
    const request = parseRequest(args);
    const opened = open();
    try {
      return await showOrRelease(opened, request);
    } finally {
      await opened.close();
    }
  });
}

interface RefundRequest {
  readonly name: DepositName;
  /** The argument as written. */
  readonly text: string;
  readonly isConfirmed: boolean;
}

/** @throws UsageError */
function parseRequest(args: readonly string[]): RefundRequest {
  const { values, positionals } = commandLine({
    args: [...args],
    options: { yes: { type: "boolean" } },
    allowPositionals: true,
  });
  const [text, ...more] = positionals;
  if (text === undefined || more.length > 0)
    throw new UsageError("refund requires exactly one deposit id, transaction hash or request id");
  return { name: nameOf(text), text, isConfirmed: values.yes === true };
}

function nameOf(text: string): DepositName {
  if (/^\d{1,15}$/.test(text)) return { id: text };
  // `operator funds` prints ids of every family in hex; a Solana id has 64 bytes.
  const hash = /^0x[0-9a-f]{128}$/.test(text) ? (text as Hex) : parseAnyTransaction(text);
  if (hash === undefined)
    throw new UsageError(
      `${text} is not a deposit id (as in operator funds), transaction hash or request id`,
    );
  return { hash };
}

async function showOrRelease(
  { services, find, readPriceUsd }: ReturnType<OpenRefunds>,
  { name, text, isConfirmed }: RefundRequest,
): Promise<number> {
  const { deposit, verdict } = await selectDeposit(services, await find(name), text);
  const label = `deposit ${deposit.id}`;
  if (verdict.kind === "refused") throw new RefusedError(`${label}: ${verdict.reason}`);
  if (verdict.kind === "already") {
    print("already", {
      depositId: deposit.id,
      releasedAt: new Date(verdict.releasedAtMs).toISOString(),
      refundState: verdict.refundState,
    });
    return DONE;
  }
  const chain = services.chains.profile(deposit.chainId);
  const currency = services.chains.currency(deposit.chainId, deposit.currency);
  if (chain === undefined || currency === undefined)
    throw new Error(`invariant violated: ${label} is releasable without a configured chain and currency`);
  print("refund", {
    depositId: deposit.id,
    chain: chain.name,
    txHash: formatTransactionId(chain, deposit.txHash),
    requestId: deposit.requestId,
    deposited: `${formatAmount(deposit.amount, currency.decimals)} ${currency.symbol}`,
    currency: formatAddress(chain, deposit.currency),
    usd: await usdText(readPriceUsd, currency, deposit.amount),
    recipient: formatAddress(chain, verdict.recipient),
    why: verdict.why,
    note: "the refund is the deposit minus the cost of its payment; make sure that the funds were not already returned by hand",
  });
  if (!isConfirmed) {
    process.stderr.write("nothing was changed: run the command again with --yes to release this refund\n");
    return UNCONFIRMED;
  }
  const released = await releaseRefund(services, deposit.id, { isDryRun: false });
  if (released?.verdict.kind === "refused") throw new RefusedError(`${label}: ${released.verdict.reason}`);
  print(released?.verdict.kind === "already" ? "already" : "released", { depositId: deposit.id });
  return DONE;
}

/**
 * The deposit that a name refers to. If several match: the only one that can be released, otherwise the only
 * one that is already released, otherwise the only one that is refused.
 * @throws RefusedError when no deposit matches, or more than one remains
 */
async function selectDeposit(
  services: ReleaseServices,
  ids: readonly DepositId[],
  text: string,
): Promise<Release> {
  const releases: Release[] = [];
  for (const id of ids) {
    const release = await releaseRefund(services, id, { isDryRun: true });
    if (release !== undefined) releases.push(release);
  }
  if (releases.length === 0)
    throw new RefusedError(`no deposit found with id, transaction hash or request id ${text}`);
  for (const kind of ["release", "already", "refused"] as const) {
    const [first, ...more] = releases.filter(({ verdict }) => verdict.kind === kind);
    if (first !== undefined && more.length === 0) return first;
    if (first !== undefined)
      throw new RefusedError(
        `${text} matches several deposits; use the id of one: ${releases.map(({ deposit, verdict }) => `${deposit.id} (${describeVerdict(verdict)})`).join("; ")}`,
      );
  }
  throw new Error("invariant violated: a deposit without a verdict");
}

function describeVerdict(verdict: Release["verdict"]): string {
  if (verdict.kind === "refused") return verdict.reason;
  return verdict.kind === "release" ? "can be released" : "is already released";
}

/**
 * The deposit's value in USD, or why it is unknown. A missing price must not stop a release: the worker
 * prices the refund itself, and waits until it has a price.
 */
async function usdText(
  readPriceUsd: ReturnType<OpenRefunds>["readPriceUsd"],
  currency: Currency,
  amount: bigint,
): Promise<string> {
  try {
    const priceUsd = await readPriceUsd(currency);
    if (priceUsd === undefined) return `unknown: ${currency.symbol} has no price`;
    return formatUsd(amountToUsdUp(amount, { decimals: currency.decimals, priceUsd }));
  } catch (error) {
    return `unknown: ${messageOf(error)}`;
  }
}

function print(step: string, facts: Readonly<Record<string, string | undefined>>): void {
  printLine({ step, ...facts });
}

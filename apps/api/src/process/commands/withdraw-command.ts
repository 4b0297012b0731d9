import type { Env } from "@causeway/config";
import { ConfigError, isLocalKey, readSettings, withVaultSecrets } from "@causeway/config";
import type { Address, Chain, Hex32 } from "@causeway/domain";
import { parseAddress, parseDecimal, parseHex32 } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import type { OperatorConfig, SettlementConfig } from "../../config/config.ts";
import { readOperatorConfig } from "../../config/config.ts";
import { resolveEvmAccount } from "../../config/evm-account.ts";
import type { SigningKey } from "../../config/key-source.ts";
import type { WithdrawalOrder } from "../../settlement/withdrawals/withdrawals.port.ts";
import { withdrawSettings } from "../../config/settings.ts";
import { withdraw } from "../../settlement/withdrawals/withdraw.ts";
import type { WithdrawalServices } from "../../settlement/withdrawals/withdraw.ts";
import { recipientOf } from "../../settlement/withdrawal-recipient.ts";
import { commandLine, DONE, printLine, runCommand, UsageError } from "./run-command.ts";

export const WITHDRAW_USAGE = `  operator withdraw --chain <name> --currency <symbol or address> --amount <decimal> --recipient <address> [--nonce <32 bytes>]
                    [--wait <seconds>] [--lifetime <seconds>]
                                                            pays --amount from the chain's depository, and deducts it from the solver's balance on the hub
                              --amount: in whole units of the currency, such as 2500
                              --nonce: names the withdrawal. Without it, a new nonce is chosen, and the first line of output shows it.
                              To resume a withdrawal, repeat its options and add --nonce
                              --wait: how long one run may take (default: 600). After that it ends with exit code 3; resume it with --nonce
                              --lifetime: how long the depository may pay after the payload is created (default: 3600). If it has not paid
                              by then, the hub credits the balance back, and the command ends with exit code 4
                              exit code 0: paid; 1: refused or failed, see stderr. If a line "ordered" was printed, the withdrawal has begun: resume it with --nonce;
                              2: invalid options; 3: not finished, resume it with --nonce; 4: expired unpaid, the balance is back on the hub
                              reads the worker's environment and ALLOCATOR_PRIVATE_KEY
`;

const UNFINISHED = 3;
const EXPIRED = 4;

/** Connects everything that a withdrawal needs. */
export type OpenWithdrawals = (options: {
  readonly config: OperatorConfig & { readonly solverKey: SigningKey };
  readonly settlement: SettlementConfig;
  readonly chain: Chain;
  readonly allocatorKey: SigningKey;
  readonly payloadLifetimeSeconds: number;
}) => Promise<{ readonly services: WithdrawalServices; close(): Promise<void> }>;

interface WithdrawRequest {
  readonly chain: string;
  readonly currency: string;
  readonly amount: string;
  readonly recipient: string;
  readonly nonce: string | undefined;
  readonly waitSeconds: number;
  readonly lifetimeSeconds: number;
}

/** `operator withdraw`: prints a JSON line per step. Never throws: the exit code is the outcome. */
export async function runWithdraw(
  args: readonly string[],
  processEnv: Env,
  open: OpenWithdrawals,
): Promise<number> {
  return await runCommand(WITHDRAW_USAGE, async () => await carryOut(parseRequest(args), processEnv, open));
}

async function carryOut(request: WithdrawRequest, processEnv: Env, open: OpenWithdrawals): Promise<number> {
  const env = withVaultSecrets(processEnv);
  const config = readOperatorConfig(processEnv);
  const { settlement } = config;
  const { allocatorPrivateKey, allocatorSigner, allocatorAddress } = readSettings(withdrawSettings, env);
  if (settlement === undefined) throw new ConfigError(["ORACLE_URLS is required to withdraw"]);
  const { solverKey } = config;
  if (solverKey === undefined)
    throw new ConfigError(["SOLVER_PRIVATE_KEY is required to withdraw, or SOLVER_SIGNER"]);
  const [allocatorKey] = resolveEvmAccount("operator", {
    prefix: "ALLOCATOR",
    privateKey: allocatorPrivateKey,
    signer: allocatorSigner,
    address: allocatorAddress,
  }).keys;
  if (allocatorKey === undefined)
    throw new ConfigError(["ALLOCATOR_PRIVATE_KEY is required to withdraw, or ALLOCATOR_SIGNER"]);
  if (
    allocatorPrivateKey !== undefined &&
    config.environment !== "local" &&
    isLocalKey(allocatorPrivateKey.reveal())
  )
    throw new ConfigError([
      `ALLOCATOR_PRIVATE_KEY is a publicly known key of local systems and not allowed in ENVIRONMENT ${config.environment}`,
    ]);
  const { solver, executor, depositAddressOperator, formerSolvers } = config.accounts;
  const serviceAccounts: readonly (Address | undefined)[] = [
    solver,
    executor,
    depositAddressOperator,
    ...formerSolvers,
  ];
  // The withdrawal's lanes skip nonces that the database does not know. With a shared key, these could be
  // lost payments of the service.
  if (serviceAccounts.includes(allocatorKey.address))
    throw new ConfigError([
      "ALLOCATOR_PRIVATE_KEY must not be the key of the solver, the executor, the deposit address operator or a former solver",
    ]);
  const chain = config.chains.find(({ name }) => name === request.chain);
  if (chain === undefined)
    throw new UsageError(`--chain: chain ${request.chain} is not configured or not enabled`);
  const order = orderOf(request, chain);
  // Printed before anything happens: the operator needs the nonce to resume the withdrawal.
  print("nonce", { nonce: order.nonce });

  const opened = await open({
    config: { ...config, solverKey },
    settlement,
    chain,
    allocatorKey,
    payloadLifetimeSeconds: request.lifetimeSeconds,
  });
  try {
    const progress = await withdraw(
      opened.services,
      order,
      print,
      AbortSignal.timeout(request.waitSeconds * 1000),
    );
    if (progress.kind === "waits") {
      print("waits", { reason: progress.reason, nonce: order.nonce });
      return UNFINISHED;
    }
    const { outcome } = progress;
    if (outcome === "expired") {
      print("expired", {
        outcome,
        reason:
          "nothing was paid: the payload expired before it was executed, and the hub credited the amount back to the solver",
      });
      return EXPIRED;
    }
    print("done", { outcome });
    return DONE;
  } finally {
    await opened.close();
  }
}

function parseRequest(args: readonly string[]): WithdrawRequest {
  const text = { type: "string" } as const;
  const { values } = commandLine({
    args: [...args],
    options: {
      chain: text,
      currency: text,
      amount: text,
      recipient: text,
      nonce: text,
      wait: { ...text, default: "600" },
      lifetime: { ...text, default: "3600" },
    },
  });
  const { chain, currency, amount, recipient } = values;
  if (chain === undefined || currency === undefined || amount === undefined || recipient === undefined)
    throw new UsageError("--chain, --currency, --amount and --recipient are required");
  return {
    chain,
    currency,
    amount,
    recipient,
    nonce: values.nonce,
    waitSeconds: parseSeconds(values.wait, "--wait"),
    lifetimeSeconds: parseSeconds(values.lifetime, "--lifetime"),
  };
}

function parseSeconds(text: string, option: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`${option} must be a whole number of seconds`);
  return Number(text);
}

const DECIMAL = /^\d+(?:\.(\d+))?$/;

function orderOf(request: WithdrawRequest, chain: Chain): WithdrawalOrder {
  const currency = currencyOf(request.currency, chain);
  const recipient = recipientOf(request.recipient, chain);
  if (recipient.kind === "refused") throw new UsageError(recipient.reason);
  const [, fraction = ""] = DECIMAL.exec(request.amount) ?? [];
  const amount = DECIMAL.test(request.amount) ? parseDecimal(request.amount, currency.decimals) : undefined;
  // Digits beyond the currency's decimals would be cut off, and less would be withdrawn than requested.
  if (amount === undefined || amount <= 0n || fraction.length > currency.decimals)
    throw new UsageError(`--amount must be a positive number with at most ${currency.decimals} decimals`);
  return {
    chainName: chain.name,
    depository: chain.contracts.depository,
    currency: currency.address,
    amount,
    recipient: recipient.address,
    nonce: nonceOf(request.nonce),
  };
}

function currencyOf(text: string, { native, tokens, name }: Chain): { address: Address; decimals: number } {
  const address = parseAddress(text);
  const matches = [native, ...tokens].filter((currency) =>
    address === undefined
      ? currency.symbol.toLowerCase() === text.toLowerCase()
      : currency.address === address,
  );
  const [match] = matches;
  if (match === undefined || matches.length > 1)
    throw new UsageError(
      matches.length > 1
        ? `--currency ${text} matches several currencies of ${name}; use an address`
        : `--currency ${text} is not configured on ${name}`,
    );
  return match;
}

function nonceOf(text: string | undefined): Hex32 {
  if (text === undefined) return `0x${randomBytes(32).toString("hex")}`;
  const nonce = parseHex32(text);
  if (nonce === undefined) throw new UsageError("--nonce must be 0x followed by 64 hex digits");
  return nonce;
}

function print(step: string, facts: Readonly<Record<string, string | bigint | undefined>>): void {
  printLine({ step, ...facts });
}

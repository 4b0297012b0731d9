import { ConfigError, type Secret, type SettingValues } from "@causeway/config";
import { isLoopback, type SigningKey } from "./key-source.ts";
import type { solverSettings } from "./solver.ts";

/** Where the signer process listens. */
export type SignerEndpoint =
  | { readonly kind: "socket"; readonly path: string }
  | { readonly kind: "port"; readonly host: string; readonly port: number };

/** How the API has orders signed: by the signer process, or by a key that it can use itself. */
export type OrderSigning =
  | { readonly kind: "process"; readonly endpoint: SignerEndpoint; readonly token: Secret | undefined }
  | { readonly kind: "key"; readonly key: SigningKey };

type Settings = Partial<SettingValues<typeof solverSettings>>;

const MIN_TOKEN_LENGTH = 32;

/**
 * Reads where the signer process is; undefined if the API signs itself.
 * @throws ConfigError with all problems
 */
export function readSignerEndpoint({
  orderSignerUrl,
  orderSignerToken,
}: Settings): Extract<OrderSigning, { kind: "process" }> | undefined {
  if (orderSignerUrl === undefined) return undefined;
  const { protocol, hostname, port, pathname } = new URL(orderSignerUrl);
  const token = orderSignerToken;
  if (token !== undefined && !/^[\x21-\x7e]{32,}$/.test(token.reveal()))
    throw new ConfigError([
      `ORDER_SIGNER_TOKEN must be at least ${MIN_TOKEN_LENGTH} printable characters without spaces: openssl rand -hex 32`,
    ]);
  if (protocol === "unix:") return { kind: "process", endpoint: { kind: "socket", path: pathname }, token };
  const problems = [
    ...(isLoopback(hostname)
      ? []
      : [
          "ORDER_SIGNER_URL must be unix:///<path> or http://127.0.0.1:<port>: the signer serves its own host only",
        ]),
    ...(port === "" ? ["ORDER_SIGNER_URL must have a port"] : []),
    ...(token === undefined
      ? [
          "ORDER_SIGNER_TOKEN is required with an http ORDER_SIGNER_URL: every process of the host reaches the port",
        ]
      : []),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  const host = hostname.replace(/^\[|\]$/g, "");
  return { kind: "process", endpoint: { kind: "port", host, port: Number(port) }, token };
}

/**
 * Settings of keys that can spend, and of their sources. The API signs with none of them, and a source may
 * contain the password of a remote signer. Excludes SOLVER_SIGNER, which can sign the API's orders.
 */
const SPENDING_KEYS = {
  SOLVER_PRIVATE_KEY: "solverPrivateKey",
  SOLVER_FORMER_KEYS: "solverFormerKeys",
  SOLVER_FORMER_SIGNERS: "solverFormerSigners",
  EXECUTOR_PRIVATE_KEY: "executorPrivateKey",
  EXECUTOR_SIGNER: "executorSigner",
  DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY: "depositAddressOperatorPrivateKey",
  DEPOSIT_ADDRESS_OPERATOR_SIGNER: "depositAddressOperatorSigner",
  SOLVER_SOLANA_KEY: "solverSolanaKey",
  SOLVER_BITCOIN_KEY: "solverBitcoinKey",
  DEPOSIT_ADDRESS_BITCOIN_XPRV: "depositAddressBitcoinXprv",
} as const satisfies Readonly<Record<string, keyof Settings>>;

/**
 * Problems with keys in the API: a process that is exposed to the internet must not have a key that can
 * spend.
 */
export function spendingKeyProblems(settings: Settings, environment: string): readonly string[] {
  if (settings.allowSpendingKeyInApi === true) return [];
  return Object.entries(SPENDING_KEYS).flatMap(([name, field]) => {
    if (settings[field] === undefined) return [];
    const remedy =
      field === "solverPrivateKey"
        ? "Give it to the signer process (dist/signer.js), and set ORDER_SIGNER_URL and SOLVER_ADDRESS in the API"
        : "Remove it";
    return [
      `${name} must not be set in the API with ENVIRONMENT ${environment}: it can spend, and the API is exposed to the internet. ${remedy}, or set ALLOW_SPENDING_KEY_IN_API=true`,
    ];
  });
}

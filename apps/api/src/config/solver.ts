import { setting } from "@causeway/config";
import { KEY_SOURCE_FORMS } from "./key-source.ts";

const { evmAddresses, flag, privateKey, secret, text, url } = setting;

const evmAddress = (name: string, describe: string) =>
  evmAddresses({
    name,
    form: "address, 0x and 40 hex digits",
    pattern: /^0x[0-9a-fA-F]{40}$/,
    optional: true,
    describe,
  });

const signer = (name: string, describe: string) => secret({ name, optional: true, describe });

/**
 * The worker needs the keys. The API needs the addresses of all keys. If both are set, the worker starts only
 * if the key belongs to the address.
 */
export const solverSettings = {
  solverPrivateKey: privateKey({
    name: "SOLVER_PRIVATE_KEY",
    optional: true,
    describe:
      "Signs fills, refunds and orders on every chain. The worker needs it or SOLVER_SIGNER. Outside `local`, the publicly known keys of the local system are refused, and so is the key in the API's environment (ALLOW_SPENDING_KEY_IN_API).",
  }),
  solverSigner: signer(
    "SOLVER_SIGNER",
    `Where the solver's key is if not in SOLVER_PRIVATE_KEY: ${KEY_SOURCE_FORMS}. \`web3signer:\` and \`eth-rpc:\` are remote signers, \`signer:\` is a signer process with limits (docs/operations/keys.md). Requires SOLVER_ADDRESS. Not supported while a Hyperliquid chain is enabled.`,
  ),
  solverAddress: evmAddress(
    "SOLVER_ADDRESS",
    "Address of SOLVER_PRIVATE_KEY or SOLVER_SIGNER. Required with SOLVER_SIGNER and with ORDER_SIGNER_URL.",
  ),
  orderSignerUrl: url({
    name: "ORDER_SIGNER_URL",
    schemes: ["unix", "http"],
    optional: true,
    describe:
      "Where the signer process (`dist/signer.js`) listens: `unix:///run/causeway/signer.sock`, or `http://127.0.0.1:<port>` with ORDER_SIGNER_TOKEN. The API has orders and attestations signed there, and needs no key. Set it in both processes.",
  }),
  orderSignerToken: secret({
    name: "ORDER_SIGNER_TOKEN",
    optional: true,
    describe:
      "Shared by the API and the signer process, at least 32 characters. Required with an http ORDER_SIGNER_URL; a Unix socket is protected by its mode 0600.",
  }),
  signingRules: secret({
    name: "SIGNING_RULES",
    optional: true,
    describe:
      "Signer process only. What it may sign for its key besides orders, as JSON: the maximum per transaction and per 24 hours, the chains, currencies with their highest prices, and contracts ([Keys](operations/keys.md#a-signer-process-with-limits)). Unset: it signs no transactions.",
  }),
  signingRecord: text({
    name: "SIGNING_RECORD",
    optional: true,
    describe:
      "Signer process only. Path of the file in which it counts what its key signed, one file per key. Required with SIGNING_RULES. Keep it on a disk that survives restarts: without it, the 24-hour limit starts over.",
  }),
  allowSpendingKeyInApi: flag({
    name: "ALLOW_SPENDING_KEY_IN_API",
    default: false,
    describe:
      "Whether the API may start with a private key in its environment outside `local`. An attacker in such an API can spend what the key holds.",
  }),
  solverFormerKeys: secret({
    name: "SOLVER_FORMER_KEYS",
    optional: true,
    describe:
      "Worker only. Former values of SOLVER_PRIVATE_KEY, 32 bytes of hex each, separated by commas. They sign for orders that name them, so that settlement repays the fills of those orders, and finish the payments that they began; their accounts begin no payment. An order is not filled if its key is neither here nor SOLVER_PRIVATE_KEY.",
  }),
  solverFormerSigners: signer(
    "SOLVER_FORMER_SIGNERS",
    "Worker only. Like SOLVER_FORMER_KEYS, for keys that are not in this process: `<address>=<source>` separated by commas, with the sources of SOLVER_SIGNER.",
  ),
  solverFormerAddresses: evmAddresses({
    name: "SOLVER_FORMER_ADDRESSES",
    form: "addresses separated by commas",
    pattern: /^0x[0-9a-fA-F]{40}(\s*,\s*0x[0-9a-fA-F]{40})*\s*,?$/,
    optional: true,
    describe: "Addresses of SOLVER_FORMER_KEYS and SOLVER_FORMER_SIGNERS, for the API.",
  }),
  executorPrivateKey: privateKey({
    name: "EXECUTOR_PRIVATE_KEY",
    optional: true,
    describe:
      "Worker only. Sends the calls of `POST /execute` on every chain. Do not use the solver's key, and fund the account only with native token for gas: it runs calls that users choose. Unset: no gasless execution.",
  }),
  executorSigner: signer(
    "EXECUTOR_SIGNER",
    "Worker only. Where the executor's key is if not in EXECUTOR_PRIVATE_KEY: a source as in SOLVER_SIGNER. Requires EXECUTOR_ADDRESS.",
  ),
  executorAddress: evmAddress(
    "EXECUTOR_ADDRESS",
    "Address of the executor's key, for the API. Unset: no gasless execution.",
  ),
  depositAddressOperatorPrivateKey: privateKey({
    name: "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY",
    optional: true,
    describe:
      "Worker only. Moves funds from deposit addresses into the depository. It must be the `operator` of the `depositAddressFactory` of every chain. Use a separate key, and fund its account only with native token for gas. Unset: no deposit addresses are issued, and funds at addresses issued earlier are not moved.",
  }),
  depositAddressOperatorSigner: signer(
    "DEPOSIT_ADDRESS_OPERATOR_SIGNER",
    "Worker only. Where the operator's key is if not in DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY: a source as in SOLVER_SIGNER. Requires DEPOSIT_ADDRESS_OPERATOR_ADDRESS.",
  ),
  depositAddressOperatorAddress: evmAddress(
    "DEPOSIT_ADDRESS_OPERATOR_ADDRESS",
    "Address of the operator's key, for the API. Unset: the API issues no deposit addresses.",
  ),
  depositAddressBitcoinXpub: text({
    name: "DEPOSIT_ADDRESS_BITCOIN_XPUB",
    optional: true,
    describe:
      "Extended public key that deposit addresses on Bitcoin derive from (xpub or zpub; tpub or vpub on test networks), for the API and the worker. Never change it while an address may receive funds. Unset: no deposit addresses on Bitcoin.",
  }),
  depositAddressBitcoinXprv: secret({
    name: "DEPOSIT_ADDRESS_BITCOIN_XPRV",
    optional: true,
    describe:
      "Worker only. Extended private key of DEPOSIT_ADDRESS_BITCOIN_XPUB. Signs the sweeps of deposit addresses on Bitcoin, whose fees the solver pays.",
  }),
  solverSolanaKey: privateKey({
    name: "SOLVER_SOLANA_KEY",
    optional: true,
    describe:
      "Worker only. Pays on Solana: the 32-byte seed of an ed25519 key. Required if a chain of the family solana-vm is enabled. On Hyperliquid, the solver pays with SOLVER_PRIVATE_KEY.",
  }),
  solverSolanaAddress: text({
    name: "SOLVER_SOLANA_ADDRESS",
    optional: true,
    describe:
      "Base58 address of SOLVER_SOLANA_KEY, for the API. Required if a chain of the family solana-vm is enabled.",
  }),
  solverBitcoinKey: privateKey({
    name: "SOLVER_BITCOIN_KEY",
    optional: true,
    describe: "Worker only. Pays on Bitcoin. Required if a chain of the family bitcoin-vm is enabled.",
  }),
  solverBitcoinAddress: text({
    name: "SOLVER_BITCOIN_ADDRESS",
    optional: true,
    describe:
      "P2WPKH address of SOLVER_BITCOIN_KEY, for the API. Required if a chain of the family bitcoin-vm is enabled.",
  }),
  spendingLimits: text({
    name: "SPENDING_LIMITS",
    optional: true,
    describe:
      'Worker only. Limits of what each key signs, as a JSON array: `[{"key":"solver","chainId":8453,"transactionUsd":"50000","dayUsd":"500000","maxFeePerGasGwei":"300"}]`. `key` is `solver`, `executor` or `depositAddressOperator`; without `key` or `chainId`, an entry applies to each key or chain. Amounts are decimal text. The strictest entry counts. `dayUsd` is a limit per key, chain and UTC day. A payment above a limit waits; see [Limits and pauses](operations/limits.md). Unset: no limits.',
  }),
  solverChainName: text({
    name: "SOLVER_CHAIN_NAME",
    optional: true,
    describe:
      "Name of the enabled chain that orders name as the solver's chain. Default: the first enabled chain.",
  }),
};

import { setting } from "@causeway/config";

const { evmAddresses, privateKey, secret, text } = setting;

const evmAddress = (name: string, describe: string) =>
  evmAddresses({
    name,
    form: "address, 0x and 40 hex digits",
    pattern: /^0x[0-9a-fA-F]{40}$/,
    optional: true,
    describe,
  });

/**
 * The worker needs the keys. The API needs the addresses of all keys but SOLVER_PRIVATE_KEY. If both are set,
 * the worker does not start with a key of another address.
 */
export const solverSettings = {
  solverPrivateKey: privateKey({
    name: "SOLVER_PRIVATE_KEY",
    describe:
      "Signs fills, refunds and orders on every chain. Outside `local`, the publicly known keys of the local system are refused.",
  }),
  solverFormerKeys: secret({
    name: "SOLVER_FORMER_KEYS",
    optional: true,
    describe:
      "Worker only. Former values of SOLVER_PRIVATE_KEY, 32 bytes of hex each, separated by commas. They only sign for orders that name them, so that settlement repays the fills of those orders; their accounts pay nothing. An order is not filled if its key is neither here nor SOLVER_PRIVATE_KEY.",
  }),
  solverFormerAddresses: evmAddresses({
    name: "SOLVER_FORMER_ADDRESSES",
    form: "addresses separated by commas",
    pattern: /^0x[0-9a-fA-F]{40}(\s*,\s*0x[0-9a-fA-F]{40})*\s*,?$/,
    optional: true,
    describe: "Addresses of SOLVER_FORMER_KEYS, for the API.",
  }),
  executorPrivateKey: privateKey({
    name: "EXECUTOR_PRIVATE_KEY",
    optional: true,
    describe:
      "Worker only. Sends the calls of `POST /execute` on every chain. Do not use the solver's key, and fund the account only with native token for gas: it runs calls that users choose. Unset: no gasless execution.",
  }),
  executorAddress: evmAddress(
    "EXECUTOR_ADDRESS",
    "Address of EXECUTOR_PRIVATE_KEY, for the API. Unset: no gasless execution.",
  ),
  depositAddressOperatorPrivateKey: privateKey({
    name: "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY",
    optional: true,
    describe:
      "Worker only. Moves funds from deposit addresses into the depository. It must be the `operator` of the `depositAddressFactory` of every chain. Use a separate key, and fund its account only with native token for gas. Unset: no deposit addresses are issued, and funds at addresses issued earlier are not moved.",
  }),
  depositAddressOperatorAddress: evmAddress(
    "DEPOSIT_ADDRESS_OPERATOR_ADDRESS",
    "Address of DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY, for the API. Unset: the API issues no deposit addresses.",
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
  solverChainName: text({
    name: "SOLVER_CHAIN_NAME",
    optional: true,
    describe:
      "Name of the enabled chain that orders name as the solver's chain. Default: the first enabled chain.",
  }),
};

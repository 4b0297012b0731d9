import { z } from "zod";
import { accountText, evmAddress } from "../scalars.ts";
import { chainCurrency, erc20Currency, solverCurrency } from "./currency.ts";

const ignored = z.union([z.string(), z.array(z.string())]).optional();

/** Query of `GET /chains`. No parameter changes the response. */
export const chainsQuery = z.object({
  includeChains: ignored.describe("Ignored: this instance has no private chains."),
  referrer: ignored.describe("Name of the calling app; informational."),
});

export const chainContracts = z
  .object({
    multicall3: evmAddress,
    multicaller: evmAddress.describe("Runs several calls in one transaction."),
    onlyOwnerMulticaller: evmAddress.describe(
      "Multicaller that only the solver may use; the zero address if none is deployed.",
    ),
    serviceReceiver: evmAddress.describe("Forwards native deposits and emits their ids."),
    erc20Router: evmAddress.describe("Runs destination calls and returns leftovers."),
    approvalProxy: evmAddress.describe(
      "Pulls the user's approved tokens and passes them to the router, in one transaction.",
    ),
    v3: z.object({ erc20Router: evmAddress, approvalProxy: evmAddress }),
  })
  .meta({ id: "ChainContracts" });

export const chain = z
  .object({
    id: z.int(),
    name: z.string(),
    displayName: z.string(),
    httpRpcUrl: z.string().describe("Public JSON-RPC endpoint for clients."),
    wsRpcUrl: z.string().describe("Public WebSocket endpoint for clients; empty if there is none."),
    explorerUrl: z
      .string()
      .describe("Base URL of the block explorer; empty if there is none, as on local chains."),
    explorerName: z.string(),
    explorerPaths: z
      .object({
        transaction: z.string().optional(),
        address: z.string().optional(),
        token: z.string().optional(),
      })
      .nullable()
      .describe(
        "Path templates of the explorer, such as `/transaction/{TX_HASH}`; null means the usual paths.",
      ),
    explorerQueryParams: z.record(z.string(), z.string()).nullable(),
    iconUrl: z.string(),
    logoUrl: z.string().nullable(),
    brandColor: z.string().nullable(),
    statusMessage: z.string().nullable().describe("Current problem with the chain; null if there is none."),
    depositEnabled: z
      .boolean()
      .describe(
        "Despite its name this concerns the destination: whether new quotes may have this chain as their destination. The operator can set it to false while the chain stays available as an origin.",
      ),
    tokenSupport: z
      .enum(["All", "Limited"])
      .describe("`Limited`: only listed currencies with `supportsBridging` can be quoted."),
    disabled: z
      .boolean()
      .describe("Whether the operator has stopped new quotes from and to this chain (incident)."),
    partialDisableLimit: z
      .number()
      .describe(
        "Maximum worth of a quote from or to this chain, in base units of the native token; 0 means no limit.",
      ),
    blockProductionLagging: z.boolean(),
    currency: chainCurrency.describe("Native token of the chain."),
    withdrawalFee: z.number().describe("bps charged when this chain is the destination."),
    depositFee: z.number().describe("bps charged when this chain is the origin."),
    surgeEnabled: z.boolean(),
    featuredTokens: z.array(chainCurrency),
    erc20Currencies: z.array(erc20Currency),
    solverCurrencies: z.array(solverCurrency).describe("Currencies the solver uses for fills on this chain."),
    contracts: chainContracts
      .or(z.strictObject({}))
      .describe("Empty if the service has no contracts on this chain."),
    vmType: z.enum(["evm", "svm", "bvm", "tvm", "tonvm", "hypevm", "lvm", "xrpvm"]),
    baseChainId: z.int().nullable().describe("Id of the chain that this chain settles on; null if unknown."),
    solverAddresses: z.array(accountText),
    tags: z.array(z.string()),
    protocol: z.object({
      v2: z.object({
        chainId: z.string().nullable().describe("Name of the chain in orders."),
        depository: accountText.nullable(),
        depositoryVault: accountText.nullable(),
      }),
    }),
    exchange: z
      .object({
        apiUrl: z.string().describe("Base URL: post signed actions to `/exchange` and queries to `/info`."),
        isTestnet: z.boolean(),
        signingProfile: z
          .enum(["default", "hyperliquid"])
          .describe(
            "Which names the EIP-712 signing types use: this API's own (`default`) or those of Hyperliquid's API (`hyperliquid`).",
          ),
      })
      .optional()
      .describe("Present only for Hyperliquid."),
  })
  .meta({ id: "Chain" });

export const chainsAnswer = z.object({ chains: z.array(chain) }).meta({ id: "ChainsAnswer" });

export type WireChain = z.infer<typeof chain>;
export type ChainsAnswer = z.infer<typeof chainsAnswer>;

import { Transaction } from "@scure/btc-signer";
import type { NonEvmConnection } from "@causeway/chains";
import { connectNonEvmUsers, connectNonEvm } from "@causeway/chains";
import {
  hyperliquidSigningProfiles,
  MAINNET_USDC_TOKEN_ID,
  orderIdOf,
  type Hex,
  type Hex32,
  type NonEvmChain,
  type OrderJson,
  type VmType,
} from "@causeway/domain";
import {
  encodeAddress,
  encodeOrder,
  familyOf,
  formatAddress,
  nativeCurrency,
  parseTransaction,
  type ConfiguredChain,
} from "@causeway/families";
import { startBitcoin, type RunningBitcoin } from "@causeway/simulators/bitcoin";
import { startHyperliquid, type RunningHyperliquid } from "@causeway/simulators/hyperliquid";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import type pg from "pg";
import { privateKeyToAccount } from "viem/accounts";
import { parseSignature } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bitcoinAccount, evmAccount, solanaAccount } from "../../../apps/api/src/config/key-accounts.ts";
import { withCapabilities } from "../../../apps/api/src/chains/chain-capabilities.ts";
import type { OpenNonEvmUsers } from "@causeway/chains";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import type { ConnectedNonEvmChain } from "../../../apps/api/src/chains/chains.port.ts";
import type { Reads } from "../../../apps/api/src/db/reads.port.ts";
import { createQuote } from "../../../apps/api/src/quotes/create-quote.ts";
import { ORIGIN, quoteWorld, usdcOn } from "../../fakes/quote-world.ts";
import type { QuoteWorld } from "../../fakes/quote-world.ts";
import { aNonEvmChain } from "../../fakes/non-evm-chains.ts";
import { anAttestationChain, anOwner, utxoOf, CONFIRMATIONS } from "../../support/bitcoin-world.ts";
import { createTestDatabase } from "../../support/database.ts";
import { startSolanaWorld } from "../../support/solana-world.ts";
import type { SolanaWorld } from "../../support/solana-world.ts";

// Real wallets of the chain families execute the steps of a quote. The service must then see exactly the
// deposit that the quote expects.

const depository = anOwner();
const bitcoinUser = anOwner();
const account = privateKeyToAccount(`0x${"62".repeat(32)}`);
const wallet = account.address.toLowerCase() as Hex;
const SOLVER_KEY: Hex32 = `0x${"61".repeat(32)}`;
const HYPERLIQUID_DEPOSITORY: Hex = `0x${"d1".repeat(20)}`;

let bitcoin: RunningBitcoin;
let hyperliquid: RunningHyperliquid;
let solana: SolanaWorld;
let pool: pg.Pool;
let dropDatabase: () => Promise<void>;
let reads: Reads;
let quoting: QuoteWorld;
const connectedChains: (ConnectedNonEvmChain & {
  readonly connection: NonEvmConnection;
  readonly users: OpenNonEvmUsers;
})[] = [];
const faults: unknown[] = [];

beforeAll(async () => {
  const database = await createTestDatabase();
  dropDatabase = () => database.drop();
  pool = createPool(database.url, { max: 4, statementTimeoutMs: 10_000, applicationName: "test" });
  const sql = sqlOn(pool);
  reads = postgresReads(sql);
  [bitcoin, hyperliquid, solana] = await Promise.all([
    startBitcoin(),
    startHyperliquid(),
    startSolanaWorld(),
  ]);
  const spl = aNonEvmChain("svm");
  await connect(
    {
      ...spl,
      rpcUrl: solana.node.url,
      depository: encodeAddress("solana-vm", solana.depository.program),
      tokens: spl.tokens.map((token) => ({
        ...token,
        address: encodeAddress("solana-vm", solana.token.mint),
      })),
    },
    solana.chain(),
  );
  await connect(
    {
      ...aNonEvmChain("bvm"),
      rpcUrl: bitcoin.rpcUrl,
      depository: depository.bytes,
      confirmations: CONFIRMATIONS,
      bitcoin: { network: "regtest" },
    },
    anAttestationChain({ rpcUrls: [bitcoin.rpcUrl], esploraUrl: bitcoin.esploraUrl }, depository),
  );
  await connect(
    {
      ...aNonEvmChain("hypevm"),
      rpcUrl: hyperliquid.url,
      depository: HYPERLIQUID_DEPOSITORY,
      exchange: {
        profile: "default",
        isTestnet: false,
        usdcTokenId: MAINNET_USDC_TOKEN_ID,
        publicApiUrl: hyperliquid.url,
      },
    },
    {
      name: "exchange",
      vmType: "hyperliquid-vm",
      rpcUrls: [hyperliquid.url],
      rpcQuorum: 1,
      depository: HYPERLIQUID_DEPOSITORY,
      additionalDepositories: [],
      hubChainId: "1337",
      evm: undefined,
      hyperliquid: {
        explorerUrls: [hyperliquid.url],
        profile: "default",
        network: "Mainnet",
        usdcTokenId: MAINNET_USDC_TOKEN_ID,
      },
    },
  );
  const insert = groupedQuoteInserts(sql);
  quoting = {
    ...quoteWorld({ nonEvmChains: connectedChains }),
    clock: { nowMs: () => hyperliquid.control.now() },
    requests: { insertQuoted: insert },
  };
});

afterAll(async () => {
  for (const { connection, users } of connectedChains) {
    await connection.close();
    await users.close();
  }
  await Promise.all([bitcoin.stop(), hyperliquid.close(), solana.close()]);
  await pool.end();
  await dropDatabase();
});

async function connect(chain: NonEvmChain, attestation: ConfiguredChain): Promise<void> {
  const options = {
    chain,
    attestation,
    // The solver's account on the chain, in canonical bytes. A quote never needs its private key.
    solver: { svm: solanaAccount, bvm: bitcoinAccount, hypevm: evmAccount }[chain.vmType](SOLVER_KEY),
    now: () => Date.now(),
    onFault: (fault: unknown) => faults.push(fault),
  };
  const [connection, users] = [await connectNonEvm(options), await connectNonEvmUsers(options)];
  if (users === undefined) throw new Error(`${chain.name} has no user adapter`);
  const solverPulse = {
    solverBalance: () => ({ amount: 10n ** 15n }),
    paymentCost: () => 1_000n,
    isLagging: () => false,
    headAgeMs: () => 0,
  };
  connectedChains.push(withCapabilities({ chain, connection, users, pulse: solverPulse }));
}

const chainOf = (vmType: NonEvmChain["vmType"]) => {
  const found = connectedChains.find(({ chain }) => chain.vmType === vmType);
  if (found === undefined) throw new Error(`no ${vmType}`);
  return found;
};

/** A quote from a chain to USDC on an EVM chain, or in the other direction. */
async function quote(input: Partial<QuoteInput>): Promise<QuoteAnswer> {
  return await createQuote(quoting, {
    user: wallet,
    recipient: wallet,
    originChainId: ORIGIN,
    destinationChainId: ORIGIN,
    originCurrency: usdcOn(ORIGIN),
    destinationCurrency: usdcOn(ORIGIN),
    amount: "100000000",
    tradeType: "EXACT_INPUT",
    ...input,
  });
}

const familyByName = (name: string): VmType => {
  const chains = [...quoting.chains.evmChains, ...quoting.chains.nonEvmChains].map(({ chain }) => chain);
  const chain = chains.find((candidate) => candidate.name === name);
  if (chain === undefined) throw new Error(`chain ${name} is not configured`);
  return familyOf(chain);
};

/**
 * Checks that the stored terms equal the answer, and that an oracle computes the same order id. Returns the
 * terms.
 */
async function checkStoredTerms(answer: QuoteAnswer) {
  const record = await reads.request(answer.requestId as Hex32);
  if (record === undefined) throw new Error("the quote was not stored");
  const { terms } = record;
  expect(orderIdOf(terms.order)).toBe(answer.protocol.v2.orderId);
  expect(encodeOrder(answer.protocol.v2.orderData as OrderJson, familyByName)).toEqual(terms.order);
  expect(terms.orderId).toBe(answer.protocol.v2.orderId);
  return terms;
}

test("a Solana wallet that sends a quote's instructions makes a deposit for that order", async () => {
  const { chain, connection } = chainOf("svm");
  for (const currency of [solana.token.mint, nativeCurrency("solana-vm")]) {
    const answer = await quote({
      user: solana.user.address,
      originChainId: chain.id,
      originCurrency: currency,
      amount: "50000000",
    });
    const terms = await checkStoredTerms(answer);
    const [item] = answer.steps[0]?.items ?? [];
    if (item === undefined || !("instructions" in item.data))
      throw new Error("expected a step with instructions");
    const signature = await solana.send(
      solana.user,
      item.data.instructions.map((instruction) => ({
        ...instruction,
        data: `0x${instruction.data}` as const,
      })),
    );
    solana.node.controls.finalize();
    const id = parseTransaction(chain, signature);
    if (id === undefined) throw new Error(signature);
    expect(await connection.arrivalsOf(id)).toMatchObject({
      kind: "final",
      deposits: [
        {
          id: terms.orderId,
          depositor: terms.user,
          currency: terms.origin.currency,
          amount: 50_000_000n,
          txHash: id,
        },
      ],
    });
    expect(BigInt(answer.details.userBalance)).toBeGreaterThan(50_000_000n);
  }
});

test("a Bitcoin wallet that signs a quote's transaction makes a deposit for that order", async () => {
  const { chain, connection } = chainOf("bvm");
  await utxoOf(bitcoin.controls, bitcoinUser, 1_000_000n);
  const answer = await quote({
    user: bitcoinUser.address,
    originChainId: chain.id,
    originCurrency: nativeCurrency("bitcoin-vm"),
    amount: "300000",
  });
  const terms = await checkStoredTerms(answer);
  expect(answer.details).toMatchObject({ sender: bitcoinUser.address, userBalance: "1000000" });
  const [item] = answer.steps[0]?.items ?? [];
  if (item === undefined || !("payment" in item.data)) throw new Error("expected a step with a transaction");
  // The step uses this network's address format. The order uses that of the main network.
  expect(item.data.payment.address).toBe(formatAddress(chain, depository.bytes));
  expect(answer.protocol.v2.orderData.inputs[0]?.refunds[0]?.recipient).toBe(bitcoinUser.canonical);
  const signed = Transaction.fromPSBT(Buffer.from(item.data.psbt ?? "", "hex"), {
    allowUnknownOutputs: true,
  });
  signed.sign(bitcoinUser.key);
  signed.finalize();
  expect(answer.fees.gas.amount).toBe(String(signed.fee));
  await bitcoin.controls.send(signed.hex);
  await bitcoin.controls.mine(CONFIRMATIONS);
  const id = parseTransaction(chain, signed.id);
  if (id === undefined) throw new Error(signed.id);
  expect(await connection.arrivalsOf(id)).toMatchObject({
    kind: "final",
    deposits: [{ id: terms.orderId, depositor: bitcoinUser.bytes, amount: 300_000n }],
  });
});

test("a Hyperliquid wallet that signs the second step of a withdrawal sends it with the nonce of the first", async () => {
  const { chain, connection } = chainOf("hypevm");
  hyperliquid.control.fund(wallet, "150");
  const answer = await quote({
    originChainId: chain.id,
    originCurrency: nativeCurrency("hyperliquid-vm"),
    amount: "10000000000",
    protocolVersion: "v2",
  });
  const terms = await checkStoredTerms(answer);
  expect(answer.details.userBalance).toBe("15000000000");
  const [authorize, deposit] = answer.steps;
  const [authorization] = authorize?.items ?? [];
  const [item] = deposit?.items ?? [];
  if (
    authorization === undefined ||
    !("sign" in authorization.data) ||
    item === undefined ||
    !("action" in item.data)
  )
    throw new Error("expected two steps");
  expect(authorization.data.post.body).toMatchObject({ nonce: terms.walletNonce, id: terms.orderId });

  const { action, nonce, eip712Types, eip712PrimaryType } = item.data;
  const chainOfWallet = 8453;
  const message = {
    ...action.parameters,
    type: action.type,
    signatureChainId: `0x${chainOfWallet.toString(16)}`,
  };
  const signature = await account.signTypedData({
    domain: {
      name: hyperliquidSigningProfiles.default.domainName,
      version: "1",
      chainId: chainOfWallet,
      verifyingContract: `0x${"0".repeat(40)}`,
    },
    types: eip712Types,
    primaryType: eip712PrimaryType,
    message,
  } as Parameters<typeof account.signTypedData>[0]);
  const { r, s, v } = parseSignature(signature);
  const posted = await fetch(`${hyperliquid.url}/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action: message, nonce, signature: { r, s, v: Number(v) } }),
  });
  expect(await posted.json()).toMatchObject({ status: "ok" });
  const sent = hyperliquid.control.transactions().at(-1);
  expect(await connection.arrivalsOf(sent?.hash ?? "0x")).toMatchObject({
    kind: "final",
    deposits: [
      {
        sender: wallet,
        nonce: BigInt(terms.walletNonce ?? 0),
        currency: terms.origin.currency,
        amount: 10_000_000_000n,
      },
    ],
  });
});

test("stores a quote to each non-EVM chain with the data that its payment needs", async () => {
  for (const [vmType, recipient, currency] of [
    ["svm", solana.user.address, solana.token.mint],
    ["bvm", bitcoinUser.address, nativeCurrency("bitcoin-vm")],
    ["hypevm", wallet, nativeCurrency("hyperliquid-vm")],
  ] as const) {
    const { chain } = chainOf(vmType);
    // Hyperliquid's simulator only pays accounts that it knows.
    const answer = await quote({
      destinationChainId: chain.id,
      destinationCurrency: currency,
      recipient,
    });
    const terms = await checkStoredTerms(answer);
    expect(answer.details.recipient).toBe(recipient);
    expect(formatAddress(chain, terms.recipient)).toBe(recipient);
    expect(terms.destination.currency).toBe(encodeAddress(chain.family, currency));
  }
});

test("the quotes above caused no faults", () => {
  expect(faults).toEqual([]);
});

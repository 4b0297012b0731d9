import {
  encodeHyperliquidAction,
  dexNameOf,
  hyperliquidPlaceOf,
  hyperliquidSigningProfiles,
  hyperliquidTransferTypes,
  hyperliquidTypedData,
  MAINNET_USDC_TOKEN_ID,
  parseHex32,
  PERPS_CURRENCY,
  type Address,
  type HyperliquidTransferAction,
  type HyperliquidSigningProfile,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import {
  startHyperliquid,
  type HyperliquidControl,
  type RunningHyperliquid,
} from "@causeway/simulators/hyperliquid";
import { hashStruct, parseSignature } from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import type {
  FamilyWorld,
  ExpectedDeposits,
  SignedWithdrawal,
  MappingBook,
  NoDeposit,
  NotApplicable,
  FamilyCaseTools,
  Payment,
  PaymentPlan,
  WithdrawalPlan,
} from "../../contracts/family-world.ts";

const NAME = "hyperliquid";
const profile: HyperliquidSigningProfile = hyperliquidSigningProfiles.default;
const USDC = `USDC:${MAINNET_USDC_TOKEN_ID}`;
const HYPE_ID: Hex = "0x0d01dc56dcaaca66ad901c959b4011ec";
const HYPE = `HYPE:${HYPE_ID}`;
const AMOUNT = 12_500_000n;
const RECIPIENTS = [`0x${"a1".repeat(20)}`, `0x${"a2".repeat(20)}`] as const;
const DAY_MS = 86_400_000;

const account = (key: number): PrivateKeyAccount =>
  privateKeyToAccount(`0x${key.toString(16).padStart(64, "0")}`);
const addressOf = (wallet: PrivateKeyAccount): Address => wallet.address.toLowerCase() as Address;
const [user, solver, depository, formerDepository] = [
  account(0x51),
  account(0x52),
  account(0x53),
  account(0x54),
];
const DEPOSITORY = addressOf(depository);
const FORMER_DEPOSITORY = addressOf(formerDepository);
/** A sub-account of the user. */
const SUB_ACCOUNT: Address = `0x${"b1".repeat(20)}`;

/** The Hyperliquid family: a simulator whose chains have the names that the conformance tests use. */
export async function startHyperliquidFamily(mappings: MappingBook): Promise<FamilyWorld> {
  const exchange = await startHyperliquid();
  const { control } = exchange;
  for (const wallet of [user, solver, depository, formerDepository]) fund(control, addressOf(wallet));
  fund(control, SUB_ACCOUNT);
  control.addSubAccount(addressOf(user), SUB_ACCOUNT);
  const otherExchanges: RunningHyperliquid[] = [];

  let lastNonce = 0;
  const nextNonce = (): number => (lastNonce = Math.max(lastNonce + 1, control.now()));

  /** Signs and posts an action with these fields. Returns its transaction hash even if the action failed. */
  const send = async (
    signer: PrivateKeyAccount,
    fields: Partial<HyperliquidTransferAction>,
  ): Promise<string> => {
    const before = control.transactions().length;
    const answer = await post(exchange.url, signer, sendAsset(fields, nextNonce()));
    const transaction = control.transactions()[before];
    if (transaction === undefined) throw new Error(`rejected: ${answer}`);
    return transaction.hash;
  };
  const transactionOf = (id: string) => {
    const transaction = control.transactions().find(({ hash }) => hash === id);
    if (transaction === undefined) throw new Error("no such transaction");
    return transaction;
  };
  /** Maps a transaction's nonce to an id, `laterBy` seconds after the transaction. */
  const mapNonce = (transactionId: string, id: Hex32, laterBy = 0n): string => {
    const { user: wallet, time, action } = transactionOf(transactionId);
    const nonce = BigInt(action["nonce"] ?? action["time"] ?? 0);
    const setAt = BigInt(time) / 1_000n + laterBy;
    mappings.set(NAME, wallet, nonce, { id, depositor: undefined, setAt });
    return transactionId;
  };
  const deposit = async (
    id: Hex32 | undefined,
    fields: Partial<HyperliquidTransferAction> = {},
  ): Promise<string> => {
    const transactionId = await send(user, { destination: DEPOSITORY, ...fields });
    return id === undefined ? transactionId : mapNonce(transactionId, id);
  };
  const depositResult = (
    transactionId: string,
    expected: { depositId: Hex32 | undefined; currency?: string; amount?: bigint },
  ): ExpectedDeposits => ({
    transactionId,
    deposits: [
      { index: "0", depositor: addressOf(user), currency: PERPS_CURRENCY, amount: AMOUNT, ...expected },
    ],
  });
  const transfer = async (
    { orderId, payments }: PaymentPlan,
    fields: Partial<HyperliquidTransferAction> = {},
  ) => {
    const [payment, ...more] = payments;
    if (payment === undefined || more.length > 0) throw new Error("expected one recipient of the transfer");
    return mapNonce(await send(solver, { ...transferFields(payment), ...fields }), orderId);
  };
  const makeWithdrawal = async (
    plan: WithdrawalPlan,
  ): Promise<SignedWithdrawal & { action: HyperliquidTransferAction }> => {
    const action = sendAsset(transferFields(plan), nextNonce());
    const { types, primaryType, value } = hyperliquidTypedData(profile, action);
    return await Promise.resolve({
      action,
      payload: payloadOf(action),
      withdrawalId: hashStruct({ types, primaryType, data: value }),
      execute: async () => {
        const before = control.transactions().length;
        const answer = await post(exchange.url, depository, action);
        if (answer !== "ok") throw new Error(answer);
        return control.transactions()[before]?.hash ?? "";
      },
      expire: async () => {
        control.advance(2 * DAY_MS + 2 * 3_600_000);
        await Promise.resolve();
      },
    });
  };
  const startFaultyCopy = async (
    lie: Parameters<HyperliquidControl["lie"]>[0],
  ): Promise<readonly string[]> => {
    const copy = await startHyperliquid();
    otherExchanges.push(copy);
    copy.control.lie(lie);
    return [copy.url];
  };
  const urlsWithout = async (field: string, transactionId: string): Promise<readonly string[]> => {
    const { [field]: _omitted, ...tx } = transactionOf(transactionId) as unknown as Record<string, unknown>;
    return await startFaultyCopy((path, question, honest) =>
      path === "explorer" && question["hash"] === transactionId ? { type: "txDetails", tx } : honest,
    );
  };

  return {
    family: "hyperliquid-vm",
    urls: [exchange.url],
    chainAt,
    recipients: RECIPIENTS,
    currency: PERPS_CURRENCY,
    otherCurrency: MAINNET_USDC_TOKEN_ID,
    amount: AMOUNT,
    extraData: "0x",
    foreignAddress: "TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN",
    otherFormats: (id) => [
      id.toUpperCase(),
      `0x${id.slice(2).toUpperCase()}`,
      id.slice(2),
      `0x0${id.slice(2)}`,
    ],
    omissibleFields: [],
    deposit: async ({ depositId, currency, amount }) =>
      depositResult(await deposit(depositId, transferFields({ recipient: DEPOSITORY, currency, amount })), {
        depositId,
        currency,
        amount,
      }),
    pay: async (plan) => await transfer(plan),
    withdrawal: makeWithdrawal,
    finalize: async () => await Promise.resolve(),
    finalAtOnce: notApplicable("Hyperliquid's blocks are final immediately"),

    deposits: {
      twoInOne: ONE_TRANSFER,
      none: async () => empty(await send(user, { destination: RECIPIENTS[0] })),
      orphaned: notApplicable("Hyperliquid's blocks are final immediately"),
      splitNode: notApplicable("Hyperliquid's blocks are final immediately, without confirmations"),
      failed: async (id) => {
        control.failNext("Insufficient balance");
        return { transactionId: await deposit(id), as: "rejected" };
      },
      lookAlike: async (id) => {
        const lookAlikeAddress = `${DEPOSITORY.slice(0, -1)}${DEPOSITORY.endsWith("0") ? "1" : "0"}`;
        return empty(await deposit(id, { destination: lookAlikeAddress }));
      },
      lyingToken: notApplicable("balances belong to Hyperliquid: no token code runs"),
      feeOnTransfer: notApplicable("a transfer's fee is taken from the sender in addition"),
      withoutTransfer: notApplicable("the transfer itself is the deposit: there are no events"),
      reportedTwice: ONE_TRANSFER,
      throughForwarder: notApplicable("the signer of a transfer is its payer; there are no forwarders"),
      idElsewhere: notApplicable("a transfer carries no bytes of the sender's choice"),
      invalidIds: async () => {
        const transactionId = mapNonce(await deposit(undefined), `0x${"00".repeat(32)}`);
        return [depositResult(transactionId, { depositId: undefined })];
      },
      withoutDeposit: async () => {
        const before = control.transactions().length;
        await post(exchange.url, user, {
          type: "spotSend",
          signatureChainId: "0x1",
          exchangeChain: "Mainnet",
          destination: DEPOSITORY,
          token: HYPE,
          amount: "1",
          time: nextNonce(),
        });
        return empty(control.transactions()[before]?.hash ?? "");
      },
      plainWithId: notApplicable("a transfer carries no bytes of the sender's choice"),
      ownTransfer: async (id) => {
        const transactionId = await send(formerDepository, { destination: DEPOSITORY });
        return empty(mapNonce(transactionId, id));
      },
      otherNetwork: async (id) => {
        const testnet = await startHyperliquid({ network: "Testnet" });
        otherExchanges.push(testnet);
        fund(testnet.control, addressOf(user));
        const action = sendAsset({ destination: DEPOSITORY, exchangeChain: "Testnet" }, nextNonce());
        await post(testnet.url, user, action);
        const [deposited] = testnet.control.transactions();
        if (deposited === undefined) throw new Error("the deposit was rejected");
        mappings.set(NAME, addressOf(user), BigInt(action["nonce"] ?? 0), {
          id,
          depositor: undefined,
          setAt: BigInt(deposited.time) / 1_000n,
        });
        return { transactionId: deposited.hash, urls: [testnet.url], as: "upstream_unavailable" };
      },
      withoutTime: async (id) => {
        const transactionId = await deposit(id);
        return {
          transactionId,
          urls: await urlsWithout("time", transactionId),
          as: "upstream_unavailable",
        };
      },
    },

    payments: {
      failed: async (plan) => {
        control.failNext("Insufficient balance");
        return await transfer(plan);
      },
      innerReverted: ONE_TRANSFER,
      // A nonce is mapped only once. Later mappings are ignored.
      forTwoOrders: async ([orderId], payment) => await transfer({ orderId, payments: [payment] }),
      returnedByRecipient: async ({ orderId }) =>
        // A transfer between two accounts of one payer.
        mapNonce(
          await send(solver, {
            destination: addressOf(solver),
            sourceDex: "spot",
            destinationDex: "",
          }),
          orderId,
        ),
      reportedByStranger: notApplicable("there are no contracts"),
      strangersExtraData: "0x",
      calls: notApplicable("there are no contracts"),
      withoutTime: async (plan) => {
        const transactionId = await transfer(plan);
        return { transactionId, urls: await urlsWithout("time", transactionId) };
      },
      idElsewhere: async ({ orderId, payments }) =>
        await transfer({ orderId: `0x${orderId.slice(4)}${orderId.slice(2, 4)}`, payments }),
    },

    withdrawals: {
      failedInside: async (plan) => {
        const out = await makeWithdrawal(plan);
        control.failNext("Insufficient balance");
        await out.execute().catch(() => undefined);
        return out;
      },
      otherOutputs: async (plan) => {
        const out = await makeWithdrawal(plan);
        await post(exchange.url, depository, { ...out.action, amount: formatAmount(plan.amount - 1n) });
        return out;
      },
      expiryNotFinal: async (plan) => {
        const out = await makeWithdrawal(plan);
        // The signing window is closed, but the indexes may still lack its last blocks.
        control.advance(2 * DAY_MS);
        return out;
      },
      malformed: async (plan) => {
        const { payload, action } = await makeWithdrawal(plan);
        return [
          payload.slice(0, -2) as Hex,
          `${payload}00`,
          "0x",
          payloadOf({ ...action, amount: "0" }),
          payloadOf({ ...action, amount: "1e3" }),
          payloadOf({ ...action, amount: "0.000000001" }),
          payloadOf({ ...action, exchangeChain: "Testnet" }),
          payloadOf({ ...action, destination: FORMER_DEPOSITORY }),
          payloadOf({ ...action, sourceDex: "spot" }),
          payloadOf({ ...action, fromSubAccount: SUB_ACCOUNT }),
        ];
      },
    },

    familyCases: hyperliquidCases({ deposit, depositResult, transfer, mapNonce, mappings, transactionOf }),
    close: async () => {
      for (const server of [exchange, ...otherExchanges]) await server.close();
    },
  };
}

interface Helpers {
  deposit(id: Hex32 | undefined, fields?: Partial<HyperliquidTransferAction>): Promise<string>;
  depositResult(
    transactionId: string,
    expected: { depositId: Hex32 | undefined; currency?: string; amount?: bigint },
  ): ExpectedDeposits;
  transfer(plan: PaymentPlan, fields?: Partial<HyperliquidTransferAction>): Promise<string>;
  mapNonce(transactionId: string, id: Hex32, laterBy?: bigint): string;
  readonly mappings: MappingBook;
  transactionOf(id: string): { readonly time: number };
}

function hyperliquidCases(
  helpers: Helpers,
): Readonly<Record<string, (own: FamilyCaseTools) => Promise<void>>> {
  const { deposit, depositResult, transfer, mapNonce, mappings, transactionOf } = helpers;
  const paid: Payment = { recipient: RECIPIENTS[0], currency: PERPS_CURRENCY, amount: AMOUNT };
  const rejected = (transactionId: string): NoDeposit => ({ transactionId, as: "rejected" });
  const hypeTransfer = { token: HYPE, sourceDex: "spot", destinationDex: "spot" };
  const HOUR = 3_600n;

  return {
    "more decimals than the currency has": async (own) => {
      // Hyperliquid stores more decimals of this token than it trades and attests.
      await own.refuses(rejected(await deposit(own.newId(), { ...hypeTransfer, amount: "1.005" })));
      const id = own.newId();
      const exact = await deposit(id, { ...hypeTransfer, amount: "1.25" });
      await own.attests(depositResult(exact, { depositId: id, currency: HYPE_ID, amount: 125n }));
      const tooFine = { recipient: RECIPIENTS[0], currency: HYPE_ID, amount: 100n };
      await own.refusesFill(
        [tooFine],
        async (orderId) => await transfer({ orderId, payments: [tooFine] }, { amount: "1.005" }),
      );
    },
    "an amount in scientific notation": async (own) => {
      // Hyperliquid accepts no such amount, so only a lying endpoint can report one.
      const plan = { ...paid };
      await own.withdrawal(
        plan,
        async (payment) => {
          const action = { ...sendAsset(transferFields(payment), 1_763_761_234_567), amount: "125e-3" };
          return await Promise.resolve({ payload: payloadOf(action), withdrawalId: idOf(action) });
        },
        "refused",
      );
    },
    "another dex": async (own) => {
      const id = own.newId();
      const transactionId = await deposit(id, { destinationDex: "xyz" });
      await own.attests(
        depositResult(transactionId, { depositId: id, currency: `${MAINNET_USDC_TOKEN_ID}78797a` }),
      );
      await own.refusesFill(
        [paid],
        async (orderId) => await transfer({ orderId, payments: [paid] }, { destinationDex: "xyz" }),
      );
    },
    "a sub-account": async (own) => {
      await own.refuses(rejected(await deposit(own.newId(), { fromSubAccount: SUB_ACCOUNT })));
    },
    "a late mapping": async (own) => {
      const transactionId = await deposit(undefined);
      await own.attests(
        depositResult(mapNonce(transactionId, own.newId(), HOUR + 1n), { depositId: undefined }),
      );
      const id = own.newId();
      const inTime = await deposit(undefined);
      await own.attests(depositResult(mapNonce(inTime, id, HOUR), { depositId: id }));
      await own.refusesFill([paid], async (orderId) => {
        const payment = await transfer({ orderId, payments: [paid] });
        return mapNonce(payment, orderId, HOUR + 1n);
      });
    },
    "a missing mapping": async (own) => {
      await own.attests(depositResult(await deposit(undefined), { depositId: undefined }));
      await own.refusesFill([paid], async () => await transfer({ orderId: own.newId(), payments: [paid] }));
    },
    "a mapping that may still be set": async (own) => {
      const transactionId = await deposit(undefined);
      const time = BigInt(transactionOf(transactionId).time) / 1_000n;
      try {
        mappings.setAsOf(time + HOUR);
        await own.refuses({ transactionId, as: "not_final" });
        const id = own.newId();
        await own.attests(depositResult(mapNonce(transactionId, id), { depositId: id }));
      } finally {
        mappings.setAsOf(2n ** 40n);
      }
    },
  };
}

function chainAt(urls: readonly string[]): ConfiguredChain {
  return {
    name: NAME,
    vmType: "hyperliquid-vm",
    rpcUrls: urls,
    rpcQuorum: urls.length,
    depository: DEPOSITORY,
    additionalDepositories: [FORMER_DEPOSITORY],
    hubChainId: "1337",
    evm: undefined,
    hyperliquid: {
      explorerUrls: urls,
      profile: "default",
      network: "Mainnet",
      usdcTokenId: MAINNET_USDC_TOKEN_ID,
    },
  };
}

function fund(control: HyperliquidControl, address: Address): void {
  control.fund(address, "1000000");
  control.fund(address, "1000000", "USDC", "spot");
  control.fund(address, "1000000", "HYPE", "spot");
}

function sendAsset(fields: Partial<HyperliquidTransferAction>, nonce: number): HyperliquidTransferAction {
  return {
    type: "sendAsset",
    signatureChainId: "0x1",
    exchangeChain: "Mainnet",
    destination: RECIPIENTS[0],
    sourceDex: "",
    destinationDex: "",
    token: USDC,
    amount: formatAmount(AMOUNT),
    fromSubAccount: "",
    nonce,
    ...(fields as Record<string, string>),
  };
}

/** The fields of a transfer from a dex to the same dex of another account. */
function transferFields({ recipient, currency, amount }: Payment): Partial<HyperliquidTransferAction> {
  const place = hyperliquidPlaceOf(currency);
  if (place === undefined) throw new Error(`${currency} is not a Hyperliquid currency`);
  const dex = dexNameOf(place);
  const isHype = place.kind === "spot" && place.tokenId === HYPE_ID;
  return {
    destination: recipient,
    sourceDex: dex,
    destinationDex: dex,
    token: isHype ? HYPE : USDC,
    amount: isHype ? formatAmount(amount * 1_000_000n) : formatAmount(amount),
  };
}

/** Formats an amount with eight decimals, as wallets do. */
function formatAmount(amount: bigint): string {
  const digits = amount.toString().padStart(9, "0");
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

function payloadOf(action: HyperliquidTransferAction): Hex {
  const field = (name: string): string => String(action[name]);
  return encodeHyperliquidAction({
    type: "SendAsset",
    chain: field("exchangeChain"),
    destination: field("destination"),
    sourceDex: field("sourceDex"),
    destinationDex: field("destinationDex"),
    token: field("token"),
    amount: field("amount"),
    fromSubAccount: field("fromSubAccount"),
    nonce: BigInt(field("nonce")),
  });
}

function idOf(action: HyperliquidTransferAction): Hex32 {
  const types = hyperliquidTransferTypes(profile, action.type);
  const id = parseHex32(hashStruct({ types, primaryType: "ExchangeTransaction:SendAsset", data: action }));
  if (id === undefined) throw new Error("no hash");
  return id;
}

/** Signs and posts an action. Returns `ok` or Hyperliquid's error. */
async function post(
  url: string,
  signer: PrivateKeyAccount,
  action: HyperliquidTransferAction,
): Promise<string> {
  const { domain, types, primaryType, value } = hyperliquidTypedData(profile, action);
  const { r, s, v } = parseSignature(
    await signer.signTypedData({ domain, types, primaryType, message: value }),
  );
  const nonce = action["nonce"] ?? action["time"];
  const answer = await fetch(`${url}/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action, nonce, signature: { r, s, v: Number(v) } }),
  });
  const answerText = await answer.text();
  return answerText.includes('"status":"ok"') ? "ok" : answerText;
}

const empty = (transactionId: string): NoDeposit => ({ transactionId, as: "empty" });
const notApplicable = (reason: string): NotApplicable => ({ notApplicable: reason });
const ONE_TRANSFER = notApplicable("a Hyperliquid transaction is one transfer");

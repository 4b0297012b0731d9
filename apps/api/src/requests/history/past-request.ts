import { refundRecipient } from "../refund-recipient.ts";
import { depositoryOf, fundsAt, parseDecimal, publicStatus, USD_DECIMALS } from "@causeway/domain";
import type { Address, TxHash } from "@causeway/domain";
import type { HistoryDeposit, HistorySlot, ListedRequest, RequestStory } from "./request-history.port.ts";
import type { Delivered, PastAmount, PastRequest, PastSide, PastTransaction } from "./past-requests.port.ts";
import type { Services } from "../../db/services.port.ts";

type Needs = Pick<Services, "chains">;

/** The outcome of a request, derived only from its terms, deposits and payments. */
export function pastRequest(
  services: Needs,
  story: RequestStory,
  listed: ListedRequest | undefined,
): PastRequest {
  const { terms, state } = story;
  const deposit = story.deposits.find(({ id }) => id === state.depositId);
  const depositChain = deposit && services.chains.profile(deposit.chainId);
  const fills = story.slots.filter(({ legKind }) => legKind === "fill");
  const paid = fills.find((slot) => isPaid(slot));
  const delivered = state.name === "filled" ? deliveredBy(story, paid) : undefined;
  const quoted = quotedSides(services, story);
  return {
    terms,
    solverChainId: services.chains.evmChains.find(({ chain }) => chain.name === terms.order.solverChainId)
      ?.chain.id,
    status: publicStatus(state, story.addressFunds),
    sender: deposit?.sender ?? terms.user,
    depositAddress: terms.depositAddress?.address ?? listed?.depositAddress,
    supersededBy: story.supersededBy,
    requestType: listed?.requestType,
    features: listed?.features ?? [],
    updatedAtMs: listed?.updatedAtMs ?? story.updatedAtMs,
    failReason: state.failReason,
    refundFailReason: state.refundFailReason,
    failed: failedOf(story.slots),
    isFastFill: state.front !== "none",
    inTxs: inTransactions(story),
    outTxs: outTransactions(services, story),
    quoted,
    actual:
      delivered === undefined
        ? undefined
        : {
            origin: {
              input: terms.input === undefined ? amountOf(services, deposit, terms.origin) : undefined,
              output: amountOf(services, deposit, terms.origin),
            },
            destination: {
              input: paid === undefined ? undefined : outflowOf(services, paid),
              output: {
                ...quoted.destination.output,
                ...describeCurrency(services, terms.destination),
                amount: delivered.amount,
              },
            },
          },
    delivered,
    refund: refundOf(services, story),
    appFees: appFeesOf(services, story),
    paidFees: story.sponsorship.fees,
    sponsored: sponsoredOf(story),
    deposit: deposit && {
      chainId: deposit.chainId,
      txHash: deposit.txHash,
      block: deposit.blockNumber,
      depositor: deposit.depositor,
      currency: deposit.currency,
      amount: deposit.amount,
      depository: depositChain && depositoryOf(depositChain),
      isConfirmed: deposit.canonical && isBeyondConfirmations(story),
    },
    settlement: settlementOf(story, paid),
  };
}

export function fundsOf({ state, terms, addressFunds }: RequestStory): ReturnType<typeof fundsAt> {
  return fundsAt({ name: state.name, kind: terms.kind, depositId: state.depositId }, addressFunds);
}

/** Mined, successful and not replaced. */
export function isPaid(slot: HistorySlot): boolean {
  return (
    (slot.state === "mined" || slot.state === "final") && slot.minedStatus === "success" && !isNoop(slot)
  );
}

function isNoop(slot: HistorySlot): boolean {
  return slot.attempts.find(({ n }) => n === slot.minedAttempt)?.kind === "noop";
}

/** The hash of the mined attempt; before that, of the last one. */
export function hashOf(slot: HistorySlot): TxHash | undefined {
  return (slot.attempts.find(({ n }) => n === slot.minedAttempt) ?? slot.attempts.at(-1))?.txHash;
}

function isBeyondConfirmations({ state }: RequestStory): boolean {
  return state.name !== "quoted" && state.name !== "deposited" && state.name !== "depositing";
}

function deliveredBy({ terms }: RequestStory, paid: HistorySlot | undefined): Delivered | undefined {
  const { expectedAmount, minimumAmount } = terms.destination;
  const amount = terms.kind === "send" ? expectedAmount : paid?.deliveredAmount;
  if (amount === undefined) return undefined;
  const difference = expectedAmount === 0n ? 0n : ((amount - expectedAmount) * 1_000_000n) / expectedAmount;
  return { amount, quotedAmount: expectedAmount, minimumAmount, differenceBps: Number(difference) / 100 };
}

function quotedSides(services: Needs, { terms }: RequestStory): { origin: PastSide; destination: PastSide } {
  const { origin, input, destination, inputUsd } = terms;
  const quotedUsd = terms.quoted?.outputUsd;
  const deposited: PastAmount = { ...describeCurrency(services, origin), amount: origin.amount };
  const userInput: PastAmount =
    input === undefined
      ? { ...deposited, usd: inputUsd, minimumAmount: origin.amount }
      : {
          ...describeCurrency(services, { chainId: origin.chainId, currency: input.currency }),
          amount: input.amount,
          minimumAmount: input.amount,
          usd: inputUsd,
        };
  const recipientOutput: PastAmount = {
    ...describeCurrency(services, destination),
    amount: destination.expectedAmount,
    minimumAmount: destination.minimumAmount,
    usd: quotedUsd === undefined ? undefined : parseDecimal(quotedUsd, USD_DECIMALS),
  };
  return {
    origin: {
      input: userInput,
      output: { ...deposited, minimumAmount: origin.minimumAmount ?? origin.amount },
    },
    destination: {
      // The amount that the solver pays into a swap is known only after the swap.
      input:
        destination.paidFrom === undefined
          ? recipientOutput
          : {
              ...describeCurrency(services, { ...destination, currency: destination.paidFrom }),
              amount: undefined,
            },
      output: recipientOutput,
    },
  };
}

function describeCurrency(
  { chains }: Needs,
  { chainId, currency }: { readonly chainId: number; readonly currency: Address },
): Pick<PastAmount, "chainId" | "currency" | "configured"> {
  return { chainId, currency, configured: chains.currency(chainId, currency) };
}

function amountOf(
  services: Needs,
  deposit: HistoryDeposit | undefined,
  fallback: { readonly chainId: number; readonly currency: Address },
): PastAmount | undefined {
  if (deposit === undefined) return { ...describeCurrency(services, fallback), amount: undefined };
  return { ...describeCurrency(services, deposit), amount: deposit.amount };
}

function outflowOf(services: Needs, { chainId, outflow }: HistorySlot): PastAmount {
  return { ...describeCurrency(services, { chainId, currency: outflow.currency }), amount: outflow.amount };
}

function feeOf({ gasUsed, effectiveGasPrice }: HistorySlot): bigint | undefined {
  return gasUsed === undefined || effectiveGasPrice === undefined ? undefined : gasUsed * effectiveGasPrice;
}

function inTransactions({ deposits, send, terms, state, slots }: RequestStory): PastTransaction[] {
  const depositTransactions = deposits.map((deposit): PastTransaction => {
    // A deposit by a call that the service sent for the user is the service's transaction.
    const execution = slots.find((slot) => slot.legKind === "execution" && hashOf(slot) === deposit.txHash);
    return {
      txHash: deposit.txHash,
      chainId: deposit.chainId,
      block: deposit.canonical ? deposit.blockNumber : undefined,
      seenAtMs: deposit.seenAtMs,
      status: deposit.canonical ? "success" : "pending",
      feeWei: execution && feeOf(execution),
      moved: [{ address: deposit.depositor, currency: deposit.currency, difference: -deposit.amount }],
    };
  });
  if (send === undefined) return depositTransactions;
  const isDone = state.name === "filled";
  const { user, recipient, origin } = terms;
  const sendTransaction: PastTransaction = {
    txHash: send.txHash,
    chainId: origin.chainId,
    block: send.blockNumber,
    seenAtMs: send.blockNumber === undefined ? undefined : send.reportedAtMs,
    status: isDone ? "success" : "pending",
    feeWei: undefined,
    moved: isDone
      ? [
          { address: user, currency: origin.currency, difference: -origin.amount },
          { address: recipient, currency: origin.currency, difference: origin.amount },
        ]
      : [],
  };
  return [...depositTransactions, sendTransaction];
}

function outTransactions(services: Needs, story: RequestStory): PastTransaction[] {
  const { terms, slots } = story;
  const serviceTransactions = slots.flatMap((slot): PastTransaction[] => {
    const txHash = hashOf(slot);
    const isOut = slot.legKind === "fill" || slot.legKind === "refund" || terms.kind === "call";
    if (txHash === undefined || !isOut || isNoop(slot)) return [];
    // A nonce that another transaction used paid nothing and has no block.
    if (slot.state === "dead" && slot.minedStatus === undefined) return [];
    const isDone = isPaid(slot);
    return [
      {
        txHash,
        chainId: slot.chainId,
        block: slot.minedBlockNumber,
        seenAtMs: slot.minedAtMs,
        status: slot.minedStatus === "reverted" ? "failure" : isDone ? "success" : "pending",
        feeWei: feeOf(slot),
        leg: slot.legKind === "fill" || slot.legKind === "refund" ? slot.legKind : undefined,
        call: slot.call,
        moved:
          isDone && slot.legKind === "refund"
            ? [
                {
                  address: recipientOfRefund(services, story, slot),
                  currency: slot.outflow.currency,
                  difference: slot.outflow.amount,
                },
              ]
            : isDone && slot.deliveredAmount !== undefined
              ? [
                  {
                    address: terms.recipient,
                    currency: terms.destination.currency,
                    difference: slot.deliveredAmount,
                  },
                ]
              : [],
      },
    ];
  });
  // The user's own payment is both input and output.
  return story.send === undefined
    ? serviceTransactions
    : [...serviceTransactions, ...inTransactions({ ...story, deposits: [] })];
}

function failedOf(slots: readonly HistorySlot[]): PastRequest["failed"] {
  const slot = slots.findLast(({ minedStatus }) => minedStatus === "reverted");
  const txHash = slot && hashOf(slot);
  if (slot === undefined || txHash === undefined) return undefined;
  return { txHash, block: slot.minedBlockNumber, call: { from: slot.sender, ...slot.call } };
}

function refundOf(services: Needs, story: RequestStory): PastRequest["refund"] {
  const paid = story.slots.findLast((slot) => slot.legKind === "refund" && isPaid(slot));
  return paid && { amount: outflowOf(services, paid), recipient: recipientOfRefund(services, story, paid) };
}

function recipientOfRefund({ chains }: Needs, { deposits, terms }: RequestStory, slot: HistorySlot): Address {
  const deposit = deposits.find(({ id }) => id === slot.legId);
  const chain = chains.profile(slot.chainId);
  if (deposit === undefined || chain === undefined) return terms.refundTo;
  return refundRecipient(chain, { terms }, deposit.depositor);
}

/**
 * All apps are credited at once. An app without a credit got nothing, because its share was below one base
 * unit.
 */
function appFeesOf(services: Needs, { terms, sponsorship }: RequestStory): PastRequest["appFees"] {
  const { appFees, appFeesUsd } = terms;
  if (appFees === undefined) return undefined;
  const credited = new Map(sponsorship.appFees.map(({ wallet, amount }) => [wallet, amount]));
  const recipients = appFees.fees.map(({ recipient, bps, amount }) => ({
    recipient,
    bps,
    quoted: amount,
    actual: credited.size === 0 ? undefined : (credited.get(recipient) ?? 0n),
  }));
  const currency = describeCurrency(services, appFees);
  return {
    quoted: { ...currency, amount: sumOf(recipients.map(({ quoted }) => quoted)), usd: appFeesUsd },
    actual: credited.size === 0 ? undefined : { ...currency, amount: sumOf([...credited.values()]) },
    recipients,
  };
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

function sponsoredOf({ sponsorship: { execution } }: RequestStory): PastRequest["sponsored"] {
  if (execution === undefined) return undefined;
  const { wallet, costUsd, originUsd, destinationUsd } = execution;
  const paidUsd =
    originUsd === undefined && destinationUsd === undefined
      ? undefined
      : (originUsd ?? 0n) + (destinationUsd ?? 0n);
  return { wallet, costUsd, paidUsd };
}

function settlementOf(
  { settlements }: RequestStory,
  paid: HistorySlot | undefined,
): PastRequest["settlement"] {
  const settlement = settlements.find(({ slotId }) => slotId === paid?.id) ?? settlements.at(-1);
  return (
    settlement && { state: settlement.state, reason: settlement.reason, updatedAtMs: settlement.updatedAtMs }
  );
}

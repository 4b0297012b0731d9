import { publicStatus } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { HistorySlot, RequestStory } from "./request-history.port.ts";
import { endOfMonth } from "../../db/month.ts";
import type { RequestTrace, TraceEntry } from "./past-requests.port.ts";
import { addressFormatOf } from "../../chains/index.ts";
import type { HistoryServices } from "./list-requests.ts";
import { moneySentence } from "./money-sentence.ts";
import { fundsOf, hashOf } from "./past-request.ts";
import { formatTrace } from "./format-trace.ts";

type Facts = Readonly<Record<string, unknown>>;

/** Everything that was seen, decided, signed and sent for a request, in order; undefined if it is unknown. */
export async function requestTrace(
  { history, chains }: HistoryServices,
  requestId: RequestId,
): Promise<RequestTrace | undefined> {
  const story = await history.story(requestId);
  if (story === undefined) return undefined;
  return {
    requestId,
    status: publicStatus(story.state, story.addressFunds),
    fundsAt: fundsOf(story),
    summary: moneySentence(story),
    entries: formatTrace(entriesOf(story), story, addressFormatOf(chains)),
  };
}

/** Entries of the same moment keep their causal order. */
function entriesOf(story: RequestStory): readonly TraceEntry[] {
  const entries = [
    quotedEntry(story),
    ...sponsorshipEntries(story),
    ...depositEntries(story),
    ...story.events.map(({ atMs, event, detail }) => entry(atMs, "event", { event, ...detail })),
    ...story.slots.flatMap((slot) => paymentEntries(slot)),
    ...settlementEntries(story),
    ...ledgerMovementEntries(story),
    ...archivedEntries(story),
  ];
  return entries.toSorted((a, b) => a.atMs - b.atMs);
}

/** Months whose events the operator archived: without this, a trace with gaps would look complete. */
function archivedEntries({ archivedMonths = [] }: RequestStory): TraceEntry[] {
  return archivedMonths.map((month) =>
    entry(endOfMonth(month) - 1, "archived", {
      month,
      note: `The operator archived ${month}: events of that month are no longer stored here`,
    }),
  );
}

function quotedEntry({ terms }: RequestStory): TraceEntry {
  const { origin, destination, createdAtMs } = terms;
  return entry(createdAtMs, "quoted", {
    requestKind: terms.kind,
    tradeType: terms.tradeType,
    orderId: terms.orderId,
    user: terms.user,
    recipient: terms.recipient,
    refundTo: terms.refundTo,
    input: terms.input,
    origin,
    destination,
    firmUntil: new Date(terms.firmUntilMs).toISOString(),
    fillDeadline: new Date(terms.fillDeadlineMs).toISOString(),
    solver: terms.order.solver,
  });
}

function sponsorshipEntries({ sponsorship: { execution, hold, fastFill } }: RequestStory): TraceEntry[] {
  return [
    ...(execution === undefined
      ? []
      : [
          entry(execution.createdAtMs, "execution", {
            wallet: execution.wallet,
            reservedUsd18: execution.costUsd,
            originUsd18: execution.originUsd,
            destinationUsd18: execution.destinationUsd,
          }),
        ]),
    ...(fastFill === undefined
      ? []
      : [
          entry(fastFill.acceptedAtMs, "fast-fill", {
            amount: fastFill.amount,
            inputAmount: fastFill.inputAmount,
          }),
        ]),
    ...(hold === undefined
      ? []
      : [entry(hold.placedAtMs, "hold-placed", { usd18: hold.usd, state: hold.state })]),
    ...(hold?.resolvedAtMs === undefined
      ? []
      : [entry(hold.resolvedAtMs, "hold-resolved", { usd18: hold.usd, state: hold.state })]),
  ];
}

function depositEntries({ deposits, send, terms }: RequestStory): TraceEntry[] {
  const reportedPayment =
    send === undefined
      ? []
      : [
          entry(send.reportedAtMs, "payment-reported", {
            chainId: terms.origin.chainId,
            txHash: send.txHash,
            block: send.blockNumber,
          }),
        ];
  return [
    ...reportedPayment,
    ...deposits.map(({ id, seenAtMs, ...facts }) =>
      entry(seenAtMs, "deposit", {
        depositId: id,
        chainId: facts.chainId,
        txHash: facts.txHash,
        block: facts.blockNumber,
        canonical: facts.canonical,
        confirmedAtBlock: facts.confirmAtBlock,
        depositor: facts.depositor,
        sender: facts.sender,
        currency: facts.currency,
        amount: facts.amount,
        disposition: facts.disposition,
        reason: facts.reason,
        refundState: facts.refundState,
        refundFailReason: facts.refundFailReason,
      }),
    ),
  ];
}

/** A nonce, every transaction that was signed for it, and the outcome. */
function paymentEntries(slot: HistorySlot): TraceEntry[] {
  const lane = { leg: slot.legKind, chainId: slot.chainId, nonce: slot.nonce };
  const [first] = slot.attempts;
  const minedAtMs = slot.minedAtMs ?? first?.firstBroadcastAtMs ?? slot.createdAtMs;
  return [
    entry(slot.createdAtMs, "nonce", {
      ...lane,
      sender: slot.sender,
      to: slot.call.to,
      value: slot.call.value,
      gasLimit: slot.gasLimit,
      paysCurrency: slot.outflow.currency,
      paysAmount: slot.outflow.amount,
    }),
    ...slot.attempts.flatMap((attempt) => {
      const facts = {
        ...lane,
        attempt: attempt.n,
        purpose: attempt.kind,
        txHash: attempt.txHash,
        // Attempts of one slot share its nonce: at most one of them is mined.
        replaces: slot.attempts.findLast(({ n }) => n < attempt.n)?.txHash,
        maxFeePerGas: attempt.maxFeePerGas,
        maxPriorityFeePerGas: attempt.maxPriorityFeePerGas,
      };
      const signed = entry(attempt.createdAtMs, "signed", facts);
      return attempt.firstBroadcastAtMs === undefined
        ? [signed]
        : [
            signed,
            entry(attempt.firstBroadcastAtMs, "broadcast", {
              ...lane,
              attempt: attempt.n,
              txHash: attempt.txHash,
              ...(attempt.broadcastAtMs !== undefined && attempt.broadcastAtMs > attempt.firstBroadcastAtMs
                ? { lastSentAt: new Date(attempt.broadcastAtMs).toISOString() }
                : {}),
            }),
          ];
    }),
    ...(slot.minedBlockNumber === undefined
      ? []
      : [
          entry(minedAtMs, "mined", {
            ...lane,
            txHash: hashOf(slot),
            block: slot.minedBlockNumber,
            outcome: slot.minedStatus,
            gasUsed: slot.gasUsed,
            effectiveGasPrice: slot.effectiveGasPrice,
            isFinal: slot.state === "final",
          }),
        ]),
    ...(slot.cancelReason === undefined && slot.deadReason === undefined
      ? []
      : [
          entry(minedAtMs, "nonce-given-up", {
            ...lane,
            reason: slot.cancelReason,
            usedUpBecause: slot.deadReason,
          }),
        ]),
  ];
}

function settlementEntries({ settlements }: RequestStory): TraceEntry[] {
  return settlements.flatMap((settlement) => [
    entry(settlement.createdAtMs, "settlement-due", {}),
    ...settlement.executions.flatMap((execution) => [
      entry(execution.createdAtMs, "attested", {
        what: execution.kind,
        idempotencyKey: execution.idempotencyKey,
      }),
      ...(execution.settledAtMs === undefined
        ? []
        : [
            entry(execution.settledAtMs, "settled-on-hub", {
              what: execution.kind,
              idempotencyKey: execution.idempotencyKey,
              txHash: execution.txHash,
            }),
          ]),
    ]),
    entry(settlement.updatedAtMs, "settlement", {
      state: settlement.state,
      reason: settlement.reason,
      tries: settlement.tries,
    }),
  ]);
}

function ledgerMovementEntries({ sponsorship: { movements } }: RequestStory): TraceEntry[] {
  return movements.map(({ atMs, context, reason, wallet, entries }) =>
    entry(atMs, "ledger", { context, reason, wallet, entries }),
  );
}

const URLS = /\b[a-z][a-z0-9+.-]*:\/\/\S+/giu;

/** Only for the operator and the paying app: a wallet leads to everything that its app pays for. */
const OMITTED_FACTS: ReadonlySet<string> = new Set(["keyId", "wallet"]);

/**
 * Omits unknown facts, and texts that may contain what only operators should read: node addresses, key ids.
 */
function entry(atMs: number, kind: string, facts: Facts): TraceEntry {
  return { atMs, kind, facts: redactFacts(facts) };
}

function redactFacts(facts: Facts): Facts {
  const shown = Object.entries(facts).filter(
    ([name, value]) => value !== undefined && !OMITTED_FACTS.has(name),
  );
  return Object.fromEntries(shown.map(([name, value]) => [name, redact(value)]));
}

function redact(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(URLS, "[address]");
  if (Array.isArray(value)) return value.map(redact);
  return typeof value === "object" && value !== null ? redactFacts(value as Facts) : value;
}

import type { TxHash } from "@causeway/domain";
import { inconsistent, RpcFault } from "@causeway/families";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmAttempt, NonEvmConnection, NonEvmOutcome } from "./non-evm-connection.ts";

/** From the least to the most advanced. */
const KINDS: readonly NonEvmOutcome["kind"][] = ["unseen", "pending", "mined", "final"];
/** How long an answer that may be more advanced is awaited, ms. */
const MAX_WAIT_MS = 2_000;
/** Maximum number of payments to remember. */
const MAX_REMEMBERED = 10_000;

/** What all endpoints report about payments: none of them can deny what another one shows. */
export interface SharedOutcomes {
  readonly outcome: NonEvmConnection["outcome"];
  /**
   * Checks that an earlier attempt, which does not conflict with a new one, can no longer count.
   *
   * @throws RpcFault if not all endpoints report it as dead
   */
  confirmDead(attempt: NonEvmAttempt): Promise<void>;
}

type Answer = NonEvmOutcome | RpcFault;

export function createSharedOutcomes(
  connections: readonly NonEvmConnection[],
  order: EndpointOrder,
): SharedOutcomes {
  /** The blocks in which an endpoint showed payments, mined or final. */
  const blocks = new Map<TxHash, bigint>();
  const running = new Map<string, Promise<Answer>>();

  const ask = async (place: number, attempt: NonEvmAttempt): Promise<NonEvmOutcome> => {
    const one = connections[place];
    if (one === undefined) throw new RangeError(`invariant violated: no endpoint ${place}`);
    return await one.outcome(attempt);
  };
  const answerOf = async (place: number, attempt: NonEvmAttempt): Promise<Answer> => {
    try {
      return await ask(place, attempt);
    } catch (fault) {
      if (!(fault instanceof RpcFault)) throw fault;
      order.noteFault(place, fault);
      return fault;
    }
  };

  /** An endpoint that has not answered yet is not asked again. */
  const askFurther = async (place: number, attempt: NonEvmAttempt): Promise<Answer> => {
    const key = `${place} ${attempt.txId}`;
    const answer = running.get(key) ?? answerOf(place, attempt).finally(() => running.delete(key));
    running.set(key, answer);
    return await answer;
  };

  /** @throws RpcFault if the attempt was in a block that no endpoint with an answer has reached */
  function checkReached({ txId }: NonEvmAttempt, answered: readonly number[]): void {
    const block = blocks.get(txId);
    if (block === undefined) return;
    if (!answered.some((place) => (order.headOf(place) ?? -1n) >= block))
      throw inconsistent(
        "outcome",
        `the payment was in block ${block}, which no endpoint that answers has reached`,
      );
  }

  function remember({ txId }: NonEvmAttempt, found: NonEvmOutcome): void {
    blocks.delete(txId);
    if (!isInBlock(found)) return;
    const [oldest] = blocks.keys();
    if (blocks.size >= MAX_REMEMBERED && oldest !== undefined) blocks.delete(oldest);
    blocks.set(txId, found.block.number);
  }

  async function outcome(attempt: NonEvmAttempt): Promise<NonEvmOutcome> {
    const answers = new Map<number, Answer | undefined>();
    const first = await order.ask(
      async (place) => {
        answers.set(place, undefined);
        const found = await ask(place, attempt);
        answers.set(place, found);
        return found;
      },
      ({ kind }) => kind !== "inconsistent",
    );
    if (connections.length === 1) return first;
    if (!isInBlock(first)) {
      const others = connections.map((_, place) => place).filter((place) => !answers.has(place));
      const wait = first.kind === "dead" ? unbounded : upToMaxWait;
      await Promise.all(
        others.map(async (place) => void answers.set(place, await wait(askFurther(place, attempt)))),
      );
    }
    const known = [...answers].flatMap(([place, answer]) =>
      answer === undefined || answer instanceof RpcFault ? [] : [{ place, found: answer }],
    );
    const found = known.map((one) => one.found).reduce(moreAdvanced, first);
    const isDead = areDead(
      known.map((one) => one.found),
      connections.length,
    );
    if (!isInBlock(found)) {
      const contradiction = [...answers.values()].find(isContradiction);
      if (contradiction !== undefined) throw contradiction;
      if (!isDead)
        checkReached(
          attempt,
          known.map(({ place }) => place),
        );
    }
    remember(attempt, found);
    return found.kind === "dead" && !isDead ? { kind: "unseen" } : found;
  }

  return {
    outcome,
    confirmDead: async (attempt) => {
      if (connections.length === 1) return;
      const answers = await Promise.all(
        connections.map(async (_, place) => await askFurther(place, attempt)),
      );
      const known = answers.filter((answer) => !(answer instanceof RpcFault));
      if (answers.some(isContradiction) || !areDead(known, connections.length))
        throw inconsistent("outcome", "not all endpoints report an earlier attempt as dead");
    },
  };
}

function isInBlock(
  outcome: NonEvmOutcome,
): outcome is Extract<NonEvmOutcome, { readonly kind: "mined" | "final" }> {
  return outcome.kind === "mined" || outcome.kind === "final";
}

/**
 * Whether a payment can be made again: all endpoints that answer report it as dead, and either those are all
 * endpoints, or a final transaction proves it.
 */
function areDead(answers: readonly NonEvmOutcome[], endpoints: number): boolean {
  return (
    answers.every(({ kind }) => kind === "dead") &&
    (answers.length === endpoints || answers.some((one) => one.kind === "dead" && one.isProven === true))
  );
}

function isContradiction(answer: Answer | undefined): answer is RpcFault {
  return answer instanceof RpcFault && answer.kind === "inconsistent";
}

function moreAdvanced(a: NonEvmOutcome, b: NonEvmOutcome): NonEvmOutcome {
  return KINDS.indexOf(b.kind) > KINDS.indexOf(a.kind) ? b : a;
}

async function unbounded<T>(answer: Promise<T>): Promise<T> {
  return await answer;
}

async function upToMaxWait<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS, undefined);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

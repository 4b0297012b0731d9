import { inconsistent } from "@causeway/families";
import { SLOW_MS } from "./endpoint-health.ts";

/** The endpoints of a chain, and their quorum. */
export interface Electorate<E> {
  readonly endpoints: readonly E[];
  /** How many endpoints must agree. */
  readonly quorum: number;
  /** False if the endpoint is unlikely to answer: then the others decide without waiting for it. */
  readonly isExpected: (endpoint: E) => boolean;
  /** Called if an endpoint has not answered for `waitedMs` while the others did. */
  readonly onLate: (endpoint: E, waitedMs: number) => void;
  /** Called with endpoints that contradict the quorum or, without a quorum, each other. */
  readonly onDisagreement: (question: string, endpoints: readonly E[]) => void;
}

/** The answer of an endpoint. */
export interface Answer<E, T> {
  readonly endpoint: E;
  readonly value: T;
}

/** A question to every endpoint. */
export interface Poll<E, T, R> {
  /** Its name in faults and reports. */
  readonly question: string;
  readonly read: (endpoint: E) => Promise<T>;
  /**
   * The result that the answers prove so far; undefined if they are not enough yet.
   *
   * @param isComplete every endpoint that is expected to answer has answered
   */
  readonly decide: (
    answers: readonly Answer<E, T>[],
    isComplete: boolean,
  ) => { readonly value: R } | undefined;
  /**
   * A text that is equal for equal answers; undefined for an answer that will change over time, which
   * contradicts nothing. Absent: differences are normal and not reported.
   */
  readonly textOf?: (value: T) => string | undefined;
}

/**
 * Queries all endpoints concurrently, and returns as soon as their answers decide. Fewer answers than the
 * quorum decide nothing.
 *
 * @throws the first fault if fewer than the quorum answered; an RpcFault of kind `inconsistent` if enough
 * did, but do not agree
 */
export async function queryAll<E, T, R>(
  { endpoints, quorum, isExpected, onLate, onDisagreement }: Electorate<E>,
  { question, read, decide, textOf }: Poll<E, T, R>,
): Promise<R> {
  return await new Promise<R>((resolve, reject) => {
    const answers: Answer<E, T>[] = [];
    const pending = new Set(endpoints);
    let firstFault: unknown;
    let isGraceOver = false;
    let isDecided = false;
    let timer: NodeJS.Timeout | undefined;
    const judge = (): void => {
      if (!isDecided && answers.length >= quorum) {
        const isComplete = isGraceOver || ![...pending].some((endpoint) => isExpected(endpoint));
        const decision = decide(answers, isComplete);
        if (decision !== undefined) {
          isDecided = true;
          clearTimeout(timer);
          resolve(decision.value);
        } else
          // How long other endpoints may still contradict once enough have answered.
          timer ??= setTimeout(() => {
            isGraceOver = true;
            for (const endpoint of pending) onLate(endpoint, SLOW_MS);
            judge();
          }, SLOW_MS);
      }
      if (pending.size > 0) return;
      clearTimeout(timer);
      // Also for endpoints that answered after the others agreed.
      const differing = textOf === undefined ? [] : differingIn(answers, quorum, textOf);
      if (differing.length > 0) onDisagreement(question, differing);
      if (!isDecided)
        reject(answers.length < quorum ? firstFault : inconsistent(question, "endpoints do not agree"));
    };
    for (const endpoint of endpoints)
      read(endpoint).then(
        (value) => {
          pending.delete(endpoint);
          answers.push({ endpoint, value });
          judge();
        },
        (fault: unknown) => {
          pending.delete(endpoint);
          firstFault ??= fault;
          judge();
        },
      );
  });
}

/** Endpoints whose answers differ from a quorum's answer or, without a quorum, from any other answer. */
function differingIn<E, T>(
  answers: readonly Answer<E, T>[],
  quorum: number,
  textOf: (value: T) => string | undefined,
): readonly E[] {
  const groups = groupsOf(answers, textOf);
  if (groups.length < 2) return [];
  return groups
    .filter(({ length }) => length < quorum)
    .flat()
    .map(({ endpoint }) => endpoint);
}

/** The value on which a quorum agrees; undefined while there is none. */
export function agreedOn<E, T>(
  answers: readonly Answer<E, T>[],
  quorum: number,
  textOf: (value: T) => string | undefined,
): T | undefined {
  return groupsOf(answers, textOf).find(({ length }) => length >= quorum)?.[0]?.value;
}

function groupsOf<E, T>(
  answers: readonly Answer<E, T>[],
  textOf: (value: T) => string | undefined,
): Answer<E, T>[][] {
  const groups = new Map<string, Answer<E, T>[]>();
  for (const answer of answers) {
    const text = textOf(answer.value);
    if (text === undefined) continue;
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [answer]);
    else group.push(answer);
  }
  return [...groups.values()];
}

/**
 * The greatest number that a quorum of endpoints has reached. One endpoint never decides alone while another
 * one responds, not even with a quorum of 1.
 */
export function reachedBy(quorum: number, numbers: readonly bigint[]): bigint | undefined {
  if (numbers.length < quorum) return undefined;
  const descending = numbers.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  return descending[Math.min(Math.max(quorum, 2), descending.length) - 1];
}

import { ServiceError } from "@causeway/domain";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { NoteAnswer } from "./route-times.ts";

const CHECKS_PER_LIMIT = 20;

/**
 * For each request of the routes added later: reports the time from its head to the end of its answer, and
 * answers 503 `REQUEST_TIMED_OUT` after `answerWithinMs` or `deadlineMs` (up to 5 % later). One
 * hook and one listener per request, and one timer per limit: the framework's own hooks, timers and
 * AbortControllers would cost a fast route up to a fifth of its time.
 */
export function watchAnswers(
  app: FastifyInstance,
  deadlineMs: number,
  timesOf: (method: string, route: string) => NoteAnswer,
): void {
  const watches = new Map<number, Watch>();
  const watchOf = (limitMs: number): Watch => {
    const watch = watches.get(limitMs) ?? createWatch(limitMs);
    watches.set(limitMs, watch);
    return watch;
  };
  app.addHook("onRoute", (route) => {
    // A hook per route knows its route; reading it from the request would create an object per answer.
    const note = timesOf([route.method].flat().join(","), route.url);
    const { start } = watchOf(Math.min(route.config?.answerWithinMs ?? deadlineMs, deadlineMs));
    route.onRequest = [
      (_request, reply, done) => {
        const { raw } = reply;
        const startedAtMs = performance.now();
        const end = start(reply, startedAtMs);
        // The answer to a disconnected client never finishes; the timer drops it.
        raw.on("finish", () => {
          end();
          note(raw.statusCode, performance.now() - startedAtMs);
        });
        done();
      },
      ...[route.onRequest ?? []].flat(),
    ];
  });
  app.addHook("onClose", () => {
    for (const { timer } of watches.values()) clearInterval(timer);
  });
}

interface Watch {
  /** Returns the function to call once the response is sent. */
  start(reply: FastifyReply, startedAtMs: number): () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Keeps unanswered requests in an array whose free slots are reused. A map or a set would replace its table
 * every few requests, and a discarded table keeps its requests in memory until it is collected.
 */
function createWatch(limitMs: number): Watch {
  const slots: ({ readonly reply: FastifyReply; readonly startedAtMs: number } | undefined)[] = [];
  const freeSlots: number[] = [];
  const timer = setInterval(() => {
    const latestStart = performance.now() - limitMs;
    for (const [slot, waiting] of slots.entries()) {
      if (waiting === undefined || waiting.startedAtMs > latestStart) continue;
      slots[slot] = undefined;
      freeSlots.push(slot);
      if (!waiting.reply.sent)
        waiting.reply.send(new ServiceError("REQUEST_TIMED_OUT", "the request took too long; try again"));
    }
  }, limitMs / CHECKS_PER_LIMIT).unref();
  return {
    timer,
    start(reply, startedAtMs) {
      const slot = freeSlots.pop() ?? slots.length;
      const waiting = { reply, startedAtMs };
      slots[slot] = waiting;
      return () => {
        if (slots[slot] !== waiting) return;
        slots[slot] = undefined;
        freeSlots.push(slot);
      };
    },
  };
}

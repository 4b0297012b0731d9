import { ServiceError } from "@causeway/domain";
import type { FastifyInstance, FastifyReply } from "fastify";

const LOOKS_PER_DEADLINE = 20;

/**
 * Answers 503 `REQUEST_TIMED_OUT` for a route that has not answered within `deadlineMs` (up to 5 % later). One timer for the whole server:
 * the framework's own timer and AbortController per request cost up to a fifth of a fast route's time.
 */
export function answerInTime(app: FastifyInstance, deadlineMs: number): void {
  // In order of arrival, so a look ends at the first request that still has time.
  const waiting = new Map<FastifyReply, number>();
  app.addHook("onRequest", (_request, reply, done) => {
    waiting.set(reply, performance.now());
    done();
  });
  app.addHook("onResponse", (_request, reply, done) => {
    waiting.delete(reply);
    done();
  });
  const timer = setInterval(() => {
    const latestStart = performance.now() - deadlineMs;
    for (const [reply, startedAt] of waiting) {
      if (startedAt > latestStart) break;
      waiting.delete(reply);
      if (!reply.sent)
        reply.send(new ServiceError("REQUEST_TIMED_OUT", "the request took too long; try again"));
    }
  }, deadlineMs / LOOKS_PER_DEADLINE).unref();
  app.addHook("onClose", () => clearInterval(timer));
}

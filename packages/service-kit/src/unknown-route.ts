import type { FastifyInstance } from "fastify";
import { errorAnswer, type ErrorAnswer } from "./error-map.ts";

const MAX_SHOWN_PATH_LENGTH = 200;

/**
 * Records the routes that are added from now on. The returned function answers requests without a route: 405
 * with `Allow` if the path exists with other methods, otherwise 404.
 */
export function noteRoutes(app: FastifyInstance): (method: string, url: string) => ErrorAnswer {
  const routes: { readonly matches: (path: string) => boolean; readonly methods: readonly string[] }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    if (url === "*" || url.endsWith("/*")) return;
    routes.push({ matches: matcher(url), methods: [method].flat() });
  });
  return (method, url) => {
    const path = url.split("?", 1)[0] ?? "";
    const allowed = [
      ...new Set(routes.filter(({ matches }) => matches(path)).flatMap(({ methods }) => methods)),
    ];
    const shownPath = path.slice(0, MAX_SHOWN_PATH_LENGTH);
    if (allowed.length === 0)
      return errorAnswer(404, "NOT_FOUND", `route ${method} ${shownPath} does not exist`);
    const answer = errorAnswer(
      405,
      "INVALID_REQUEST",
      `${shownPath} does not support ${method}, only ${allowed.join(", ")}`,
    );
    return { ...answer, headers: { allow: allowed.join(", ") } };
  };
}

function matcher(url: string): (path: string) => boolean {
  if (!url.includes(":")) return (path) => path === url;
  const segments = url.split("/");
  return (path) => {
    const parts = path.split("/");
    return (
      parts.length === segments.length &&
      segments.every((part, index) => part.startsWith(":") || part === parts[index])
    );
  };
}

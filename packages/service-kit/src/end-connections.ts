import type { FastifyInstance } from "fastify";
import type { Socket } from "node:net";

/** Interval at which a closing server checks for idle connections. */
const CHECK_INTERVAL_MS = 20;

/**
 * Closes keep-alive connections when the server closes: each after its last response, unused ones
 * immediately. Otherwise they would keep the process alive for the whole keep-alive timeout.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  const open = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  app.addHook("preClose", (done) => {
    if (app.server.listening) {
      const closeUnused = (): void => {
        app.server.closeIdleConnections();
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
      };
      const timer = setInterval(closeUnused, CHECK_INTERVAL_MS).unref();
      app.server.once("close", () => clearInterval(timer));
    }
    done();
  });
}

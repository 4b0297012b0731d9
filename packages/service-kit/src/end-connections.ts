import type { FastifyInstance } from "fastify";
import type { Socket } from "node:net";

/** How often a closing server looks for idle connections. */
const LOOK_EVERY_MS = 20;

/**
 * Lets a server close while clients keep connections open: each is closed after its last answer, and an
 * unused one at once. Otherwise they would keep the process alive for the whole keep-alive time.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  const open = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  app.addHook("preClose", (done) => {
    if (app.server.listening) {
      const look = (): void => {
        app.server.closeIdleConnections();
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
      };
      const timer = setInterval(look, LOOK_EVERY_MS).unref();
      app.server.once("close", () => clearInterval(timer));
    }
    done();
  });
}

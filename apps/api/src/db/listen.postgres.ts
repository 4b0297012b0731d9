import pg from "pg";
import { configureSession, NOTICE_LOST_HOSTS } from "./session-settings.postgres.ts";

/** Pause before reconnecting. */
const AGAIN_MS = 500;

/**
 * Listens on a channel with its own connection, and reconnects when it is lost. `onNotice` gets each
 * payload, and undefined when it listens (again): announcements in between were missed.
 */
export function listen(
  databaseUrl: string,
  channel: string,
  {
    onNotice,
    onFault,
  }: {
    readonly onNotice: (payload: string | undefined) => void;
    readonly onFault: (error: unknown) => void;
  },
): { close(): Promise<void> } {
  let closed = false;
  let current: pg.Client | undefined;
  const loop = (async () => {
    while (!closed) {
      const client = new pg.Client({
        connectionString: databaseUrl,
        application_name: `${channel} listener`,
        keepAlive: true,
        keepAliveInitialDelayMillis: 10_000,
      });
      current = client;
      const ended = new Promise<void>((resolve) => {
        client.once("end", () => resolve());
        client.on("error", (error) => {
          onFault(error);
          resolve();
        });
      });
      client.on("notification", ({ payload }) => onNotice(payload ?? ""));
      try {
        await client.connect();
        await configureSession(client, NOTICE_LOST_HOSTS);
        await client.query(`listen ${channel}`);
        onNotice(undefined);
        await ended;
      } catch (error) {
        if (!closed) onFault(error);
      }
      await client.end().catch(() => undefined);
      if (!closed) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref());
    }
  })();
  return {
    async close(): Promise<void> {
      closed = true;
      await current?.end().catch(() => undefined);
      await loop;
    },
  };
}

import pg from "pg";
import { configureSession, DETECT_LOST_HOSTS } from "./session-settings.postgres.ts";

/** Pause before reconnecting. */
const RECONNECT_PAUSE_MS = 500;

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
  let isClosed = false;
  let current: pg.Client | undefined;
  const loop = (async () => {
    while (!isClosed) {
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
        await configureSession(client, DETECT_LOST_HOSTS);
        await client.query(`listen ${channel}`);
        onNotice(undefined);
        await ended;
      } catch (error) {
        if (!isClosed) onFault(error);
      }
      await client.end().catch(() => undefined);
      if (!isClosed) await new Promise((resolve) => setTimeout(resolve, RECONNECT_PAUSE_MS).unref());
    }
  })();
  return {
    async close(): Promise<void> {
      isClosed = true;
      await current?.end().catch(() => undefined);
      await loop;
    },
  };
}

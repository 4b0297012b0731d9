/** Settings of one session, by their Postgres names and in their Postgres units. */
export type SessionSettings = Readonly<Record<string, string | number>>;

const CONFIGURE = `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as settings (name, value)`;

/**
 * Lets the server detect a lost host. Otherwise its session keeps its locks, and its snapshot, which blocks
 * vacuum, for as long as Linux tries to reach it (up to two hours). No effect on Unix sockets, or on a host
 * that acknowledges packets but does not read.
 */
export const DETECT_LOST_HOSTS: SessionSettings = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
};

/** Applies settings to a connected session: poolers refuse them as startup parameters. */
export async function configureSession(
  client: { query(text: string, values: readonly unknown[]): Promise<unknown> },
  settings: SessionSettings,
): Promise<void> {
  await client.query(CONFIGURE, [Object.keys(settings), Object.values(settings).map(String)]);
}

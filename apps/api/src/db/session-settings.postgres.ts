/** Settings of one session, by their Postgres names and in their Postgres units. */
export type SessionSettings = Readonly<Record<string, string | number>>;

const CONFIGURE = `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as settings (name, value)`;

/**
 * How the server notices that the host of a session is gone: otherwise the session keeps its locks and its
 * snapshot, which vacuum waits for, for as long as Linux tries to reach it (up to two hours). Without effect
 * on Unix sockets, and on a host that answers but does not read.
 */
export const NOTICE_LOST_HOSTS: SessionSettings = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
};

/**
 * Applies settings to a connected session. As startup parameters, poolers would refuse the connection because
 * of them.
 */
export async function configureSession(
  client: { query(text: string, values: readonly unknown[]): Promise<unknown> },
  settings: SessionSettings,
): Promise<void> {
  await client.query(CONFIGURE, [Object.keys(settings), Object.values(settings).map(String)]);
}

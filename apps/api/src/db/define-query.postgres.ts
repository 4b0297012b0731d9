import { Column, DrizzleQueryError, fillPlaceholders, is, Placeholder, sql, type SQL } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { PgDialect, type PgColumn } from "drizzle-orm/pg-core";
import type { DriverRow, Sql } from "./pool.postgres.ts";

/** The parameters of a statement, as SQL to build it from. */
export type Params<P> = { readonly [Name in keyof P]: SQL<P[Name]> };

interface Preparable<Result> {
  prepare(name: string): { execute(values: Record<string, unknown>): Promise<Result> };
  toSQL(): { readonly sql: string };
}

/** The text of each named statement of the loaded modules, built when read. */
const texts = new Map<string, () => string>();

/** The names of the statements that the loaded modules define, and the text of each. */
export function namedStatements(): ReadonlyMap<string, () => string> {
  return texts;
}

function nameStatement(name: string, text: () => string): void {
  // A connection that has prepared one of them refuses the other.
  if (texts.has(name)) throw new Error(`invariant violated: two statements are named ${name}`);
  texts.set(name, text);
}

/**
 * Defines a named query of drizzle's query builder. It is built, parsed and planned once per connection.
 * @param name unique in the process
 */
export function defineQuery<P extends Record<string, unknown>, Result>(
  name: string,
  build: (db: NodePgDatabase, params: Params<P>) => Preparable<Result>,
): (sql: Sql, params: P) => Promise<Result> {
  nameStatement(name, () => build(drizzle.mock(), placeholders()).toSQL().sql);
  const prepared = new WeakMap<NodePgDatabase, ReturnType<Preparable<Result>["prepare"]>>();
  return async ({ db }, params) => {
    let query = prepared.get(db);
    if (query === undefined) {
      query = build(db, placeholders()).prepare(name);
      prepared.set(db, query);
    }
    try {
      return await query.execute(params);
    } catch (error) {
      // Drizzle's own error quotes the parameters, which may be secret.
      throw error instanceof DrizzleQueryError && error.cause !== undefined ? error.cause : error;
    }
  };
}

/**
 * Defines a named query that changes rows and returns nothing. In a transaction it does not wait for the
 * answer: the transaction does, at its end, so that a write costs no round trip.
 * @param name unique in the process
 */
export function defineWrite<P extends Record<string, unknown>>(
  name: string,
  build: (db: NodePgDatabase, params: Params<P>) => Preparable<unknown>,
): (sql: Sql, params: P) => Promise<void> {
  const query = defineQuery(name, build);
  return async (sql, params) => await awaitWrite(sql, query(sql, params));
}

/** Leaves the answer of a write to the end of the transaction, if there is one. */
export async function awaitWrite(sql: Sql, answer: Promise<unknown>): Promise<void> {
  if (sql.atEnd === undefined) await answer;
  else sql.atEnd(answer);
}

/** The outputs of a statement: name in camelCase, and its column or decoder. */
type Returns = Readonly<Record<string, Column | ((value: never) => unknown)>>;
export type Row<R extends Returns> = {
  readonly [Name in keyof R]: R[Name] extends Column
    ? R[Name]["_"]["notNull"] extends true
      ? R[Name]["_"]["data"]
      : R[Name]["_"]["data"] | null
    : R[Name] extends (value: never) => infer Value
      ? Value
      : never;
};

const dialect = new PgDialect();

/**
 * Defines a named statement in SQL over the columns of the schema, for what the query builder cannot express
 * or builds too slowly.
 * @param name unique in the process
 * @param returns the output columns: `{ chainId: slots.chainId }` reads the output column `chain_id`
 */
export function defineSql<P extends Record<string, unknown>, R extends Returns>(
  name: string,
  returns: R,
  build: (params: Params<P>) => SQL,
  { announces = false }: { readonly announces?: boolean } = {},
): (sql: Sql, params: P) => Promise<Row<R>[]> {
  const rowsOf = prepare(name, build, announces);
  const rowOf = rowReader(name, returns);
  return async (sql, params) => (await rowsOf(sql, params)).map(rowOf);
}

/**
 * Defines a named statement whose rows are printed as they are, under the names of {@link outputsOf}.
 * @param name unique in the process
 */
export function defineReport<P extends Record<string, unknown>>(
  name: string,
  build: (params: Params<P>) => SQL,
): (sql: Pick<Sql, "query">, params: P) => Promise<object[]> {
  return prepare(name, build, false);
}

/** A list of a `select` with names of its own, which stay the same if a column is renamed. */
export function outputsOf(outputs: Readonly<Record<string, Column | SQL>>): SQL {
  return sql.join(
    Object.entries(outputs).map(([name, value]) => sql`${value} as ${sql.identifier(name)}`),
    sql`, `,
  );
}

function prepare<P extends Record<string, unknown>>(
  name: string,
  build: (params: Params<P>) => SQL,
  announces: boolean,
): (sql: Pick<Sql, "query">, params: P) => Promise<DriverRow[]> {
  let built: ReturnType<typeof compile> | undefined;
  const statement = () => (built ??= compile(build(placeholders())));
  nameStatement(name, () => statement().text);
  return async (connection, params) => {
    const { text, params: placeholders } = statement();
    return await connection.query({ name, text, announces }, fillPlaceholders(placeholders, params));
  };
}

/** {@link defineSql} for a statement whose rows are not read; waits like {@link defineWrite}. */
export function defineSqlWrite<P extends Record<string, unknown>>(
  name: string,
  build: (params: Params<P>) => SQL,
  options: { readonly announces?: boolean } = {},
): (sql: Sql, params: P) => Promise<void> {
  const query = defineSql(name, {}, build, options);
  return async (sql, params) => await awaitWrite(sql, query(sql, params));
}

/** Runs an unnamed statement, built for a single use. A pool with plans `per use` plans it for its values. */
export async function runSql<R extends Returns>(
  connection: Pick<Sql, "query">,
  returns: R,
  statement: SQL,
): Promise<Row<R>[]> {
  const { text, values } = textAndValues(statement);
  return (await connection.query({ name: "", text }, values)).map(rowReader(text, returns));
}

/** The text and the values of a statement without placeholders. */
export function textAndValues(statement: SQL): { readonly text: string; readonly values: unknown[] } {
  const { sql: text, params } = dialect.sqlToQuery(statement);
  return { text, values: params };
}

function rowReader<R extends Returns>(name: string, returns: R): (row: DriverRow) => Row<R> {
  const outputs = Object.entries(returns).map(([key, decoder]) => ({
    key,
    output: key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    decode: is(decoder, Column) ? columnDecoder(decoder) : decoder,
  }));
  return (row) => {
    const read: Record<string, unknown> = {};
    for (const { key, output, decode } of outputs) {
      const value = row[output];
      if (value === undefined) throw new Error(`invariant violated: ${name} does not return ${output}`);
      read[key] = value === null || decode === undefined ? value : decode(value);
    }
    return read as Row<R>;
  };
}

/** Undefined for a column whose values stay as the driver returns them. */
function columnDecoder(column: Column): ((value: never) => unknown) | undefined {
  if (column.mapFromDriverValue === Column.prototype.mapFromDriverValue) return undefined;
  return (value) => column.mapFromDriverValue(value);
}

/** Text and parameters; a parameter used twice is sent once. */
function compile(statement: SQL): { readonly text: string; readonly params: unknown[] } {
  const query = dialect.sqlToQuery(statement);
  const params: unknown[] = [];
  const positions = query.params.map((param) => {
    const existing = params.findIndex(
      (earlier) => is(param, Placeholder) && is(earlier, Placeholder) && earlier.name === param.name,
    );
    return existing >= 0 ? existing + 1 : params.push(param);
  });
  return { text: query.sql.replaceAll(/\$(\d+)/g, (_, n: string) => `$${positions[Number(n) - 1]}`), params };
}

function placeholders<P>(): Params<P> {
  return new Proxy({} as Params<P>, {
    get: (_, name) => sql`${sql.placeholder(String(name))}`,
  });
}

/** Decodes an output that may be null, such as a minimum of no rows. */
export function nullable<Value>(decode: (value: never) => Value): (value: never) => Value | null {
  return decode;
}

/** The name of a column alone, where SQL accepts no table in front of it. */
export function nameOf(column: Column): SQL {
  return sql`${sql.identifier(column.name)}`;
}

/** The names of columns, for the list of an `insert`. */
export function namesOf(...columns: readonly Column[]): SQL {
  return sql.join(columns.map(nameOf), sql`, `);
}

/** The columns of a selection, for the list of a `select`. */
export function columnsOf(selection: Readonly<Record<string, Column>> | readonly Column[]): SQL {
  return sql.join(Object.values(selection), sql`, `);
}

/** The columns of rows that a statement receives as JSON, by their names in camelCase. */
type Columns = Readonly<Record<string, PgColumn>>;

/** A row of {@link rowsJson}. `Nullable`: columns that it may leave null although their table does not. */
export type InputRow<C extends Columns, Nullable extends keyof C = never> = {
  readonly [Name in keyof C]:
    | (Row<C>[Name] extends readonly (infer Item)[] ? readonly Item[] : Row<C>[Name])
    | (Name extends Nullable ? null : never);
};

/** Rows for {@link recordset}, as JSON text. */
export function rowsJson<C extends Columns, Nullable extends keyof C = never>(
  columns: C,
  rows: readonly InputRow<C, Nullable>[],
): string {
  const names = Object.entries(columns).map(([key, column]) => [key, column.name] as const);
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(names.map(([key, name]) => [name, row[key]]))),
    (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value),
  );
}

/** An item of `from` that reads what {@link rowsJson} wrote: any number of rows in one parameter. */
export function recordset(rows: SQL, columns: Columns): SQL {
  const types = Object.values(columns).map(
    (column) => sql`${nameOf(column)} ${sql.raw(column.getSQLType())}`,
  );
  return sql`json_to_recordset(${rows}::json) as given (${sql.join(types, sql`, `)})`;
}

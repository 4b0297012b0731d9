import { cloneCodeHash } from "@causeway/domain";
import type { Address, Hex, RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import type { DepositAddress } from "../../ports/deposit-addresses.ts";
import type { Services } from "../../ports/services.ts";
import { storeQuotes } from "./give-address.ts";

const factory: Address = `0x${"fa".repeat(20)}`;
const executor: Address = `0x${"e1".repeat(20)}`;
const terms = { requestId: "0x01", kind: "bridge", origin: { chainId: 7 } } as unknown as RequestTerms;
const address = { address: "0x02" } as unknown as DepositAddress;
const padded = (of: Address): Hex => `0x${"0".repeat(24)}${of.slice(2)}`;

/** A chain whose factory answers so. */
function store(factorySays: { codeHash?: Hex; operator?: Hex; isAway?: boolean }) {
  const { codeHash = cloneCodeHash(factory), operator = padded(executor), isAway = false } = factorySays;
  const written: string[] = [];
  let asked = 0;
  const note = (what: string) => async (): Promise<void> => void written.push(what);
  const services = {
    executor: { address: executor },
    chains: {
      get: () => ({
        chain: { displayName: "Seven", contracts: { depositAddressFactory: factory } },
        connection: {
          reader: {
            ask: async (_to: Address, data: Hex) => {
              asked++;
              if (isAway) throw new Error("connection refused");
              return data === "0xdb4c545e" ? codeHash : operator;
            },
          },
        },
      }),
    },
    uow: {
      run: async (work: (tx: unknown) => Promise<unknown>) =>
        await work({
          requests: { insert: note("request") },
          depositAddresses: { insert: note("address"), setAddress: note("link") },
        }),
    },
  } as unknown as Pick<Services, "uow" | "chains" | "executor">;
  return { quotes: storeQuotes(services, note("plain")), written, asked: () => asked };
}

test("a quote without an address is stored as ever, and no chain is asked", async () => {
  const { quotes, written, asked } = store({});
  await quotes.insertQuoted(terms);
  expect([written, asked()]).toEqual([["plain"], 0]);
});

test("a quote with an address is stored with it in one commit, and the factory is asked once", async () => {
  const { quotes, written, asked } = store({});
  await quotes.insertQuoted(terms, address);
  await quotes.insertQuoted(terms, address);
  expect(written).toEqual(["request", "address", "link", "request", "address", "link"]);
  expect(asked()).toBe(2);
});

test.each([
  ["makes other clones", { codeHash: `0x${"00".repeat(32)}` as Hex }, "SERVICE_UNAVAILABLE"],
  ["obeys somebody else", { operator: padded(factory) }, "SERVICE_UNAVAILABLE"],
  ["is no factory", { codeHash: "0x" as Hex, operator: "0x" as Hex }, "SERVICE_UNAVAILABLE"],
  ["cannot be asked", { isAway: true }, "RPC_HTTP_ERROR"],
])("where the factory %s no address is given out, and the next quote asks again", async (_, says, code) => {
  const { quotes, written, asked } = store(says);
  for (const times of [1, 2]) {
    await expect(quotes.insertQuoted(terms, address)).rejects.toMatchObject({ code });
    expect(asked()).toBe(2 * times);
  }
  expect(written).toEqual([]);
});

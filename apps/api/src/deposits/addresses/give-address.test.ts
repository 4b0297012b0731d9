import { cloneCodeHash, cloneImplementation } from "@causeway/domain";
import type { Address, Hex, RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import type { NewDepositAddress } from "./deposit-addresses.port.ts";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { Services } from "../../db/services.port.ts";
import { recordedEvents } from "../../../../../test/fakes/recorded-events.ts";
import type { OwnKeys } from "../../chains/lane-signers.ts";
import { checkFactoryAtStart } from "./check-factory.ts";
import { storeQuotes } from "./give-address.ts";

const factory: Address = `0x${"fa".repeat(20)}`;
const depository: Address = `0x${"d0".repeat(20)}`;
const [solver, executor, operator, owner]: readonly Address[] = ["50", "e1", "0b", "0a"].map(
  (byte): Address => `0x${byte.repeat(20)}`,
);
const terms = { requestId: "0x01", kind: "bridge", origin: { chainId: 7 } } as unknown as RequestTerms;
const address = { address: "0x02" } as unknown as NewDepositAddress;
const padded = (of: Address = "0x"): Hex => `0x${"0".repeat(24)}${of.slice(2)}`;
const keys = {
  signer: { address: solver },
  executor: { address: executor },
  depositAddressOperator: { address: operator },
} as unknown as OwnKeys;

interface FactorySays {
  readonly codeHash?: Hex;
  readonly operator?: Hex;
  readonly owner?: Hex;
  readonly depository?: Hex;
  readonly isAway?: boolean;
}

/** A chain whose factory answers so. */
function chainWith(says: FactorySays, onAsked: () => void = () => undefined) {
  const answers: Record<Address, Record<Hex, Hex>> = {
    [factory]: {
      "0xdb4c545e": says.codeHash ?? cloneCodeHash(factory),
      "0x570ca735": says.operator ?? padded(operator),
      "0x8da5cb5b": says.owner ?? padded(owner),
    },
    [cloneImplementation(factory)]: { "0xbedd12a5": says.depository ?? padded(depository) },
  };
  return {
    chain: {
      name: "seven",
      displayName: "Seven",
      contracts: { depositAddressFactory: factory, depository },
    },
    connection: {
      reader: {
        ask: async (to: Address, data: Hex) => {
          onAsked();
          if (says.isAway === true) throw new Error("connection refused");
          return answers[to]?.[data];
        },
      },
    },
  } as unknown as ConnectedChain;
}

function store(says: FactorySays) {
  const written: string[] = [];
  let asked = 0;
  const note = (what: string) => async (): Promise<void> => void written.push(what);
  const services = {
    ...keys,
    events: recordedEvents(),
    chains: { get: () => chainWith(says, () => asked++) },
    uow: {
      run: async (work: (tx: unknown) => Promise<unknown>) =>
        await work({
          requests: { insert: note("request") },
          depositAddresses: { insert: note("address"), setAddress: note("link") },
        }),
    },
  } as unknown as OwnKeys & Pick<Services, "uow" | "chains" | "events">;
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
  expect(asked()).toBe(4);
});

test.each([
  ["makes other clones", { codeHash: `0x${"00".repeat(32)}` as Hex }, "SERVICE_UNAVAILABLE"],
  ["obeys somebody else", { operator: padded(factory) }, "SERVICE_UNAVAILABLE"],
  ["obeys the executor", { operator: padded(executor) }, "SERVICE_UNAVAILABLE"],
  ["deposits into another depository", { depository: padded(factory) }, "SERVICE_UNAVAILABLE"],
  ["is no factory", { codeHash: "0x" as Hex, operator: "0x" as Hex }, "SERVICE_UNAVAILABLE"],
  ["cannot be asked", { isAway: true }, "RPC_HTTP_ERROR"],
])("where the factory %s no address is given out, and the next quote asks again", async (_, says, code) => {
  const { quotes, written, asked } = store(says);
  for (const times of [1, 2]) {
    await expect(quotes.insertQuoted(terms, address)).rejects.toMatchObject({ code });
    expect(asked()).toBe(4 * times);
  }
  expect(written).toEqual([]);
});

test.each<[string, FactorySays, RegExp]>([
  [
    "makes other clones",
    { codeHash: `0x${"00".repeat(32)}` },
    /not a deposit address factory of this version/,
  ],
  [
    "is operated by the executor",
    { operator: padded(executor) },
    /the operator of the deposit address factory .* sends other/,
  ],
  [
    "is operated by the solver",
    { operator: padded(solver) },
    /the operator of the deposit address factory .* sends other/,
  ],
  [
    "is owned by the executor",
    { owner: padded(executor) },
    /the owner of the deposit address factory .* sends other/,
  ],
  [
    "deposits into another depository",
    { depository: padded(factory) },
    /deposits into 0xfa.*expected 0xd0.*deploy a factory/,
  ],
])("does not start with a factory that %s", async (_, says, message) => {
  await expect(checkFactoryAtStart(keys, chainWith(says), recordedEvents())).rejects.toThrow(message);
});

test("the service starts while a factory has another operator or cannot be asked, and says so", async () => {
  const events = recordedEvents();
  await checkFactoryAtStart(keys, chainWith({}), events);
  expect(events.all).toEqual([]);
  await checkFactoryAtStart(keys, chainWith({ operator: padded(factory) }), events);
  await checkFactoryAtStart(keys, chainWith({ isAway: true }), events);
  expect(events.all.map(({ event }) => event)).toEqual(["deposit_addresses_unusable", "chain_fault"]);
});

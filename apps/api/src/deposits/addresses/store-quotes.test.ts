import { cloneCodeHash, cloneImplementation } from "@causeway/domain";
import type { Address, Hex, RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import type { NewDepositAddress } from "./deposit-addresses.port.ts";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { Services } from "../../db/services.port.ts";
import { recordedEvents } from "../../../../../test/fakes/recorded-events.ts";
import type { OwnKeys } from "../../chains/lane-signers.ts";
import { checkFactoryAtStart } from "./check-factory.ts";
import { storeQuotes } from "./store-quotes.ts";

const factory: Address = `0x${"fa".repeat(20)}`;
const depository: Address = `0x${"d0".repeat(20)}`;
const [solver, executor, operator, owner]: readonly Address[] = ["50", "e1", "0b", "0a"].map(
  (byte): Address => `0x${byte.repeat(20)}`,
);
const terms = { requestId: "0x01", kind: "bridge", origin: { chainId: 7 } } as unknown as RequestTerms;
const address = { address: "0x02" } as unknown as NewDepositAddress;
const padded = (account: Address = "0x"): Hex => `0x${"0".repeat(24)}${account.slice(2)}`;
const keys = {
  signer: { address: solver },
  executor: { address: executor },
  depositAddressOperator: { address: operator },
} as unknown as OwnKeys;

interface FactoryState {
  readonly codeHash?: Hex;
  readonly operator?: Hex;
  readonly owner?: Hex;
  readonly depository?: Hex;
  readonly isUnreachable?: boolean;
}

/** A chain whose factory returns these answers. */
function chainWith(state: FactoryState, onRead: () => void = () => undefined) {
  const answers: Record<Address, Record<Hex, Hex>> = {
    [factory]: {
      "0xdb4c545e": state.codeHash ?? cloneCodeHash(factory),
      "0x570ca735": state.operator ?? padded(operator),
      "0x8da5cb5b": state.owner ?? padded(owner),
    },
    [cloneImplementation(factory)]: { "0xbedd12a5": state.depository ?? padded(depository) },
  };
  return {
    chain: {
      name: "seven",
      vmType: "evm",
      displayName: "Seven",
      contracts: { depositAddressFactory: factory, depository },
    },
    connection: {
      reader: {
        ask: async (to: Address, data: Hex) => {
          onRead();
          if (state.isUnreachable === true) throw new Error("connection refused");
          return answers[to]?.[data];
        },
      },
    },
  } as unknown as ConnectedChain;
}

function store(state: FactoryState) {
  const written: string[] = [];
  let reads = 0;
  const note = (what: string) => async (): Promise<void> => void written.push(what);
  const services = {
    ...keys,
    events: recordedEvents(),
    chains: { get: () => chainWith(state, () => reads++) },
    uow: {
      run: async (work: (tx: unknown) => Promise<unknown>) =>
        await work({
          requests: { insert: note("request") },
          depositAddresses: { insert: note("address"), setAddress: note("link") },
        }),
    },
  } as unknown as OwnKeys & Pick<Services, "uow" | "chains" | "events">;
  return { quotes: storeQuotes(services, note("plain")), written, asked: () => reads };
}

test("stores a quote without a deposit address without querying a chain", async () => {
  const { quotes, written, asked } = store({});
  await quotes.insertQuoted(terms);
  expect([written, asked()]).toEqual([["plain"], 0]);
});

test("stores a quote and its deposit address in one commit, and checks the factory once", async () => {
  const { quotes, written, asked } = store({});
  await quotes.insertQuoted(terms, address);
  await quotes.insertQuoted(terms, address);
  expect(written).toEqual(["request", "address", "link", "request", "address", "link"]);
  expect(asked()).toBe(4);
});

test.each([
  ["creates other clones", { codeHash: `0x${"00".repeat(32)}` as Hex }, "SERVICE_UNAVAILABLE"],
  ["has another operator", { operator: padded(factory) }, "SERVICE_UNAVAILABLE"],
  ["is operated by the executor", { operator: padded(executor) }, "SERVICE_UNAVAILABLE"],
  ["deposits into another depository", { depository: padded(factory) }, "SERVICE_UNAVAILABLE"],
  ["is not a factory", { codeHash: "0x" as Hex, operator: "0x" as Hex }, "SERVICE_UNAVAILABLE"],
  ["is unreachable", { isUnreachable: true }, "RPC_HTTP_ERROR"],
])(
  "issues no address while the factory %s, and checks it again for the next quote",
  async (_, state, code) => {
    const { quotes, written, asked } = store(state);
    for (const times of [1, 2]) {
      await expect(quotes.insertQuoted(terms, address)).rejects.toMatchObject({ code });
      expect(asked()).toBe(4 * times);
    }
    expect(written).toEqual([]);
  },
);

test.each<[string, FactoryState, RegExp]>([
  [
    "creates other clones",
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
])("does not start with a factory that %s", async (_, state, message) => {
  await expect(checkFactoryAtStart(keys, chainWith(state), recordedEvents())).rejects.toThrow(message);
});

test("starts and raises an alarm when a factory has another operator or its node is unreachable", async () => {
  const events = recordedEvents();
  await checkFactoryAtStart(keys, chainWith({}), events);
  expect(events.all).toEqual([]);
  await checkFactoryAtStart(keys, chainWith({ operator: padded(factory) }), events);
  await checkFactoryAtStart(keys, chainWith({ isUnreachable: true }), events);
  expect(events.all.map(({ event }) => event)).toEqual(["deposit_addresses_unusable", "chain_fault"]);
});

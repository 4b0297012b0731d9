import { createRequire } from "node:module";
import { getAddress, numberToHex, pad, slice, type Address, type Hex } from "viem";
import { expect, test } from "vitest";
import {
  buildOf,
  compilerVersion,
  matchBytecode,
  planChain,
  planHub,
  plannedAddress,
  standardJsonInput,
  type ChainPlanInputs,
  type DeploymentPlan,
  type HubPlanInputs,
} from "./index.ts";

const account = (n: number): Address => getAddress(numberToHex(n, { size: 20 }));

const chain: ChainPlanInputs = {
  owner: account(1),
  allocator: account(2),
  solver: account(3),
  depositAddressOperator: account(4),
  multicall3: false,
};
const hub: HubPlanInputs = {
  owner: account(1),
  allocator: account(2),
  oracles: [account(5), account(6), account(7)],
  threshold: 2,
  domain: { name: "Oracle", version: "1" },
};

function addresses(plan: DeploymentPlan): Record<string, Address> {
  const all = plan.creations.flatMap(({ contracts }) => contracts);
  return Object.fromEntries(all.map(({ contract, address }) => [contract, address]));
}

/** Contracts whose address changes with the inputs. */
function movedContracts(before: DeploymentPlan, after: DeploymentPlan): string[] {
  const [first, second] = [addresses(before), addresses(after)];
  return Object.keys(first)
    .filter((contract) => second[contract] !== first[contract])
    .sort();
}

test("every input changes the addresses of exactly the contracts that depend on it", () => {
  const plan = planChain(chain);
  expect(movedContracts(plan, planChain({ ...chain }))).toEqual([]);
  expect(movedContracts(plan, planChain({ ...chain, solver: account(9) }))).toEqual(["Receiver"]);
  const factory = ["DepositAddress", "DepositAddressFactory"];
  expect(movedContracts(plan, planChain({ ...chain, depositAddressOperator: account(9) }))).toEqual(factory);
  for (const change of [{ owner: account(9) }, { allocator: account(9) }])
    expect(movedContracts(plan, planChain({ ...chain, ...change }))).toEqual([...factory, "Depository"]);

  const first = planHub(hub);
  const setup = ["Allocator", "Hub", "HubSetup", "Oracle"];
  expect(movedContracts(first, planHub({ ...hub, oracles: hub.oracles.toReversed() }))).toEqual([]);
  expect(movedContracts(first, planHub({ ...hub, allocator: account(9) }))).toEqual(setup);
  expect(movedContracts(first, planHub({ ...hub, domain: { name: "Other", version: "1" } }))).toEqual(setup);
  for (const change of [{ threshold: 3 }, { owner: account(9) }, { oracles: [account(5), account(6)] }])
    expect(movedContracts(first, planHub({ ...hub, ...change }))).toEqual(
      [...setup, "GenericMapping", "OracleMultisig"].sort(),
    );
});

test("plans no DepositAddressFactory without an operator, and Multicall3 only on request", () => {
  const bare = { ...chain, depositAddressOperator: undefined };
  const names = ["Depository", "Router", "ApprovalProxy", "Receiver"];
  expect(Object.keys(addresses(planChain(bare)))).toEqual(names);
  expect(Object.keys(addresses(planChain({ ...bare, multicall3: true })))).toEqual([...names, "Multicall3"]);
});

test("a plan has the constructor arguments, the owner and the roles of each contract", () => {
  const [depository] = planChain(chain).creations.flatMap(({ contracts }) => contracts);
  expect(depository).toMatchObject({
    constructorArguments: { owner: chain.owner, allocator: chain.allocator },
    owner: chain.owner,
    roles: { "signs payouts": chain.allocator },
  });
  const plan = planHub(hub);
  const ledger = plan.creations
    .flatMap(({ contracts }) => contracts)
    .find(({ contract }) => contract === "Hub");
  expect(ledger).toMatchObject({
    owner: hub.owner,
    roles: { "minter role": plannedAddress(plan, "Oracle") },
  });
});

const build = buildOf("Receiver");
const solver = pad(account(3));

/** The deployed code of the Receiver. */
function receiverCode(): Hex {
  let code = build.deployedBytecode.slice(2);
  for (const { start, length } of build.immutables["solver"] ?? [])
    code = code.slice(0, 2 * start) + solver.slice(2) + code.slice(2 * (start + length));
  return `0x${code}`;
}

function withByte(code: Hex, offset: number): Hex {
  const flipped = (Number(slice(code, offset, offset + 1)) ^ 1).toString(16).padStart(2, "0");
  return `0x${code.slice(2, 2 + 2 * offset)}${flipped}${code.slice(4 + 2 * offset)}`;
}

test("compares bytecode byte by byte, and immutables by their values", () => {
  const code = receiverCode();
  expect(matchBytecode(build, { solver }, code)).toBeUndefined();
  const place = build.immutables["solver"]?.at(-1);
  if (place === undefined) throw new RangeError("expected an immutable in the Receiver");
  const inside = (offset: number): boolean =>
    (build.immutables["solver"] ?? []).some(
      ({ start, length }) => offset >= start && offset < start + length,
    );
  for (const offset of [0, 100, (code.length - 2) / 2 - 1]) {
    expect(inside(offset)).toBe(false);
    expect(matchBytecode(build, { solver }, withByte(code, offset))).toMatchObject({
      kind: "byte",
      at: offset,
    });
  }
  // The last byte of the immutable's last occurrence, which changes the address there.
  const end = place.start + place.length - 1;
  expect(matchBytecode(build, { solver }, withByte(code, end))).toMatchObject({
    kind: "immutable",
    name: "solver",
    expected: solver,
  });
  expect(matchBytecode(build, { solver }, `${code}00`)).toMatchObject({ kind: "length" });
});

test("throws for an immutable without an expected value, and for an unknown one", () => {
  expect(() => matchBytecode(build, {}, receiverCode())).toThrow("no value for immutable solver");
  expect(() => matchBytecode(build, { solver, owner: solver }, receiverCode())).toThrow(
    "has no immutable owner",
  );
});

test("the standard JSON input contains the sources of one contract, and compiles to its bytecode", () => {
  const input = standardJsonInput("Receiver") as { readonly sources: object };
  expect(Object.keys(input.sources)).toEqual(["contracts/Receiver.sol"]);
  const solc = createRequire(import.meta.url)("solc") as { compile(text: string): string; version(): string };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as {
    readonly contracts: Record<string, Record<string, { evm: { deployedBytecode: { object: string } } }>>;
  };
  const compiled = output.contracts["contracts/Receiver.sol"]?.["Receiver"]?.evm.deployedBytecode.object;
  expect(`0x${compiled}`).toBe(build.deployedBytecode);
  expect(compilerVersion).toBe(`v${solc.version().replace(/\.Emscripten.*/, "")}`);
});

import { formatUnits, parseUnits } from "viem";
import { localAccount } from "./accounts.ts";
import { runBridgeDemo } from "./bridge-demo.ts";
import { watchPosition } from "./hub-position.ts";
import type { System } from "./system.ts";
import { shortHex, type TerminalStyle } from "./terminal.ts";
import { PATIENCE_MS } from "@causeway/testkit";

/**
 * Demonstrates one bridge, then its settlement on the hub, then the app balance of a sponsor.
 *
 * @returns whether the funds arrived, were settled (if there are oracles), and the app balance was credited.
 * If not, the reason is printed, and the system keeps running for inspection
 */
export async function demonstrate(
  system: System,
  print: (line: string) => void,
  style: TerminalStyle,
): Promise<boolean> {
  print(`\n${style.bold("One bridge, as a user makes it:")}`);
  const amount = "25";
  try {
    const position = await solverPosition(system);
    const result = await runBridgeDemo({
      apiUrl: system.endpoints.api.url,
      from: "local-a",
      to: "local-b",
      userKey: localAccount("user", 0).privateKey,
      recipient: localAccount("user", 1).address,
      amount,
      print,
      deadlineMs: PATIENCE_MS,
    });
    const verdict = result.hasArrived
      ? style.passed(`The money arrived after ${seconds(result.tookMs)}.`)
      : style.failed(`The money did NOT arrive: ${result.reason}.`);
    print(`${verdict}\n`);
    if (!result.hasArrived) return false;
    if (position !== undefined) await printSettlement(system, position, amount, print, style);
    await printSponsorship(system, print);
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    print(`${style.failed(`The bridge failed: ${reason}`)}\n`);
    return false;
  }
}

type Position = Awaited<ReturnType<typeof watchPosition>>;

/** The solver's balance on the hub for USDC deposits on the first chain; undefined without a hub. */
async function solverPosition({ endpoints, solver, chains }: System): Promise<Position | undefined> {
  const { hub, oracles } = endpoints;
  // Orders identify the solver by its account on the first chain.
  const [origin] = chains;
  const usdc = origin?.tokens.find(({ symbol }) => symbol === "USDC");
  if (hub === undefined || origin === undefined || usdc === undefined) return undefined;
  return await watchPosition({
    hub,
    oracles,
    holder: { chainName: origin.name, address: solver.address },
    currency: { chainName: origin.name, address: usdc.address },
  });
}

async function printSettlement(
  system: System,
  position: Position,
  amount: string,
  print: (line: string) => void,
  style: TerminalStyle,
): Promise<void> {
  print(style.bold("Settlement on the hub:"));
  const sinceMs = performance.now();
  const settled = await position.waitForGrowth(parseUnits(amount, 6), AbortSignal.timeout(PATIENCE_MS));
  const took = seconds(performance.now() - sinceMs);
  print(
    `  attested by ${settled.signers.length} of ${system.endpoints.oracles.length}: ${settled.signers.map(shortHex).join(", ")}`,
  );
  print(`  settled after ${took} by ${shortHex(settled.transactionHash)}`);
  print(`  solver balance on the hub +${formatUnits(settled.after - settled.before, 6)} USDC\n`);
}

async function printSponsorship({ sponsorship }: System, print: (line: string) => void): Promise<void> {
  const amount = formatUnits(await sponsorship.funded, 6);
  print(`An app has an app balance of ${amount} USDC to pay for its users.\n`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

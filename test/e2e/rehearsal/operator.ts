import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect } from "vitest";
import {
  accountVariables,
  chainVariables,
  copyChainFiles,
  ENVIRONMENT,
  fillInEnvironment,
  kmsSecrets,
  workerSecrets,
  type ServiceKeys,
} from "./configuration.ts";
import {
  createInstance,
  type Instance,
  type Program,
  type CommandResult,
  type Variables,
} from "./instance.ts";
import { createKmsAccount, type KmsAccount } from "./kms-account.ts";
import { fundAccounts, hubBalanceOf } from "./money.ts";
import type { Network } from "./network.ts";
import { planOracles, startOracles, THRESHOLD, type OraclePlan } from "./oracles.ts";

/** An operator with machines, keys and funds, who follows docs/OPERATIONS.md. */
export class Operator {
  readonly network: Network;
  readonly instance: Instance;
  readonly oracles: readonly OraclePlan[];
  /** Strings that no log may contain. */
  readonly secrets: readonly string[];
  readonly apiUrl: string;
  readonly #deployerKey: Hex;
  readonly #allocator = privateKeyToAddress(generatePrivateKey());
  readonly #ports: { readonly api: number; readonly worker: number };
  #keys: ServiceKeys;
  /** The contents of `.env`. */
  #env: Variables;

  private constructor(
    network: Network,
    instance: Instance,
    options: {
      readonly portBase: number;
      readonly keys: ServiceKeys;
      readonly oracles: readonly OraclePlan[];
      readonly env: Variables;
      readonly deployerKey: Hex;
    },
  ) {
    this.network = network;
    this.instance = instance;
    this.oracles = options.oracles;
    this.#keys = options.keys;
    this.#env = options.env;
    this.#deployerKey = options.deployerKey;
    this.#ports = { api: options.portBase, worker: options.portBase + 1 };
    this.apiUrl = `http://127.0.0.1:${options.portBase}`;
    this.secrets = [
      options.deployerKey.slice(2),
      ...options.oracles.flatMap(({ issued }) => Object.values(issued)),
    ];
  }

  /** Creates keys, files and folders, and starts no process. */
  static async prepare(network: Network, portBase: number): Promise<Operator> {
    const instance = await createInstance(portBase);
    const [solver, executor, depositAddressOperator] = await Promise.all([
      createKmsAccount(network.kms),
      createKmsAccount(network.kms),
      createKmsAccount(network.kms),
    ]);
    const keys = { solver, executor, depositAddressOperator };
    const oracles = await planOracles(network, portBase + 2);
    const deployerKey = generatePrivateKey();
    await writeFile(join(instance.folder, "deployer.key"), deployerKey, { mode: 0o600 });
    await copyChainFiles(join(instance.folder, "configs"), network);
    const env = await fillInEnvironment(network, instance.folder, keys);
    return new Operator(network, instance, { portBase, keys, oracles, env, deployerKey });
  }

  get solver(): KmsAccount {
    return this.#keys.solver;
  }

  get deployer(): Address {
    return privateKeyToAddress(this.#deployerKey);
  }

  /** Runs an operator's command with the worker's environment, as the docs say. */
  async run(...words: readonly string[]): Promise<CommandResult> {
    const result = await this.instance.operator(words, this.#workerEnvironment());
    expect(result.code, result.errors + result.output).toBe(0);
    return result;
  }

  /** Runs `operator deploy <action>` for both chains and the hub. */
  async deploy(action: "plan" | "apply" | "verify"): Promise<CommandResult> {
    return await this.instance.operator(this.#deployment(action), this.#deployEnvironment());
  }

  /** Kills `operator deploy apply` once it has printed a line that matches `when`. */
  async killDeployment(when: RegExp): Promise<void> {
    await this.instance.operatorKilled(this.#deployment("apply"), this.#deployEnvironment(), when);
  }

  #deployment(action: string): readonly string[] {
    const signers = this.oracles.flatMap(({ key }) => ["--oracle", key.account.address]);
    const hub = ["--hub", ...signers, "--threshold", String(THRESHOLD)];
    return [...this.#chainDeployment(action, this.#keys.solver), ...hub];
  }

  #chainDeployment(action: string, solver: KmsAccount): readonly string[] {
    const applyOptions = ["--confirmations", "1", "--write", join(this.instance.folder, "configs")];
    const operator = this.#keys.depositAddressOperator.account.address;
    const roles = `--owner ${this.network.multisig} --allocator ${this.#allocator} --solver ${solver.account.address}`;
    const words = `deploy ${action} --chain ethereum --chain base ${roles} --deposit-address-operator ${operator}`;
    return [...words.split(" "), ...(action === "apply" ? applyOptions : [])];
  }

  #deployEnvironment(): Variables {
    return {
      ...chainVariables(this.network, this.instance.folder),
      VAULT_SECRETS_DIR: join(this.instance.folder, "none"),
      DEPLOYER_PRIVATE_KEY_FILE: join(this.instance.folder, "deployer.key"),
    };
  }

  /** Gives a solver its inventory, gas and approvals, and gives gas to the other accounts. */
  async fund(solver: KmsAccount = this.solver): Promise<void> {
    const { executor, depositAddressOperator } = this.#keys;
    const { contracts } = await this.#entryOf<{ contracts: { approvalProxy: Address } }>("chains", "base");
    const others = [executor, depositAddressOperator];
    await fundAccounts(this.network, { solver, others, approvalProxy: contracts.approvalProxy });
  }

  async migrate(): Promise<void> {
    const { code, errors, output } = await this.instance.run("dist/migrate.js", this.#env);
    expect(code, errors + output).toBe(0);
  }

  async startOracles(): Promise<void> {
    await startOracles(this.network, this.instance, this.oracles);
  }

  /** Starts the signer, the worker and the API. */
  async startService(): Promise<void> {
    await this.#writeSecrets();
    const program = (
      entry: string,
      at: Program["listensOn"],
      readyPath: string,
      env: () => Variables,
    ): Program => ({
      image: "api",
      entry: `dist/${entry}.js`,
      env,
      listensOn: at,
      readyPath,
    });
    const { api, worker } = this.#ports;
    const signerEnvironment = (): Variables => ({
      ENVIRONMENT,
      ORDER_SIGNER_URL: `unix://${this.#socket()}`,
      SOLVER_ADDRESS: this.solver.account.address,
      VAULT_SECRETS_DIR: this.instance.secretsOf("signer"),
    });
    const ready = "/health/ready";
    await Promise.all([
      this.instance.start("signer-1", program("signer", this.#socket(), "/health/live", signerEnvironment)),
      this.instance.start(
        "worker-1",
        program("worker", worker, ready, () => this.#workerEnvironment()),
      ),
      this.instance.start(
        "api-1",
        program("main", api, ready, () => this.#apiEnvironment()),
      ),
    ]);
  }

  /** Runs `doctor` with the environments of the worker and the API. @returns the checks that are not ok */
  async doctor(): Promise<readonly object[]> {
    const checks = await Promise.all([
      this.instance.operator(["doctor", "--json"], this.#workerEnvironment()),
      this.instance.operator(["doctor", "--process", "api", "--json"], this.#apiEnvironment()),
    ]);
    return checks.flatMap(({ code, lines, errors }) => {
      expect([code, lines.length > 20], errors + JSON.stringify(lines)).toEqual([0, true]);
      return lines.filter(({ state }) => state !== "ok");
    });
  }

  /** Creates a solver's key, funds it, and deploys and configures its Receivers. */
  async prepareSolver(): Promise<KmsAccount> {
    const solver = await createKmsAccount(this.network.kms);
    const words = [...this.#chainDeployment("apply", solver), "--replace"];
    const deploying = this.instance.operator(words, this.#deployEnvironment());
    const [{ code, errors }] = await Promise.all([deploying, this.fund(solver)]);
    expect([code, errors]).toEqual([0, ""]);
    return solver;
  }

  /** Replaces the solver's key in the processes: first the worker, then the signer and the API. */
  async replaceSolver(solver: KmsAccount): Promise<void> {
    this.#keys = { ...this.#keys, solver, former: this.#keys.solver };
    this.#env = { ...this.#env, ...accountVariables(this.#keys) };
    await this.#writeSecrets();
    for (const name of ["worker-1", "signer-1", "api-1"]) await this.instance.restart(name);
  }

  /** Restarts everything in the order of an upgrade. */
  async upgrade(): Promise<void> {
    await this.migrate();
    const oracles = this.oracles.map(({ name }) => name);
    for (const name of ["worker-1", "signer-1", "api-1", ...oracles]) await this.instance.restart(name);
  }

  /** The USDC on Ethereum that the hub owes an account of the solver. */
  async hubBalance(account: KmsAccount): Promise<bigint> {
    const { hubAddress } = await this.#entryOf<{ hubAddress: Address }>("chains.hub", "hub");
    return await hubBalanceOf(this.network, hubAddress, account);
  }

  async stop(): Promise<void> {
    await this.instance.stop();
    const { former, ...keys } = this.#keys;
    for (const key of [former, ...Object.values(keys), ...this.oracles.map((oracle) => oracle.key)])
      key?.close();
  }

  async #writeSecrets(): Promise<void> {
    const kms = kmsSecrets(this.network);
    const ORACLE_URLS = this.oracles.map(({ url, issued }) => `${url}|${issued["service"]}`).join(";");
    await this.instance.writeSecrets("signer", { ...kms, SOLVER_SIGNER: this.solver.source });
    await this.instance.writeSecrets("worker", { ...kms, ...workerSecrets(this.#keys), ORACLE_URLS });
    await this.instance.writeSecrets("api", { ORACLE_URLS });
  }

  #workerEnvironment(): Variables {
    const instanceEnv = {
      HEALTH_PORT: String(this.#ports.worker),
      VAULT_SECRETS_DIR: this.instance.secretsOf("worker"),
    };
    return { ...this.#env, ...instanceEnv };
  }

  #apiEnvironment(): Variables {
    return {
      ...this.#env,
      HTTP_PORT: String(this.#ports.api),
      ORDER_SIGNER_URL: `unix://${this.#socket()}`,
      VAULT_SECRETS_DIR: this.instance.secretsOf("api"),
    };
  }

  #socket(): string {
    return join(this.instance.folder, "signer.sock");
  }

  /** An entry of a file in `configs`. */
  async #entryOf<Entry>(file: "chains" | "chains.hub", id: string): Promise<Entry> {
    const path = join(this.instance.folder, "configs", `${file}.${ENVIRONMENT}.json`);
    const entries = JSON.parse(await readFile(path, "utf8")) as readonly ({ readonly id: string } & Entry)[];
    const entry = entries.find((candidate) => candidate.id === id);
    if (entry === undefined) throw new Error(`${path} has no entry ${id}`);
    return entry;
  }
}

/** Calls the underlying anvil. @throws AnvilError if it returns an error */
export type AnvilRpc = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** The underlying anvil refused a call. */
export class AnvilError extends Error {
  override readonly name = "AnvilError";
  readonly code = "ANVIL_REFUSED";
  readonly nodeCode: number;
  /** `error.data`, unchanged. */
  readonly nodeData: unknown;

  constructor(facts: { readonly message: string; readonly nodeCode: number; readonly nodeData: unknown }) {
    super(facts.message);
    this.nodeCode = facts.nodeCode;
    this.nodeData = facts.nodeData;
  }
}

interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export function anvilRpc(url: string): AnvilRpc {
  return async (method, params = []) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as RpcAnswer;
    if (error !== undefined)
      throw new AnvilError({
        message: `${method}: ${error.message}`,
        nodeCode: error.code,
        nodeData: error.data,
      });
    return result;
  };
}

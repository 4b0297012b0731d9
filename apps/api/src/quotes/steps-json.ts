import { jsonList, jsonText } from "@causeway/service-kit";
import type { NothingLeft } from "@causeway/service-kit";
import { isEvmStep } from "@causeway/wire";
import type { QuoteStep, QuoteStepItem, SignatureStep, TransactionData } from "@causeway/wire";

true satisfies NothingLeft<
  QuoteStep,
  "id" | "action" | "description" | "kind" | "requestId" | "depositAddress" | "items"
>;
true satisfies NothingLeft<QuoteStepItem, "status" | "data" | "check">;
true satisfies NothingLeft<
  TransactionData,
  "from" | "to" | "data" | "value" | "chainId" | "gas" | "maxFeePerGas" | "maxPriorityFeePerGas"
>;

/**
 * The steps of a quote as `JSON.stringify` writes them. Hex, digits and words of ours hold nothing to escape.
 */
export function stepsJson(steps: readonly QuoteStep[]): string {
  return jsonList(steps, stepJson);
}

function stepJson(step: QuoteStep): string {
  // What is no transaction of an EVM chain is rare, and has texts of others in it.
  if (step.id === "authorize" || (step.kind === "transaction" && !isEvmStep(step)))
    return JSON.stringify(step);
  const { id, action, description, kind, requestId, depositAddress } = step;
  const items =
    step.kind === "transaction" ? jsonList(step.items, itemJson) : jsonList(step.items, signatureJson);
  return (
    `{"id":"${id}","action":${jsonText(action)},"description":${jsonText(description)},"kind":"${kind}",` +
    `"requestId":"${requestId}","depositAddress":${jsonText(depositAddress)},"items":${items}}`
  );
}

/** What is signed has names of tokens in it, and is rare. */
function signatureJson(item: SignatureStep["items"][number]): string {
  return JSON.stringify(item);
}

function itemJson({ status, data, check }: QuoteStepItem): string {
  const followed =
    check === undefined ? "" : `,"check":{"endpoint":${jsonText(check.endpoint)},"method":"${check.method}"}`;
  return `{"status":"${status}","data":${transactionJson(data)}${followed}}`;
}

function transactionJson(transaction: TransactionData): string {
  const { from, to, data, value, chainId, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  return (
    `{"from":"${from}","to":"${to}","data":"${data}","value":"${value}","chainId":${chainId}` +
    `${digits("gas", gas)}${digits("maxFeePerGas", maxFeePerGas)}${digits("maxPriorityFeePerGas", maxPriorityFeePerGas)}}`
  );
}

function digits(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":"${value}"`;
}

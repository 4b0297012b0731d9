import type { Channel, Message } from "./notices.port.ts";

/** The body of a message in a channel's format. `id` is the same for all attempts. */
export function noticeBody(
  id: number,
  message: Message,
  { format, environment }: Pick<Channel, "format"> & { readonly environment: string },
): string {
  if (format === "slack") return JSON.stringify({ text: slackText(message, environment) });
  const { rule, subject, status, severity, text, count, atMs } = message;
  return JSON.stringify({
    event: "causeway.notice",
    id,
    environment,
    status,
    severity,
    rule,
    subject,
    text,
    count,
    timestamp: atMs,
  });
}

function slackText({ severity, status, text, count }: Message, environment: string): string {
  const head = status === "resolved" ? "resolved" : severity;
  const repeated = count > 1 && status !== "digest" ? ` (×${count})` : "";
  // Slack reads these as markup: a fact must not become a link or a mention.
  const safe = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return `[${environment}] *${head}*: ${safe}${repeated}`;
}

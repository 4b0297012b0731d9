import { Secret } from "@causeway/config";
import { expect, test } from "vitest";
import { noticeConfig } from "./notices.ts";

const read = (text: string) => noticeConfig({ notifyUrls: new Secret(text) });

test("reads URLs with their formats; an id does not reveal the URL", () => {
  const { channels } = read("http://10.0.0.5:8080/hook ; https://hooks.slack.com/services/T/B/x|slack;");
  expect(channels).toMatchObject([
    { url: "http://10.0.0.5:8080/hook", format: "json" },
    { url: "https://hooks.slack.com/services/T/B/x", format: "slack" },
  ]);
  expect(channels[1]?.id).toMatch(/^[0-9a-f]{12}$/);
  expect(noticeConfig({ notifyUrls: undefined }).channels).toEqual([]);
});

test.each([
  ["ftp://a.example", "NOTIFY_URLS entry 1 must start with an http or https URL"],
  ["https://a.example;;https://b.example", "NOTIFY_URLS entry 2 must start with an http or https URL"],
  [
    "https://a.example|teams",
    "NOTIFY_URLS entry 1 must be `<URL>` or `<URL>|slack`; write a | inside the URL as %7C",
  ],
  [
    "https://me:secret@a.example",
    "NOTIFY_URLS entry 1 has a user name or password in its URL; put a token into the path or query instead",
  ],
  ["https://a.example;https://a.example/", "NOTIFY_URLS lists the same URL twice"],
])("refuses %s without quoting it", (text, problem) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ problems: [problem] }) as Error);
});

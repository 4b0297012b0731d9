/** Host and port of each URL, without credentials; equal hosts are numbered (`host#2`). */
export function hostsOf(urls: readonly string[]): readonly string[] {
  const hosts = urls.map((url) => (URL.canParse(url) ? new URL(url).host : ""));
  return hosts.map((host, at) => {
    const before = hosts.slice(0, at).filter((other) => other === host).length;
    return before === 0 ? host : `${host}#${before + 1}`;
  });
}

/** Host and port of each URL, without credentials; equal hosts are numbered (`host#2`). */
export function hostsOf(urls: readonly string[]): readonly string[] {
  const hosts = urls.map((url) => (URL.canParse(url) ? new URL(url).host : ""));
  return hosts.map((host, index) => {
    const earlierCount = hosts.slice(0, index).filter((otherHost) => otherHost === host).length;
    return earlierCount === 0 ? host : `${host}#${earlierCount + 1}`;
  });
}

// Where a server is for clients on its own machine.

/** Every address of this machine is shown as the one that clients on it use. */
export function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

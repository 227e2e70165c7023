import { networkInterfaces } from 'node:os';

const ANY = new Set(['0.0.0.0', '::']);

/**
 * The address at which others reach a server that listens on `bound`: `bound` itself or, if it means all addresses, the
 * first one of this machine. Undefined if the machine has only loopback addresses.
 */
export function addressOf(bound: string): string | undefined {
  const outer = Object.values(networkInterfaces()).flatMap(all => all ?? []);
  return ANY.has(bound) ? outer.find(one => !one.internal && one.family === 'IPv4')?.address : bound;
}

/** An address as written in a URL: IPv6 addresses in brackets. */
export const urlHost = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** Whether a host can be reached only on this machine: `localhost`, or a loopback address. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || host === '::1' || /^127\./.test(host);

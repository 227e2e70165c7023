import { close, open, url } from 'node:inspector';
import { ConfigError } from '../api/point.js';

/** The value of `--inspect`: where a debugger connects. */
export interface InspectAddress {
  readonly host: string;
  readonly port: number;
}

/** The address at which Node.js itself listens by default. */
const DEFAULT: InspectAddress = { host: '127.0.0.1', port: 9229 };
const ADDRESS = /^(?:([^:[\]]+|\[[0-9a-fA-F:.]+\]):)?(\d{1,5})$/;

/** Reads `PORT` or `HOST:PORT`; without a value, the default address. Throws ConfigError. */
export function readInspectAddress(value: string | undefined, path: string): InspectAddress {
  if (value === undefined) return DEFAULT;
  const [, host = DEFAULT.host, port = ''] = ADDRESS.exec(value) ?? [];
  if (port === '' || Number(port) > 65_535)
    throw new ConfigError(path, `must be PORT or HOST:PORT, such as ${DEFAULT.host}:${DEFAULT.port}, not ${value}`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Whether an address can be reached only from this machine. */
const isLocal = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

/**
 * Opens the inspector. To be called before the threads are created, so that these can be debugged. Node.js writes its
 * address to standard error; `warn` is called with a warning. Throws ConfigError if it is open already, or cannot be
 * opened.
 */
export function openInspector({ host, port }: InspectAddress, warn: (line: string) => void): void {
  const before = url();
  if (before !== undefined)
    throw new ConfigError('--inspect', `the inspector is open already, at ${before}: omit the flag`);
  if (!isLocal(host)) warn(`--inspect: whoever can connect to ${host}, port ${port}, can run any code in the server`);
  open(port, host);
  if (url() === undefined)
    throw new ConfigError('--inspect', `cannot listen on ${host}, port ${port}: give another one, or 0 for a free one`);
}

/**
 * Closes the inspector, so that the process does not wait until its debugger disconnects. Blocks while a thread is
 * stopped at a breakpoint, so all threads must have ended.
 */
export const closeInspector = (): void => close();

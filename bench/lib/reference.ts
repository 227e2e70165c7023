import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Address } from '../load/connection.js';

/** A running server of another kind to compare with. */
export interface Reference extends Address {
  /** The process that listens, and all others of its group, such as its store. */
  readonly pids: readonly number[];
}

/** Fields of `/proc/<pid>/stat` after the name of the program (proc(5)): the process group is the third. */
const GROUP_FIELD = 2;
/** State of a listening socket in `/proc/net/tcp`. */
const LISTENING = '0A';

/** The result of `read`; undefined if it throws, because a process has ended or belongs to another user. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The inodes of the sockets that listen on a port. */
function listeningInodes(port: number): ReadonlySet<string> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = ['tcp', 'tcp6'].flatMap(name =>
    (attempt(() => readFileSync(`/proc/net/${name}`, 'utf8')) ?? '').split('\n'),
  );
  const fields = lines.map(line => line.trim().split(/\s+/));
  return new Set(
    fields.flatMap(([, local, , state, ...rest]) =>
      local?.endsWith(`:${hex}`) && state === LISTENING ? rest.slice(5, 6) : [],
    ),
  );
}

const processes = (): number[] => readdirSync('/proc').map(Number).filter(Number.isInteger);

function holdsSocket(pid: number, inodes: ReadonlySet<string>): boolean {
  const directory = `/proc/${pid}/fd`;
  const files = attempt(() => readdirSync(directory)) ?? [];
  return files.some(file => {
    const inode = attempt(() => readlinkSync(`${directory}/${file}`)?.match(/^socket:\[(\d+)\]$/)?.[1]);
    return inode !== undefined && inodes.has(inode);
  });
}

function groupOf(pid: number): string | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[GROUP_FIELD];
}

/**
 * Finds the server at a URL of this machine. Its processes are the one that listens on the port and all of the same
 * process group, such as those that the same script has started. Throws if no process of this user listens there.
 */
export function findReference(url: string, token: string): Reference {
  const { hostname, port, protocol } = new URL(url);
  const inodes = listeningInodes(Number(port));
  const all = processes();
  const listener = all.find(pid => holdsSocket(pid, inodes));
  if (listener === undefined) throw new Error(`--reference: no process that can be measured listens at ${url}`);
  const group = groupOf(listener);
  const others = all.filter(pid => pid !== listener && groupOf(pid) === group);
  return { host: hostname, port: Number(port), tls: protocol === 'https:', token, pids: [listener, ...others] };
}

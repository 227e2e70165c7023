import type { Awaitable } from '../api/awaitable.js';
import type { Binding, Listening } from '../api/listener.js';
import type { RunningFrontEnd } from '../../workers/front/main.js';
import type { Closers } from '../plugin/closers.js';
import { messagesOf } from '../plugin/calls/stack.js';
import { urlHost } from '../settings/address.js';
import type { DataDirectory } from '../settings/dataDirectory.js';
import type { Settings } from '../settings/settings.js';
import { handshakeCas } from './access/certificates.js';
import type { DataPaths } from './dataDirectory.js';

/** The bindings of a server: HTTPS, and plain HTTP if it has a port for it. */
export function bindingsOf(settings: Settings, { pki }: DataDirectory, paths: DataPaths): Binding[] {
  const { bindAddress, port, httpPort } = settings;
  const tls = {
    certFile: settings.tlsCertFile ?? pki.certFile,
    keyFile: settings.tlsPrivateKeyFile ?? pki.keyFile,
    clientCaFile: handshakeCas(settings, pki.clientCaFile, paths.directory),
  };
  const http = httpPort === undefined ? [] : [{ host: '127.0.0.1', port: httpPort }];
  return [{ host: bindAddress, port, tls }, ...http];
}

/** Opens a listener; an error of its address names the flag. */
async function withFlag<T>(flag: string, open: () => Awaitable<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw new Error(`${messagesOf(error)}; choose another ${flag}`, { cause: error });
  }
}

/** The addresses of a server. */
export interface Addresses {
  readonly url: string;
  readonly httpUrl?: string;
}

/** Opens the listeners. Returns their addresses, and a function that makes them use changed files of certificates. */
export async function openListeners(
  frontEnd: RunningFrontEnd,
  bindings: readonly Binding[],
  bindAddress: string,
  closers: Closers,
): Promise<Addresses & { readonly renew: () => Promise<void> }> {
  const { front, listener, listeningThreads, address } = frontEnd;
  const all: Listening[] = [];
  // Closed together: none may accept connections while another drains.
  closers.add('the listeners', () => Promise.all(all.map(one => one.close())));
  for (const [i, binding] of bindings.entries()) {
    const flag = i === 0 ? '--secure-port (or --bind-address)' : '--http-port';
    all.push(await withFlag(flag, () => listener.listen(binding, exchange => front.handle(exchange))));
  }
  /** The targets of each listening thread. */
  const targets: (readonly number[])[] = [];
  for (const thread of listeningThreads) {
    targets.push(await thread.ready());
    for (const [i, target] of targets.at(-1)!.entries()) all[i]!.share!(target);
    thread.serve();
  }
  async function renew(): Promise<void> {
    if (listeningThreads.length === 0) {
      const secure = all[0]!;
      if (!secure.renew) throw new Error(`the listener ${listener.name} cannot replace them: restart the server`);
      return await secure.renew();
    }
    const renewed = await Promise.all(listeningThreads.map(thread => thread.renew()));
    for (const [t, next] of renewed.entries()) {
      for (const [i, target] of next.entries()) {
        const former = targets[t]![i]!;
        if (target !== former) all[i]!.share!(target, former);
      }
      targets[t] = next;
    }
  }
  const [https, http] = all as [Listening, Listening?];
  address.port = https.port;
  return {
    url: `https://${urlHost(bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress)}:${https.port}`,
    ...(http ? { httpUrl: `http://127.0.0.1:${http.port}` } : {}),
    renew,
  };
}

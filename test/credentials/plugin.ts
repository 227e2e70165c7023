import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { ClientAccess } from '../../core/client/index.js';
import type { TestAuthority } from '../authn/certificates.js';

/** A credential plugin that prints a text set by the test, and the kubeconfig that names it. */
export class TestPlugin {
  readonly kubeconfig: string;
  readonly #calls: string;

  constructor(
    readonly folder: string,
    readonly apiVersion = 'client.authentication.orchestrator.io/v1',
  ) {
    this.kubeconfig = join(folder, 'kubeconfig');
    this.#calls = join(folder, 'calls');
    const script = join(folder, 'plugin.sh');
    const info = `"\${ORCHESTRATOR_EXEC_INFO:+neutral $ORCHESTRATOR_EXEC_INFO}\${KUBERNETES_EXEC_INFO:+kubernetes $KUBERNETES_EXEC_INFO}"`;
    const stdin = '$([ /dev/stdin -ef /dev/null ] && echo none || echo some)';
    writeFileSync(
      script,
      `#!/bin/sh\nprintf '%s|%s|%s|%s\\n' ${info} "$1" "$WORD" "${stdin}" >> ${this.#calls}\n` +
        `cat ${join(folder, 'answer')}\nexit \${CODE:-0}\n`,
    );
    chmodSync(script, 0o700);
  }

  /** Sets the output of the next run. */
  answer(answer: object | string): void {
    writeFileSync(join(this.folder, 'answer'), typeof answer === 'string' ? answer : JSON.stringify(answer));
  }

  /** Sets the status that the next run prints. */
  status(status: object): void {
    this.answer({ apiVersion: this.apiVersion, kind: 'ExecCredential', status });
  }

  /** Writes the kubeconfig. */
  write(server: string, exec: object = {}, cluster: object = {}): string {
    const content = {
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server, ...cluster } }],
      users: [
        {
          name: 'u',
          user: {
            exec: { apiVersion: this.apiVersion, command: './plugin.sh', interactiveMode: 'Never', ...exec },
          },
        },
      ],
    };
    writeFileSync(this.kubeconfig, JSON.stringify(content));
    return this.kubeconfig;
  }

  /** The runs: naming and content of the variable, first argument, `$WORD`, and whether it had standard input. */
  get runs(): readonly { naming: string; info: { spec: object }; arg: string; word: string; stdin: string }[] {
    if (!existsSync(this.#calls)) return [];
    const lines = readFileSync(this.#calls, 'utf8').trim().split('\n');
    return lines.map(line => {
      const [info = '', arg = '', word = '', stdin = ''] = line.split('|');
      const at = info.indexOf(' ');
      return { naming: info.slice(0, at), info: JSON.parse(info.slice(at + 1)), arg, word, stdin };
    });
  }
}

/** A request that the server has received. */
export interface Seen {
  readonly authorization: string | undefined;
  readonly client: string | undefined;
  readonly socket: object;
}

/** A server that records the credentials of its clients. */
export class CredentialServer {
  readonly seen: Seen[] = [];
  /** Returns the status code of an answer. */
  code: (seen: Seen) => number = () => 200;

  private constructor(readonly server: Server) {}

  static async start(ca: TestAuthority): Promise<CredentialServer> {
    const { certificate: cert, key } = await ca.issue('localhost', ['localhost']);
    const server = createServer({ cert, key, ca: ca.certificate, requestCert: true, rejectUnauthorized: false });
    const own = new CredentialServer(server);
    server.on('request', (incoming, response) => {
      const { subject } = (incoming.socket as TLSSocket).getPeerCertificate() ?? {};
      const seen = {
        authorization: incoming.headers.authorization,
        client: subject?.CN as string | undefined,
        socket: incoming.socket,
      };
      own.seen.push(seen);
      response.writeHead(own.code(seen), { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return own;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://localhost:${this.port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** Sends a request as a program would, and reports a 401 to the credentials. Resolves with the code. */
export async function get(access: ClientAccess): Promise<number> {
  const credentials = await access.get();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${access.server}/api`, access.requestOptions(credentials), resolve);
    sent.on('error', reject);
    sent.end();
  });
  answer.resume();
  await new Promise(resolve => answer.on('close', resolve));
  if (answer.statusCode === 401) access.refused(credentials);
  return answer.statusCode!;
}

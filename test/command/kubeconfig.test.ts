import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authCommand } from '../../core/command/subcommands/auth.js';
import { execCredentialCommand } from '../../core/command/subcommands/execCredential.js';
import { kubeconfigCommand } from '../../core/command/subcommands/kubeconfig.js';
import { loadCredentials } from '../../core/client/index.js';
import { Api } from '../api/support.js';
import { authority } from '../authn/certificates.js';
import { TestPlugin } from '../credentials/plugin.js';
import { Captured } from './server.js';

let folder: string;
let api: Api;
let admin: string;
const at = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  api = await Api.shared();
  admin = at('admin.kubeconfig');
  writeFileSync(admin, api.server.kubeconfig);
  writeFileSync(at('token'), 'abc.def\n');
  const ca = await authority('ca');
  const [ann, bob] = [await ca.issue('ann'), await ca.issue('bob')];
  writeFileSync(at('ca.crt'), ca.certificate);
  writeFileSync(at('ann.crt'), ann.certificate);
  writeFileSync(at('ann.key'), ann.key);
  writeFileSync(at('bob.key'), bob.key);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function written(...flags: string[]): Promise<{ cluster: object; user: object; name: string }> {
  const io = new Captured();
  expect(await kubeconfigCommand(flags, io)).toBe(0);
  const { clusters, users } = JSON.parse(io.lines.join('\n')) as {
    clusters: [{ cluster: object }];
    users: [{ name: string; user: object }];
  };
  return { cluster: clusters[0].cluster, user: users[0].user, name: users[0].name };
}
const base64 = (name: string): string => readFileSync(at(name)).toString('base64');
const refusal = async (...flags: string[]): Promise<string> =>
  await kubeconfigCommand(flags, new Captured()).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

describe('capstan kubeconfig writes', () => {
  test("the administrator's, without flags except for the data directory", async () => {
    const io = new Captured();
    expect(await kubeconfigCommand([`--data-dir=${folder}`], io)).toBe(0);
    expect(io.lines.join('\n')).toBe(api.server.kubeconfig.trimEnd());
    expect(await refusal('--data-dir=/none')).toMatch(
      /^--data-dir: cannot read \/none\/admin.kubeconfig: ENOENT; start a server/,
    );
  });

  test('a token, for the server of another kubeconfig', async () => {
    const { cluster, user, name } = await written(`--kubeconfig=${admin}`, `--token-file=${at('token')}`, '--user=ann');
    const { clusters } = JSON.parse(api.server.kubeconfig) as { clusters: [{ cluster: object }] };
    expect({ cluster, user, name }).toEqual({ cluster: clusters[0].cluster, user: { token: 'abc.def' }, name: 'ann' });
  });

  test('a certificate, and the members for a server behind a proxy', async () => {
    const { cluster, user } = await written(
      '--server=https://proxy.example.com/capstan',
      `--certificate-authority=${at('ca.crt')}`,
      '--tls-server-name=capstan.example.com',
      '--proxy-url=http://10.0.0.1:3128',
      `--client-certificate=${at('ann.crt')}`,
      `--client-key=${at('ann.key')}`,
    );
    expect(cluster).toEqual({
      server: 'https://proxy.example.com/capstan',
      'certificate-authority-data': base64('ca.crt'),
      'tls-server-name': 'capstan.example.com',
      'proxy-url': 'http://10.0.0.1:3128',
    });
    expect(user).toEqual({ 'client-certificate-data': base64('ann.crt'), 'client-key-data': base64('ann.key') });
  });

  test('a sign-in at a provider, by means of a kubectl plugin', async () => {
    const { user } = await written(
      '--server=https://x',
      '--oidc-issuer-url=https://dex.example.com',
      '--oidc-client-id=capstan',
      '--oidc-extra-scope=email',
      '--oidc-extra-scope=groups',
      '--exec-arg=--oidc-use-pkce',
    );
    expect(user).toEqual({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'kubectl',
        args: [
          'oidc-login',
          'get-token',
          '--oidc-issuer-url=https://dex.example.com',
          '--oidc-client-id=capstan',
          '--oidc-extra-scope=email',
          '--oidc-extra-scope=groups',
          '--oidc-use-pkce',
        ],
        interactiveMode: 'Never',
        installHint: 'Install the plugin oidc-login of kubectl: kubectl krew install oidc-login',
        provideClusterInfo: false,
      },
    });
  });

  test.each([
    ['neutral', 'client.authentication.orchestrator.io/v1'],
    ['kubernetes', 'client.authentication.k8s.io/v1'],
  ])('a credential plugin in the naming %s [A050]', async (naming, apiVersion) => {
    const { user } = await written(
      '--server=https://x',
      '--exec-command=sso',
      '--exec-env=A=b=c',
      '--exec-provide-cluster-info',
      '--exec-interactive-mode=Always',
      `--naming=${naming}`,
    );
    const exec = { command: 'sso', args: [], interactiveMode: 'Always', provideClusterInfo: true };
    expect(user).toEqual({ exec: { apiVersion, ...exec, env: [{ name: 'A', value: 'b=c' }] } });
  });

  test('a file that only its owner can read, and overwrites none', async () => {
    const flags = ['--server=https://x', `--token-file=${at('token')}`, '-o', at('out')];
    expect(await refusal(...flags)).toBe('accepted');
    expect(statSync(at('out')).mode & 0o777).toBe(0o600);
    expect(loadCredentials({ kubeconfig: at('out') }).server).toBe('https://x');
    expect(await refusal(...flags)).toContain(`--output: ${at('out')} exists: remove it`);
  });

  test('nothing for invalid flags, which the error names', async () => {
    const token = `--token-file=${at('token')}`;
    const x = '--server=https://x';
    const refusals: readonly (readonly [flags: readonly string[], message: string])[] = [
      [[x], 'capstan kubeconfig: needs one of --token-file, --client-certificate'],
      [[x, token, '--exec-command=y'], 'and not --token-file and --exec-command'],
      [
        [token, '--kubeconfig=/none'],
        '--kubeconfig: /none: cannot be read: ENOENT; name a file that exists and may be read, or name the server with --server',
      ],
      [['--server=x', token], '--server: must be a URL'],
      [[x, '--token-file=/none'], '--token-file: cannot read /none: ENOENT'],
      [[x, `--token-file=${at('ca.crt')}`], '--token-file: must have one token'],
      [[x, `--client-certificate=${at('ann.crt')}`], '--client-certificate: needs --client-key'],
      [
        [x, `--client-certificate=${at('ann.crt')}`, `--client-key=${at('bob.key')}`],
        '--client-key: does not belong to --client-certificate',
      ],
      [[x, `--client-certificate=${at('token')}`, `--client-key=${at('bob.key')}`], 'must be certificates in PEM'],
      [[x, token, `--certificate-authority=${at('token')}`], '--certificate-authority: must be certificates'],
      [[x, '--oidc-issuer-url=https://y'], '--oidc-issuer-url: needs --oidc-client-id'],
      [
        [x, '--oidc-issuer-url=http://y', '--oidc-client-id=z'],
        '--oidc-issuer-url: must be a URL that begins with https',
      ],
      [[x, token, '--exec-arg=z'], '--exec-arg: needs --exec-command or --oidc-issuer-url'],
      [[x, '--exec-command=y', '--exec-env=z'], '--exec-env: must be NAME=VALUE, not "z"'],
      [[x, '--exec-command=y', '--exec-interactive-mode=z'], '--exec-interactive-mode: must be Never'],
      [[x, '--exec-command=y', '--naming=z'], '--naming: must be neutral or kubernetes'],
      [[x, token, '--proxy-url=ftp://z'], '--proxy-url: must be a URL'],
      [[x, token, 'z'], 'takes no operand z'],
    ];
    for (const [flags, message] of refusals) expect(await refusal(...flags)).toContain(message);
  });
});

describe('a command', () => {
  let plugin: TestPlugin;
  let kubeconfig: string;
  let token: string;
  beforeAll(async () => {
    mkdirSync(at('exec'));
    plugin = new TestPlugin(at('exec'));
    const { clusters } = JSON.parse(api.server.kubeconfig) as { clusters: [{ cluster: { server: string } }] };
    token = api.server.token;
    kubeconfig = plugin.write(clusters[0].cluster.server, {}, clusters[0].cluster);
  });

  test('runs a credential plugin, and once more after a 401 [A058]', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'own' },
    };
    writeFileSync(at('role.json'), JSON.stringify({ ...role, rules: [] }));
    const reconcile = async (): Promise<number> =>
      await authCommand(
        ['reconcile', '-f', at('role.json'), `--kubeconfig=${kubeconfig}`, '--dry-run'],
        new Captured(),
      );
    plugin.status({ token });
    expect(await reconcile()).toBe(0);
    expect(plugin.runs).toHaveLength(1);
    plugin.status({ token: 'unknown' });
    await expect(reconcile()).rejects.toThrow('Unauthorized');
    expect(plugin.runs).toHaveLength(3);
  });

  test('exec-credential prints the output of a plugin, or the credentials of a kubeconfig without one [A050 A052 A054]', async () => {
    const credential = {
      kind: 'ExecCredential',
      apiVersion: plugin.apiVersion,
      status: { expirationTimestamp: '2999-01-31T12:00:00.000Z', token: 'abc' },
    };
    plugin.answer({ ...credential, spec: {}, more: 1 });
    const io = new Captured();
    expect(await execCredentialCommand([`--kubeconfig=${kubeconfig}`, '--context=here'], io)).toBe(0);
    expect(await execCredentialCommand([`--kubeconfig=${admin}`], io)).toBe(0);
    const { users } = JSON.parse(api.server.kubeconfig) as { users: [{ user: Record<string, string> }] };
    const data = (name: string): string => Buffer.from(users[0].user[name]!, 'base64').toString();
    const status = { clientCertificateData: data('client-certificate-data'), clientKeyData: data('client-key-data') };
    expect(io.lines.map(line => JSON.parse(line))).toEqual([credential, { ...credential, status }]);
    await expect(execCredentialCommand([], io)).rejects.toThrow('--kubeconfig: needs a value');
    await expect(execCredentialCommand([`--kubeconfig=${kubeconfig}`, '--context=x'], io)).rejects.toThrow(
      `--kubeconfig: ${kubeconfig}: contexts: there is none with the name "x" and a context: add it, or correct the name`,
    );
    await expect(execCredentialCommand(['--kubeconfig=/none'], io)).rejects.toThrow(
      '--kubeconfig: /none: cannot be read: ENOENT; name a file that exists and may be read',
    );
  });
});

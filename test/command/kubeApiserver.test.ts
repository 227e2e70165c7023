import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, test } from 'vitest';
import { parseFlags } from '../../core/command/flags.js';
import { kubeApiserver, programOf } from '../../core/command/upstream/kubeApiserver.js';
import { OPTIONS } from '../../core/command/options.js';
import { OTHER_FLAGS } from '../../core/command/upstream/otherFlags.js';
import { freePort, StartedCommand } from '../packages/project.js';
import { Captured } from './server.js';

/** The flags of the upstream server, release 1.32. */
const FLAGS = `
admission-control admission-control-config-file advertise-address aggregator-reject-forwarding-redirect
allow-metric-labels allow-metric-labels-manifest allow-privileged anonymous-auth api-audiences
audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-max-wait audit-log-batch-throttle-burst
audit-log-batch-throttle-enable audit-log-batch-throttle-qps audit-log-compress audit-log-format audit-log-maxage
audit-log-maxbackup audit-log-maxsize audit-log-mode audit-log-path audit-log-truncate-enabled
audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-log-version audit-policy-file
audit-webhook-batch-buffer-size audit-webhook-batch-max-size audit-webhook-batch-max-wait
audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-enable audit-webhook-batch-throttle-qps
audit-webhook-config-file audit-webhook-initial-backoff audit-webhook-mode audit-webhook-truncate-enabled
audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size audit-webhook-version
authentication-config authentication-token-webhook-cache-ttl authentication-token-webhook-config-file
authentication-token-webhook-version authorization-config authorization-mode authorization-policy-file
authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
authorization-webhook-config-file authorization-webhook-version bind-address cert-dir client-ca-file
contention-profiling cors-allowed-origins debug-socket-path default-not-ready-toleration-seconds
default-unreachable-toleration-seconds delete-collection-workers disable-admission-plugins disable-http2-serving
disabled-metrics egress-selector-config-file emulated-version enable-admission-plugins enable-aggregator-routing
enable-bootstrap-token-auth enable-garbage-collector enable-priority-and-fairness encryption-provider-config
encryption-provider-config-automatic-reload endpoint-reconciler-type etcd-cafile etcd-certfile
etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout
etcd-keyfile etcd-prefix etcd-readycheck-timeout etcd-servers etcd-servers-overrides event-ttl external-hostname
feature-gates goaway-chance http2-max-streams-per-connection kubelet-certificate-authority kubelet-client-certificate
kubelet-client-key kubelet-preferred-address-types kubelet-timeout kubernetes-service-node-port
lease-reuse-duration-seconds livez-grace-period log-flush-frequency log-json-info-buffer-size log-json-split-stream
log-text-info-buffer-size log-text-split-stream logging-format max-connection-bytes-per-sec
max-mutating-requests-inflight max-requests-inflight min-request-timeout oidc-ca-file oidc-client-id oidc-groups-claim
oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-signing-algs oidc-username-claim oidc-username-prefix
peer-advertise-ip peer-advertise-port peer-ca-file permit-address-sharing permit-port-sharing profiling
proxy-client-cert-file proxy-client-key-file request-timeout requestheader-allowed-names requestheader-client-ca-file
requestheader-extra-headers-prefix requestheader-group-headers requestheader-uid-headers
requestheader-username-headers runtime-config secure-port send-retry-after-while-not-ready-once
service-account-extend-token-expiration service-account-issuer service-account-jwks-uri service-account-key-file
service-account-lookup service-account-max-token-expiration service-account-signing-endpoint
service-account-signing-key-file service-cluster-ip-range service-node-port-range show-hidden-metrics-for-version
shutdown-delay-duration shutdown-send-retry-after shutdown-watch-termination-grace-period storage-backend
storage-initialization-timeout storage-media-type strict-transport-security-directives tls-cert-file tls-cipher-suites
tls-min-version tls-private-key-file tls-sni-cert-key token-auth-file tracing-config-file v vmodule watch-cache
watch-cache-sizes
`
  .trim()
  .split(/\s+/);

const folder = mkdtempSync(join(tmpdir(), 'capstan-kube-apiserver-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('flags of the upstream server', () => {
  it('are all known, each once', () => {
    expect(FLAGS.filter(name => !OPTIONS.has(name) && !OTHER_FLAGS.has(name))).toEqual([]);
    expect([...OTHER_FLAGS.keys()].filter(name => OPTIONS.has(name))).toEqual([]);
  });

  it('that have no effect are reported with the reason', () => {
    expect(parseFlags(['--allow-privileged', '--profiling=false', '--max-requests-inflight', '10']).notes).toEqual([
      expect.stringMatching(/^--allow-privileged has no effect: privileged containers/),
      expect.stringMatching(/^--profiling has no effect: /),
      expect.stringMatching(/^--max-requests-inflight has no effect: /),
    ]);
  });

  it.each([
    ['--max-requests-inflight=-1', 'must be a whole number'],
    ['--watch-cache=maybe', 'must be true or false'],
    ['--request-timeout=x', 'must be a duration'],
    ['--tls-min-version=VersionTLS13', 'the server accepts TLS 1.2 and 1.3'],
    ['--tls-cipher-suites=x', 'suites are those of OpenSSL'],
  ])('with an unsupported value are refused: %s', (argument, message) => {
    expect(() => parseFlags([argument])).toThrow(message);
  });
});

describe('kube-apiserver', () => {
  it('prints its release, and its flags with its own defaults', async () => {
    const io = new Captured();
    expect(await kubeApiserver(['--version'], io)).toBe(0);
    expect(io.lines).toEqual(['Kubernetes v1.32.0']);
    expect(await kubeApiserver(['--help'], io)).toBe(0);
    const help = io.lines.join('\n').replace(/\s+/g, ' ');
    expect(help).toContain('Usage: kube-apiserver [flags]');
    for (const flag of ['--etcd-servers', '--cert-dir', '--admission-control']) expect(help).toContain(flag);
    expect(help).toContain('--bind-address <ADDRESS> address to listen on (0.0.0.0)');
    expect(help).toMatch(/--authorization-mode <MODES> [^-]*\(AlwaysAllow\)/);
    expect(help).toContain('directory of all data (/var/run/kubernetes/capstan)');
  });

  it('warns about deprecated flags, unless Node.js suppresses deprecation warnings [R397] [R398]', () => {
    const warningsOf = (flag: string) => programOf([flag, '--etcd-servers=http://127.0.0.1:1']).warnings;
    expect(warningsOf('--admission-control=AlwaysAdmit')).toEqual([expect.stringContaining('has been deprecated')]);
    expect(warningsOf('--enable-admission-plugins=AlwaysAdmit')).toEqual([]);
    process.noDeprecation = true;
    try {
      expect(warningsOf('--admission-control=AlwaysAdmit')).toEqual([]);
    } finally {
      process.noDeprecation = false;
    }
  });

  it('uses the last value of a flag that is given twice, and joins lists', () => {
    const twice = '--secure-port=1 --secure-port 2 --service-node-port-range=1-2 --service-node-port-range=3-4';
    const lists = '--tls-san=a --tls-san=b --mine=c --mine d';
    const { settings, own } = parseFlags([...twice.split(' '), ...lists.split(' ')], {
      own: ['mine'],
      lastWins: true,
      emptyIsNone: true,
    });
    expect(settings).toEqual({ port: 2, serviceNodePortRange: [3, 4], tlsSan: ['a', 'b'] });
    expect(own).toEqual(new Map([['mine', ['c', 'd']]]));
  });

  it('treats an empty file path, and an empty value of a flag without effect, as not set', () => {
    const flags = ['--egress-selector-config-file=', '--admission-control-config-file=', '--vmodule='];
    const { settings, notes } = parseFlags(flags, { own: [], lastWins: true, emptyIsNone: true });
    expect([settings, notes]).toEqual([{}, []]);
    expect(() => parseFlags(flags)).toThrow('--egress-selector-config-file: is not supported');
  });

  it.each([
    [['--cert-dir', '--secure-port=1'], '--cert-dir: needs a value'],
    [[], '--etcd-servers: must be specified'],
    [['--etcd-servers=http://127.0.0.1:1', '--secure-port', '0'], '--secure-port: 0 must be between 1 and 65535'],
    [['--etcd-servers=http://127.0.0.1:1', '--storage-backend=etcd2'], '--storage-backend: must be'],
    [['pods'], 'unexpected argument'],
  ])('does not start with %j', async (args, message) => {
    await expect(kubeApiserver([`--cert-dir=${join(folder, 'none')}`, ...args], new Captured())).rejects.toThrow(
      message,
    );
  });
});

test('the program authorizes all authenticated requests, has the names of upstream and writes its certificate to --cert-dir [R389] [R392] [R395] [R396] [R397]', async () => {
  const certDir = join(folder, 'certs');
  const port = await freePort();
  const twice = `--cert-dir=${certDir}-not --cert-dir ${certDir} --secure-port=1 --secure-port ${port}`;
  const flags = `${twice} --bind-address=127.0.0.1 --advertise-address 127.0.0.1`;
  const others = '--storage-backend=memory --allow-privileged=true --admission-control=NamespaceLifecycle';
  const server = new StartedCommand('.', `bin/kube-apiserver ${flags} ${others}`);
  try {
    await server.until('ready in');
    const ca = join(certDir, 'apiserver.crt');
    expect(existsSync(join(certDir, 'apiserver.key'))).toBe(true);
    expect(existsSync(`${certDir}-not`)).toBe(false);
    const token = readFileSync(join(certDir, 'capstan/pki/admin-token.csv'), 'utf8').split(',')[0];
    const curl = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)('curl', ['-s', '--cacert', ca, ...args])).stdout;
    const url = `https://127.0.0.1:${port}/apis/rbac.authorization.k8s.io/v1/clusterroles`;
    expect(await curl('-H', `Authorization: Bearer ${token}`, url)).toContain('"kind": "ClusterRoleList"');
    expect(JSON.parse(await curl(url))).toMatchObject({ code: 401 });
    expect(server.output).toContain('--allow-privileged has no effect');
    // A deprecated flag works and prints a warning.
    expect(server.output).toContain(
      'Flag --admission-control has been deprecated, Use --enable-admission-plugins or --disable-admission-plugins',
    );
  } finally {
    await server.end();
  }
});

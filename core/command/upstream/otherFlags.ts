import { ConfigError } from '../../api/point.js';
import { duration, flag, listOf, port, type Reader, text } from '../../settings/values.js';

/** A flag of the upstream server that is not a setting of this one. */
export interface OtherFlag {
  /** Checks the value as upstream does. Throws ConfigError for a value that upstream or this server refuses. */
  readonly read: Reader<unknown>;
  /** Whether it may be given without a value, which means true. */
  readonly isSwitch: boolean;
  /** The reason why it has no effect here, or the alternative. */
  readonly note: string;
  /** Whether every value is refused. */
  readonly isRefused: boolean;
}

/** An integer of any size, 0 or more. */
const count: Reader<number> = (value, path) => {
  if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
  throw new ConfigError(path, `must be a whole number, not ${JSON.stringify(value)}`);
};

/** A number with a fraction, such as `0.001`. */
const fraction: Reader<number> = (value, path) => {
  if (typeof value === 'string' && /^\d{1,9}(?:\.\d{1,9})?$/.test(value)) return Number(value);
  throw new ConfigError(path, `must be a number, not ${JSON.stringify(value)}`);
};

const READERS: Readonly<Record<string, Reader<unknown>>> = {
  bool: flag,
  count,
  duration,
  fraction,
  list: listOf(text),
  port,
  text,
};

/**
 * Flags that are accepted without effect, so that a command line written for upstream starts the server. Each reason,
 * which is reported at the start, is followed by its flags with the types of their values.
 */
const ACCEPTED = `
= the server does not connect to node agents
kubelet-certificate-authority text
kubelet-client-certificate text
kubelet-client-key text
kubelet-port port
kubelet-preferred-address-types list
kubelet-read-only-port port
kubelet-timeout duration
= the server does not pass requests on to the servers that share its store
peer-advertise-ip text
peer-advertise-port text
peer-ca-file text
= the server does not publish its own address as a Service
advertise-address text
endpoint-reconciler-type text
kubernetes-service-node-port count
= privileged containers are always accepted; use pod security levels to refuse them
allow-privileged bool
= watches and lists are always served from memory
watch-cache bool
watch-cache-sizes list
= the limits of the server follow from its threads and memory
delete-collection-workers count
enable-priority-and-fairness bool
max-connection-bytes-per-sec count
max-mutating-requests-inflight count
max-requests-inflight count
min-request-timeout count
request-timeout duration
= connections use HTTP/1.1 and WebSockets
disable-http2-serving bool
goaway-chance fraction
http2-max-streams-per-connection count
= objects are stored in the server's own encoding
storage-media-type text
= the server always watches its store, and ends if it fails
etcd-count-metric-poll-period duration
etcd-db-metric-poll-interval duration
etcd-healthcheck-timeout duration
etcd-readycheck-timeout duration
lease-reuse-duration-seconds count
storage-initialization-timeout duration
= browsers of other origins are not served
cors-allowed-origins list
= the tolerations are of 300 seconds
default-not-ready-toleration-seconds count
default-unreachable-toleration-seconds count
= the garbage collector is a controller: use --controllers=*,-garbage-collector-controller
enable-garbage-collector bool
= events are kept for one hour
event-ttl duration
= documents name no host
external-hostname text
= requests are served as soon as the server is ready, and drained when it ends
send-retry-after-while-not-ready-once bool
shutdown-send-retry-after bool
shutdown-watch-termination-grace-period duration
= the log is one stream of lines, which are written at once
log-flush-frequency duration
log-json-info-buffer-size text
log-json-split-stream bool
log-text-info-buffer-size text
log-text-split-stream bool
vmodule list
= metrics have all their labels, and none is turned off
allow-metric-labels list
allow-metric-labels-manifest text
disabled-metrics list
= profiles are taken with --inspect of Node.js
contention-profiling bool
debug-socket-path text
profiling bool
= the encryption file is always read again when it changes
encryption-provider-config-automatic-reload bool
= certificates are in --data-dir
cert-dir text
= no traces are exported
tracing-config-file text
= the address and port are not shared
permit-address-sharing bool
permit-port-sharing bool
`;

/** Flags that would mislead the user if they were accepted, with the alternative. */
const REFUSED: Readonly<Record<string, string>> = {
  'admission-control': 'is for kube-apiserver: use --enable-admission-plugins and --disable-admission-plugins',
  'egress-selector-config-file': 'is not supported: connections to webhooks are made directly; omit it',
  'etcd-servers-overrides': 'is not supported: all objects are in one etcd; omit it',
  'service-account-signing-endpoint': 'is not supported: sign tokens with --service-account-signing-key-file instead',
  'strict-transport-security-directives': 'is not supported: let a proxy in front of the server add the header',
  'tls-cipher-suites': 'is not supported: suites are those of OpenSSL for TLS 1.2 and 1.3; omit it',
  'tls-sni-cert-key': 'is not supported: the server has one certificate; add names with --tls-san, or omit it',
};

const refuse =
  (why: string): Reader<never> =>
  (_value, path) => {
    throw new ConfigError(path, why);
  };

/** A flag with one value that describes what the server does anyway. */
const only =
  (values: readonly string[], otherwise: string): Reader<string> =>
  (value, path) => {
    if (typeof value === 'string' && values.includes(value)) return value;
    throw new ConfigError(path, `must be ${values.join(' or ')}: ${otherwise}`);
  };

function readAccepted(): [name: string, flag: OtherFlag][] {
  let note = '';
  return ACCEPTED.trim()
    .split('\n')
    .flatMap(line => {
      if (line.startsWith('= ')) {
        note = line.slice(2);
        return [];
      }
      const [name = '', type = ''] = line.split(' ');
      return [
        [name, { read: READERS[type]!, isSwitch: type === 'bool', note, isRefused: false }] as [string, OtherFlag],
      ];
    });
}

/** The flags of upstream's release 1.32 that are not settings, by name without dashes. */
export const OTHER_FLAGS: ReadonlyMap<string, OtherFlag> = new Map([
  ...readAccepted(),
  ...Object.entries(REFUSED).map(
    ([name, why]) =>
      [name, { read: refuse(why), isSwitch: name.endsWith('-reload'), note: why, isRefused: true }] as const,
  ),
  [
    'tls-min-version',
    {
      read: only(
        ['VersionTLS10', 'VersionTLS11', 'VersionTLS12'],
        'the server accepts TLS 1.2 and 1.3; forbid 1.2 in a proxy in front of it',
      ),
      isSwitch: false,
      note: 'TLS 1.2 is the least that is accepted; VersionTLS13 is refused',
      isRefused: false,
    },
  ],
]);

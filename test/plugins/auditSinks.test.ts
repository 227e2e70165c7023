import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { auditEvent, auditSinkConformance, fakeHost } from '../../core/testing/index.js';
import { type AuditEvent, writeJson } from '../../core/api/index.js';
import { auditLog } from '../../plugins/audit/log/index.js';
import { conforms } from '../testing/conforms.js';
import { failing } from '../testing/failing.js';
import { ConfiguredServer, fixture } from './support.js';
import { eventuallyPasses } from '../support/eventually.js';

/* Sentences of docs/guides/plugins.md about audit sinks. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-sinks-'));
afterAll(() => rmSync(directory, { recursive: true }));
let files = 0;
const newFile = (): string => join(directory, `events-${files++}`);
const eventsIn = (file: string): AuditEvent[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as AuditEvent);

const POLICY = join(directory, 'policy.yaml');
writeFileSync(
  POLICY,
  'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n' +
    'rules: [{ level: Metadata, resources: [{ group: "", resources: [configmaps] }], users: [kube-admin] }]\n',
);
const MAPS = '/api/v1/namespaces/default/configmaps';

/** The events, by file, that a server with these sinks has written by its end. */
async function written(
  sinks: readonly { readonly file: string; readonly fails?: string }[],
  settings: object = {},
  meanwhile: (server: ConfiguredServer) => Promise<void> = async () => undefined,
): Promise<AuditEvent[][]> {
  const server = new ConfiguredServer();
  try {
    const plugins = sinks.map(config => ({ use: fixture('auditSinks'), config }));
    await server.start({ plugins, auditPolicyFile: POLICY, ...settings });
    for (const name of ['a', 'b']) expect((await server.call('GET', `${MAPS}/${name}`)).status).toBe(404);
    await meanwhile(server);
    expect(await server.end()).toBe(0);
    return sinks.map(({ file }) => eventsIn(file));
  } finally {
    await server.dispose();
  }
}
const urisOf = (events: readonly AuditEvent[]): string[] => events.map(({ requestURI }) => requestURI);
const BOTH = [`${MAPS}/a`, `${MAPS}/b`];

describe('an audit sink', () => {
  test('gets every event that the policy selects, in addition to the audit log, and is closed at the end', async () => {
    const [file, log] = [newFile(), newFile()];
    const [events] = await written([{ file }], { auditLogPath: log });
    expect(urisOf(events!)).toEqual(BOTH);
    expect(eventsIn(log)).toEqual(events);
  });

  test('needs no audit log, and serves each listening thread', async () => {
    const file = newFile();
    const [events] = await written([{ file }], { listeningThreads: 2 });
    expect(urisOf(events!).sort()).toEqual(BOTH);
  });

  test('that fails is logged and counted, and others get the event', async () => {
    const [good, now, later, changes] = [newFile(), newFile(), newFile(), newFile()];
    const sinks = [
      { file: changes, fails: 'changes' },
      { file: now, fails: 'now' },
      { file: later, fails: 'later' },
      { file: good },
    ];
    const found = await written(sinks, {}, async server => {
      await eventuallyPasses(async () => {
        const counted = { plugin: 'test/audit-sinks', point: 'auditSink' };
        expect(await server.counter('capstan_plugin_errors_total', counted)).toBe(6);
      });
      const stacks = server.log.map(({ stack = '' }) => stack.split('\n')[0]);
      expect(stacks).toEqual(expect.arrayContaining(['Error: the sink is full', 'Error: the sink is gone']));
    });
    expect(found.map(urisOf)).toEqual([[], [], [], BOTH]);
    expect(found.at(-1)!.map(({ verb }) => verb)).toEqual(['get', 'get']);
  });

  test('without a policy gets nothing, which is logged', async () => {
    const server = new ConfiguredServer();
    try {
      await server.start({ plugins: [{ use: fixture('auditSinks'), config: { file: newFile() } }] });
      expect(server.log.map(({ message }) => message)).toContain(
        'no audit events are recorded: --audit-policy-file is not set',
      );
    } finally {
      await server.dispose();
    }
  });
});

let file = '';
const rotation = { maxBytes: 2 ** 20, maxBackups: 0, maxAgeMs: 0, compresses: false };
const batch = { bufferSize: 10_000, maxSize: 10, maxWaitMs: 0 };
for (const mode of ['blocking', 'batch'] as const)
  conforms(
    `the audit log in the mode ${mode}`,
    auditSinkConformance({
      make: () =>
        auditLog(
          { path: (file = newFile()), format: 'json', rotation, delivery: { mode, batch } },
          fakeHost('front').host,
        ),
      written: () => eventsIn(file),
    }),
  );

describe('the conformance suite of audit sinks', () => {
  const found = (write: (event: AuditEvent, lines: string[]) => void) => {
    let lines: string[] = [];
    return failing(
      auditSinkConformance({
        make() {
          lines = [];
          return { write: event => write(event, lines) };
        },
        written: () => lines.map(line => JSON.parse(line) as AuditEvent),
      }),
    );
  };
  const [takes, wrote] = [
    'takes events with all members and with few, and does not change them',
    'has written every event, in order, when it is closed',
  ];

  test.each<[string, Parameters<typeof found>[0], string[]]>([
    ['is right', (event, lines) => void lines.push(writeJson(event)), []],
    ['loses events', () => undefined, [wrote]],
    ['reorders events', (event, lines) => void lines.unshift(writeJson(event)), [wrote]],
    ['cannot write bigints', (event, lines) => void lines.push(JSON.stringify(event)), [takes, wrote]],
    ['needs a user', ({ user }) => void user.username!.length, [takes, wrote]],
    ['changes events', event => void Object.assign(event, { verb: '' }), [takes, 'takes many events at once', wrote]],
  ])('finds a sink that %s', async (_name, write, expected) => expect(await found(write)).toEqual(expected));

  test('provides an event that tests can vary', () => {
    expect(auditEvent({ verb: 'delete' })).toMatchObject({ kind: 'Event', verb: 'delete', user: { username: 'ann' } });
  });
});

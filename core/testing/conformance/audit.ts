import assert from 'node:assert/strict';
import type { AuditEvent, AuditSink, AuditStage } from '../../api/observe/audit.js';
import type { Awaitable } from '../../api/point.js';
import { type ConformanceTest, suite } from '../suite.js';
import { frozenCopy } from './samples.js';

/** An audit sink under test. */
export interface AuditSinkCase {
  /** Makes one that has taken no event; called for each test. */
  make(): Awaitable<AuditSink>;
  /**
   * Ids and stages of the events that the last created sink has written, in order, after it was closed. Absent: its
   * output cannot be read.
   */
  written?(): Awaitable<readonly Pick<AuditEvent, 'auditID' | 'stage'>[]>;
}

const TIME = '2030-01-01T00:00:00.000000Z';

/**
 * An audit event with default values.
 *
 * @example
 * await sink.write(auditEvent({ verb: 'delete' }));
 */
export const auditEvent = (more: Partial<AuditEvent> = {}): AuditEvent => ({
  kind: 'Event',
  apiVersion: 'audit.orchestrator.io/v1',
  level: 'Metadata',
  auditID: '7d1c7a3c-5a0b-4b0e-9d3b-0d4f0c1f2a3b',
  stage: 'ResponseComplete',
  requestURI: '/api/v1/namespaces/default/configmaps/sample',
  verb: 'get',
  user: { username: 'ann', groups: ['system:authenticated'] },
  objectRef: { resource: 'configmaps', namespace: 'default', name: 'sample', apiVersion: 'v1' },
  responseStatus: { metadata: {}, code: 200 },
  requestReceivedTimestamp: TIME,
  stageTimestamp: TIME,
  annotations: {},
  ...more,
});

const STAGES: readonly AuditStage[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete'];

/** Events with many members, few, hostile texts, and numbers that JSON.stringify refuses. */
const EVENTS: readonly AuditEvent[] = [
  ...STAGES.map(stage => auditEvent({ stage, auditID: stage })),
  {
    kind: 'Event',
    apiVersion: 'audit.orchestrator.io/v1',
    level: 'Metadata',
    auditID: 'few',
    stage: 'RequestReceived',
    requestURI: '/',
    verb: 'get',
    user: {},
    requestReceivedTimestamp: TIME,
    stageTimestamp: TIME,
  },
  auditEvent({ auditID: 'lines', userAgent: 'a\nb\r\n{"auditID":"c"}\u2028', user: { username: '\u0000"\\' } }),
  auditEvent({ auditID: 'large', level: 'Request', requestObject: { data: 'x'.repeat(100 * 1024) } }),
  auditEvent({ auditID: 'exact', level: 'RequestResponse', responseObject: { spec: { cups: 2n ** 62n } } }),
];

/**
 * Returns the tests that every audit sink must pass.
 *
 * @example
 * const written = () => readFileSync(file, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line));
 * for (const { name, run } of auditSinkConformance({ make: () => new AuditFile(file), written })) test(name, run);
 */
export function auditSinkConformance({ make, written }: AuditSinkCase): readonly ConformanceTest[] {
  return suite(({ it }) => {
    it('takes events with all members and with few, and does not change them', async () => {
      const sink = await make();
      for (const event of EVENTS) await sink.write(frozenCopy(event));
      await sink.close?.();
    });

    it('takes many events at once', async () => {
      const sink = await make();
      await Promise.all(Array.from({ length: 500 }, () => sink.write(frozenCopy(auditEvent()))));
      await sink.close?.();
    });

    it('has written every event, in order, when it is closed', async () => {
      const sink = await make();
      for (const event of EVENTS) await sink.write(frozenCopy(event));
      await sink.close?.();
      if (!written) return;
      const found = (await written()).map(({ auditID, stage }) => [auditID, stage]);
      assert.deepEqual(
        found,
        EVENTS.map(({ auditID, stage }) => [auditID, stage]),
      );
    });

    it('can be closed without an event', async () => {
      await (await make()).close?.();
    });
  });
}

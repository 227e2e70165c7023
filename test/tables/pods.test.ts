import { describe, expect, it } from 'vitest';
import { showCell } from '../../core/model/age.js';
import type { ApiObject } from '../../core/model/object.js';
import { columnsOf } from '../kinds/builtIn.js';
import { decoded } from '../kinds/helpers.js';

const NOW = Date.parse('2024-01-01T12:00:00Z');
const CREATED = '2024-01-01T11:58:30Z';

const object = (rest: object, metadata: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', creationTimestamp: CREATED, ...metadata },
  ...rest,
});
const cells = (storageName: string, value: ApiObject): unknown[] =>
  columnsOf(storageName, 'kubernetes')?.map(column => showCell(column.cell(decoded(storageName, value)), NOW)) ?? [];

describe('pods [R058]', () => {
  const at = '2020-01-01T00:00:00Z';
  const container = (name: string, state: object, rest: object = {}): object => ({
    name,
    ready: false,
    restartCount: 0,
    state,
    ...rest,
  });
  const running = { running: { startedAt: at } };
  const done = (reason: string, exitCode = 0, signal?: number): object => ({
    terminated: { exitCode, reason, signal, finishedAt: at },
  });
  const pod = (status: object, spec: object = {}, metadata: object = {}): unknown[] =>
    cells('core/pods', object({ spec: { containers: [{ name: 'c' }, { name: 'd' }], ...spec }, status }, metadata));
  const summary = (status: object, spec: object = {}, metadata: object = {}): unknown[] =>
    pod(status, spec, metadata).slice(1, 4);

  it('are Pending without any state', () => {
    expect(pod({ phase: 'Pending' })).toEqual([
      'x',
      '0/2',
      'Pending',
      '0',
      '90s',
      '<none>',
      '<none>',
      '<none>',
      '<none>',
    ]);
  });

  it.each<[string, unknown[], unknown[]]>([
    [
      'running',
      summary({
        phase: 'Running',
        containerStatuses: [
          container('c', running, { ready: true, restartCount: 2 }),
          container('d', running, { ready: true }),
        ],
      }),
      ['2/2', 'Running', '2'],
    ],
    [
      'waiting',
      summary({
        phase: 'Pending',
        containerStatuses: [
          container('c', { waiting: { reason: 'ContainerCreating' } }),
          container('d', { waiting: { reason: 'ImagePullBackOff' } }),
        ],
      }),
      ['0/2', 'ContainerCreating', '0'],
    ],
    [
      'crashing',
      summary({
        phase: 'Running',
        containerStatuses: [
          container('c', running, { ready: true }),
          container('d', { waiting: { reason: 'CrashLoopBackOff' } }, { restartCount: 7, lastState: done('Error', 1) }),
        ],
      }),
      ['1/2', 'CrashLoopBackOff', '7 (4y1d ago)'],
    ],
    [
      'ended by a signal',
      summary({
        phase: 'Failed',
        containerStatuses: [container('c', done('', 0, 9)), container('d', done('Completed'))],
      }),
      ['0/2', 'Signal:9', '0'],
    ],
    ['evicted', summary({ phase: 'Failed', reason: 'Evicted' }), ['0/2', 'Evicted', '0']],
    [
      'half done',
      summary({
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [container('c', done('Completed')), container('d', running, { ready: true })],
      }),
      ['1/2', 'Running', '0'],
    ],
    [
      'half done and not ready',
      summary({
        phase: 'Running',
        containerStatuses: [container('c', done('Completed')), container('d', running, { ready: true })],
      }),
      ['1/2', 'NotReady', '0'],
    ],
    [
      'initialising',
      summary(
        {
          phase: 'Pending',
          initContainerStatuses: [
            container('i', done('Completed')),
            container('j', { waiting: { reason: 'PodInitializing' } }),
          ],
        },
        { initContainers: [{ name: 'i' }, { name: 'j' }] },
      ),
      ['0/2', 'Init:1/2', '0'],
    ],
    [
      'failing to initialize',
      summary(
        {
          phase: 'Pending',
          initContainerStatuses: [
            container('i', done('Error', 1), { restartCount: 3 }),
            container('j', { waiting: {} }),
          ],
        },
        { initContainers: [{ name: 'i' }, { name: 'j' }] },
      ),
      ['0/2', 'Init:Error', '3'],
    ],
    [
      'with a sidecar',
      summary(
        {
          phase: 'Running',
          initContainerStatuses: [container('s', running, { ready: true, started: true, restartCount: 4 })],
          containerStatuses: [container('c', running, { ready: true }), container('d', running, { ready: true })],
        },
        { initContainers: [{ name: 's', restartPolicy: 'Always' }] },
      ),
      ['3/3', 'Running', '4'],
    ],
    [
      'gated',
      summary({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
      ['0/2', 'SchedulingGated', '0'],
    ],
    ['terminating', summary({ phase: 'Running' }, {}, { deletionTimestamp: at }), ['0/2', 'Terminating', '0']],
    ['lost', summary({ phase: 'Running', reason: 'NodeLost' }, {}, { deletionTimestamp: at }), ['0/2', 'Unknown', '0']],
    [
      'completed although deleted',
      summary(
        { phase: 'Succeeded', containerStatuses: [container('c', done('Completed'))] },
        {},
        { deletionTimestamp: at },
      ),
      ['0/2', 'Completed', '0'],
    ],
  ])('%s', (_name, actual, expected) => {
    expect(actual).toEqual(expected);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import { countIndexes } from '../../plugins/kinds/batch/job/spec.js';
import { scheduleProblem, timeZoneProblems } from '../../plugins/kinds/batch/cronJob/schedule.js';
import { create, contextWith, lines, object, strategyOf, update } from './helpers.js';

const pod = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'registry.example/c:1' }] };
const job = (spec: object = {}, podSpec: object = {}): ApiObject =>
  object('Job', { spec: { template: { spec: { ...pod, ...podSpec } }, ...spec } }, 'batch/v1');
const fields = (found: readonly { field: string }[]): string[] => found.map(({ field }) => field);
const messagesOf = (spec: object, podSpec: object = {}): string[] =>
  fields(create('batch/jobs', job(spec, podSpec)).violations);

describe('jobs', () => {
  it.each<[object, string[]]>([
    [{}, []],
    [{ selector: { matchLabels: { a: 'b' } } }, ['spec.selector', 'spec.template.metadata.labels']],
    [{ manualSelector: true }, ['spec.selector', 'spec.template.metadata.labels']],
    [{ completionMode: 'Indexed', parallelism: 2 }, ['spec.completions']],
    [{ backoffLimitPerIndex: 1 }, ['spec.backoffLimitPerIndex']],
    [
      { completionMode: 'Indexed', completions: 3, maxFailedIndexes: 4, backoffLimitPerIndex: 1 },
      ['spec.maxFailedIndexes'],
    ],
    [
      { podFailurePolicy: { rules: [{ action: 'FailIndex', onPodConditions: [{ type: 'X' }] }] } },
      ['spec.podFailurePolicy.rules[0].action'],
    ],
    [{ podFailurePolicy: { rules: [{ action: 'Count' }] } }, ['spec.podFailurePolicy.rules[0]']],
    [
      {
        completionMode: 'Indexed',
        completions: 3,
        successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 3 }] },
      },
      ['spec.successPolicy.rules[0].succeededCount'],
    ],
    [{ managedBy: 'example.com/mine' }, []],
    [{ managedBy: 'example.com/' }, ['spec.managedBy']],
  ])('%j is refused with %j', (spec, wrong) => {
    expect(messagesOf(spec)).toEqual(wrong);
  });
  it.each<[string, object, string[]]>([
    [
      'rules',
      { podFailurePolicy: { rules: Array(21).fill({ action: 'Count', onPodConditions: [{ type: 'X' }] }) } },
      ['rules'],
    ],
    [
      'conditions of a rule',
      { podFailurePolicy: { rules: [{ action: 'Count', onPodConditions: Array(21).fill({ type: 'X' }) }] } },
      ['rules[0].onPodConditions'],
    ],
  ])('the number of %s of a failure policy is limited', (_, spec, wrong) => {
    expect(messagesOf(spec)).toEqual(wrong.map(field => `spec.podFailurePolicy.${field}`));
  });
  it('the parallelism of very many indexes that may fail independently is limited', () => {
    const many = { completionMode: 'Indexed', completions: 100_001, backoffLimitPerIndex: 1, maxFailedIndexes: 1 };
    expect(messagesOf({ ...many, parallelism: 10_000 })).toEqual([]);
    expect(messagesOf({ ...many, parallelism: 10_001 })).toEqual(['spec.parallelism']);
  });
  it('the length of the succeeded indexes is limited', () => {
    const succeededIndexes = Array.from({ length: 20_000 }, (_, i) => String(i)).join(',');
    const rules = [{ succeededIndexes }];
    expect(messagesOf({ completionMode: 'Indexed', completions: 20_000, successPolicy: { rules } })).toEqual([
      'spec.successPolicy.rules[0].succeededIndexes',
    ]);
  });
  it('pods with a failure policy have the restart policy Never', () => {
    expect(messagesOf({ podFailurePolicy: { rules: [] } }, { restartPolicy: 'OnFailure' })).toEqual([
      'spec.template.spec.restartPolicy',
    ]);
  });
  it('completions of an indexed job change only with its parallelism, those of other jobs never', () => {
    const of = (mode: string) =>
      create('batch/jobs', job({ completionMode: mode, completions: 2, parallelism: 2 })).made;
    const change = (made: ApiObject, to: object) =>
      fields(update('batch/jobs', made, draft => void Object.assign(draft.spec as object, to)).violations);
    expect(change(of('Indexed'), { completions: 3, parallelism: 3 })).toEqual([]);
    expect(change(of('Indexed'), { completions: 3 })).toEqual(['spec.completions']);
    expect(change(of('NonIndexed'), { completions: 3, parallelism: 3 })).toEqual(['spec.completions']);
  });
  it('a suspended job that has not started can change its scheduling, but not its containers', () => {
    const { made } = create('batch/jobs', job({ suspend: true }));
    const change = (to: object) =>
      fields(
        update(
          'batch/jobs',
          made,
          draft => void Object.assign((draft.spec as { template: { spec: object } }).template.spec, to),
        ).violations,
      );
    expect(change({ nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }] })).toEqual([]);
    expect(change({ containers: [{ name: 'c', image: 'registry.example/d:1' }] })).toContain('spec.template');
  });
  it('counts the indexes in a list of ranges', () => {
    expect(countIndexes('0,2-4,7', 8)).toBe(5);
    expect(countIndexes('', 8)).toBe(0);
    expect(countIndexes('2-1', 8)).toMatch(/non-increasing/);
    expect(countIndexes('8', 8)).toMatch(/too large/);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(99)),
        all => countIndexes([...all].sort((a, b) => a - b).join(','), 100) === all.length,
      ),
    );
  });
});

describe('schedules', () => {
  it.each(['* * * * *', '*/5 0-23/2 1,15 jan-DEC sun', '5/10 ? * * ?', '@daily', '@every 1h30m', 'TZ=UTC 0 0 * * *'])(
    '%s is valid',
    text => {
      expect(scheduleProblem(text)).toBeUndefined();
    },
  );
  it.each([
    '',
    '* * * *',
    '60 * * * *',
    '* * 0 * *',
    '* * * foo *',
    '*/0 * * * *',
    '1-2-3 * * * *',
    '1/2/3 * * * *',
    '-1 * * * *',
    '@reboot',
    '@every day',
  ])('%j is invalid', text => {
    expect(scheduleProblem(text)).toBeTypeOf('string');
  });
  it.each([
    ['@every 1', 'failed to parse duration @every 1: time: missing unit in duration "1"'],
    ['@every 1d', 'failed to parse duration @every 1d: time: unknown unit "d" in duration "1d"'],
    ['TZ=Mars/Base * * * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
    [
      '99999999999999999999 * * * *',
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
  ])('%s is invalid: %s', (text, why) => {
    expect(scheduleProblem(text)).toBe(why);
  });
  it('ranges within the limits of every field are valid', () => {
    fc.assert(
      fc.property(fc.nat(59), fc.nat(59), (a, b) => (scheduleProblem(`${a}-${b} * * * *`) === undefined) === a <= b),
    );
  });
  it('time zones have IANA names', () => {
    for (const zone of ['UTC', 'Europe/Paris', 'Etc/GMT+5']) expect(timeZoneProblems(zone)).toEqual([]);
    for (const zone of ['Mars/Base', 'utc ', '+01:00', 'Local', '', 'PST', 'US/Pacific-New'])
      expect(timeZoneProblems(zone)).toHaveLength(1);
  });
});

describe('warnings of pods', () => {
  const warningsOf = (kind: string, given: ApiObject): string[] => {
    const found: string[] = [];
    create(kind, given, { ...contextWith(), warn: text => void found.push(text) });
    return found;
  };
  const container = (more: object) => ({ containers: [{ ...pod.containers[0], ...more }] });
  it('are about fractional bytes, redefined variables and removed volume types', () => {
    expect(
      warningsOf(
        'core/pods',
        object('Pod', { spec: container({ resources: { limits: { memory: '100m', cpu: '100m' } } }) }),
      ),
    ).toEqual([
      'spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
      'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    ]);
    const env = [
      { name: 'A', value: '1' },
      { name: 'A', value: '$(A)2' },
      { name: 'A', value: '3' },
    ];
    expect(warningsOf('core/pods', object('Pod', { spec: container({ env }) }))).toEqual([
      'spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply',
    ]);
  });
  it('name the field of a template, and only when it changes', () => {
    const spec = {
      ...pod,
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    };
    const given = object('Job', { spec: { template: { spec } } }, 'batch/v1');
    expect(warningsOf('batch/jobs', given)).toEqual([
      'spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
    ]);
    const { made } = create('batch/jobs', given);
    const found: string[] = [];
    strategyOf('batch/jobs').validateUpdate(made, made, { ...contextWith(), warn: text => void found.push(text) });
    expect(found).toEqual([]);
    expect(lines(strategyOf('batch/jobs').validateUpdate(made, made, contextWith()))).toEqual([]);
  });
});

describe('the status of a job', () => {
  const messagesOf = (now: object, before: object = {}, spec: object = {}): string[] => {
    const of = (status: object) => object('Job', { spec, status }, 'batch/v1');
    return lines(strategyOf('batch/jobs').validateStatus(of(now), of(before), contextWith()));
  };
  const is = (...types: string[]) => types.map(type => ({ type, status: 'True' }));
  const times = { startTime: '2024-01-01T00:00:00Z', completionTime: '2024-01-01T00:00:10Z' };
  it('has end conditions that exclude or require each other and cannot be removed', () => {
    expect(messagesOf({ ...times, conditions: is('SuccessCriteriaMet', 'Complete') })).toEqual([]);
    expect(messagesOf({ ...times, conditions: is('Complete') })).toHaveLength(1);
    expect(messagesOf({ startTime: times.startTime, conditions: is('FailureTarget', 'Failed') })).toEqual([]);
    expect(messagesOf({ conditions: is('FailureTarget', 'SuccessCriteriaMet') })).toHaveLength(1);
    expect(messagesOf({}, { conditions: is('FailureTarget') })).toHaveLength(1);
    expect(messagesOf({ completionTime: times.completionTime })).toEqual([
      'status.completionTime: Invalid value: 2024-01-01 00:00:10 +0000 UTC: cannot set completionTime when there is no Complete=True condition',
    ]);
  });
  it('only increases counts, and ready pods are active', () => {
    expect(messagesOf({ failed: 2, active: 1, ready: 1 }, { failed: 1 })).toEqual([]);
    expect(messagesOf({ failed: 1 }, { failed: 2 })).toEqual([
      'status.failed: Invalid value: 1: cannot decrease the failed counter',
    ]);
    expect(messagesOf({ active: 1, ready: 2 })).toHaveLength(1);
  });
  it('has a start time that changes only while the job is suspended', () => {
    const [first, second] = [{ startTime: '2024-01-01T00:00:00Z' }, { startTime: '2024-01-01T00:00:01Z' }];
    const refused = ['status.startTime: Required value: startTime cannot be removed for unsuspended job'];
    expect(messagesOf(first)).toEqual([]);
    expect(messagesOf(first, first)).toEqual([]);
    for (const now of [second, {}]) {
      expect(messagesOf(now, first)).toEqual(refused);
      expect(messagesOf(now, first, { suspend: true })).toEqual([]);
    }
  });
  it('contains only existing indexes', () => {
    const spec = { completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 1 };
    expect(messagesOf({ completedIndexes: '0,2', failedIndexes: '1' }, {}, spec)).toEqual([]);
    expect(messagesOf({ completedIndexes: '0-3' }, {}, spec)).toHaveLength(1);
    expect(messagesOf({ completedIndexes: '0' })).toHaveLength(1);
  });
});

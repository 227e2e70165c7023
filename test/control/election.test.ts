import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { InternalRequest } from '../../core/api/host.js';
import type { ApiObject } from '../../core/model/object.js';
import { conflict, notFound, Refusal } from '../../core/model/refusal.js';
import { namingOf } from '../../core/naming.js';
import { Election } from '../../workers/control/election.js';

const WHAT = { group: 'coordination.orchestrator.io', resource: 'leases' };

/** A server that stores one lease, and can be made unavailable. */
class Leases {
  lease: (ApiObject & { spec: Record<string, unknown> }) | undefined;
  version = 0;
  away = false;
  namespace = false;
  readonly paths: string[] = [];
  readonly elections: Election[] = [];

  async request({ method, path, body }: InternalRequest): Promise<ApiObject> {
    this.paths.push(`${method} ${path}`);
    if (this.away) throw new Refusal('Timeout', 'away');
    if (path.endsWith('/namespaces')) {
      this.namespace = true;
      return body as ApiObject;
    }
    if (!this.namespace) throw notFound({ group: '', resource: 'namespaces' }, 'orchestrator-system');
    const given = body as NonNullable<Leases['lease']>;
    if (method === 'POST' && this.lease) throw new Refusal('AlreadyExists', 'there is one');
    if (method === 'PUT' && given.metadata.resourceVersion !== this.lease?.metadata.resourceVersion)
      throw conflict(WHAT, 'x', 'stale');
    this.lease = { ...given, metadata: { ...given.metadata, resourceVersion: String(++this.version) } };
    for (const election of this.elections) election.onLeaseChange(`orchestrator-system/${given.metadata.name}`);
    return this.lease;
  }

  candidate(lost = () => {}): Election {
    const election = new Election({
      identity: `candidate-${this.elections.length}-${this.version}`,
      naming: namingOf('neutral'),
      request: asked => this.request(asked),
      lease: () => this.lease,
      now: Date.now,
      log: () => {},
      onLost: lost,
    });
    this.elections.push(election);
    return election;
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

it('the first candidate leads, after creating the namespace of the lease; the second waits while the first renews', async () => {
  const leases = new Leases();
  const [a, b] = [leases.candidate(), leases.candidate()];
  await a.lead();
  void b.lead();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([a.leading, b.leading]).toEqual([true, false]);
  expect(leases.paths.slice(0, 3)).toEqual([
    'POST /apis/coordination.orchestrator.io/v1/namespaces/orchestrator-system/leases',
    'POST /api/v1/namespaces',
    'POST /apis/coordination.orchestrator.io/v1/namespaces/orchestrator-system/leases',
  ]);
  expect(leases.lease).toMatchObject({ kind: 'Lease', spec: { leaseTransitions: 0, leaseDurationSeconds: 10 } });
});

it('a process leads only after it has become a candidate, whatever changes of the lease it receives before that', async () => {
  const leases = new Leases();
  const [a, b] = [leases.candidate(), leases.candidate()];
  await a.lead();
  await a.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([b.leading, leases.lease?.spec['holderIdentity']]).toEqual([false, '']);
  await b.lead();
  expect(b.leading).toBe(true);
});

it('a lease that is no longer renewed is taken over within 15 seconds, and not before its duration has passed', async () => {
  const leases = new Leases();
  const [dead, b] = [leases.candidate(), leases.candidate()];
  await dead.lead();
  void b.lead();
  await vi.advanceTimersByTimeAsync(5000);
  // As after `kill -9`: no part of it continues to run.
  const held = leases.lease;
  leases.elections.shift();
  const write = leases.request.bind(leases);
  leases.request = async asked => {
    const spec = (asked.body as { spec?: { holderIdentity?: string } }).spec;
    if (spec?.holderIdentity === held?.spec['holderIdentity']) throw new Refusal('Timeout', 'dead');
    return await write(asked);
  };
  await vi.advanceTimersByTimeAsync(7000);
  expect(b.leading).toBe(false);
  await vi.advanceTimersByTimeAsync(8000);
  expect(b.leading).toBe(true);
  expect(leases.lease?.spec['leaseTransitions']).toBe(1);
});

it('a leader that cannot renew stops before another candidate can take over', async () => {
  const leases = new Leases();
  let lostAt = 0;
  const a = leases.candidate(() => {
    lostAt = performance.now();
  });
  await a.lead();
  const from = performance.now();
  leases.away = true;
  await vi.advanceTimersByTimeAsync(12_000);
  expect(a.leading).toBe(false);
  expect(lostAt - from).toBeGreaterThan(0);
  expect(lostAt - from).toBeLessThan(10_000);
});

it('a leader that is closed hands over immediately', async () => {
  const leases = new Leases();
  const [a, b] = [leases.candidate(), leases.candidate()];
  await a.lead();
  void b.lead();
  await vi.advanceTimersByTimeAsync(100);
  await a.close();
  await vi.advanceTimersByTimeAsync(0);
  expect([a.leading, b.leading]).toEqual([false, true]);
});

it('a candidate that is closed while it becomes leader hands over', async () => {
  const leases = new Leases();
  const a = leases.candidate();
  void a.lead();
  await a.close();
  expect(a.leading).toBe(false);
  expect(leases.lease?.spec['holderIdentity']).toBe('');
});

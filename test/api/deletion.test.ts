import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Loose, causesIn } from './support.js';
import { MERGE } from '../support/mediaTypes.js';

const HOLD = ['example.com/hold'];
const metadataOf = ({ body }: { body: Loose }): Loose => body['metadata']!;

describe('a deletion', () => {
  let api: Api;
  let maps: string;
  let pods: string;
  beforeAll(async () => {
    api = await Api.shared();
    const shop = await api.namespace('deletion');
    maps = `${shop}/configmaps`;
    pods = `${shop}/pods`;
  });
  afterAll(() => api.close());

  /** A pod that is assigned to a node. */
  const running = (name: string, finalizers: string[] = []) => ({
    metadata: { name, finalizers },
    spec: { nodeName: 'n', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
  });

  test('of a collection is answered with the metadata of its objects if the client requests metadata', async () => {
    const labels = { of: 'list' };
    await api.made(maps, { metadata: { name: 'm1', labels } });
    // The answer is the object and not a Status if the object remains.
    await api.made(maps, { metadata: { name: 'm2', labels, finalizers: ['example.com/stays'] } });
    const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
    const { status, body } = await api.call('DELETE', `${maps}?labelSelector=of%3Dlist`, { accept });
    expect([status, body['kind']]).toEqual([200, 'PartialObjectMetadataList']);
    const items = body['items'] as unknown as { kind: string; metadata: { name: string } }[];
    expect(items.map(item => [item.kind, item.metadata.name])).toEqual(
      ['m1', 'm2'].map(name => ['PartialObjectMetadata', name]),
    );
    expect((await api.get(`${maps}/m1`)).status).toBe(404);
    expect((await api.get(`${maps}/m2`)).body['metadata']).toHaveProperty('deletionTimestamp');
  });

  test('in progress is shortened only by a shorter grace period', async () => {
    await api.made(pods, running('slow'));
    const grace = async (query: string) => {
      const { deletionGracePeriodSeconds, finalizers } = metadataOf(await api.delete(`${pods}/slow?${query}`));
      return [deletionGracePeriodSeconds, finalizers];
    };
    expect(await grace('gracePeriodSeconds=100')).toEqual([100, undefined]);
    expect(await grace('')).toEqual([100, undefined]);
    expect(await grace('gracePeriodSeconds=200&propagationPolicy=Orphan')).toEqual([100, undefined]);
    expect(await grace('gracePeriodSeconds=50')).toEqual([50, undefined]);
    await api.patch(`${pods}/slow/status`, MERGE, { status: { phase: 'Succeeded' } });
    expect(await grace('')).toEqual([50, undefined]);
    expect(await grace('gracePeriodSeconds=0')).toEqual([0, undefined]);
    expect((await api.get(`${pods}/slow`)).status).toBe(404);
  });

  test('whose grace period has ended completes once there are no finalizers', async () => {
    await api.made(pods, running('held', HOLD));
    await api.delete(`${pods}/held?gracePeriodSeconds=0`);
    expect(metadataOf(await api.delete(`${pods}/held`))).toMatchObject({
      deletionGracePeriodSeconds: 0,
      finalizers: HOLD,
    });
    await api.patch(`${pods}/held`, MERGE, { metadata: { finalizers: null } });
    expect((await api.get(`${pods}/held`)).status).toBe(404);
  });

  test('keeps its time in an update', async () => {
    await api.made(maps, { metadata: { name: 'marked', finalizers: HOLD } });
    const { deletionTimestamp } = metadataOf(await api.delete(`${maps}/marked`));
    const moved = await api.patch(`${maps}/marked`, MERGE, { metadata: { deletionTimestamp: '2040-01-01T00:00:00Z' } });
    expect([moved.status, metadataOf(moved)['deletionTimestamp']]).toEqual([200, deletionTimestamp]);
  });

  test('of a Job warns unless it names a propagation policy, also if it is refused', async () => {
    const jobs = '/apis/batch/v1/namespaces/deletion/jobs';
    const warning = expect.stringContaining('child pods are preserved by default when jobs are deleted');
    const warningOf = async (path: string, body?: object) => {
      const { status, headers } = await api.delete(jobs + path, body);
      return [status, headers['warning']];
    };
    expect(await warningOf('/absent')).toEqual([404, warning]);
    expect(await warningOf('/absent?propagationPolicy=Background')).toEqual([404, undefined]);
    expect(await warningOf('/absent', { orphanDependents: false })).toEqual([404, undefined]);
    expect(await warningOf('')).toEqual([200, warning]);
    expect(await warningOf('?propagationPolicy=Background')).toEqual([200, undefined]);
  });

  test('with a precondition that fails names the kind in its storage version', async () => {
    const events = '/apis/events.k8s.io/v1/namespaces/deletion/events';
    await api.made('/api/v1/namespaces/deletion/events', {
      metadata: { name: 'e' },
      involvedObject: { namespace: 'deletion' },
      reason: 'r',
    });
    const { status, body } = await api.delete(`${events}/e`, { preconditions: { uid: 'other' } });
    expect(status).toBe(409);
    expect(body['message']).toContain('Operation cannot be fulfilled on Event "e"');
  });

  test('of a kind that orphans by default sets the finalizer again if the garbage collector has removed it', async () => {
    const jobs = maps.replace('/api/v1', '/apis/batch/v1').replace('configmaps', 'jobs');
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    await api.made(jobs, { metadata: { name: 'again', finalizers: HOLD }, spec: { suspend: true, template } });
    const remove = async (propagationPolicy?: string) =>
      metadataOf(await api.delete(`${jobs}/again`, { propagationPolicy }))['finalizers'];
    expect(await remove('Background')).toEqual(HOLD);
    expect(await remove()).toEqual([...HOLD, 'orphan']);
  });

  test('increments the generation, even of a kind without generation', async () => {
    await api.made(maps, { metadata: { name: 'counted', generation: 7, finalizers: HOLD } });
    expect(metadataOf(await api.delete(`${maps}/counted`))['generation']).toBe(8);
  });

  test('reads preconditions from the query if there is no body', async () => {
    await api.made(maps, { metadata: { name: 'asked' } });
    for (const query of ['uid=other', 'resourceVersion=1']) {
      const { status, body } = await api.delete(`${maps}/asked?${query}`);
      expect([status, body['message']]).toEqual([409, expect.stringContaining('in the precondition')]);
    }
    expect((await api.delete(`${maps}/asked?uid=other&dryRun=All`, {})).status).toBe(200);
    expect((await api.delete(`${maps}/asked?uid=&resourceVersion=`)).status).toBe(200);
  });

  test('of a namespace reports failed preconditions like an update', async () => {
    const { uid, resourceVersion } = metadataOf({
      body: await api.made('/api/v1/namespaces', { metadata: { name: 'kept' } }),
    });
    for (const [preconditions, why] of [
      [{ uid: 'x' }, `UID in precondition: x, UID in object meta: ${uid}`],
      [
        { resourceVersion: '1' },
        `ResourceVersion in precondition: 1, ResourceVersion in object meta: ${resourceVersion}`,
      ],
    ] as const) {
      const { status, body } = await api.delete('/api/v1/namespaces/kept', { preconditions });
      const message = `Operation cannot be fulfilled on namespaces "kept": Precondition failed: ${why}`;
      expect([status, body['message']]).toEqual([409, message]);
    }
  });

  test('with invalid options is refused with all errors', async () => {
    const { status, body } = await api.delete(`${maps}/any?propagationPolicy=Nope&dryRun=some`);
    const causes = causesIn(body);
    expect([status, causes.map(cause => cause.field)]).toEqual([422, ['propagationPolicy', 'dryRun']]);
    // Only in a query an empty value stands for none.
    expect((await api.delete(`${maps}/any`, { dryRun: [''] })).status).toBe(422);
  });

  test('reports a policy that contradicts orphanDependents before an unknown policy', async () => {
    const { status, body } = await api.delete(`${maps}/any`, { propagationPolicy: 'Nope', orphanDependents: true });
    const causes = causesIn(body);
    expect([status, causes.map(cause => cause.reason)]).toEqual([422, ['FieldValueInvalid', 'FieldValueNotSupported']]);
  });

  test('shows in a dry run without grace the time at which the deletion began', async () => {
    await api.made(pods, running('rehearsed'));
    const first = metadataOf(await api.delete(`${pods}/rehearsed?gracePeriodSeconds=300`));
    const dry = metadataOf(await api.delete(`${pods}/rehearsed?gracePeriodSeconds=0&dryRun=All`));
    const seconds = (metadata: typeof dry): number => Date.parse(String(metadata['deletionTimestamp'])) / 1000;
    expect([dry['deletionGracePeriodSeconds'], seconds(first) - seconds(dry)]).toEqual([0, 300]);
  });

  test.each(['9007199254740993', '9223372036854775807'])(
    'with a grace period of %s s sets the deletion timestamp',
    async seconds => {
      await api.made(pods, running(`patient-${seconds}`));
      const { status, body } = await api.delete(`${pods}/patient-${seconds}?gracePeriodSeconds=${seconds}`);
      expect([status, body['metadata']!['deletionTimestamp']]).toEqual([200, expect.any(String)]);
    },
  );

  test('of an event does not wait for dependents', async () => {
    const events = '/api/v1/namespaces/default/events';
    await api.made(events, { metadata: { name: 'e' }, involvedObject: {} });
    expect((await api.delete(`${events}/e?propagationPolicy=Foreground`)).body.kind).toBe('Status');
    expect((await api.get(`${events}/e`)).status).toBe(404);
  });
});

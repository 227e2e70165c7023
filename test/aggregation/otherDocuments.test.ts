import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AGGREGATED_WAIT_MS } from '../../core/limits.js';
import type { AggregatedVersion } from '../../workers/front/aggregation/apiServices.js';
import { OtherDocuments } from '../../workers/front/aggregation/otherDocuments.js';

const versionOf = (name: string, isAvailable = true): AggregatedVersion => ({
  name: `v1.${name}`,
  group: name,
  version: 'v1',
  priorities: { group: 10, version: 10 },
  service: { namespace: 'default', name, port: 443 },
  ca: undefined,
  skipsVerification: true,
  isAvailable,
});

describe('documents of other servers', () => {
  let versions: Map<string, AggregatedVersion>;
  let asked: string[];
  /** Groups whose servers do not answer; all other servers answer at once. */
  let hanging: Set<string>;
  let documents: OtherDocuments<string>;
  beforeEach(() => {
    vi.useFakeTimers();
    versions = new Map();
    asked = [];
    hanging = new Set();
    documents = new OtherDocuments({ versions: () => versions }, async of => {
      const { group } = of[0]!;
      asked.push(group);
      if (group === 'broken') throw new TypeError('no such member');
      if (hanging.has(group)) await new Promise(() => undefined);
      return new Map(of.map(({ name }) => [name, `of ${name}`]));
    });
  });
  afterEach(() => vi.useRealTimers());

  const add = (...all: AggregatedVersion[]): void => {
    versions = new Map([...versions, ...all.map(one => [one.name, one] as const)]);
  };
  const known = (group: string) => documents.known.get(`v1.${group}`);

  test('are fetched when a version is new, and again after a minute', async () => {
    add(versionOf('tea'));
    await documents.refresh();
    expect(known('tea')).toMatchObject({ value: 'of v1.tea', isCurrent: true });
    await documents.refresh();
    expect(asked).toEqual(['tea']);
    await vi.advanceTimersByTimeAsync(61_000);
    await documents.refresh();
    expect(asked).toEqual(['tea', 'tea']);
  });

  test('remain the same objects as long as nothing changes', async () => {
    add(versionOf('tea'));
    await documents.refresh();
    const { known } = documents;
    await vi.advanceTimersByTimeAsync(61_000);
    await documents.refresh();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(['tea', 'tea']);
    expect(documents.known).toBe(known);
    add(versionOf('tea', false));
    await documents.refresh();
    expect(documents.known).not.toBe(known);
  });

  test('of a server that hangs are awaited for a limited time, without a delay for those of others', async () => {
    hanging.add('slow');
    add(versionOf('slow'), versionOf('tea'));
    const refreshed = documents.refresh();
    await vi.advanceTimersByTimeAsync(AGGREGATED_WAIT_MS);
    await refreshed;
    expect(known('tea')).toMatchObject({ isCurrent: true });
    expect(known('slow')).toBeUndefined();
    await documents.refresh();
    expect(asked).toEqual(['slow', 'tea']);
  });

  test('of a server that has become unavailable are kept, but marked as not current', async () => {
    add(versionOf('tea'));
    await documents.refresh();
    add(versionOf('tea', false));
    await documents.refresh();
    expect(known('tea')).toMatchObject({ value: 'of v1.tea', isCurrent: false });
    expect(asked).toEqual(['tea']);
  });

  test('that could not be fetched are requested again after a few seconds', async () => {
    add(versionOf('broken'));
    await documents.refresh();
    await vi.advanceTimersByTimeAsync(6000);
    await documents.refresh();
    expect(asked).toEqual(['broken', 'broken']);
  });

  test('that cannot be parsed are not current, and those of a removed version are dropped', async () => {
    add(versionOf('broken'));
    await documents.refresh();
    expect(known('broken')).toMatchObject({ value: undefined, isCurrent: false });
    versions = new Map();
    add(versionOf('tea'));
    await documents.refresh();
    expect([...documents.known.keys()]).toEqual(['v1.tea']);
  });
});

import { describe, expect, test } from 'vitest';
import {
  type ApiObject,
  type Controller,
  type HealthCheck,
  type Host,
  type HttpDocument,
  type HttpSite,
  type MetricDefinition,
  Refusal,
  type Service,
  type TokenIssuer,
} from '../../core/api/index.js';
import {
  controllerConformance,
  healthCheckConformance,
  httpDocumentsConformance,
  httpSiteConformance,
  metricsConformance,
  serviceConformance,
  tokenIssuerConformance,
} from '../../core/testing/index.js';
import { failing } from './failing.js';
import { inVirtualTime } from '../support/virtualTime.js';

/* The findings of the suites of controllers, health checks, documents, metrics and token issuers. */

const namespace: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } };
const STARTS = 'writes nothing when it starts in the state that it has reached';
const EVENTS = 'reaches its state from events after its start';
const RETRIES = 'retries requests that are refused';
const RELEASED = 'sends no request after its release';

describe('the suite of controllers', () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own' } };
  /** A controller that creates a ConfigMap in each namespace; `changed` breaks this in one way. */
  const made =
    (changed: { once?: true; again?: true; deaf?: true; endless?: true; name?: string } = {}) =>
    (host: Host<'control'>): Controller => {
      let isClosed = false;
      host.onClose(() => {
        isClosed = changed.endless !== true;
      });
      const create = async (name: string): Promise<void> => {
        const exists = host.informer('core/configmaps').get(name, 'own') !== undefined;
        if (isClosed || (exists && !changed.again)) return;
        const path = `/api/v1/namespaces/${name}/configmaps`;
        try {
          await host.request('own', { method: 'POST', path, body });
        } catch (error) {
          if (!(error instanceof Refusal && error.reason === 'Conflict') || changed.once) return;
          await create(name);
        }
      };
      const pending: Promise<void>[] = [];
      return {
        name: changed.name ?? 'own',
        start: async () => {
          let isStarted = false;
          host.watch(({ storageName, type, name }) => {
            if (storageName !== 'core/namespaces' || type !== 'ADDED' || (changed.deaf && isStarted)) return;
            pending.push(create(name));
          });
          isStarted = true;
          await Promise.all(pending);
        },
      };
    };
  const found = (changed?: Parameters<typeof made>[0]) =>
    failing(
      controllerConformance({
        make: made(changed),
        objects: [{ storageName: 'core/namespaces', object: namespace }],
        requests: ['POST /api/v1/namespaces/a/configmaps'],
      }),
    );

  test.each<[string, Parameters<typeof made>[0], string[]]>([
    ['is right', {}, []],
    ['has a name that is not a label', { name: 'My Controller' }, ['has a name that a service account can have']],
    ['writes objects that already exist', { again: true }, [STARTS]],
    ['continues after its release', { endless: true }, [RELEASED]],
  ])('finds a controller that %s', async (_name, changed, expected) => expect(await found(changed)).toEqual(expected));

  // The suite waits for a few seconds for work that such a controller does not do.
  test.each<[string, Parameters<typeof found>[0], string[]]>([
    ['gives up', { once: true }, [RETRIES]],
    ['ignores events', { deaf: true }, [EVENTS]],
  ])('finds a controller that %s', async (_name, changed, expected) => {
    expect(await inVirtualTime(pass => pass(found(changed)))).toEqual(expected);
  });
});

describe('the suite of health checks', () => {
  const check: HealthCheck = { name: 'disk', of: ['livez'], check: () => undefined };
  const unhealthy = async (): Promise<void> => {
    throw new Error('less than 1 GB is free');
  };
  const found = (changed: object, broken: HealthCheck['check'] = unhealthy) =>
    failing(
      healthCheckConformance({
        make: () => ({ ...check, ...changed }) as HealthCheck,
        makeUnhealthy: () => ({ ...check, check: broken }),
      }),
    );

  test.each<[string, object, string[]]>([
    ['is right', {}, []],
    ['has a name with spaces', { name: 'my disk' }, ['has a name that can be part of a path, and endpoints']],
    ['belongs to no endpoint', { of: [] }, ['has a name that can be part of a path, and endpoints']],
    ['belongs to an unknown endpoint', { of: ['health'] }, ['has a name that can be part of a path, and endpoints']],
    ['returns false', { check: () => false }, ['passes each time while all is well']],
  ])('finds a health check that %s', async (_name, changed, expected) =>
    expect(await found(changed)).toEqual(expected),
  );

  test('finds a health check that always passes', async () => {
    expect(await found({}, () => undefined)).toEqual(['throws an error that says what is unhealthy, each time']);
  });
});

describe('the suite of documents', () => {
  const robots = {
    path: '/robots.txt',
    contentType: 'text/plain',
    headers: { 'cache-control': 'no-cache' },
    body: () => '',
  };
  const found = (changed: object) =>
    failing(
      httpDocumentsConformance({
        make: () => [{ ...robots, ...changed } as HttpDocument],
        paths: [(changed as { path?: string }).path ?? '/robots.txt'],
      }),
    );

  test.each<[string, object, string[]]>([
    ['is right', {}, []],
    ['has a path that ends with a slash', { path: '/a/' }, ['have the expected paths, each once']],
    ['has a path with a query', { path: '/a?b' }, ['have the expected paths, each once']],
    ['has no media type', { contentType: 'text' }, ['have a media type and headers that can be sent']],
    ['has a header in upper case', { headers: { A: 'b' } }, ['have a media type and headers that can be sent']],
    ['has a header of two lines', { headers: { a: 'b\r\nc: d' } }, ['have a media type and headers that can be sent']],
    ['has bytes as body', { body: () => Buffer.from('a') }, ['have a text as body, each time']],
    ['has broken JSON', { contentType: 'application/json', body: () => '{' }, ['have a text as body, each time']],
  ])('finds a document that %s', async (_name, changed, expected) => expect(await found(changed)).toEqual(expected));
});

describe('the suite of sites', () => {
  const answer = { status: 200, headers: [['content-type', 'text/plain']], body: Buffer.from('a') };
  const found = (changed: object) =>
    failing(
      httpSiteConformance({
        make: () => ({ path: '/help', answer: () => answer, ...changed }) as unknown as HttpSite,
        path: '/help',
        pages: ['/help'],
      }),
    );

  test.each<[string, object, string[]]>([
    ['is right', {}, []],
    ['has another path', { path: '/other' }, ['has the expected path, of one segment']],
    [
      'has a string as body',
      { answer: () => ({ ...answer, body: 'a' }) },
      ['answers its pages with headers that can be sent'],
    ],
    [
      'fails for a method',
      { answer: ({ method }: { method: string }) => ({ ...answer, status: method === 'GET' ? 200 : 500 }) },
      ['answers any request'],
    ],
  ])('finds a site that %s', async (_name, changed, expected) => expect(await found(changed)).toEqual(expected));
});

describe('the suite of metrics', () => {
  const found = (changed: object) => {
    const made = [{ name: 'calls_total', type: 'counter', help: 'Calls.', ...changed } as MetricDefinition];
    return failing(metricsConformance({ make: () => made, names: ['calls_total'] }));
  };
  const unreadable = ['have names, labels and buckets that Prometheus can read'];

  test.each<[string, object, string[]]>([
    ['is right', {}, []],
    ['has another name', { name: 'calls' }, ['have the expected names, each once']],
    ['has a label with a space', { labels: ['a b'] }, unreadable],
    ['is a histogram with the label of its buckets', { type: 'histogram', labels: ['le'], buckets: [1] }, unreadable],
  ])('finds metrics that %s', async (_name, changed, expected) => expect(await found(changed)).toEqual(expected));
});

describe('the suite of token issuers', () => {
  let made = 0;
  const issuer: TokenIssuer = {
    audiences: ['own'],
    extend: false,
    issue: async ({ audiences }) => `${audiences.join('+').replace(/[^a-z+]/g, '')}.${++made}`,
    issueLegacy: async () => 'legacy',
  };
  const account = { name: 'system:serviceaccount:default:robot', uid: '', groups: [], extra: new Map() };
  const found = (changed: Partial<TokenIssuer>, isKnown = (token: string) => token.startsWith('Bearer own.')) =>
    failing(
      tokenIssuerConformance({
        make: () => ({ ...issuer, ...changed }),
        makeAuthenticator: () => ({
          cacheFor: 'never',
          authenticate: request => (isKnown(request.header('authorization') ?? '') ? account : null),
        }),
      }),
    );

  test.each<[string, Partial<TokenIssuer>, string[]]>([
    ['is right', {}, []],
    [
      'has no audience',
      { audiences: [''] },
      ['names its audiences, and limits lifetimes by seconds', 'makes tokens that authenticate as the service account'],
    ],
    [
      'issues only one token',
      { issue: async ({ audiences }) => `${audiences[0] === 'own' ? 'own' : 'other'}.1` },
      ['makes a different token each time, which can be sent in a header'],
    ],
    [
      'issues tokens with spaces',
      { issueLegacy: async () => 'a b' },
      ['makes a different token each time, which can be sent in a header'],
    ],
  ])('finds an issuer that %s', async (_name, changed, expected) => expect(await found(changed)).toEqual(expected));

  test('finds an issuer of tokens that are valid for every audience', async () => {
    expect(await found({}, () => true)).toEqual([
      'makes tokens for other audiences that do not authenticate at this server',
    ]);
  });
});

describe('the suite of services', () => {
  const good: Service = {
    name: 'days',
    start: publish => publish({ days: ['a'] }),
    ask: question => {
      if (typeof question !== 'string') throw new TypeError('a question must be a day');
      return question === 'a';
    },
  };
  const found = (service: Partial<Service>) =>
    failing(
      serviceConformance({
        make: () => ({ ...good, ...service }),
        state: { days: ['a'] },
        questions: [
          { question: 'a', answer: true },
          { question: 'b', answer: false },
        ],
        bad: [7],
      }),
    );
  const STARTS = 'starts without waiting for others, and publishes data that can be sent to threads';
  const ANSWERS = 'answers questions as expected, with data that can be sent to threads';
  const APART = 'does not mix up concurrent questions';
  const BAD = 'refuses bad questions, and answers good ones afterwards';

  test('passes a service that keeps its promises', async () => expect(await found({})).toEqual([]));
  test('finds a service that publishes nothing, a wrong state, or a function', async () => {
    expect(await found({ start: () => undefined })).toEqual([STARTS]);
    expect(await found({ start: publish => publish({ days: [] }) })).toEqual([STARTS]);
    expect(await found({ start: publish => publish({ days: () => 1 }) })).toEqual([STARTS, ANSWERS, APART, BAD]);
  });
  test('finds a service that answers wrongly, answers everything, or mixes up questions', async () => {
    expect(await found({ ask: () => true })).toEqual([ANSWERS, APART, BAD]);
    expect(await found({ ask: question => question === 'a' })).toEqual([BAD]);
    let last: unknown;
    const late = async (question: unknown): Promise<boolean> => {
      if (typeof question !== 'string') throw new TypeError('a question must be a day');
      last = question;
      await Promise.resolve();
      await Promise.resolve();
      return last === 'a';
    };
    expect(await found({ ask: late })).toEqual([APART]);
  });
  test('finds a service without a name', async () =>
    expect(await found({ name: '' })).toEqual(['has the same name each time']));
});

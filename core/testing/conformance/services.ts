import assert from 'node:assert/strict';
import { Counter, Histogram } from 'prom-client';
import type { Authenticator } from '../../api/access.js';
import type { HttpDocument } from '../../api/document.js';
import type { HttpSite, SiteRequest } from '../../api/site.js';
import type { MetricDefinition } from '../../api/observe/metrics.js';
import type { Awaitable } from '../../api/point.js';
import type { NewToken, TokenIssuer } from '../../api/tokens.js';
import type { ApiObject } from '../../model/object.js';
import { systemTime } from '../../runtime/clock.js';
import { type ConformanceTest, suite } from '../suite.js';
import { frozenCopy, received } from './samples.js';

/** A path: segments of printable characters, without a slash at the end, a query or a fragment. */
const PATH = /^(\/[^/?#\s]+)+$/;
/** A media type (RFC 9110, 8.3), with or without parameters. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;.*)?$/;
/** Names of headers in lower case (RFC 9110, 5.1). */
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
/** Values of headers (RFC 9110, 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** Documents under test. */
export interface HttpDocumentsCase {
  /** Makes them; called for each test. */
  make(): Awaitable<readonly HttpDocument[]>;
  /** Their paths, in any order. */
  readonly paths: readonly string[];
}

/**
 * Returns the tests that all documents must pass.
 *
 * @example
 * for (const { name, run } of httpDocumentsConformance({ make: () => [robots], paths: ['/robots.txt'] }))
 *   test(name, run);
 */
export function httpDocumentsConformance({ make, paths }: HttpDocumentsCase): readonly ConformanceTest[] {
  return suite(({ it }) => {
    it('have the expected paths, each once', async () => {
      const found = (await make()).map(({ path }) => path);
      assert.deepEqual(found.toSorted(), paths.toSorted());
      for (const path of found) assert.match(path, PATH);
      assert.equal(new Set(found).size, found.length, 'two documents have one path');
    });

    it('have a media type and headers that can be sent', async () => {
      for (const { contentType, headers } of await make()) {
        assert.match(contentType, MEDIA_TYPE);
        for (const [name, value] of Object.entries(headers)) {
          assert.match(name, HEADER_NAME);
          assert.match(value, HEADER_VALUE);
        }
      }
    });

    it('have a text as body, each time', async () => {
      for (const document of await make()) {
        const bodies = await Promise.all([document.body({ port: 6443 }), document.body({ port: 6443 })]);
        for (const body of bodies) assert.equal(typeof body, 'string', `${document.path}: the body must be a text`);
        if (/^application\/(.*\+)?json\b/.test(document.contentType)) for (const body of bodies) JSON.parse(body);
      }
    });
  });
}

/** A site under test. */
export interface HttpSiteCase {
  /** Makes it; called for each test. */
  make(): Awaitable<HttpSite>;
  /** Its path. */
  readonly path: string;
  /** Paths that it answers with 200 for GET, its own or below it. */
  readonly pages: readonly string[];
}

const visit = (path: string, changed: Partial<SiteRequest> = {}): SiteRequest => ({
  method: 'GET',
  path,
  query: '',
  header: () => undefined,
  remoteAddress: '127.0.0.1',
  secure: true,
  body: new Uint8Array(),
  port: 6443,
  ...changed,
});

/**
 * Returns the tests that every site must pass.
 *
 * @example
 * const tests = httpSiteConformance({ make: () => help, path: '/help', pages: ['/help'] });
 * for (const { name, run } of tests) test(name, run);
 */
export function httpSiteConformance({ make, path, pages }: HttpSiteCase): readonly ConformanceTest[] {
  return suite(({ it }) => {
    it('has the expected path, of one segment', async () => {
      const site = await make();
      assert.equal(site.path, path);
      assert.match(path, /^\/[a-z][a-z0-9-]*$/);
    });

    it('answers its pages with headers that can be sent', async () => {
      const site = await make();
      for (const page of pages) {
        const { status, headers, body } = await site.answer(visit(page));
        assert.equal(status, 200, `${page} must be answered with 200`);
        assert.ok(body instanceof Uint8Array, 'the body must be bytes');
        for (const [name, value] of headers) {
          assert.match(name, HEADER_NAME);
          assert.match(value, HEADER_VALUE);
        }
      }
    });

    it('answers any request', async () => {
      const site = await make();
      const asked: Partial<SiteRequest>[] = [
        { method: 'POST', body: Buffer.from('{') },
        { method: 'DELETE' },
        { method: 'PROPFIND', secure: false, remoteAddress: '' },
        { path: `${path}/../../etc/passwd` },
        { path: `${path}/%2e%2e%00` },
        { query: '%&=', header: () => '\u00ff, ;=' },
      ];
      for (const one of asked) {
        const { status } = await site.answer(visit(path, one));
        assert.ok(status >= 200 && status < 500, `must be answered, not with ${status}`);
      }
    });
  });
}

/** Metrics under test. */
export interface MetricsCase {
  /** Makes them; called for each test. */
  make(): Awaitable<readonly MetricDefinition[]>;
  /** Their names, in any order. */
  readonly names: readonly string[];
}

/**
 * Returns the tests that the metrics of a plugin must pass.
 *
 * @example
 * const make = () => partsOf(plugin, {}, metrics, fakeHost('front').host).then(parts => parts.flat());
 * for (const { name, run } of metricsConformance({ make, names: ['api_keys_total'] })) test(name, run);
 */
export function metricsConformance({ make, names }: MetricsCase): readonly ConformanceTest[] {
  return suite(({ it }) => {
    it('have the expected names, each once', async () => {
      assert.deepEqual((await make()).map(({ name }) => name).toSorted(), names.toSorted());
    });

    it('have names, labels and buckets that Prometheus can read', async () => {
      for (const { name, help, labels = [], ...more } of await make()) {
        const common = { name, help, labelNames: [...labels], registers: [] };
        assert.ok(
          more.type === 'histogram' ? new Histogram({ ...common, buckets: [...more.buckets] }) : new Counter(common),
        );
      }
    });
  });
}

/** A token issuer under test. */
export interface TokenIssuerCase {
  /** Makes one; called for each test. */
  make(): Awaitable<TokenIssuer>;
  /**
   * Makes the authenticator of the tokens, which knows the account `robot` of the namespace `default` with the uid
   * `uid-robot`, and no secret; absent: tokens are not authenticated by this server.
   */
  makeAuthenticator?(): Awaitable<Authenticator>;
  /** The time of the test, in milliseconds since the epoch; default: now. */
  readonly now?: number;
}

const ACCOUNT: ApiObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'default', uid: 'uid-robot' },
};
const LIFETIME_S = 600;

/** Characters of a bearer token (RFC 6750, 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * Returns the tests that every token issuer must pass.
 *
 * @example
 * for (const { name, run } of tokenIssuerConformance({ make: () => signer, makeAuthenticator: () => verifier }))
 *   test(name, run);
 */
export function tokenIssuerConformance(given: TokenIssuerCase): readonly ConformanceTest[] {
  const { make, makeAuthenticator } = given;
  const issuedAt = Math.floor((given.now ?? systemTime()) / 1000);
  const token = (audiences: readonly string[]): NewToken =>
    frozenCopy({ account: ACCOUNT, audiences, issuedAt, expiresAt: issuedAt + LIFETIME_S });
  return suite(({ it }) => {
    it('names its audiences, and limits lifetimes by seconds', async () => {
      const { audiences, maxSeconds, extend } = await make();
      assert.ok(audiences.length > 0, 'audiences must name one');
      for (const audience of audiences) assert.ok(typeof audience === 'string' && audience !== '');
      assert.ok(maxSeconds === undefined || maxSeconds > 0, 'maxSeconds must be a number of seconds');
      assert.equal(typeof extend, 'boolean');
    });

    it('makes a different token each time, which can be sent in a header', async () => {
      const issuer = await make();
      const tokens = await Promise.all(Array.from({ length: 3 }, () => issuer.issue(token(issuer.audiences))));
      assert.equal(new Set(tokens).size, tokens.length, 'two tokens are equal');
      const legacy = { namespace: 'default', secret: 'robot-token', account: 'robot', uid: 'uid-robot' };
      for (const one of [...tokens, await issuer.issueLegacy(legacy)]) assert.match(one, TOKEN);
    });

    if (!makeAuthenticator) return;

    it('makes tokens that authenticate as the service account', async () => {
      const issuer = await make();
      const authenticator = await makeAuthenticator();
      const headers = { authorization: `Bearer ${await issuer.issue(token(issuer.audiences))}` };
      const found = await authenticator.authenticate(received({ headers }));
      const identified = found && 'user' in found ? found.user : found;
      assert.equal(identified?.name, 'system:serviceaccount:default:robot');
    });

    it('makes tokens for other audiences that do not authenticate at this server', async () => {
      const issuer = await make();
      const authenticator = await makeAuthenticator();
      const headers = { authorization: `Bearer ${await issuer.issue(token(['https://elsewhere.example']))}` };
      const found = await Promise.resolve(authenticator.authenticate(received({ headers }))).catch(() => null);
      assert.equal(found, null);
    });
  });
}

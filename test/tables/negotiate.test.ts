import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../core/model/refusal.js';
import { namingOf } from '../../core/naming.js';
import { type Choice, negotiate, type Offer, parseAccept } from '../../core/request/negotiate.js';

const naming = namingOf('kubernetes');
const LIST: Offer = {
  media: ['json', 'yaml', 'protobuf'],
  forms: ['object', 'table', 'partialList'],
  stream: false,
  naming,
  routed: true,
};
const OBJECT: Offer = { ...LIST, forms: ['object', 'table', 'partial'] };
const WATCH: Offer = { ...OBJECT, stream: true, collection: true };
const CUSTOM: Offer = { ...OBJECT, derivedProtobuf: true, routed: false };
const as = (what: string, v = 'v1', g = 'meta.k8s.io'): string => `application/json;as=${what};v=${v};g=${g}`;
const PB = 'application/vnd.kubernetes.protobuf';

const type = (accept: string | undefined, offer = OBJECT): string => negotiate(accept, offer).contentType;
const refused = (accept: string, offer = OBJECT): Refusal => {
  try {
    negotiate(accept, offer);
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error('accepted');
};

describe('media types and forms in the other naming', () => {
  const NEUTRAL: Offer = { ...LIST, naming: namingOf('neutral') };
  const TABLE = `${as('Table')}, application/json`;

  it('are not chosen, because clients that request them cannot read them, but get another type that they accept', () => {
    expect(negotiate(TABLE, NEUTRAL)).toMatchObject({ form: 'object', media: 'json' });
    expect(negotiate(TABLE, LIST)).toMatchObject({ form: 'table' });
    expect(type(`${PB}, application/json`, NEUTRAL)).toBe('application/json');
    expect(type('application/vnd.orchestrator.protobuf, application/json', LIST)).toBe('application/json');
    expect(negotiate(as('Table', 'v1', 'meta.orchestrator.io'), NEUTRAL)).toMatchObject({ form: 'table' });
  });

  it('are refused with the types of the server if nothing else is accepted', () => {
    expect(refused(PB, NEUTRAL)).toMatchObject({ reason: 'NotAcceptable' });
    expect(refused(PB, NEUTRAL).message).toContain('application/vnd.orchestrator.protobuf');
    expect(refused(as('Table'), NEUTRAL).message).toMatch(/^only the following media types are accepted/);
  });
});

describe('media types [R174] [R179] [R185] [R191]', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/yaml', 'application/yaml'],
    ['application/json;q=0.5, application/yaml', 'application/yaml'],
    ['application/json;q=0.5, application/yaml;q=0.4', 'application/json'],
    ['application/yaml, application/json', 'application/yaml'],
    ['text/html, application/yaml;q=0.9, */*;q=0.8', 'application/yaml'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/xml;q=1, application/json;q=0.1', 'application/json'],
    [PB, PB],
    [`${PB}, application/json`, PB],
    ['application/cbor, application/json', 'application/json'],
    ['application/json;stream=watch', 'application/json'],
    ['*/*, application/yaml', 'application/yaml'],
    ['application/json;q=0', 'application/json'],
    ['application/json;q=0, application/yaml;q=0.1', 'application/yaml'],
    ['application/json;as=', 'application/json'],
  ])('Accept %s gives %s', (accept, expected) => {
    expect(type(accept)).toBe(expected);
  });

  it.each([
    'text/*',
    'text/plain',
    'image/png, text/html',
    'application/cbor',
    'nonsense',
    'application/*',
    'APPLICATION/*;q=1',
  ])('Accept %s is 406', accept => {
    const refusal = refused(accept);
    expect(refusal.code).toBe(406);
    expect(refusal.message).toBe(
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
    expect(refusal.toStatus().details).toEqual({});
  });

  it('is refused by the route with its own message, otherwise by the handler, which supports every wildcard', () => {
    const handled = { ...OBJECT, routed: false };
    expect(type('application/*', handled)).toBe('application/json');
    for (const accept of ['text/plain', 'nonsense', 'application/json;v=v1']) {
      expect(refused(accept, handled).toStatus()).toMatchObject({
        code: 406,
        message:
          'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      });
      expect(refused(accept, handled).toStatus()).not.toHaveProperty('details');
    }
    expect(refused('application/json;v=v1').message).toMatch(/^only the following/);
  });

  it('reports also the stream types for lists and watches', () => {
    const all = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
    expect(refused('text/*', { ...LIST, collection: true }).message).toBe(
      `406: Not Acceptable\n\nAvailable representations: ${all}, application/json;stream=watch, ${PB};stream=watch`,
    );
    expect(refused('text/*', CUSTOM).toStatus()).toMatchObject({
      message: `only the following media types are accepted: ${all}`,
    });
    expect(refused('text/*', CUSTOM).toStatus()).not.toHaveProperty('details');
  });

  it('accepts pretty in the media type', () => {
    expect(negotiate('application/json;pretty=1', OBJECT).pretty).toBe(true);
    expect(negotiate('application/json;pretty=0', OBJECT).pretty).toBe(false);
    expect(negotiate('application/json', OBJECT).pretty).toBeUndefined();
  });
});

describe('forms [R057] [R193] [R194]', () => {
  const form = (accept: string, offer: Offer): [Choice['form'], Choice['version']] => {
    const { form: chosen, version } = negotiate(accept, offer);
    return [chosen, version];
  };

  it('uses the first range that it can satisfy', () => {
    expect(form(as('Table'), LIST)).toEqual(['table', 'v1']);
    expect(form(`${as('Table')},application/json`, LIST)).toEqual(['table', 'v1']);
    expect(form(`application/json,${as('Table')}`, LIST)).toEqual(['object', 'v1']);
    expect(form(`${as('Table')};q=0.1,application/json;q=0.2`, LIST)).toEqual(['object', 'v1']);
    expect(form(as('Table', 'v1beta1'), LIST)).toEqual(['table', 'v1beta1']);
    expect(form(as('PartialObjectMetadataList'), LIST)).toEqual(['partialList', 'v1']);
    expect(form(as('PartialObjectMetadata', 'v1beta1'), OBJECT)).toEqual(['partial', 'v1beta1']);
    expect(form(`${as('Chair')},application/json`, LIST)).toEqual(['object', 'v1']);
  });

  it.each([
    [as('PartialObjectMetadataList'), OBJECT],
    [as('PartialObjectMetadata'), LIST],
    [as('Table', 'v2'), LIST],
    [as('Table', 'v1', 'example.com'), LIST],
    [as('Chair'), LIST],
    ['application/json;as=Table', LIST],
    ['application/json;v=v1;g=meta.k8s.io', LIST],
    [`${PB};as=Table;v=v1;g=meta.k8s.io`, LIST],
  ])('%s alone is 406', (accept, offer) => {
    expect(refused(accept, offer).message).toBe(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });

  it('supports metadata in protobuf and Tables in YAML', () => {
    expect(negotiate(`${PB};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`, OBJECT)).toMatchObject({
      form: 'partial',
      media: 'protobuf',
    });
    expect(negotiate('application/yaml;as=Table;v=v1;g=meta.k8s.io', OBJECT)).toMatchObject({
      form: 'table',
      media: 'yaml',
    });
  });
});

describe('streams [R008] [R328]', () => {
  it('frames protobuf and refuses YAML and other streams', () => {
    expect(type(PB, WATCH)).toBe(`${PB};stream=watch`);
    expect(type('application/json;stream=watch', WATCH)).toBe('application/json');
    for (const accept of ['application/yaml', 'application/cbor-seq', 'application/json;stream=other', as('Wrong')]) {
      expect(refused(accept, WATCH).code).toBe(406);
    }
  });

  it('selects the media type before its framing: YAML first is refused with the stream types', () => {
    for (const accept of ['application/yaml', 'application/yaml, application/json'])
      expect(refused(accept, WATCH).message).toBe(
        `only the following media types are accepted: application/json;stream=watch, ${PB};stream=watch`,
      );
    expect(type('application/yaml;stream=watch, application/json', WATCH)).toBe('application/json');
    expect(type('application/json;stream=', WATCH)).toBe('application/json');
    expect(refused('application/json;stream=other', OBJECT).code).toBe(406);
  });
});

describe('hostile headers', () => {
  it('throws only refusals and limits the number of ranges', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 300 }), accept => {
        expect(parseAccept(accept).length).toBeLessThanOrEqual(64);
        try {
          negotiate(accept, OBJECT);
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
        }
      }),
    );
    expect(parseAccept('a/b,'.repeat(5000))).toHaveLength(64);
  });

  it('ignores delimiters inside quotes', () => {
    expect(parseAccept('application/json;x="a,b;c";q=0.5')[0]).toMatchObject({ subtype: 'json', quality: 0.5 });
  });
});

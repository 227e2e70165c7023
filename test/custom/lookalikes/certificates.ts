import { issuer } from './issuers.js';
import { secretKey } from './secretKey.js';
import {
  AGE,
  atomic,
  column,
  conditions,
  definition,
  type Definition,
  flag,
  int32,
  kindShape,
  list,
  mapOf,
  object,
  oneOf,
  type Shape,
  text,
  version,
} from './shapes.js';

/* Definitions with the features and the size of those of projects that issue certificates. */

const GROUP = 'cert-manager.io';
const READY = '.status.conditions[?(@.type == "Ready")]';

const USAGES = [
  ...['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement', 'data encipherment'],
  ...['cert sign', 'crl sign', 'encipher only', 'decipher only', 'any', 'server auth', 'client auth', 'code signing'],
  ...['email protection', 's/mime', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing'],
  ...['microsoft sgc', 'netscape sgc'],
];
const usages = list(oneOf('What a key may be used for.', USAGES), 'Uses that are asked for.');

const issuerRef = object(
  'Who issues.',
  { name: text('Name of the issuer.'), kind: text('Kind of the issuer.'), group: text('Group of the issuer.') },
  { required: ['name'] },
);

const subject = object('Subject of the certificate.', {
  ...Object.fromEntries(
    ['countries', 'localities', 'organizationalUnits', 'organizations', 'postalCodes', 'provinces'].map(name => [
      name,
      list({ type: 'string' }, `The ${name} of the subject.`),
    ]),
  ),
  serialNumber: text('Serial number of the subject.'),
  streetAddresses: list({ type: 'string' }, 'Street addresses of the subject.'),
});

const keystore = (name: string, more: { readonly [name: string]: Shape }): Shape =>
  object(
    `A copy as ${name}.`,
    {
      create: flag(`Whether a ${name} is made.`),
      passwordSecretRef: secretKey('Where its password is.'),
      password: text('Its password.'),
      ...more,
    },
    { required: ['create'] },
  );

const names = Object.fromEntries(
  ['dnsNames', 'emailAddresses', 'ipAddresses', 'uris'].map(name => [
    name,
    list({ type: 'string' }, `The ${name} of the certificate.`),
  ]),
);

const constraint = (about: string): Shape =>
  object(about, {
    dnsDomains: list({ type: 'string' }, 'Domains.'),
    ipRanges: list({ type: 'string' }, 'Address ranges in CIDR form.'),
    emailAddresses: list({ type: 'string' }, 'Addresses of mail.'),
    uriDomains: list({ type: 'string' }, 'Domains of URIs.'),
  });

const certificateSpec = object(
  'What is asked for.',
  {
    ...names,
    subject,
    literalSubject: text('The subject as one text.'),
    commonName: text('Common name of the subject.'),
    duration: text('How long it is valid.'),
    renewBefore: text('How long before its end it is renewed.'),
    renewBeforePercentage: int32('The same as a part of its duration.'),
    issuerRef,
    isCA: flag('Whether it may sign others.'),
    usages,
    secretName: text('The Secret that holds the result.'),
    secretTemplate: object('Metadata of the Secret.', {
      annotations: mapOf({ type: 'string' }, 'Annotations of the Secret.'),
      labels: mapOf({ type: 'string' }, 'Labels of the Secret.'),
    }),
    privateKey: object('How the key is made.', {
      algorithm: oneOf('Algorithm of the key.', ['RSA', 'ECDSA', 'Ed25519']),
      encoding: oneOf('Encoding of the key.', ['PKCS1', 'PKCS8']),
      rotationPolicy: oneOf('Whether the key is replaced.', ['Never', 'Always']),
      size: { type: 'integer', description: 'Size in bits.' },
    }),
    otherNames: list(
      object('A name of another type.', { oid: text('Its type.'), utf8Value: text('The name.') }),
      'More.',
    ),
    keystores: object('More forms of the result.', {
      jks: keystore('JKS', { alias: text('Alias of the key.') }),
      pkcs12: keystore('PKCS12', { profile: oneOf('Ciphers.', ['LegacyRC2', 'LegacyDES', 'Modern2023']) }),
    }),
    nameConstraints: object('Limits for a CA.', {
      critical: flag('Whether they are critical.'),
      permitted: constraint('Names that are allowed.'),
      excluded: constraint('Names that are not.'),
    }),
    additionalOutputFormats: list(
      object('A further form.', { type: oneOf('Its name.', ['DER', 'CombinedPEM']) }, { required: ['type'] }),
      'Further forms of the result.',
    ),
    encodeUsagesInRequest: flag('Whether the request has the uses.'),
    revisionHistoryLimit: int32('How many requests are kept.'),
  },
  { required: ['issuerRef', 'secretName'] },
);

const certificate = (): Definition =>
  definition(
    GROUP,
    'Certificate',
    { plural: 'certificates', shortNames: ['cert', 'certs'], categories: ['cert-manager'] },
    'Namespaced',
    [
      version(
        'v1',
        kindShape('A certificate that is kept up to date in a Secret.', {
          spec: certificateSpec,
          status: object('What was reached.', {
            conditions: conditions({ maxItems: 20 }),
            lastFailureTime: text('The last failure.', { format: 'date-time' }),
            notBefore: text('Start of its validity.', { format: 'date-time' }),
            notAfter: text('End of its validity.', { format: 'date-time' }),
            renewalTime: text('When it will be renewed.', { format: 'date-time' }),
            revision: { type: 'integer', description: 'How often it was issued.' },
            nextPrivateKeySecretName: text('The Secret with the next key.'),
            failedIssuanceAttempts: { type: 'integer', description: 'Failures in a row.' },
          }),
        }),
        {
          additionalPrinterColumns: [
            column('Ready', 'string', `${READY}.status`),
            column('Secret', 'string', '.spec.secretName'),
            column('Issuer', 'string', '.spec.issuerRef.name', { priority: 1 }),
            column('Status', 'string', `${READY}.message`, { priority: 1 }),
            { ...AGE, description: 'Time since the creation.' },
          ],
          selectableFields: [{ jsonPath: '.spec.issuerRef.name' }, { jsonPath: '.spec.secretName' }],
        },
      ),
    ],
  );

const certificateRequest = (): Definition =>
  definition(
    GROUP,
    'CertificateRequest',
    { plural: 'certificaterequests', shortNames: ['cr', 'crs'], categories: ['cert-manager'] },
    'Namespaced',
    [
      version(
        'v1',
        kindShape('One request to sign.', {
          spec: object(
            'What is to be signed.',
            {
              request: text('The request in PEM.', { format: 'byte' }),
              issuerRef,
              duration: text('How long it is valid.'),
              isCA: flag('Whether it may sign others.'),
              usages,
              username: text('Who asks.'),
              uid: text('The identity of who asks.'),
              groups: atomic({ type: 'string' }, 'Groups of who asks.'),
              extra: mapOf({ type: 'array', items: { type: 'string' } }, 'More about who asks.'),
            },
            { required: ['issuerRef', 'request'] },
          ),
          status: object('The answer.', {
            ca: text('Who signed, in PEM.', { format: 'byte' }),
            certificate: text('The certificate in PEM.', { format: 'byte' }),
            conditions: conditions({ maxItems: 20 }),
            failureTime: text('When it failed.', { format: 'date-time' }),
          }),
        }),
        {
          additionalPrinterColumns: [
            column('Approved', 'string', '.status.conditions[?(@.type=="Approved")].status'),
            column('Denied', 'string', '.status.conditions[?(@.type=="Denied")].status'),
            column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
            column('Issuer', 'string', '.spec.issuerRef.name'),
            column('Requester', 'string', '.spec.username'),
            AGE,
          ],
        },
      ),
    ],
  );

/** All definitions of this family. */
export const certificates = (): readonly Definition[] => [
  certificate(),
  certificateRequest(),
  issuer('Issuer'),
  issuer('ClusterIssuer'),
];

import {
  AGE,
  anything,
  atomic,
  column,
  conditions,
  definition,
  type Definition,
  embedded,
  flag,
  int64,
  keyed,
  kindShape,
  list,
  mapOf,
  object,
  oneOf,
  rules,
  type Shape,
  text,
  version,
} from './shapes.js';

/*
 * Definitions with the features of those that compose objects of other kinds: embedded resources, preserved fields,
 * transforms.
 */

const GROUP = 'apiextensions.crossplane.io';
const ESTABLISHED = '.status.conditions[?(@.type=="Established")].status';

const typeRef = (more: Shape = {}): Shape =>
  object(
    'A kind.',
    { apiVersion: text('Its version.'), kind: text('Its name.') },
    { required: ['apiVersion', 'kind'], ...more },
  );

const transform = (): Shape =>
  object(
    'Changes a value.',
    {
      type: oneOf('How.', ['map', 'match', 'math', 'string', 'convert']),
      convert: object(
        'To another type.',
        {
          format: oneOf('From which form.', ['none', 'quantity', 'json']),
          toType: oneOf('The type.', ['string', 'int', 'int64', 'bool', 'float64', 'object', 'array']),
        },
        { required: ['toType'] },
      ),
      map: mapOf({ 'x-kubernetes-preserve-unknown-fields': true }, 'By a table.'),
      match: object('By patterns.', {
        fallbackTo: oneOf('If none matches.', ['Value', 'Input'], { default: 'Value' }),
        fallbackValue: { description: 'If none matches.', 'x-kubernetes-preserve-unknown-fields': true },
        patterns: list(
          object(
            'A pattern.',
            {
              literal: text('The same text.'),
              regexp: text('An expression.'),
              result: { description: 'The result.', 'x-kubernetes-preserve-unknown-fields': true },
              type: oneOf('How.', ['literal', 'regexp'], { default: 'literal' }),
            },
            { required: ['result', 'type'] },
          ),
          'The patterns.',
        ),
      }),
      math: object('By arithmetic.', {
        clampMax: int64('At most.'),
        clampMin: int64('At least.'),
        multiply: int64('Times.'),
        type: oneOf('How.', ['Multiply', 'ClampMin', 'ClampMax'], { default: 'Multiply' }),
      }),
      string: object('As text.', {
        convert: oneOf('Encoding or case.', ['ToUpper', 'ToLower', 'ToBase64', 'FromBase64', 'ToJson', 'ToSha1']),
        fmt: text('By a format.'),
        join: object('Joined.', { separator: text('Between.') }, { required: ['separator'] }),
        regexp: object('A part.', { group: { type: 'integer' }, match: text('Expression.') }, { required: ['match'] }),
        trim: text('Without this.'),
        type: oneOf('How.', ['Format', 'Convert', 'TrimPrefix', 'TrimSuffix', 'Regexp', 'Join'], { default: 'Format' }),
      }),
    },
    { required: ['type'] },
  );

const patchPolicy = (): Shape =>
  object('How it is applied.', {
    fromFieldPath: oneOf('If there is nothing.', ['Optional', 'Required']),
    mergeOptions: object('How it is merged.', {
      appendSlice: flag('Whether lists are appended.'),
      keepMapValues: flag('Whether existing members stay.'),
    }),
  });

const patch = (withSets: boolean): Shape =>
  object('Copies a value.', {
    type: oneOf(
      'From where to where.',
      ['FromCompositeFieldPath', ...(withSets ? ['PatchSet'] : []), 'ToCompositeFieldPath', 'CombineFromComposite'],
      { default: 'FromCompositeFieldPath' },
    ),
    fromFieldPath: text('From.'),
    toFieldPath: text('To.'),
    ...(withSets ? { patchSetName: text('A set of patches.') } : {}),
    combine: object(
      'Several values.',
      {
        strategy: oneOf('How.', ['string']),
        string: object('By a format.', { fmt: text('The format.') }, { required: ['fmt'] }),
        variables: list(
          object('One value.', { fromFieldPath: text('From.') }, { required: ['fromFieldPath'] }),
          'The values.',
          { minItems: 1 },
        ),
      },
      { required: ['strategy', 'variables'] },
    ),
    policy: patchPolicy(),
    transforms: list(transform(), 'Changes on the way.'),
  });

const credentials = (): Shape =>
  keyed(
    ['name'],
    object(
      'Credentials.',
      {
        name: text('Their name.'),
        secretRef: object(
          'A Secret.',
          { name: text('Name.'), namespace: text('Namespace.') },
          { required: ['name', 'namespace'] },
        ),
        source: oneOf('From where.', ['None', 'Secret']),
      },
      {
        required: ['name', 'source'],
        ...rules([
          "self.source == 'Secret' && has(self.secretRef) || !has(self.secretRef)",
          'secretRef needs the source Secret',
        ]),
      },
    ),
    'Credentials of the step.',
  );

const compositionSchema = (): Shape =>
  kindShape('How a composite is made.', {
    spec: object(
      'How it is made.',
      {
        compositeTypeRef: typeRef(rules(['self == oldSelf', 'Value is immutable'])),
        mode: oneOf('By what.', ['Resources', 'Pipeline'], { default: 'Pipeline' }),
        patchSets: list(
          object(
            'Patches with a name.',
            { name: text('The name.'), patches: list(patch(false), 'The patches.') },
            { required: ['name', 'patches'] },
          ),
          'Sets of patches.',
        ),
        pipeline: keyed(
          ['step'],
          object(
            'A step.',
            {
              credentials: credentials(),
              functionRef: object('What runs.', { name: text('Its name.') }, { required: ['name'] }),
              input: embedded('Its input.'),
              step: text('Name of the step.'),
            },
            { required: ['functionRef', 'step'] },
          ),
          'The steps.',
        ),
        resources: list(
          object(
            'A resource.',
            {
              base: embedded('What it is at first.'),
              connectionDetails: list(
                object('A detail.', {
                  fromConnectionSecretKey: text('From a Secret.'),
                  fromFieldPath: text('From a field.'),
                  name: text('Its name.'),
                  type: oneOf('From where.', ['FromConnectionSecretKey', 'FromFieldPath', 'FromValue']),
                  value: text('The value.'),
                }),
                'Details.',
              ),
              name: text('Name.'),
              patches: list(patch(true), 'Patches.'),
              readinessChecks: list(
                object(
                  'When it is ready.',
                  {
                    fieldPath: text('Which field.'),
                    matchCondition: object(
                      'A condition.',
                      { status: text('Status.', { default: 'True' }), type: text('Type.', { default: 'Ready' }) },
                      { required: ['status', 'type'] },
                    ),
                    matchInteger: int64('Which number.'),
                    matchString: text('Which text.'),
                    type: oneOf('How.', [
                      'MatchString',
                      'MatchInteger',
                      'NonEmpty',
                      'MatchCondition',
                      'MatchTrue',
                      'None',
                    ]),
                  },
                  { required: ['type'] },
                ),
                'When it is ready.',
                { default: [{ matchCondition: { status: 'True', type: 'Ready' }, type: 'MatchCondition' }] },
              ),
            },
            { required: ['base'] },
          ),
          'The resources.',
        ),
        writeConnectionSecretsToNamespace: text('Where details are written.'),
      },
      {
        required: ['compositeTypeRef'],
        ...rules(
          [
            "self.mode == 'Pipeline' || (!has(self.pipeline) || size(self.pipeline) == 0)",
            'steps need the mode Pipeline',
          ],
          [
            "self.mode == 'Pipeline' || !has(self.resources) || self.resources.all(r, has(r.name) || true)",
            'resources have names',
          ],
        ),
      },
    ),
  });

const composition = (): Definition =>
  definition(
    GROUP,
    'Composition',
    { plural: 'compositions', shortNames: ['comp'], categories: ['crossplane'] },
    'Cluster',
    [
      version('v1', compositionSchema(), {
        subresources: {},
        additionalPrinterColumns: [
          column('XR-KIND', 'string', '.spec.compositeTypeRef.kind'),
          column('XR-APIVERSION', 'string', '.spec.compositeTypeRef.apiVersion'),
          AGE,
        ],
      }),
    ],
  );

const names = (about: string): Shape =>
  object(
    about,
    {
      categories: list({ type: 'string' }, 'Categories.', { 'x-kubernetes-list-type': 'atomic' }),
      kind: text('Kind.'),
      listKind: text('Kind of lists.'),
      plural: text('Plural.'),
      shortNames: atomic({ type: 'string' }, 'Short names.'),
      singular: text('Singular.'),
    },
    {
      required: ['kind', 'plural'],
      ...rules(
        ['self.plural == self.plural.lowerAscii()', 'Plural name must be lowercase'],
        ['!has(self.singular) || self.singular == self.singular.lowerAscii()', 'Singular name must be lowercase'],
      ),
    },
  );

const compositeSchema = (): Shape =>
  kindShape('Defines a composite.', {
    spec: object(
      'What it is.',
      {
        claimNames: names('Names of claims.'),
        connectionSecretKeys: list({ type: 'string' }, 'Keys of details.'),
        conversion: object(
          'How versions are converted.',
          {
            strategy: text('How.'),
            webhook: object(
              'By a webhook.',
              {
                clientConfig: object('Where it is.', {
                  caBundle: text('Who signs for it.', { format: 'byte' }),
                  url: text('Its URL.'),
                }),
                conversionReviewVersions: atomic({ type: 'string' }, 'Versions of reviews.'),
              },
              { required: ['conversionReviewVersions'] },
            ),
          },
          { required: ['strategy'] },
        ),
        defaultCompositeDeletePolicy: oneOf('How composites end.', ['Background', 'Foreground'], {
          default: 'Background',
        }),
        defaultCompositionRef: object('The default.', { name: text('Its name.') }, { required: ['name'] }),
        enforcedCompositionRef: object('The only one.', { name: text('Its name.') }, { required: ['name'] }),
        group: text('Group.', rules(['self == oldSelf', 'Value is immutable'])),
        metadata: object('Metadata of the definition.', {
          annotations: mapOf({ type: 'string' }, 'Annotations.'),
          labels: mapOf({ type: 'string' }, 'Labels.'),
        }),
        names: {
          ...names('Names.'),
          ...rules(
            ['self == oldSelf', 'Value is immutable'],
            ['self.plural == self.plural.lowerAscii()', 'Plural name must be lowercase'],
          ),
        },
        versions: list(
          object(
            'A version.',
            {
              additionalPrinterColumns: list(
                object(
                  'A column.',
                  {
                    name: text('Name.'),
                    type: text('Type.'),
                    jsonPath: text('Path.'),
                    priority: { type: 'integer', format: 'int32' },
                  },
                  { required: ['jsonPath', 'name', 'type'] },
                ),
                'Columns.',
              ),
              deprecated: flag('Whether it is deprecated.'),
              deprecationWarning: text('The warning.', { maxLength: 256 }),
              name: text('Name.'),
              referenceable: flag('Whether compositions may use it.'),
              schema: object('Its schema.', { openAPIV3Schema: anything('The schema.') }),
              served: flag('Whether it is served.'),
            },
            { required: ['name', 'referenceable', 'served'] },
          ),
          'Versions.',
        ),
      },
      { required: ['group', 'names', 'versions'] },
    ),
    status: object('What was reached.', {
      conditions: conditions(),
      controllers: object('What runs.', { compositeResourceClaimType: typeRef(), compositeResourceType: typeRef() }),
    }),
  });

const compositeDefinition = (): Definition =>
  definition(
    GROUP,
    'CompositeResourceDefinition',
    { plural: 'compositeresourcedefinitions', shortNames: ['xrd', 'xrds'], categories: ['crossplane'] },
    'Cluster',
    [
      version('v1', compositeSchema(), {
        additionalPrinterColumns: [
          column('ESTABLISHED', 'string', ESTABLISHED),
          column('OFFERED', 'string', '.status.conditions[?(@.type=="Offered")].status'),
          AGE,
        ],
      }),
    ],
  );

/** All definitions of this family. */
export const compositions = (): readonly Definition[] => [composition(), compositeDefinition()];

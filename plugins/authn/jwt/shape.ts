import { BOOLEAN, list, STRING, type Shaped, struct } from '../../../core/schema/configFile.js';

const MAPPING = struct({ claim: STRING, prefix: STRING, expression: STRING });

const AUTHENTICATOR = struct({
  issuer: struct({
    url: STRING,
    discoveryURL: STRING,
    certificateAuthority: STRING,
    audiences: list(STRING),
    audienceMatchPolicy: STRING,
    egressSelectorType: STRING,
  }),
  claimValidationRules: list(struct({ claim: STRING, requiredValue: STRING, expression: STRING, message: STRING })),
  claimMappings: struct({
    username: MAPPING,
    groups: MAPPING,
    uid: struct({ claim: STRING, expression: STRING }),
    extra: list(struct({ key: STRING, valueExpression: STRING })),
  }),
  userValidationRules: list(struct({ expression: STRING, message: STRING })),
});

/** Which requests without credentials are served. */
export const ANONYMOUS = struct({ enabled: BOOLEAN, conditions: list(struct({ path: STRING })) });

/** An authentication file. */
export const FILE = {
  kind: 'AuthenticationConfiguration',
  group: 'apiserver.config.orchestrator.io',
  versions: ['v1beta1', 'v1alpha1'],
  members: { jwt: list(AUTHENTICATOR), anonymous: ANONYMOUS },
} as const;

/** An authenticator as it is written in a file. */
export type GivenAuthenticator = Shaped<typeof AUTHENTICATOR>;

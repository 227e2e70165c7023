import type { ExplainedOpinion, Opinion } from '../../../../core/api/observe/explain.js';
import type { Time } from '../../../../core/model/scalars.js';
import { encodeYaml } from '../../../../core/schema/yaml/yamlText.js';
import type { Authorization, AuthorizerOpinion } from '../../../../kinds/why/v1.js';

const DECISIONS = { allow: 'Allow', deny: 'Deny', noOpinion: 'NoOpinion' } as const;

const shown = ({ plugin, is, reason, explanation, error }: ExplainedOpinion): AuthorizerOpinion => ({
  name: plugin,
  decision: DECISIONS[is],
  ...(reason && { reason }),
  ...(error !== undefined && { error }),
  ...(explanation &&
    explanation.rules.length > 0 && {
      rules: explanation.rules.map(rule => ({ ...rule, missing: [...rule.missing] })),
    }),
});

/** The authorization from the opinions that were recorded with the decision. */
export const recordedOpinions = (opinions: readonly Opinion[]): Authorization => ({
  allowed: opinions.at(-1)?.is === 'allow',
  authorizers: opinions.map(shown),
});

/** The authorization from the present opinions, with explanations. `at`: RFC 3339. */
export function explainedOpinions(opinions: readonly ExplainedOpinion[], at: Time): Authorization {
  const decided = opinions.find(({ is }) => is !== 'noOpinion');
  const allowed = decided?.is === 'allow';
  const grant = allowed ? [] : opinions.flatMap(({ explanation }) => explanation?.grant ?? []);
  return {
    allowed,
    authorizers: opinions.map(shown),
    // A denial counts before what others would allow.
    ...(grant.length > 0 && decided === undefined && { grant: grant.map(encodeYaml).join('---\n') }),
    explainedAt: at,
  };
}

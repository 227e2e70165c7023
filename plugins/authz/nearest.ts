import type { NearRule } from '../../core/api/index.js';
import { RECORDED_MESSAGE_CHARACTERS } from '../../core/limits.js';

/** Largest number of rules in an explanation. */
const EXPLAINED_RULES = 5;
/** How far a rule is from a request without one of its parts: another resource is further away than another verb. */
const DISTANCES = { verb: 1, name: 1, namespace: 1, apiGroup: 2, resource: 2, path: 2 } as const;
/** The largest distance of a rule that explains anything about a request. */
const FAR = 2;

/** A part of a request that a rule may lack. */
export type Part = keyof typeof DISTANCES;

/** A rule that may be near. Its text is only made if it is shown. */
export interface Candidate {
  readonly source: string;
  readonly missing: readonly Part[];
  /** Returns the rule as JSON. */
  rule(): string;
}

/** The rules that are nearest to a request, the nearest first; those that allow it have nothing missing. */
export function nearestRules(candidates: Iterable<Candidate>): NearRule[] {
  const near: { readonly distance: number; readonly candidate: Candidate }[] = [];
  for (const candidate of candidates) {
    const distance = candidate.missing.reduce((sum, part) => sum + DISTANCES[part], 0);
    if (distance <= FAR) near.push({ distance, candidate });
  }
  const nearest = near.sort((a, b) => a.distance - b.distance).slice(0, EXPLAINED_RULES);
  const least = nearest[0]?.distance;
  return nearest
    .filter(({ distance }) => least !== 0 || distance === 0)
    .map(({ candidate: { source, missing, rule } }) => ({ source, rule: shorten(rule()), missing }));
}

/** Rules may have names of thousands of objects. */
const shorten = (text: string): string =>
  text.length <= RECORDED_MESSAGE_CHARACTERS ? text : `${text.slice(0, RECORDED_MESSAGE_CHARACTERS)}…`;

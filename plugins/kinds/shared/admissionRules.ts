import { ensureRecord, recordsAt, setDefault, type UnknownRecord } from '../../../core/model/record.js';

export function ruleDefaults(rules: readonly UnknownRecord[]): void {
  for (const rule of rules) setDefault(rule, 'scope', '*');
}

export function matchDefaults(match: UnknownRecord): void {
  setDefault(match, 'matchPolicy', 'Equivalent');
  ensureRecord(match, 'namespaceSelector');
  ensureRecord(match, 'objectSelector');
  ruleDefaults([...recordsAt(match, 'resourceRules'), ...recordsAt(match, 'excludeResourceRules')]);
}

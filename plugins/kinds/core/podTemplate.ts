import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { recordAt, valueAt } from '../../../core/model/record.js';
import { column, labelsText, NAME } from '../shared/columns.js';
import { templateDefaults } from '../shared/podSpec/defaults.js';
import { templateViolations } from '../shared/podSpec/validation.js';
import { withPodWarnings } from '../shared/podSpec/warnings.js';
import { ofContainers } from '../shared/podTemplateColumns.js';

const COLUMNS: readonly Column[] = [
  NAME,
  column('Containers', ofContainers('name')),
  column('Images', ofContainers('image')),
  column('Pod Labels', object => labelsText(valueAt(object, 'template', 'metadata', 'labels'))),
];

/** Rules of PodTemplates. */
const strategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  returnsDeletedObject: true,
  applyDefaults: object => templateDefaults(recordAt(object, 'template')),
  validateCreate: object => templateViolations(recordAt(object, 'template'), 'template'),
  validateUpdate: object => templateViolations(recordAt(object, 'template'), 'template'),
  columns: COLUMNS,
});

export const podTemplate = builtInKind('core/podtemplates', () => withPodWarnings(strategy(), 'template', 'spec'));

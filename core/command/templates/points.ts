import * as access from './access.js';
import * as admission from './admission.js';
import * as audit from './audit.js';
import * as control from './control.js';
import * as front from './front.js';
import { listener } from './listener.js';
import { resourceSource } from './resourceSource.js';
import * as resources from './resources.js';
import type { PointTemplate } from './shared.js';
import { storage } from './storage.js';

/** The templates by name of the extension point. */
export const POINT_TEMPLATES: ReadonlyMap<string, PointTemplate> = new Map(
  Object.entries<PointTemplate>({
    ...access,
    ...admission,
    ...resources,
    ...control,
    ...front,
    ...audit,
    listener,
    resourceSource,
    storage,
  }),
);

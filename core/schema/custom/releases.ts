import type { ResourceType, ResourceVersion } from '../../api/resource.js';
import { isLater } from '../../model/text/releases.js';

/** Whether a version is served: not if it is removed in the release of the type or an earlier one. */
export const isServed = ({ release }: Pick<ResourceType, 'release'>, version: ResourceVersion): boolean =>
  version.served && (release === undefined || version.removedIn === undefined || isLater(version.removedIn, release));

/** Whether a version is deprecated in the release of the type. */
export const isDeprecated = ({ release }: Pick<ResourceType, 'release'>, { deprecated }: ResourceVersion): boolean =>
  deprecated !== undefined && (release === undefined || !isLater(deprecated, release));

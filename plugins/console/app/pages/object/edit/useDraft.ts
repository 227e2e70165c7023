import { useEffect, useMemo } from 'preact/hooks';
import { askBeforeLeaving } from '../../../router.js';
import type { ObjectAddress } from '../liveObject.js';
import { Draft } from './draft.js';

/** The draft of a page. While it is not saved, leaving the page asks for confirmation. */
export function useDraft(address: ObjectAddress, isNew = false): Draft {
  const draft = useMemo(() => new Draft(address, isNew), []);
  useEffect(() => askBeforeLeaving(() => draft.isDirty.peek()), [draft]);
  return draft;
}

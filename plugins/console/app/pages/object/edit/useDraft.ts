import { useEffect, useMemo } from 'preact/hooks';
import { askBeforeLeaving } from '../../../router.js';
import type { ObjectAddress } from '../liveObject.js';
import { Draft } from './draft.js';

/** The draft of a page, which is not left without a question while the draft is not saved. */
export function useDraft(address: ObjectAddress, isNew = false): Draft {
  const draft = useMemo(() => new Draft(address, isNew), []);
  useEffect(() => askBeforeLeaving(() => draft.isDirty.peek()), [draft]);
  return draft;
}

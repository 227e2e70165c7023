import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** Number of parts that are in the document at first, and that each press of the button adds. */
const STEP = 500;

/** The first ones of many parts, and a button for more: a document with all of them would block the browser. */
export function Several<T>(props: {
  readonly of: readonly T[];
  readonly show: (one: T, index: number) => ComponentChildren;
  /** Whether the parts are items of a list: then the button must be one as well. */
  readonly inList?: boolean;
}) {
  const { of, show, inList = false } = props;
  const shown = useSignal(STEP);
  const left = of.length - shown.value;
  const more = left > 0 && (
    <button type="button" class="button small" onClick={() => (shown.value += STEP)}>
      Show {Math.min(STEP, left)} of {left} more
    </button>
  );
  return (
    <>
      {of.slice(0, shown.value).map(show)}
      {more && inList ? <li>{more}</li> : more}
    </>
  );
}
